//===- Mma.cpp - Contractions ---------------------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Register-blocked products on vectors of eight. Weights are read where they lie: bf16 is widened
// and MXFP4 is decoded in registers, and only rows and columns that exist take part.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cpu/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace k3::cpu {

static Value readAt(Code &c, Expr &expr, Value row, Value column, int64_t width) {
  Access access;
  access.index = {row, column};
  access.width = width;
  access.checked = false;
  return expr.at(c, access);
}

// ------------------------------------------------------------------------------------------------
// dot products

namespace {

/// A block of rows of a times rows of b: `rows` x `columns` sums along k.
class DotBlock {
public:
  DotBlock(Code &c, const MmaOperands &op, int64_t rows, int64_t columns)
      : c(c), op(op), rows(rows), columns(columns), codes(dyn_cast<DequantizeExpr>(op.b)) {}

  void emit(Value m0, Value n0) {
    for (int64_t i = 0; i < rows; ++i)
      ms.push_back(c.add(m0, i));
    for (int64_t j = 0; j < columns; ++j)
      ns.push_back(c.add(n0, j));
    // Enough independent sums to keep two multipliers busy.
    int64_t unroll = codes ? 1 : std::clamp<int64_t>(8 / (rows * columns), 1, 4);
    int64_t step = codes ? 32 : kLanes;
    SmallVector<Value> sums(rows * columns * unroll, c.f32(0.0, kLanes));
    Value end = c.roundDown(op.k, step), from = c.index(0);
    if (unroll > 1) {
      // Several steps an iteration, the sums taking turns; a line of each row is fetched ahead in
      // each.
      int64_t steps = std::max<int64_t>(unroll, 4), group = rows * columns;
      from = c.roundDown(op.k, step * steps);
      sums = c.loop(c.index(0), from, step * steps, sums, [&](Value k, ValueRange carried) {
        fetchAhead(k, step * steps);
        SmallVector<Value> next(carried);
        for (int64_t u = 0; u < steps; ++u) {
          auto part = next.begin() + u % unroll * group;
          llvm::copy(accumulate(c.add(k, u * step), SmallVector<Value>(part, part + group)), part);
        }
        return next;
      });
      for (int64_t u = 1; u < unroll; ++u)
        for (int64_t s = 0; s < group; ++s)
          sums[s] = arith::AddFOp::create(c.b, c.loc, sums[s], sums[u * group + s]);
      sums.resize(group);
    }
    sums = c.loop(from, end, step, sums, [&](Value k, ValueRange carried) {
      if (!codes)
        return accumulate(k, carried);
      fetchAhead(k, step);
      return accumulateCodes(k, carried);
    });
    SmallVector<Value> totals;
    for (Value sum : sums)
      totals.push_back(c.sumLanes(sum));
    totals = c.loop(end, op.k, 1, totals,
                    [&](Value k, ValueRange carried) { return accumulateOne(k, carried); });
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        Value before = readAt(c, *op.acc, ms[i], ns[j], 1);
        op.acc->store(c, arith::AddFOp::create(c.b, c.loc, before, totals[i * columns + j]),
                      {ms[i], ns[j]});
      }
  }

private:
  /// Asks for what the block of rows behind this one holds in the columns at k: the jump from row
  /// to row is too far for the hardware to see it coming. Measured on a matrix of 100 MB with 1024
  /// columns: 20 instead of 10 GB/s.
  void fetchAhead(Value k, int64_t count) {
    auto *view = dyn_cast<ViewExpr>(codes ? codes->packed->expr.get() : op.b);
    if (!view)
      return;
    int64_t bytes = storageBytes(view->window.element);
    Value first = codes ? c.div(k, 2) : k;
    for (Value n : ns)
      for (int64_t line = 0; line < (codes ? count / 2 : count); line += 64 / bytes) {
        Value place =
            c.add(view->window.offset(c, {n, first}), columns * view->window.strides[0] + line);
        LLVM::Prefetch::create(c.b, c.loc,
                               c.address(view->window.base, place, view->window.element), 0, 2, 1);
      }
  }

  SmallVector<Value> accumulate(Value k, ValueRange sums) {
    SmallVector<Value> next, as;
    for (Value m : ms)
      as.push_back(readAt(c, *op.a, m, k, kLanes));
    next.resize(sums.size());
    for (auto [j, n] : llvm::enumerate(ns)) {
      Value b = readAt(c, *op.b, n, k, kLanes);
      for (int64_t i = 0; i < rows; ++i)
        next[i * columns + j] = c.fma(as[i], b, sums[i * columns + j]);
    }
    return next;
  }

