//===- Attention.cpp - Attention over a paged latent cache ----------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One block a token and a group of heads, which share every cache row they read; softmax is online
// over the pages of the sequence. The same kernel serves ragged and static batches: a row's own
// position is its causal limit.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/lower/Lowering.h"

using namespace mlir;

namespace k3::lower {

LogicalResult lowerAttention(model::FusedOp group, Context &context) {
  auto op = *group.getBody().front().getOps<model::LatentAttentionOp>().begin();
  auto cache = cast<model::LatentCacheType>(op.getCache().getType());
  int64_t heads = op.getHeads(), latent = op.getLatent(), width = cache.getWidth(),
          page = cache.getPage();
  int64_t block = std::min(heads, context.knobs.attentionHeads);
  double scale = op.getScale().convertToDouble();

  KernelBuilder k(context.host, context.kernels, group.getLoc(), group.getResultTypes());
  TileMath m(k);
  Value zero = k.index(0), head = m.mul(k.blockId(tile::GridAxis::X), k.index(block));
  Value row = k.blockId(tile::GridAxis::Y), rows = k.rows(op.getQ().getType()),
        rowLimit = m.add(row, k.index(1));
  Value seqs = k.rows(op.getBatch().getType());
  Value sequence = m.readIndex(k.batchView(op.getBatch(), "token_seq"), {row}, {rows});
  Value position = m.readIndex(k.batchView(op.getBatch(), "token_pos"), {row}, {rows});
  Value slot = m.readIndex(k.batchView(op.getBatch(), "seq_slots"), {sequence}, {seqs});
  Value table = k.batchView(op.getBatch(), "page_table");
  int64_t pages = cast<tile::ViewType>(table.getType()).getShape()[1];
  Value outColumn = m.mul(head, k.index(latent)), outLimit = k.index(heads * latent);

  m.when(m.lessIndex(slot, zero), [&] {
    m.store(m.splat({1, block * latent}, 0.0), k.resultView(0), {row, outColumn},
            {rowLimit, outLimit});
  });
  m.when(m.atLeast(slot, zero), [&] {
    Columns source = resolveColumns(op.getQ());
    Value q = m.reshape(m.load(k.view(source.tensor), {1, block * width},
                               {row, m.add(m.mul(head, k.index(width)), k.index(source.begin))},
                               {rowLimit, k.index(source.begin + heads * width)}),
                        {block, width});
    Value seen = m.add(position, k.index(1)), cacheView = k.view(op.getCache());
    double infinity = std::numeric_limits<double>::infinity();
    SmallVector<Value> inits{m.splat({block, latent}, 0.0), m.splat({block, 1}, -infinity),
                             m.splat({block, 1}, 0.0)};
    ValueRange result = m.loop(zero, seen, page, inits, [&](Value first, ValueRange carried) {
      Value acc = carried[0], top = carried[1], total = carried[2];
      Value left = m.sub(seen, first);
      Value pageIndex =
          m.readIndex(table, {sequence, m.div(first, k.index(page))}, {seqs, k.index(pages)});
      Value keys =
          m.load(cacheView, {page, width}, {pageIndex, zero, zero},
                 {m.add(pageIndex, k.index(1)), m.minIndex(left, k.index(page)), k.index(width)});
      Value raw = m.mma(m.splat({block, page}, 0.0), q, keys, false, true);
      Value leftNarrow = arith::IndexCastOp::create(k.b, k.b.getI32Type(), left);
      Value scores = m.map({raw, m.iota({1, page}, 1)}, [&](ArrayRef<Scalar> s) {
        return select(lessThan(s[1], Scalar{s[1].b, leftNarrow}), s[0] * scale,
                      s[0].constant(-infinity));
      });
      Value next =
          m.map({top, m.max(scores, 1)}, [](ArrayRef<Scalar> s) { return maximum(s[0], s[1]); });
      Value keep = m.map({top, next}, [](ArrayRef<Scalar> s) { return exp(s[0] - s[1]); });
      Value weights = m.map({scores, next}, [](ArrayRef<Scalar> s) { return exp(s[0] - s[1]); });
      Value faded = m.map({acc, keep}, [](ArrayRef<Scalar> s) { return s[0] * s[1]; });
      Value latents = latent == width ? keys : m.extract(keys, {page, latent}, {zero, zero});
      Value sum = m.map({total, keep, m.sum(weights, 1)},
                        [](ArrayRef<Scalar> s) { return s[0] * s[1] + s[2]; });
      return SmallVector<Value>{m.mma(faded, weights, latents), next, sum};
    });
    Value u = m.map({result[0], result[2]}, [](ArrayRef<Scalar> s) { return s[0] / s[1]; });
    m.store(m.reshape(u, {1, block * latent}), k.resultView(0), {row, outColumn},
            {rowLimit, outLimit});
  });

  std::string name = "attention_h" + std::to_string(heads) + "_w" + std::to_string(width) + "_r" +
                     std::to_string(latent) + "_" + typeName(op.getResult().getType());
  auto launch = k.finish(name, k.hostIndex(llvm::divideCeil(heads, block)),
                         k.hostRows(op.getQ().getType()), k.hostIndex(1));
  group.replaceAllUsesWith(launch.getResults());
  group.erase();
  return success();
}

} // namespace k3::lower
