//===- Attention.cpp - Attention over a paged latent cache ----------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One block a token and a group of heads, which share every cache row they read; softmax is online
// over the pages of the sequence. The same kernel serves ragged and static batches: a row's own
// position is its causal limit. Where few rows would leave most of a GPU idle, the pages are dealt
// out to several blocks a row and a second kernel joins their results.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/lower/Lowering.h"

using namespace mlir;

namespace k3::lower {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The extents of an attention and of its tiles.
struct AttentionShape {
  AttentionShape(model::LatentAttentionOp op, const Knobs &knobs);

  int64_t heads, latent, width, page;
  /// Heads of a block and keys of a step.
  int64_t block, keys;
  /// Blocks that share the pages of one row.
  int64_t splits = 1;
  /// The softmax weights are rounded to bf16, so that both products have operands of one type.
  bool narrow = false;

  int64_t blocks() const { return llvm::divideCeil(heads, block); }
};

AttentionShape::AttentionShape(model::LatentAttentionOp op, const Knobs &knobs)
    : heads(op.getHeads()), latent(op.getLatent()) {
  auto cache = cast<model::LatentCacheType>(op.getCache().getType());
  auto q = cast<RankedTensorType>(op.getQ().getType());
  width = cache.getWidth();
  page = keys = cache.getPage();
  block = std::min(heads, knobs.attentionHeads);
  if (!knobs.attentionBytes)
    return;

  narrow = cache.getElementType().isBF16() && q.getElementType().isBF16();
  int64_t bytes = narrow ? 2 : 4;
  auto fits = [&] {
    int64_t aHead = width * bytes + latent * 4 + keys * (4 + bytes);
    return block * aHead + keys * width * bytes <= knobs.attentionBytes;
  };
  // Fewer keys a step cost barriers; fewer heads a block read the cache again.
  while (!fits() && keys > 16 && keys % 2 == 0)
    keys /= 2;
  while (!fits() && block > 1)
    block = llvm::divideCeil(block, 2);
  if (!cast<model::BatchType>(op.getBatch().getType()).getTokens().empty())
    return;
  auto limits = op->getParentOfType<ModuleOp>()->getAttrOfType<DictionaryAttr>(model::kLimitsAttr);
  int64_t context = limits.getAs<IntegerAttr>("max_context").getInt();
  int64_t wanted = knobs.attentionBlocks / (q.getDimSize(0) * blocks());
  splits = std::clamp<int64_t>(wanted, 1, llvm::divideCeil(context, page));
}

/// A kernel with one row of queries a block: where the row belongs, and what it sees.
class AttentionKernel {
public:
  AttentionKernel(model::LatentAttentionOp op, const AttentionShape &shape, Context &context,
                  TypeRange results)
      : k(context.host, context.kernels, op.getLoc(), results), m(k), op(op), shape(shape),
        zero(k.index(0)) {}

  /// For a group of heads: outputs of a row, or what its share of the pages comes to.
  void attendAll();
  void attendShare();
  /// For one head: the outputs of a row from what its shares came to.
  void join(ValueRange shares, int64_t columns);
  tile::LaunchOp finish(StringRef name, int64_t gridX, int64_t gridZ);

private:
  KernelBuilder k;
  TileMath m;
  model::LatentAttentionOp op;
  const AttentionShape &shape;
  Value zero, head, row, rows, rowLimit, seqs, sequence, position, slot, table;
  int64_t tablePages = 0;

  void locate(Value rowOfBlock);
  Value loadQueries();
  ValueRange attend(Value q, Value begin, Value end, Value seen);
  Value keysOfShare(Value seen);
};

} // namespace

void AttentionKernel::locate(Value rowOfBlock) {
  row = rowOfBlock;
  rows = k.rows(op.getQ().getType());
  rowLimit = m.add(row, k.index(1));
  seqs = k.rows(op.getBatch().getType());
  sequence = m.readIndex(k.batchView(op.getBatch(), "token_seq"), {row}, {rows});
  position = m.readIndex(k.batchView(op.getBatch(), "token_pos"), {row}, {rows});
  slot = m.readIndex(k.batchView(op.getBatch(), "seq_slots"), {sequence}, {seqs});
}

/// The block's heads of the row, one a line.
Value AttentionKernel::loadQueries() {
  Columns source = resolveColumns(op.getQ());
  Value column = m.add(m.mul(head, k.index(shape.width)), k.index(source.begin));
  return m.reshape(m.load(k.view(source.tensor), {1, shape.block * shape.width}, {row, column},
                          {rowLimit, k.index(source.begin + shape.heads * shape.width)}),
                   {shape.block, shape.width});
}

