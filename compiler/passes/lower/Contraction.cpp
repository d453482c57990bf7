//===- Contraction.cpp - Projections with an elementwise tail -------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowers a k3.linear or k3.head_linear and the ops fused behind it to one kernel: a grid of output
// tiles, each a loop over the inner extent, then the tail on the accumulator. Weights stream from
// memory once a row block.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/lower/Contraction.h"

using namespace mlir;

namespace k3::lower {

namespace {

/// Where a tile of the output lies: rows from `row`, columns from `column`, nothing at or past the
/// limits.
struct OutputTile {
  Value row, rowLimit, column, columnLimit;
  int64_t rows, columns;
};

/// Runs the elementwise ops of a group on output tiles and stores what the group yields.
class Tail {
public:
  Tail(KernelBuilder &k, TileMath &m, OutputTile out) : k(k), m(m), out(out) {}

  void define(Value value, Value tile) { tiles[value] = tile; }

  Value get(Value value) {
    if (Value known = tiles.lookup(value))
      return known;
    Columns source = resolveColumns(value);
    Value begin = k.index(source.begin);
    return tiles[value] = m.load(k.view(source.tensor), {out.rows, out.columns},
                                 {out.row, m.add(out.column, begin)},
                                 {out.rowLimit, m.add(out.columnLimit, begin)});
  }

