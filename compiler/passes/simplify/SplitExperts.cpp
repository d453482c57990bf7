//===- SplitExperts.cpp - Experts in two halves and a sum -----------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits k3.experts so that each half becomes one kernel and the weighted sum can join the row-wise
// ops behind it.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "dialects/k3/K3Ops.h"

#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace k3 {
#define GEN_PASS_DEF_SPLITEXPERTSPASS
#include "compiler/passes/Passes.h.inc"
} // namespace k3

namespace {

struct SplitExpertsPattern : OpRewritePattern<k3::model::ExpertsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(k3::model::ExpertsOp op, PatternRewriter &rewriter) const override {
    auto z = cast<RankedTensorType>(op.getZ().getType());
    auto result = cast<RankedTensorType>(op.getResult().getType());
    int64_t topK = cast<RankedTensorType>(op.getIds().getType()).getDimSize(1);
    int64_t width = cast<RankedTensorType>(op.getGateUp().getType()).getDimSize(1) / 2;
    auto withColumns = [&](int64_t columns) {
      return RankedTensorType::get({z.getDimSize(0), columns}, result.getElementType(),
                                   z.getEncoding());
    };
    Location loc = op.getLoc();
    auto up = k3::model::ExpertUpOp::create(
        rewriter, loc, withColumns(topK * width), op.getZ(), op.getIds(), op.getGateUp(),
        op.getGateUpScale(), op.getActivationAttr(), op.getBetaAttr(), op.getLinearBetaAttr());
    auto down = k3::model::ExpertDownOp::create(
        rewriter, loc, withColumns(topK * result.getDimSize(1)), up.getResult(), op.getIds(),
        op.getDown(), op.getDownScale());
    rewriter.replaceOpWithNewOp<k3::model::CombineOp>(op, result, down.getResult(),
                                                      op.getWeights());
    return success();
  }
};

struct SplitExperts : k3::impl::SplitExpertsPassBase<SplitExperts> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SplitExpertsPattern>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