/// Softmax over the keys begin .. end - 1, the first of a page and at most `seen`: the sum of
/// latents weighted by exp(score - top), top, and the sum of the weights, a head a line.
ValueRange AttentionKernel::attend(Value q, Value begin, Value end, Value seen) {
  int64_t block = shape.block, keys = shape.keys, page = shape.page, latent = shape.latent;
  double scale = op.getScale().convertToDouble();
  Value cache = k.view(op.getCache());
  SmallVector<Value> inits{m.splat({block, latent}, 0.0), m.splat({block, 1}, -kInfinity),
                           m.splat({block, 1}, 0.0)};
  return m.loop(begin, end, keys, inits, [&](Value first, ValueRange carried) {
    Value acc = carried[0], top = carried[1], total = carried[2];
    Value left = m.sub(seen, first);
    Value place =
        m.readIndex(table, {sequence, m.div(first, k.index(page))}, {seqs, k.index(tablePages)});
    Value inPage = keys == page ? zero : m.rem(first, k.index(page));
    Value cells = m.load(cache, {keys, shape.width}, {place, inPage, zero},
                         {m.add(place, k.index(1)), m.add(inPage, m.minIndex(left, k.index(keys))),
                          k.index(shape.width)});
    Value raw = m.mma(m.splat({block, keys}, 0.0), q, cells, false, true);
    Value leftNarrow = arith::IndexCastOp::create(k.b, k.b.getI32Type(), left);
    Value scores = m.map({raw, m.iota({1, keys}, 1)}, [&](ArrayRef<Scalar> s) {
      return select(lessThan(s[1], Scalar{s[1].b, leftNarrow}), s[0] * scale,
                    s[0].constant(-kInfinity));
    });
    Value next =
        m.map({top, m.max(scores, 1)}, [](ArrayRef<Scalar> s) { return maximum(s[0], s[1]); });
    Value keep = m.map({top, next}, [](ArrayRef<Scalar> s) { return exp(s[0] - s[1]); });
    Value weights = m.map({scores, next}, [](ArrayRef<Scalar> s) { return exp(s[0] - s[1]); });
    Value faded = m.map({acc, keep}, [](ArrayRef<Scalar> s) { return s[0] * s[1]; });
    Value latents = latent == shape.width ? cells : m.extract(cells, {keys, latent}, {zero, zero});
    Value sum = m.map({total, keep, m.sum(weights, 1)},
                      [](ArrayRef<Scalar> s) { return s[0] * s[1] + s[2]; });
    if (shape.narrow)
      weights =
          tile::CastOp::create(k.b, tile::TileType::get({block, keys}, k.b.getBF16Type()), weights);
    return SmallVector<Value>{m.mma(faded, weights, latents), next, sum};
  });
}

void AttentionKernel::attendAll() {
  int64_t block = shape.block, latent = shape.latent;
  head = m.mul(k.blockId(tile::GridAxis::X), k.index(block));
  locate(k.blockId(tile::GridAxis::Y));
  table = k.batchView(op.getBatch(), "page_table");
  tablePages = cast<tile::ViewType>(table.getType()).getShape()[1];
  Value outColumn = m.mul(head, k.index(latent)), outLimit = k.index(shape.heads * latent);
  auto storeRow = [&](Value value) {
    m.store(value, k.resultView(0), {row, outColumn}, {rowLimit, outLimit});
  };
  m.when(m.lessIndex(slot, zero), [&] { storeRow(m.splat({1, block * latent}, 0.0)); });
  m.when(m.atLeast(slot, zero), [&] {
    Value q = loadQueries(), seen = m.add(position, k.index(1));
    ValueRange sums = attend(q, zero, seen, seen);
    Value u = m.map({sums[0], sums[2]}, [](ArrayRef<Scalar> s) { return s[0] / s[1]; });
    storeRow(m.reshape(u, {1, block * latent}));
  });
}

/// A share is a whole number of pages, and the first shares have as many as any.
Value AttentionKernel::keysOfShare(Value seen) {
  Value keysInAll = k.index(shape.page * shape.splits);
  Value pages = m.div(m.add(seen, m.sub(keysInAll, k.index(1))), keysInAll);
  return m.mul(pages, k.index(shape.page));
}

/// A block whose share is empty leaves without a word: whoever joins the shares knows which exist.
void AttentionKernel::attendShare() {
  int64_t block = shape.block, latent = shape.latent;
  head = m.mul(k.blockId(tile::GridAxis::X), k.index(block));
  locate(k.blockId(tile::GridAxis::Y));
  table = k.batchView(op.getBatch(), "page_table");
  tablePages = cast<tile::ViewType>(table.getType()).getShape()[1];
  Value share = k.blockId(tile::GridAxis::Z), shareLimit = m.add(share, k.index(1));
  Value seen = m.add(position, k.index(1)), count = keysOfShare(seen);
  Value begin = m.mul(share, count), end = m.minIndex(m.add(begin, count), seen);
  Value some = arith::AndIOp::create(k.b, m.atLeast(slot, zero), m.lessIndex(begin, end));
  m.when(some, [&] {
    ValueRange sums = attend(loadQueries(), begin, end, seen);
    m.store(m.reshape(sums[0], {1, block * latent}), k.resultView(0),
            {row, share, m.mul(head, k.index(latent))},
            {rowLimit, shareLimit, k.index(shape.heads * latent)});
    for (unsigned i : {1, 2})
      m.store(m.reshape(sums[i], {1, block}), k.resultView(i), {row, share, head},
              {rowLimit, shareLimit, k.index(shape.heads)});
  });
}