  LogicalResult run(model::FusedOp group, std::string &name) {
    for (Operation &op : group.getBody().front().without_terminator()) {
      if (op.getNumResults() == 1 && tiles.count(op.getResult(0)))
        continue;
      if (isa<model::LinearOp, model::HeadLinearOp>(op))
        continue;
      Value tile = lowerElementwise(&op, m, [&](Value v) { return get(v); });
      if (!tile)
        return op.emitOpError(
            "cannot stand behind a contraction; only add, gate, glu and cast can");
      tiles[op.getResult(0)] = tile;
      name += ("_" + op.getName().stripDialect()).str();
    }
    Operation *yield = group.getBody().front().getTerminator();
    for (auto [i, value] : llvm::enumerate(yield->getOperands()))
      m.store(tiles.lookup(value), k.resultView(i), {out.row, out.column},
              {out.rowLimit, out.columnLimit});
    return success();
  }

private:
  KernelBuilder &k;
  TileMath &m;
  OutputTile out;
  TileMap tiles;
};

Value round(TileMath &m, Value tile, Value like) {
  Type element = cast<RankedTensorType>(like.getType()).getElementType();
  if (element.isF32())
    return tile;
  return m.map({tile}, [&](ArrayRef<Scalar> s) { return roundTo(s[0], element); });
}

} // namespace

int64_t chooseColumns(int64_t columns, int64_t rowBlocks, const Knobs &knobs) {
  int64_t tile = std::min(columns, knobs.contractionColumns);
  while (tile > 16 &&
         int64_t(llvm::divideCeil(columns, tile)) * rowBlocks < knobs.contractionBlocks)
    tile /= 2;
  return tile;
}

/// Rows of an output tile: all of them when they are few and known.
static int64_t chooseRows(Type type, int64_t most) {
  int64_t rows = cast<RankedTensorType>(type).getDimSize(0);
  return ShapedType::isDynamic(rows) ? most : std::min(rows, most);
}

bool isStaged(const Context &context, Value x, Value weight) {
  Columns source = resolveColumns(x);
  auto type = cast<RankedTensorType>(source.tensor.getType()),
       weightType = cast<RankedTensorType>(weight.getType());
  auto whole = [](int64_t numbers) { return numbers % 8 == 0; };
  return context.knobs.stagedExtent > 0 &&
         mostRows(x.getType(), context.host) > context.knobs.stagedAbove &&
         type.getElementType().isBF16() && whole(source.begin) && whole(type.getShape().back()) &&
         (weightType.getElementType().isBF16()
              ? whole(weightType.getShape().back())
              : weightType.getElementType().isInteger(8) && weightType.getShape().back() % 16 == 0);
}

int64_t stagedColumns(int64_t columns, int64_t parts, const Knobs &knobs) {
  return std::min(columns, knobs.stagedExtent / (parts * 32) * 32);
}

Blocking chooseBlocking(const Context &context, Value x, Value weight, int64_t columns,
                        int64_t parts) {
  const Knobs &knobs = context.knobs;
  if (isStaged(context, x, weight) && parts * 32 <= knobs.stagedExtent)
    return {chooseRows(x.getType(), knobs.stagedExtent), stagedColumns(columns, parts, knobs)};
  return {chooseRows(x.getType(), knobs.contractionRows), chooseColumns(columns, 1, knobs)};
}

SmallVector<Value>
contract(KernelBuilder &k, TileMath &m, const Knobs &knobs, int64_t inner, ValueRange accs,
         llvm::function_ref<Value(Value step, int64_t depth)> loadX,
         llvm::function_ref<Value(unsigned acc, Value step, int64_t depth)> loadW) {
  int64_t depth = std::min(inner, knobs.contractionDepth);
  auto body = [&](Value step, ValueRange carried) {
    SmallVector<Value> next;
    Value x = loadX(step, depth);
    for (auto [i, acc] : llvm::enumerate(carried))
      next.push_back(m.mma(acc, x, loadW(i, step, depth), false, true));
    return next;
  };
  if (depth == inner && !knobs.contractionLoops)
    return body(k.index(0), accs);
  return SmallVector<Value>(m.loop(k.index(0), k.index(inner), depth, accs, body));
}

LogicalResult lowerContraction(model::FusedOp group, Context &context) {
  auto linear = *group.getBody().front().getOps<model::LinearOp>().begin();
  auto weightType = cast<RankedTensorType>(linear.getWeight().getType());
  int64_t n = weightType.getDimSize(0), inner = weightType.getDimSize(1);

  // A gated activation of two halves of the projection: both halves of the weight are contracted
  // side by side.
  SmallVector<model::SliceOp> halves(group.getBody().front().getOps<model::SliceOp>());
  int64_t columns = halves.empty() ? n : n / int64_t(halves.size());
  for (auto [i, half] : llvm::enumerate(halves))
    if (half.getX() != linear.getResult() || half.getBegin() != int64_t(i) * columns ||
        cast<RankedTensorType>(half.getType()).getDimSize(1) != columns)
      return half.emitOpError("is not part ")
             << i << " of " << halves.size()
             << " equal ones of the projection; leave grouping to the fuse phase";

  KernelBuilder k(context.host, context.kernels, group.getLoc(), group.getResultTypes());
  TileMath m(k);
  unsigned parts = std::max<size_t>(1, halves.size());
  auto [bm, bn] = chooseBlocking(context, linear.getX(), linear.getWeight(), columns, parts);
  Value rows = k.rows(linear.getX().getType());
  Value n0 = m.mul(k.blockId(tile::GridAxis::X), k.index(bn)),
        m0 = m.mul(k.blockId(tile::GridAxis::Y), k.index(bm));

  Columns x = resolveColumns(linear.getX());
  Value xView = k.view(x.tensor), wView = k.view(linear.getWeight());
  SmallVector<Value> accs(parts, m.splat({bm, bn}, 0.0));
  accs = contract(
      k, m, context.knobs, inner, accs,
      [&](Value step, int64_t depth) {
        return m.load(xView, {bm, depth}, {m0, m.add(step, k.index(x.begin))},
                      {rows, k.index(x.begin + inner)});
      },
      [&](unsigned part, Value step, int64_t depth) {
        return m.load(wView, {bn, depth}, {m.add(n0, k.index(part * columns)), step},
                      {k.index((part + 1) * columns), k.index(inner)});
      });

  Tail tail(k, m, {m0, rows, n0, k.index(columns), bm, bn});
  if (halves.empty())
    tail.define(linear.getResult(), round(m, accs[0], linear.getResult()));
  for (model::SliceOp half : halves)
    tail.define(half.getResult(), round(m, accs[half.getBegin() / columns], linear.getResult()));
  std::string name = "mm";
  if (failed(tail.run(group, name)))
    return failure();
  name += "_n" + std::to_string(n) + "_k" + std::to_string(inner) + "_m" + std::to_string(bm) +
          "_" + typeName(group.getResultTypes().front());
  auto launch = k.finish(name, k.hostIndex(llvm::divideCeil(columns, bn)),
                         k.hostCeilDiv(k.hostRows(linear.getX().getType()), bm), k.hostIndex(1));
  group.replaceAllUsesWith(launch.getResults());
  group.erase();
  return success();
}

LogicalResult lowerHeadContraction(model::FusedOp group, Context &context) {
  auto op = *group.getBody().front().getOps<model::HeadLinearOp>().begin();
  auto weightType = cast<RankedTensorType>(op.getWeight().getType());
  int64_t heads = op.getHeads(), extent = weightType.getDimSize(1), rowsOfHead = op.getRows();
  int64_t inner = op.getTranspose() ? rowsOfHead : extent,
          n = op.getTranspose() ? extent : rowsOfHead;
  bool pass = op.getPassBegin() >= 0;
  int64_t passCount = pass ? op.getPassCount() : 0, outStride = n + passCount;
  // Passed columns are stored beside the product, where no tail reaches them.
  if (pass && !llvm::hasSingleElement(group.getBody().front().without_terminator()))
    return op.emitOpError() << "passes " << passCount
                            << " columns through and cannot have ops behind it in its group";
  Columns x = resolveColumns(op.getX());
  int64_t xStride = x.cols / heads;

  KernelBuilder k(context.host, context.kernels, group.getLoc(), group.getResultTypes());
  TileMath m(k);
  Blocking tile{chooseRows(op.getX().getType(), context.knobs.contractionRows),
                context.knobs.headColumns ? std::min(n, context.knobs.headColumns) : n};
  if (!op.getTranspose() && xStride % 8 == 0 && isStaged(context, op.getX(), op.getWeight()))
    tile = chooseBlocking(context, op.getX(), op.getWeight(), n, 1);
  auto [bm, bn] = tile;
  Value rows = k.rows(op.getX().getType());
  Value head = k.blockId(tile::GridAxis::X), m0 = m.mul(k.blockId(tile::GridAxis::Y), k.index(bm));
  Value n0 = bn == n ? k.index(0) : m.mul(k.blockId(tile::GridAxis::Z), k.index(bn));
  Value xView = k.view(x.tensor), wView = k.view(op.getWeight());
  Value xColumn = m.add(m.mul(head, k.index(xStride)), k.index(x.begin));
  Value weightRow = m.add(m.mul(head, k.index(op.getStrideRows())), k.index(op.getRowBegin()));

  Value zero = m.splat({bm, bn}, 0.0), xLimit = m.add(xColumn, k.index(inner)), acc;
  auto weightLimit = [&] { return m.add(weightRow, k.index(rowsOfHead)); };
  // The block's columns are rows of the stored matrix, or its columns when it is transposed.
  if (op.getTranspose()) {
    Value xTile = m.load(xView, {bm, inner}, {m0, xColumn}, {rows, xLimit});
    Value wTile = m.load(wView, {inner, bn}, {weightRow, n0}, {weightLimit(), k.index(extent)});
    acc = m.mma(zero, xTile, wTile);
  } else {
    acc = contract(
        k, m, context.knobs, inner, zero,
        [&](Value step, int64_t depth) {
          return m.load(xView, {bm, depth}, {m0, m.add(xColumn, step)}, {rows, xLimit});
        },
        [&](unsigned, Value step, int64_t depth) {
          return m.load(wView, {bn, depth}, {m.add(weightRow, n0), step},
                        {weightLimit(), k.index(extent)});
        })[0];
  }

  Value column = m.mul(head, k.index(outStride)), first = m.add(column, n0);
  Tail tail(k, m, {m0, rows, first, m.add(column, k.index(n)), bm, bn});
  tail.define(op.getResult(), round(m, acc, op.getResult()));
  std::string name = op.getTranspose() ? "headmmt" : "headmm";
  if (failed(tail.run(group, name)))
    return failure();
  // With several blocks of columns each of them copies the same numbers to the same place.
  if (passCount > 0) {
    Value from = m.add(xColumn, k.index(op.getPassBegin()));
    Value rest =
        m.load(xView, {bm, passCount}, {m0, from}, {rows, m.add(from, k.index(passCount))});
    Value to = m.add(column, k.index(n));
    m.store(rest, k.resultView(0), {m0, to}, {rows, m.add(to, k.index(passCount))});
  }
  name += "_h" + std::to_string(heads) + "_n" + std::to_string(n) + "_k" + std::to_string(inner) +
          "_m" + std::to_string(bm) + "_" + typeName(op.getResult().getType());
  auto launch =
      k.finish(name, k.hostIndex(heads), k.hostCeilDiv(k.hostRows(op.getX().getType()), bm),
               k.hostIndex(llvm::divideCeil(n, bn)));
  group.replaceAllUsesWith(launch.getResults());
  group.erase();
  return success();
}

} // namespace k3::lower
