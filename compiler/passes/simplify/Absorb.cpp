//===- Absorb.cpp - MLA over latent rows ----------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Absorbs the key and value halves of kv_b into the query and the output, so that attention reads
// the cache alone.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "dialects/k3/K3Ops.h"

#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace k3 {
#define GEN_PASS_DEF_ABSORBPASS
#include "compiler/passes/Passes.h.inc"
} // namespace k3

namespace {

struct AbsorbMla : OpRewritePattern<k3::model::MlaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(k3::model::MlaOp op, PatternRewriter &rewriter) const override {
    auto query = cast<RankedTensorType>(op.getQ().getType());
    int64_t heads = op.getHeads(), nope = op.getNope(), rope = op.getRope(), value = op.getValue();
    int64_t latent = cast<RankedTensorType>(op.getKvB().getType()).getDimSize(1);
    auto withColumns = [&](int64_t columns) {
      return RankedTensorType::get({query.getDimSize(0), columns}, query.getElementType(),
                                   query.getEncoding());
    };
    auto i64 = [&](int64_t v) { return rewriter.getI64IntegerAttr(v); };
    Location loc = op.getLoc();

    // q' = q_n W_UK, followed by the shared part of the query as it is.
    auto absorbed = k3::model::HeadLinearOp::create(
        rewriter, loc, withColumns(heads * (latent + rope)), op.getQ(), op.getKvB(), i64(heads),
        i64(nope + value), i64(0), i64(nope), rewriter.getUnitAttr(), i64(rope > 0 ? nope : -1),
        i64(rope));
    auto attended = k3::model::LatentAttentionOp::create(
        rewriter, loc, withColumns(heads * latent), absorbed.getResult(), op.getCache(),
        op.getBatch(), i64(heads), i64(latent), op.getScaleAttr());
    auto output = k3::model::HeadLinearOp::create(
        rewriter, loc, withColumns(heads * value), attended.getResult(), op.getKvB(), i64(heads),
        i64(nope + value), i64(nope), i64(value), UnitAttr(), i64(-1), i64(0));
    rewriter.replaceOp(op, output.getResult());
    return success();
  }
};

struct Absorb : k3::impl::AbsorbPassBase<Absorb> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<AbsorbMla>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