void AttentionKernel::join(ValueRange shares, int64_t columns) {
  head = k.blockId(tile::GridAxis::X);
  locate(k.blockId(tile::GridAxis::Y));
  Value first = m.mul(k.blockId(tile::GridAxis::Z), k.index(columns));
  Value column = m.add(m.mul(head, k.index(shape.latent)), first);
  Value limit = m.mul(m.add(head, k.index(1)), k.index(shape.latent));
  auto storeRow = [&](Value value) {
    m.store(value, k.resultView(0), {row, column}, {rowLimit, limit});
  };
  m.when(m.lessIndex(slot, zero), [&] { storeRow(m.splat({1, columns}, 0.0)); });
  m.when(m.atLeast(slot, zero), [&] {
    Value seen = m.add(position, k.index(1)), count = keysOfShare(seen);
    Value used = m.div(m.add(seen, m.sub(count, k.index(1))), count);
    Value usedNarrow = arith::IndexCastOp::create(k.b, k.b.getI32Type(), used);
    auto loadShares = [&](unsigned i, int64_t width, Value from, Value to) {
      return m.load(k.view(shares[i]), {shape.splits, width}, {row, zero, from},
                    {rowLimit, used, to});
    };
    Value headLimit = m.add(head, k.index(1)), number = m.iota({shape.splits, 1}, 0);
    auto ifUsed = [&](Scalar share, Scalar value, double otherwise) {
      return select(lessThan(share, Scalar{share.b, usedNarrow}), value, value.constant(otherwise));
    };
    // What a share that is not used would hold was never written.
    Value tops = m.map({loadShares(1, 1, head, headLimit), number},
                       [&](ArrayRef<Scalar> s) { return ifUsed(s[1], s[0], -kInfinity); });
    Value weights =
        m.map({tops, m.max(tops, 0)}, [](ArrayRef<Scalar> s) { return exp(s[0] - s[1]); });
    auto product = [](ArrayRef<Scalar> s) { return s[0] * s[1]; };
    Value total = m.sum(m.map({loadShares(2, 1, head, headLimit), weights}, product), 0);
    Value sum = m.sum(m.map({loadShares(0, columns, column, limit), weights}, product), 0);
    storeRow(m.map({sum, total}, [](ArrayRef<Scalar> s) { return s[0] / s[1]; }));
  });
}

tile::LaunchOp AttentionKernel::finish(StringRef name, int64_t gridX, int64_t gridZ) {
  return k.finish(name, k.hostIndex(gridX), k.hostRows(op.getQ().getType()), k.hostIndex(gridZ));
}

LogicalResult lowerAttention(model::FusedOp group, Context &context) {
  auto op = *group.getBody().front().getOps<model::LatentAttentionOp>().begin();
  AttentionShape shape(op, context.knobs);
  std::string suffix = "_h" + std::to_string(shape.heads) + "_w" + std::to_string(shape.width) +
                       "_r" + std::to_string(shape.latent);
  std::string type = "_" + typeName(op.getResult().getType());

  tile::LaunchOp launch;
  if (shape.splits == 1) {
    AttentionKernel kernel(op, shape, context, group.getResultTypes());
    kernel.attendAll();
    launch = kernel.finish("attention" + suffix + type, shape.blocks(), 1);
  } else {
    Type f32 = Float32Type::get(group.getContext());
    int64_t rows = cast<RankedTensorType>(op.getQ().getType()).getDimSize(0);
    auto ofShares = [&](int64_t columns) {
      return RankedTensorType::get({rows, shape.splits, columns}, f32);
    };
    SmallVector<Type> sums{ofShares(shape.heads * shape.latent), ofShares(shape.heads),
                           ofShares(shape.heads)};
    suffix += "_s" + std::to_string(shape.splits);
    AttentionKernel kernel(op, shape, context, sums);
    kernel.attendShare();
    tile::LaunchOp shares =
        kernel.finish("attention_share" + suffix + type, shape.blocks(), shape.splits);
    int64_t columns = std::min<int64_t>(shape.latent, 128);
    AttentionKernel joining(op, shape, context, group.getResultTypes());
    joining.join(shares.getResults(), columns);
    launch = joining.finish("attention_join" + suffix + type, shape.heads,
                            llvm::divideCeil(shape.latent, columns));
  }
  group.replaceAllUsesWith(launch.getResults());
  group.erase();
  return success();
}

} // namespace k3::lower
