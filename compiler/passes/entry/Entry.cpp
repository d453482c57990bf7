//===- Entry.cpp - Decode entries -----------------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies the prefill entry and its layer bodies for each decode bucket, with the symbols of tokens,
// sequences and logit rows replaced by the bucket: one token for each sequence, every row wanted.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "dialects/k3/K3Ops.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace k3 {
#define GEN_PASS_DEF_ENTRYPASS
#include "compiler/passes/Passes.h.inc"
} // namespace k3

namespace {

using namespace k3::model;

struct Entry : k3::impl::EntryPassBase<Entry> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    func::FuncOp prefill;
    for (auto function : module.getOps<func::FuncOp>())
      if (auto kind = function->getAttrOfType<StringAttr>(kEntryAttr);
          kind && kind.getValue() == "prefill")
        prefill = function;
    if (!prefill)
      return;
    auto limits = module->getAttrOfType<DictionaryAttr>(kLimitsAttr);
    if (!limits) {
      prefill.emitError() << "k3-entry: the module has no k3.limits, whose max_seqs bounds the "
                             "decode entries; add it, or mark the entry as generic";
      return signalPassFailure();
    }
    if (failed(checkPrefill(prefill)))
      return signalPassFailure();
    int64_t maxSeqs = limits.getAs<IntegerAttr>("max_seqs").getInt();
    for (int64_t bucket = 1;; bucket *= 2) {
      addDecode(prefill, std::min(bucket, maxSeqs));
      if (bucket >= maxSeqs)
        break;
    }
  }

  static BlockArgument findLogitRows(func::FuncOp entry) {
    for (BlockArgument argument : entry.getArguments())
      if (auto name = entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr);
          name && name.getValue() == "logit_rows")
        return argument;
    return {};
  }

  /// A decode step fixes the tokens and sequences of the batch and the rows of logits. An entry
  /// that knows other extents, or does more with `logit_rows` than take them, has no decode form.
  static LogicalResult checkPrefill(func::FuncOp prefill) {
    llvm::StringSet<> fixed;
    for (Type type : prefill.getArgumentTypes())
      if (auto batch = dyn_cast<BatchType>(type)) {
        fixed.insert(batch.getTokens());
        fixed.insert(batch.getSeqs());
      }
    BlockArgument rows = findLogitRows(prefill);
    if (rows) {
      if (auto sym =
              dyn_cast_or_null<SymAttr>(cast<RankedTensorType>(rows.getType()).getEncoding()))
        fixed.insert(sym.getName());
      for (Operation *user : rows.getUsers())
        if (auto take = dyn_cast<TakeRowsOp>(user); !take || take.getRows() != rows)
          return user->emitOpError()
                 << "k3-entry: uses logit_rows, which a decode entry does not have; only "
                    "k3.take_rows may, or mark the entry as generic";
    }
    WalkResult result = prefill.walk([&](Operation *op) {
      if (auto take = dyn_cast<TakeRowsOp>(op); take && take.getRows() != rows) {
        take.emitOpError() << "k3-entry: takes rows by other ids than logit_rows, which a decode "
                              "entry cannot; mark the "
                              "entry as generic";
        return WalkResult::interrupt();
      }
      for (Type type : op->getResultTypes()) {
        auto tensor = dyn_cast<RankedTensorType>(type);
        auto sym = tensor ? dyn_cast_or_null<SymAttr>(tensor.getEncoding()) : SymAttr();
        if (sym && !fixed.contains(sym.getName())) {
          op->emitOpError()
              << "k3-entry: has an extent '" << sym.getName()
              << "' that is neither of the batch nor of logit_rows; mark the entry as generic";
          return WalkResult::interrupt();
        }
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted() || failed(checkBodies(prefill)));
  }

  /// Only the bodies that the entry calls itself get a copy with static rows.
  static LogicalResult checkBodies(func::FuncOp prefill) {
    SymbolTable symbols(prefill->getParentOfType<ModuleOp>());
    WalkResult result = prefill.walk([&](func::CallOp call) {
      auto body = symbols.lookup<func::FuncOp>(call.getCallee());
      return !body ? WalkResult::advance() : body.walk([](func::CallOp inner) -> WalkResult {
        return inner.emitError() << "k3-entry: @" << inner.getCallee()
                                 << " is called by a body, and decode entries are made for bodies "
                                    "that the entry calls itself; call it there, or mark the entry "
                                    "as generic";
      });
    });
    return failure(result.wasInterrupted());
  }

  void addDecode(func::FuncOp prefill, int64_t bucket) {
    SymbolTable symbols(getOperation());
    StringAttr suffix = StringAttr::get(&getContext(), "_" + Twine(bucket));
    // The bodies first, in the order of their first call; a body calls no other.
    llvm::MapVector<StringAttr, StringAttr> bodies;
    prefill.walk([&](func::CallOp call) { bodies.insert({call.getCalleeAttr().getAttr(), {}}); });
    OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
    for (auto &[name, copy] : bodies) {
      auto body = symbols.lookup<func::FuncOp>(name).clone();
      copy = builder.getStringAttr(name.getValue() + suffix.getValue());
      body.setSymNameAttr(copy);
      builder.insert(body);
      makeStatic(body, bucket);
    }
    func::FuncOp decode = prefill.clone();
    decode.setSymNameAttr(builder.getStringAttr("decode" + suffix.getValue()));
    decode->setAttr(kEntryAttr, builder.getStringAttr("decode"));
    decode->setAttr(kBucketAttr, builder.getI64IntegerAttr(bucket));
    builder.insert(decode);
    decode.walk([&](func::CallOp call) {
      call.setCalleeAttr(FlatSymbolRefAttr::get(bodies[call.getCalleeAttr().getAttr()]));
    });
    takeEveryRow(decode);
    makeStatic(decode, bucket);
  }

  /// Each row of a decode step is the last of its sequence: the choice of rows disappears, and its
  /// argument with it.
  static void takeEveryRow(func::FuncOp decode) {
    decode.walk([](TakeRowsOp take) {
      take.getResult().replaceAllUsesWith(take.getX());
      take.erase();
    });
    if (BlockArgument rows = findLogitRows(decode))
      (void)decode.eraseArgument(rows.getArgNumber());
  }

  static void makeStatic(func::FuncOp function, int64_t bucket) {
    MLIRContext *context = function.getContext();
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](RankedTensorType type) -> std::optional<Type> {
      if (!isa_and_nonnull<SymAttr>(type.getEncoding()))
        return std::nullopt;
      SmallVector<int64_t> shape(type.getShape());
      shape[0] = bucket;
      return RankedTensorType::get(shape, type.getElementType());
    });
    replacer.addReplacement([&](BatchType type) -> std::optional<Type> {
      return BatchType::get(context, "", "", bucket);
    });
    replacer.addReplacement([&](StackType type) -> std::optional<Type> {
      return StackType::get(context, type.getCapacity(), type.getHidden(), type.getElementType(),
                            "", bucket);
    });
    replacer.recursivelyReplaceElementsIn(function, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    function.walk([&](DimOp dim) {
      OpBuilder builder(dim);
      dim.getResult().replaceAllUsesWith(
          arith::ConstantIndexOp::create(builder, dim.getLoc(), bucket));
      dim.erase();
    });
  }
};

} // namespace
