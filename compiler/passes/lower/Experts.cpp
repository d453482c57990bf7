//===- Experts.cpp - The halves of the chosen experts ---------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Few tokens take a block for every (token, choice) pair: no sorting, no padding. Many tokens are
// sorted by expert first, so that the rows of a tile share the weights that they are multiplied
// with.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/lower/Contraction.h"
#include "compiler/passes/lower/ExpertOrder.h"

using namespace mlir;

namespace k3::lower {

namespace {

/// Loads [bn, depth] numbers of an expert's matrix, bf16 or MXFP4.
class ExpertWeight {
public:
  ExpertWeight(KernelBuilder &k, TileMath &m, Value weight, Value scale, Value expert)
      : k(k), m(m), view(k.view(weight)), scaleView(scale ? k.view(scale) : Value()),
        expert(expert), experts(k.index(cast<RankedTensorType>(weight.getType()).getDimSize(0))) {}

  Value load(int64_t bn, int64_t depth, Value row, Value rowLimit, Value step, int64_t inner) {
    if (!scaleView)
      return m.load(view, {bn, depth}, {expert, row, step}, {experts, rowLimit, k.index(inner)});
    auto part = [&](Value from, int64_t per) {
      return m.load(from, {bn, depth / per}, {expert, row, m.div(step, k.index(per))},
                    {experts, rowLimit, k.index(inner / per)});
    };
    Value codes = part(view, 2), scales = part(scaleView, 32);
    return tile::DequantizeOp::create(k.b, m.f32({bn, depth}), codes, scales);
  }

private:
  KernelBuilder &k;
  TileMath &m;
  Value view, scaleView, expert, experts;
};

/// One half of the experts: what both schedules know of it.
struct Half {
  model::ExpertUpOp up;
  model::ExpertDownOp down;
  Value input, ids, weight, scale, result;
  Columns x;
  /// Choices of a token; numbers of a row of x and of a row of the result.
  int64_t topK, inner, n;

  explicit Half(Operation *op)
      : up(dyn_cast<model::ExpertUpOp>(op)), down(dyn_cast<model::ExpertDownOp>(op)) {
    if (!up && !down)
      return;
    input = up ? up.getZ() : down.getX();
    ids = up ? up.getIds() : down.getIds();
    weight = up ? up.getGateUp() : down.getDown();
    scale = up ? up.getScale() : down.getScale();
    result = op->getResult(0);
    topK = cast<RankedTensorType>(ids.getType()).getDimSize(1);
    x = resolveColumns(input);
    inner = up ? x.cols : x.cols / topK;
    n = cast<RankedTensorType>(result.getType()).getDimSize(1) / topK;
  }

  /// Matrices that read the same row: gate and up.
  int64_t parts() const { return up ? 2 : 1; }
  int64_t experts() const { return cast<RankedTensorType>(weight.getType()).getDimSize(0); }

  /// [rows, bn] of the result, from the sums of the parts.
  Value finish(TileMath &m, ArrayRef<Value> sums) {
    if (down)
      return sums[0];
    Type element = cast<RankedTensorType>(result.getType()).getElementType();
    std::optional<double> linearBeta;
    if (auto value = up.getLinearBeta())
      linearBeta = value->convertToDouble();
    return m.map({sums[0], sums[1]}, [&](ArrayRef<Scalar> s) {
      return roundTo(gluScalar(roundTo(s[0], element), roundTo(s[1], element), up.getActivation(),
                               up.getBeta().convertToDouble(), linearBeta),
                     element);
    });
  }

