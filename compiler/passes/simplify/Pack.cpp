//===- Pack.cpp - Projections of one input as one -------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packs k3.linear ops that read the same value into one with a packed weight, so that the input is
// read once and small projections fill the machine; the gate and up halves of a gated activation
// are packed on their own.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "dialects/k3/K3Ops.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace k3 {
#define GEN_PASS_DEF_PACKPASS
#include "compiler/passes/Passes.h.inc"
} // namespace k3

namespace {

/// Linears with equal keys are packed: input, element types of result and weight, and the
/// activation they feed.
using PackKey = std::tuple<Value, Type, Type, Operation *>;

struct Pack : k3::impl::PackPassBase<Pack> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    getOperation().walk([&](func::FuncOp function) {
      if (!function.isDeclaration())
        packBlock(function.getBody().front(), symbols);
    });
    eraseUnusedParams();
  }

  /// The k3.glu that is the only user, or null.
  static Operation *getActivation(k3::model::LinearOp linear) {
    if (!linear.getResult().hasOneUse())
      return nullptr;
    return dyn_cast<k3::model::GluOp>(*linear.getResult().getUsers().begin());
  }

  void packBlock(Block &block, SymbolTable &symbols) {
    llvm::MapVector<PackKey, SmallVector<k3::model::LinearOp>> groups;
    for (auto linear : block.getOps<k3::model::LinearOp>()) {
      auto element = [](Value v) { return cast<RankedTensorType>(v.getType()).getElementType(); };
      if (linear.getWeight().getDefiningOp<k3::model::WeightOp>())
        groups[{linear.getX(), element(linear.getResult()), element(linear.getWeight()),
                getActivation(linear)}]
            .push_back(linear);
    }
    for (auto &[key, linears] : groups) {
      if (linears.size() < 2)
        continue;
      // The lowering of a pair expects the gate first.
      if (auto glu = cast_or_null<k3::model::GluOp>(std::get<3>(key)))
        if (glu.getGate() != linears.front().getResult())
          std::swap(linears.front(), linears.back());
      pack(linears, symbols);
    }
  }

  void pack(ArrayRef<k3::model::LinearOp> linears, SymbolTable &symbols) {
    // The packed op stands where the first of them stood; weights are constants and move up with
    // it.
    k3::model::LinearOp first = *std::min_element(
        linears.begin(), linears.end(), [](auto a, auto b) { return a->isBeforeInBlock(b); });
    OpBuilder builder(first);
    SmallVector<k3::model::ParamOp> params;
    SmallVector<Location> locations;
    for (auto linear : linears) {
      auto weight = linear.getWeight().getDefiningOp<k3::model::WeightOp>();
      params.push_back(symbols.lookup<k3::model::ParamOp>(weight.getParam()));
      locations.push_back(linear.getLoc());
    }
    k3::model::ParamOp packed = packParams(params, symbols);
    Location loc = builder.getFusedLoc(locations);
    auto weightType = cast<RankedTensorType>(packed.getType());
    auto like = cast<RankedTensorType>(first.getResult().getType());
    Value weight = k3::model::WeightOp::create(builder, loc, weightType, packed.getSymName());
    auto type = RankedTensorType::get({like.getDimSize(0), weightType.getDimSize(0)},
                                      like.getElementType(), like.getEncoding());
    Value all = k3::model::LinearOp::create(builder, loc, type, first.getX(), weight);
    int64_t begin = 0;
    for (auto linear : linears) {
      auto resultType = cast<RankedTensorType>(linear.getResult().getType());
      Value part = k3::model::SliceOp::create(builder, linear.getLoc(), resultType, all,
                                              builder.getI64IntegerAttr(begin));
      begin += resultType.getDimSize(1);
      linear.getResult().replaceAllUsesWith(part);
    }
    for (auto linear : linears)
      linear.erase();
  }

  k3::model::ParamOp packParams(MutableArrayRef<k3::model::ParamOp> params, SymbolTable &symbols) {
    StringRef front = params.front().getSymName();
    StringRef prefix = front.take_front(front.rfind('.') + 1);
    std::string name = front.str();
    for (auto param : params.drop_front()) {
      StringRef rest = param.getSymName();
      rest.consume_front(prefix);
      name += ("+" + rest).str();
    }
    OpBuilder builder(params.back());
    builder.setInsertionPointAfter(params.back());
    SmallVector<Attribute> pieces;
    SmallVector<Location> locations;
    int64_t rows = 0;
    auto firstType = cast<RankedTensorType>(params.front().getType());
    int64_t columns = firstType.getDimSize(1);
    for (k3::model::ParamOp &param : params) {
      int64_t count = cast<RankedTensorType>(param.getType()).getDimSize(0);
      for (k3::model::PieceAttr piece : param.getPieceList())
        pieces.push_back(k3::model::PieceAttr::get(
            &getContext(), piece.getSource(), piece.getRows(), piece.getCols(), piece.getBegin(),
            piece.getSrcStride(), piece.getAt() + rows * columns, piece.getDstStride(),
            piece.getCount(), piece.getIndexStride(), piece.getTranspose()));
      rows += count;
      locations.push_back(param.getLoc());
    }
    auto type = RankedTensorType::get({rows, columns}, firstType.getElementType());
    ArrayAttr recipe = builder.getArrayAttr(pieces);
    // Bodies that pack the same weights share one param. A name alone may be met by chance, its
    // pieces may not.
    if (auto known = symbols.lookup<k3::model::ParamOp>(name);
        known && known.getType() == type && known.getPiecesAttr() == recipe)
      return known;
    auto packed =
        k3::model::ParamOp::create(builder, builder.getFusedLoc(locations), name, type, recipe);
    symbols.insert(packed);
    return packed;
  }

  void eraseUnusedParams() {
    llvm::StringSet<> used;
    getOperation().walk([&](k3::model::WeightOp weight) {
      if (weight.use_empty())
        weight.erase();
      else
        used.insert(weight.getParam());
    });
    for (auto param : llvm::make_early_inc_range(getOperation().getOps<k3::model::ParamOp>()))
      if (!used.contains(param.getSymName()))
        param.erase();
  }
};

} // namespace
