//===- LowerToTile.cpp - Groups to kernels: the driver --------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks the functions in order and hands each fused group to the lowering of its family.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "compiler/passes/lower/Lowering.h"

using namespace mlir;

namespace k3 {
#define GEN_PASS_DEF_LOWERTOTILEPASS
#include "compiler/passes/Passes.h.inc"
} // namespace k3

namespace {

using Lowering = LogicalResult (*)(k3::model::FusedOp, k3::lower::Context &);

Lowering getLowering(StringRef family) {
  return llvm::StringSwitch<Lowering>(family)
      .Case("row", k3::lower::lowerRow)
      .Case("contraction", k3::lower::lowerContraction)
      .Case("head_contraction", k3::lower::lowerHeadContraction)
      .Case("experts", k3::lower::lowerExperts)
      .Case("conv", k3::lower::lowerConv)
      .Case("scan", k3::lower::lowerScan)
      .Case("attention", k3::lower::lowerAttention)
      .Default(nullptr);
}

/// The name of an op that the group's family needs and does not hold, or null.
const char *findMissing(k3::model::FusedOp group) {
  using namespace k3::model;
  Block &body = group.getBody().front();
  auto need = [&]<typename Op>(const char *name) {
    return body.getOps<Op>().empty() ? name : nullptr;
  };
  StringRef family = group.getFamily();
  if (family == "contraction")
    return need.operator()<LinearOp>("k3.linear");
  if (family == "head_contraction")
    return need.operator()<HeadLinearOp>("k3.head_linear");
  if (family == "conv")
    return need.operator()<ShortConvOp>("k3.short_conv");
  if (family == "scan")
    return need.operator()<KdaOp>("k3.kda");
  if (family == "attention")
    return need.operator()<LatentAttentionOp>("k3.latent_attention");
  return body.without_terminator().empty() ? "an op" : nullptr;
}

/// What is wrong with the values that a group yields, or null. The families around one anchor store
/// what their last op gives and nothing else.
const char *checkYield(k3::model::FusedOp group) {
  StringRef family = group.getFamily();
  if (family == "row")
    return nullptr;
  Operation *yield = group.getBody().front().getTerminator();
  if (yield->getNumOperands() == 0)
    return "yields nothing, and a kernel of its family stores a result";
  if (!family.ends_with("contraction") &&
      (yield->getNumOperands() != 1 ||
       yield->getOperand(0).getDefiningOp() != yield->getPrevNode()))
    return "stores what its last op gives, and the group yields other values";
  return nullptr;
}

struct LowerToTile : k3::impl::LowerToTilePassBase<LowerToTile> {
  using LowerToTilePassBase::LowerToTilePassBase;

  void runOnOperation() override {
    k3::lower::KernelTable kernels(getOperation());
    k3::lower::Knobs knobs =
        sharedBytes ? k3::lower::Knobs::forGpu(sharedBytes) : k3::lower::Knobs();
    OpBuilder builder(&getContext());
    k3::lower::Context context{builder, kernels, knobs};
    SmallVector<k3::model::FusedOp> groups;
    getOperation().walk([&](k3::model::FusedOp group) { groups.push_back(group); });
    for (k3::model::FusedOp group : groups) {
      Lowering lowering = getLowering(group.getFamily());
      if (!lowering) {
        group.emitOpError() << "family '" << group.getFamily()
                            << "' has no lowering; known: row, contraction, head_contraction, "
                               "experts, conv, scan, attention";
        return signalPassFailure();
      }
      if (const char *missing = findMissing(group)) {
        group.emitOpError() << "family '" << group.getFamily() << "' is built around " << missing
                            << " and the group has none; leave grouping to the fuse phase";
        return signalPassFailure();
      }
      if (const char *wrong = checkYield(group)) {
        group.emitOpError() << "family '" << group.getFamily() << "' " << wrong
                            << "; leave grouping to the fuse phase";
        return signalPassFailure();
      }
      bool paged = group.getBody()
                       .walk([](Operation *op) {
                         return WalkResult(success(
                             !isa<k3::model::LatentAppendOp, k3::model::LatentAttentionOp>(op)));
                       })
                       .wasInterrupted();
      if (paged && !getOperation()->hasAttr(k3::model::kLimitsAttr)) {
        group.emitOpError() << "reads a page table, but the module has no k3.limits to size it by; "
                               "add them with max_context and page_tokens";
        return signalPassFailure();
      }
      builder.setInsertionPoint(group);
      if (failed(lowering(group, context)))
        return signalPassFailure();
    }
    // Slices were read through; whatever the kernels did not need is gone.
    getOperation().walk([&](func::FuncOp function) {
      if (function.isDeclaration())
        return;
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
        if (isa<k3::model::SliceOp, k3::model::WeightOp, k3::model::RefOp>(op) && op.use_empty())
          op.erase();
    });
  }
};

} // namespace