  /// One scale group: its codes are summed up first and the scale, a power of two, is applied to
  /// the sum.
  SmallVector<Value> accumulateCodes(Value k, ValueRange sums) {
    SmallVector<Value> next(sums.size());
    for (auto [j, n] : llvm::enumerate(ns)) {
      SmallVector<Value> group(rows);
      for (int64_t part = 0; part < 4; ++part) {
        Value at = c.add(k, part * kLanes);
        Value b = DequantizeExpr::decode(c, codes->codes(c, n, at, false));
        for (int64_t i = 0; i < rows; ++i) {
          Value a = readAt(c, *op.a, ms[i], at, kLanes);
          group[i] =
              part == 0 ? Value(arith::MulFOp::create(c.b, c.loc, a, b)) : c.fma(a, b, group[i]);
        }
      }
      Value scale = c.splat(codes->scaleAt(c, n, k, false), kLanes);
      for (int64_t i = 0; i < rows; ++i)
        next[i * columns + j] = c.fma(group[i], scale, sums[i * columns + j]);
    }
    return next;
  }

  SmallVector<Value> accumulateOne(Value k, ValueRange sums) {
    SmallVector<Value> next;
    for (Value m : ms)
      for (Value n : ns)
        next.push_back(
            c.fma(readAt(c, *op.a, m, k, 1), readAt(c, *op.b, n, k, 1), sums[next.size()]));
    return next;
  }

  Code &c;
  const MmaOperands &op;
  int64_t rows, columns;
  DequantizeExpr *codes;
  SmallVector<Value> ms, ns;
};

} // namespace

/// Calls `body` for blocks of `size` from 0 on, then for single ones up to `end`.
static void forBlocks(Code &c, Value end, int64_t size,
                      llvm::function_ref<void(Value, int64_t)> body) {
  Value whole = c.roundDown(end, size);
  c.loop(c.index(0), whole, size, [&](Value i) { body(i, size); });
  if (size > 1)
    c.loop(whole, end, 1, [&](Value i) { body(i, 1); });
}

void emitDotProducts(Code &c, const MmaOperands &op) {
  int64_t rows = std::min<int64_t>(op.acc->shape[0], 4);
  int64_t columns = std::min<int64_t>(op.acc->shape[1], rows <= 2 ? 4 : 2);
  // Rows of b outside: they come from memory once and stay in the first-level cache for all rows of
  // a.
  forBlocks(c, op.n, columns, [&](Value n, int64_t width) {
    forBlocks(c, op.m, rows,
              [&](Value m, int64_t height) { DotBlock(c, op, height, width).emit(m, n); });
  });
}

// -------------------------------------------------------------------------------------------------
// scaled rows

void emitRowSums(Code &c, const MmaOperands &op) {
  int64_t rows = std::min<int64_t>(op.acc->shape[0], 4);
  auto block = [&](Value m0, int64_t height, Value n0, int64_t vectors, int64_t width) {
    SmallVector<Value> sums;
    auto column = [&](int64_t v) { return c.add(n0, v * width); };
    for (int64_t i = 0; i < height; ++i)
      for (int64_t v = 0; v < vectors; ++v)
        sums.push_back(readAt(c, *op.acc, c.add(m0, i), column(v), width));
    sums = c.loop(c.index(0), op.k, 1, sums, [&](Value k, ValueRange carried) {
      SmallVector<Value> next, bs;
      for (int64_t v = 0; v < vectors; ++v)
        bs.push_back(readAt(c, *op.b, k, column(v), width));
      for (int64_t i = 0; i < height; ++i) {
        Value m = c.add(m0, i);
        Value a =
            c.splat(op.transposeA ? readAt(c, *op.a, k, m, 1) : readAt(c, *op.a, m, k, 1), width);
        for (int64_t v = 0; v < vectors; ++v)
          next.push_back(c.fma(a, bs[v], carried[i * vectors + v]));
      }
      return next;
    });
    for (int64_t i = 0; i < height; ++i)
      for (int64_t v = 0; v < vectors; ++v)
        op.acc->store(c, sums[i * vectors + v], {c.add(m0, i), column(v)});
  };
  forBlocks(c, op.m, rows, [&](Value m, int64_t height) {
    // Few rows of a leave room for long pieces of the rows of b, which come from memory in one go
    // then.
    int64_t vectors = height == 1 ? 8 : height == 2 ? 4 : 2;
    Value wide = c.roundDown(op.n, vectors * kLanes), ones = c.roundDown(op.n, kLanes);
    c.loop(c.index(0), wide, vectors * kLanes,
           [&](Value n) { block(m, height, n, vectors, kLanes); });
    c.loop(wide, ones, kLanes, [&](Value n) { block(m, height, n, 1, kLanes); });
    c.loop(ones, op.n, 1, [&](Value n) { block(m, height, n, 1, 1); });
  });
}

