//===- Fuse.cpp - Grouping ops into kernels -------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Wraps every computing op of a function into k3.fused groups by three rules, and says in a remark
// why an op that could have joined a group did not, and what that costs.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "dialects/k3/K3Ops.h"

using namespace mlir;

namespace k3 {
#define GEN_PASS_DEF_FUSEPASS
#include "compiler/passes/Passes.h.inc"
} // namespace k3

namespace {

using namespace k3::model;

/// Ops that name or address something and compute nothing; they stay outside of groups.
bool isAddressing(Operation *op) {
  return isa<WeightOp, RefOp, DimOp, SliceOp, BatchFieldOp, StackOp, TapOp, arith::ConstantOp>(op);
}
bool isElementwise(Operation *op) { return isa<AddOp, GateOp, GluOp, CastOp>(op); }
bool isRowWise(Operation *op) {
  return isElementwise(op) || isa<EmbedOp, TakeRowsOp, RmsNormOp, GatedRmsNormOp, AttnResMixOp,
                                  AttnResPushOp, RouterOp, LatentAppendOp, CombineOp>(op);
}

/// Symbol of the rows an op works on, or the static count.
std::pair<StringRef, int64_t> getRows(Operation *op) {
  Value value = op->getNumResults() ? op->getResult(0) : op->getOperand(0);
  if (auto push = dyn_cast<AttnResPushOp>(op))
    value = push.getH();
  auto type = cast<RankedTensorType>(value.getType());
  if (auto sym = dyn_cast_or_null<SymAttr>(type.getEncoding()))
    return {sym.getName(), 0};
  return {"", type.getDimSize(0)};
}

struct Fuse : k3::impl::FusePassBase<Fuse> {
  using FusePassBase::FusePassBase;

  void runOnOperation() override {
    for (const std::string &rule : disabled)
      if (rule != "scan" && rule != "tail" && rule != "row") {
        getOperation().emitError()
            << "no-fuse: unknown rule (got '" << rule << "', expected scan, tail or row)";
        return signalPassFailure();
      }
    getOperation().walk([&](func::FuncOp function) {
      if (function.isDeclaration())
        return;
      Block &block = function.getBody().front();
      groupScans(block);
      groupContractions(block);
      groupRows(block);
      groupOthers(block);
    });
  }

  bool isOn(StringRef rule) { return !llvm::is_contained(disabled, rule); }