  std::string name(StringRef schedule) {
    return (StringRef(up ? "expert_up" : "expert_down") + schedule + (scale ? "_mxfp4" : "_bf16") +
            "_n" + Twine(n) + "_k" + Twine(inner) + "_" + typeName(result.getType()))
        .str();
  }
};

/// One block a pair and a tile of columns.
tile::LaunchOp lowerPairs(Half half, Location loc, Context &context) {
  KernelBuilder k(context.host, context.kernels, loc, {half.result.getType()});
  TileMath m(k);
  int64_t topK = half.topK, inner = half.inner, n = half.n;
  int64_t bn = chooseColumns(n, topK, context.knobs);
  Value rows = k.rows(half.input.getType());
  Value n0 = m.mul(k.blockId(tile::GridAxis::X), k.index(bn)), pair = k.blockId(tile::GridAxis::Y);
  Value row = m.div(pair, k.index(topK)), choice = m.rem(pair, k.index(topK));
  Value expert = m.readIndex(k.view(half.ids), {row, choice}, {rows, k.index(topK)});
  ExpertWeight weights(k, m, half.weight, half.scale, expert);

  Value begin = k.index(half.x.begin);
  Value xColumn = half.up ? begin : m.add(m.mul(choice, k.index(inner)), begin);
  Value xView = k.view(half.x.tensor);
  SmallVector<Value> sums(half.parts(), m.splat({1, bn}, 0.0));
  sums = contract(
      k, m, context.knobs, inner, sums,
      [&](Value step, int64_t depth) {
        return m.load(xView, {1, depth}, {row, m.add(xColumn, step)},
                      {rows, m.add(xColumn, k.index(inner))});
      },
      [&](unsigned part, Value step, int64_t depth) {
        return weights.load(bn, depth, m.add(n0, k.index(part * n)), k.index((part + 1) * n), step,
                            inner);
      });
  Value out = half.finish(m, sums), outColumn = m.mul(choice, k.index(n));
  m.store(out, k.resultView(0), {row, m.add(outColumn, n0)}, {rows, m.add(outColumn, k.index(n))});
  Value pairs =
      arith::MulIOp::create(context.host, loc, k.hostRows(half.input.getType()), k.hostIndex(topK));
  return k.finish(half.name(""), k.hostIndex(llvm::divideCeil(n, bn)), pairs, k.hostIndex(1));
}

/// One block a tile of rows of one expert and a tile of columns.
tile::LaunchOp lowerSorted(Half half, Location loc, Context &context) {
  const Knobs &knobs = context.knobs;
  int64_t topK = half.topK, inner = half.inner, n = half.n, bm = knobs.stagedExtent;
  int64_t bn = stagedColumns(n, half.parts(), knobs);
  ExpertOrder order = orderByExpert(half.ids, half.experts(), bm, context, loc);

  KernelBuilder k(context.host, context.kernels, loc, {half.result.getType()});
  TileMath m(k);
  Value tokens = k.rows(half.input.getType()), pairs = m.mul(tokens, k.index(topK));
  Value n0 = m.mul(k.blockId(tile::GridAxis::X), k.index(bn)), tile = k.blockId(tile::GridAxis::Y);
  Value tilesView = k.view(order.tiles), rowsView = k.view(order.rows);
  Value zero = k.index(0), one = k.index(1), allTiles = k.index(order.mostTiles + 1);
  // Rows of the result, and those of x behind the first half, are those of pairs.
  Value xView = half.up ? k.view(half.x.tensor) : k.rowsView(half.x.tensor, inner);
  Value outView = k.resultRowsView(0, n);
  Value count = m.readIndex(tilesView, {zero, zero}, {allTiles, one});
  m.when(m.lessIndex(tile, count), [&] {
    Value expert = m.readIndex(tilesView, {m.add(tile, one), zero}, {allTiles, one});
    ExpertWeight weights(k, m, half.weight, half.scale, expert);
    auto names = [&](int64_t column) {
      Value loaded = m.load(rowsView, {bm, 1}, {m.mul(tile, k.index(bm)), k.index(column)},
                            {k.index(order.mostTiles * bm), k.index(column + 1)});
      return m.reshape(loaded, {bm});
    };
    Value pair = names(0), row = half.up ? names(1) : pair;
    SmallVector<Value> sums(half.parts(), m.splat({bm, bn}, 0.0));
    sums = contract(
        k, m, knobs, inner, sums,
        [&](Value step, int64_t depth) -> Value {
          Value begin = k.index(half.up ? half.x.begin : 0);
          return tile::GatherOp::create(k.b, m.f32({bm, depth}), xView, row,
                                        half.up ? tokens : pairs, m.add(step, begin),
                                        m.add(begin, k.index(inner)));
        },
        [&](unsigned part, Value step, int64_t depth) {
          return weights.load(bn, depth, m.add(n0, k.index(part * n)), k.index((part + 1) * n),
                              step, inner);
        });
    tile::ScatterOp::create(k.b, half.finish(m, sums), outView, pair, pairs, n0, k.index(n));
  });
  OpBuilder &host = context.host;
  Value choices =
      arith::MulIOp::create(host, loc, k.hostRows(half.input.getType()), k.hostIndex(topK));
  Value tiles =
      arith::AddIOp::create(host, loc, k.hostCeilDiv(choices, bm), k.hostIndex(half.experts()));
  return k.finish(half.name("_sorted"), k.hostIndex(llvm::divideCeil(n, bn)), tiles,
                  k.hostIndex(1));
}

} // namespace

LogicalResult lowerExperts(model::FusedOp group, Context &context) {
  Operation *op = &group.getBody().front().front();
  Half half(op);
  if (!half.input)
    return op->emitOpError(
        "is not a half of the experts and cannot stand in a group of family experts");
  // Rows of pairs are whole rows of the tensor in memory.
  bool sorted =
      isStaged(context, half.input, half.weight) &&
      (half.up || half.x.cols == cast<RankedTensorType>(half.x.tensor.getType()).getDimSize(1));
  auto launch = sorted ? lowerSorted(half, group.getLoc(), context)
                       : lowerPairs(half, group.getLoc(), context);
  group.replaceAllUsesWith(launch.getResults());
  group.erase();
  return success();
}

} // namespace k3::lower