// ----------------------------------------------------------------------------------------------------
// operands

namespace {

/// An operand that is in place, and how many of its rows and columns may be other than zero.
struct Placed {
  std::shared_ptr<Expr> expr;
  Value rows, columns;
};

} // namespace

static Placed place(Code &c, std::shared_ptr<BufferExpr> buffer) {
  if (!buffer->valid.empty())
    return {buffer, buffer->valid[0], buffer->valid[1]};
  return {buffer, c.index(buffer->shape[0]), c.index(buffer->shape[1])};
}

LogicalResult KernelLowering::lower(tile::MmaOp op) {
  bool dots = op.getTransposeB();
  auto locate = [&](Value operand, bool alongRows) -> Placed {
    std::shared_ptr<Expr> expr = tileOf(operand)->expr;
    if (auto *view = dyn_cast<ViewExpr>(expr.get()))
      return {expr, view->window.valid[0], view->window.valid[1]};
    if (auto *codes = dyn_cast<DequantizeExpr>(expr.get())) {
      auto extents = [&](Tile &part, int64_t per) -> std::pair<Value, Value> {
        if (auto *view = dyn_cast<ViewExpr>(part->expr.get()))
          return {view->window.valid[0], c.mul(view->window.valid[1], per)};
        return {c.index(expr->shape[0]), c.index(expr->shape[1])};
      };
      auto [rows, columns] = extents(codes->packed, 2);
      auto [scaleRows, scaleColumns] = extents(codes->scale, 32);
      return {expr, c.min(rows, scaleRows), c.min(columns, scaleColumns)};
    }
    std::shared_ptr<BufferExpr> buffer = materialise(operand);
    if (!alongRows || buffer->strides.back() == 1)
      return place(c, buffer);
    auto dense = allocate(buffer->shape, buffer->element);
    copy(*buffer, *dense);
    return place(c, dense);
  };
  Placed a = locate(op.getA(), dots), b = locate(op.getB(), true);

  // a is read once for each block of columns, so a bf16 view is widened into a buffer first, as far
  // as it exists.
  if (auto *view = dyn_cast<ViewExpr>(a.expr.get()); view && view->window.element.isBF16()) {
    auto buffer = allocate(view->shape, c.b.getF32Type());
    forEach(view->shape, {a.rows, a.columns}, nullptr, [&](const Access &access) {
      Access inside = access;
      inside.checked = false;
      buffer->store(c, view->at(c, inside), access.index);
    });
    a.expr = buffer;
  }
  if (dots && op.getTransposeA()) {
    // Both turned: the rows of a along k are laid out first.
    ReindexExpr turned({a.expr->shape[1], a.expr->shape[0]}, a.expr->element,
                       std::make_shared<Slot>(Slot{a.expr}), {1, 0});
    auto buffer = allocate(turned.shape, turned.element);
    forEach(turned.shape, {a.columns, a.rows}, nullptr, [&](const Access &access) {
      Access inside = access;
      inside.checked = false;
      buffer->store(c, turned.at(c, inside), access.index);
    });
    a = {buffer, a.columns, a.rows};
  }

  Expr &start = *tileOf(op.getAcc())->expr;
  std::shared_ptr<BufferExpr> acc = accumulator(op, *a.expr, *b.expr, start);
  bool columnsOfA = op.getTransposeA() && !dots;
  MmaOperands operands{acc.get(),
                       a.expr.get(),
                       b.expr.get(),
                       columnsOfA ? a.columns : a.rows,
                       dots ? b.rows : b.columns,
                       c.min(columnsOfA ? a.rows : a.columns, dots ? b.columns : b.rows),
                       columnsOfA};
  if (dots)
    emitDotProducts(c, operands);
  else
    emitRowSums(c, operands);
  define(op.getResult(), acc);
  return success();
}

/// The buffer of the sums, holding the initial value: the accumulator's own where it is dead.
std::shared_ptr<BufferExpr> KernelLowering::accumulator(tile::MmaOp op, Expr &a, Expr &b,
                                                        Expr &start) {
  Slot slot{tileOf(op.getAcc())->expr};
  CastExpr same(start.shape, start.element, std::make_shared<Slot>(slot));
  std::shared_ptr<BufferExpr> acc = destination(op.getResult(), same);
  if (readsBuffer(a, acc->pointer) || readsBuffer(b, acc->pointer))
    acc = allocate(start.shape, start.element);
  auto *before = dyn_cast<BufferExpr>(&start);
  if (!(before && before->pointer == acc->pointer && before->isDense()))
    evaluate(start, *acc);
  return acc;
}

} // namespace k3::cpu