  /// Moves `members` (in program order) into a group where the last of them stands. Values used
  /// outside become results. A kernel stores something: when nothing is used, that is what the last
  /// member gives.
  FusedOp wrap(ArrayRef<Operation *> members, StringRef family) {
    llvm::SmallPtrSet<Operation *, 8> inside(members.begin(), members.end());
    SmallVector<Value> results;
    SmallVector<Location> locations;
    for (Operation *op : members) {
      locations.push_back(op->getLoc());
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(),
                         [&](Operation *user) { return !inside.contains(user); }))
          results.push_back(result);
    }
    if (results.empty())
      llvm::append_range(results, members.back()->getResults());
    OpBuilder builder(members.back());
    auto group = FusedOp::create(builder, builder.getFusedLoc(locations),
                                 TypeRange(ValueRange(results)), family);
    Block &body = group.getBody().emplaceBlock();
    for (Operation *op : members)
      op->moveBefore(&body, body.end());
    builder.setInsertionPointToEnd(&body);
    k3::model::YieldOp::create(builder, group.getLoc(), results);
    for (auto [inner, outer] : llvm::zip(results, group.getResults()))
      inner.replaceUsesWithIf(
          outer, [&](OpOperand &use) { return !group->isProperAncestor(use.getOwner()); });
    return group;
  }

  // The recurrence reads its inputs once a head, so what is per head can join: the convolutions of
  // a static batch (they must, since only the block of a head may shift its channels) and the gated
  // norm.
  void groupScans(Block &block) {
    for (auto kda : llvm::to_vector(block.getOps<KdaOp>())) {
      SmallVector<Operation *> members;
      if (cast<BatchType>(kda.getBatch().getType()).getTokens().empty())
        for (Value input : {kda.getQ(), kda.getK(), kda.getV()})
          if (auto conv = input.getDefiningOp<ShortConvOp>(); conv && conv->hasOneUse())
            members.push_back(conv);
      members.push_back(kda);
      if (kda.getResult().hasOneUse() && isOn("scan"))
        if (auto norm = dyn_cast<GatedRmsNormOp>(*kda.getResult().getUsers().begin());
            norm && norm.getX() == kda.getResult() && normsHeadsOf(norm, kda))
          members.push_back(norm);
      wrap(members, "scan");
    }
  }

  /// Whether the norm's heads are those of the recurrence: any other width that divides the row is
  /// a norm over other groups of columns.
  static bool normsHeadsOf(GatedRmsNormOp norm, KdaOp kda) {
    int64_t width = cast<RankedTensorType>(norm.getGain().getType()).getNumElements();
    return width == cast<KdaStateType>(kda.getState().getType()).getValue();
  }

  void groupContractions(Block &block) {
    // Grouping moves ops behind the anchor, so the anchors are listed first.
    SmallVector<Operation *> anchors;
    for (Operation &op : block)
      if (isa<LinearOp, HeadLinearOp>(op))
        anchors.push_back(&op);
    for (Operation *anchor : anchors) {
      SmallVector<Operation *> members{anchor};
      Value value = anchor->getResult(0);
      if (GluOp glu = matchGatedPair(*anchor, members))
        value = glu.getResult();
      // Columns that a head passes through are stored beside the product and see no tail.
      auto head = dyn_cast<HeadLinearOp>(anchor);
      while (isOn("tail") && !(head && head.getPassBegin() >= 0)) {
        Operation *next = getTail(value);
        if (!next)
          break;
        members.push_back(next);
        value = next->getResult(0);
      }
      wrap(members, isa<LinearOp>(anchor) ? "contraction" : "head_contraction");
    }
  }

  /// A packed gate and up projection whose halves only feed one activation: all of it is one
  /// kernel.
  GluOp matchGatedPair(Operation &op, SmallVector<Operation *> &members) {
    SmallVector<SliceOp> halves;
    GluOp glu;
    for (Operation *user : op.getResult(0).getUsers()) {
      auto half = dyn_cast<SliceOp>(user);
      if (!half || !half.getResult().hasOneUse())
        return {};
      auto activation = dyn_cast<GluOp>(*half.getResult().getUsers().begin());
      if (!activation || (glu && glu != activation))
        return {};
      glu = activation;
      halves.push_back(half);
    }
    if (halves.size() != 2 || !isa<LinearOp>(op))
      return {};
    llvm::sort(halves, [](SliceOp a, SliceOp b) { return a.getBegin() < b.getBegin(); });
    auto columns = [](Value v) { return cast<RankedTensorType>(v.getType()).getDimSize(1); };
    int64_t width = columns(halves[0].getResult());
    if (halves[0].getBegin() != 0 || halves[1].getBegin() != width ||
        columns(op.getResult(0)) != 2 * width)
      return {};
    if (glu.getGate() != halves[0].getResult() || glu.getUp() != halves[1].getResult())
      return {};
    members.append({halves[0], halves[1], glu});
    return glu;
  }

  /// The elementwise op that alone reads `value`, or null with a remark when it is only the number
  /// of uses that hinders.
  Operation *getTail(Value value) {
    if (value.hasOneUse()) {
      Operation *user = *value.getUsers().begin();
      bool free = isElementwise(user) && user->getBlock() == value.getParentBlock() &&
                  !user->getParentOfType<FusedOp>();
      return free ? user : nullptr;
    }
    for (Operation *user : value.getUsers())
      if (isElementwise(user) && user->getBlock() == value.getParentBlock() &&
          user->getNumOperands() == 2 &&
          llvm::hasSingleElement(
              llvm::make_filter_range(user->getOperands(), [&](Value v) { return v == value; })))
        emitRemark(value.getLoc())
            << "fuse: '" << user->getName() << "' stays outside of the contraction, because "
            << std::distance(value.use_begin(), value.use_end())
            << " ops read its input; costs one store and one load of "
            << cast<RankedTensorType>(value.getType()).getDimSize(1) << " columns a row";
    return nullptr;
  }

  /// Row-wise ops in a row, over the same rows. A chain ends at an op of another kind, at other
  /// rows, and at a slice of one of its own values, which has to exist in memory.
  void groupRows(Block &block) {
    SmallVector<Operation *> chain;
    auto flush = [&] {
      if (!chain.empty())
        wrap(chain, "row");
      chain.clear();
    };
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isAddressing(&op)) {
        bool readsChain = llvm::any_of(op.getOperands(), [&](Value v) {
          return llvm::is_contained(chain, v.getDefiningOp());
        });
        if (readsChain)
          flush();
        else if (!chain.empty() && !isa<TapOp>(op))
          op.moveBefore(chain.front());
        continue;
      }
      if (!isRowWise(&op)) {
        flush();
        continue;
      }
      if (!chain.empty() &&
          (!isOn("row") || isa<TakeRowsOp>(op) || getRows(&op) != getRows(chain.front())))
        flush();
      chain.push_back(&op);
    }
    flush();
  }

  void groupOthers(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isa<ExpertUpOp, ExpertDownOp>(op))
        wrap({&op}, "experts");
      else if (isa<ShortConvOp>(op))
        wrap({&op}, "conv");
      else if (isa<LatentAttentionOp>(op))
        wrap({&op}, "attention");
    }
  }
};

} // namespace
