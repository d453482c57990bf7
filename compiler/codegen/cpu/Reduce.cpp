//===- Reduce.cpp - Reductions, scans and other ops with an order ---------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums run in several vector accumulators; scans, selection and substitution keep the order that
// their definition asks for.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cpu/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;

namespace k3::cpu {

static tile::TileType typeOf(Value value) { return cast<tile::TileType>(value.getType()); }

namespace {

/// Sum or maximum of f32 or i32 values.
class Combiner {
public:
  Combiner(Code &c, tile::ReduceKind kind, Type element)
      : c(c), isSum(kind == tile::ReduceKind::Add), isFloat(isa<FloatType>(element)),
        element(element) {}

  Value identity(int64_t width) {
    if (isSum)
      return c.zero(element, width);
    return isFloat ? c.f32(-std::numeric_limits<double>::infinity(), width)
                   : c.i32(std::numeric_limits<int32_t>::min(), width);
  }
  Value combine(Value x, Value y) {
    if (isFloat)
      return isSum ? Value(arith::AddFOp::create(c.b, c.loc, x, y))
                   : arith::MaximumFOp::create(c.b, c.loc, x, y);
    return isSum ? Value(arith::AddIOp::create(c.b, c.loc, x, y))
                 : arith::MaxSIOp::create(c.b, c.loc, x, y);
  }
  Value lanes(Value vector) {
    if (isSum && isFloat)
      return c.sumLanes(vector);
    auto kind = isSum     ? vector::CombiningKind::ADD
                : isFloat ? vector::CombiningKind::MAXIMUMF
                          : vector::CombiningKind::MAXSI;
    return vector::ReductionOp::create(c.b, c.loc, kind, vector);
  }

private:
  Code &c;
  bool isSum, isFloat;
  Type element;
};

} // namespace

/// Combines the elements of the row at `index`; the last index is ignored.
static Value reduceRow(Code &c, Combiner &combiner, Expr &expr, ArrayRef<Value> index) {
  constexpr int64_t unroll = 4;
  Access access;
  access.index.assign(index.begin(), index.end());
  access.index.back() = c.index(0);
  int64_t extent = expr.shape.back();
  Value total = combiner.identity(1), end = c.index(0);
  auto read = [&](Value i, int64_t width) {
    access.index.back() = i;
    access.width = width;
    return expr.at(c, access);
  };
  if (extent >= kLanes) {
    Value safe = expr.safeExtent(c, access.index);
    end = c.roundDown(safe ? c.min(safe, c.index(extent)) : c.index(extent), kLanes);
    Value vector = combiner.identity(kLanes), from = c.index(0);
    if (extent >= 2 * unroll * kLanes) {
      // Independent chains hide the latency of the addition.
      from = c.roundDown(end, unroll * kLanes);
      SmallVector<Value> chains(unroll, vector);
      chains = c.loop(c.index(0), from, unroll * kLanes, chains, [&](Value i, ValueRange carried) {
        SmallVector<Value> next;
        for (auto [j, chain] : llvm::enumerate(carried))
          next.push_back(combiner.combine(chain, read(c.add(i, j * kLanes), kLanes)));
        return next;
      });
      vector = combiner.combine(combiner.combine(chains[0], chains[1]),
                                combiner.combine(chains[2], chains[3]));
    }
    vector = c.loop(from, end, kLanes, vector, [&](Value i, ValueRange carried) {
      return SmallVector<Value>{combiner.combine(carried[0], read(i, kLanes))};
    })[0];
    total = combiner.lanes(vector);
  }
  return c.loop(end, c.index(extent), 1, total, [&](Value i, ValueRange carried) {
    return SmallVector<Value>{combiner.combine(carried[0], read(i, 1))};
  })[0];
}

LogicalResult KernelLowering::lower(tile::ReduceOp op) {
  Tile &input = tileOf(op.getInput());
  tile::TileType type = typeOf(op.getResult());
  int64_t axis = op.getAxis(), rank = type.getRank();
  Combiner combiner(c, op.getKind(), computeType(type.getElementType()));
  std::shared_ptr<BufferExpr> result = allocate(type);
  if (axis == rank - 1) {
    forEach(type.getShape(), {}, nullptr, [&](const Access &access) {
      result->store(c, reduceRow(c, combiner, *input->expr, access.index), access.index);
    });
  } else {
    if (input->expr->safeExtent(c, SmallVector<Value>(rank, c.index(0))))
      materialise(op.getInput());
    forEach(type.getShape(), {}, nullptr, [&](const Access &access) {
      Value total = c.loop(c.index(0), c.index(input->expr->shape[axis]), 1,
                           combiner.identity(access.width), [&](Value i, ValueRange carried) {
                             Access element = access;
                             element.index[axis] = i;
                             return SmallVector<Value>{
                                 combiner.combine(carried[0], input->expr->at(c, element))};
                           })[0];
      result->store(c, total, access.index);
    });
  }
  define(op.getResult(), result);
  return success();
}

LogicalResult KernelLowering::lower(tile::ScanOp op) {
  Tile &input = tileOf(op.getInput());
  tile::TileType type = typeOf(op.getResult());
  int64_t axis = op.getAxis(), rank = type.getRank();
  if (axis != rank - 1 && input->expr->safeExtent(c, SmallVector<Value>(rank, c.index(0))))
    materialise(op.getInput());
  Combiner combiner(c, tile::ReduceKind::Add, computeType(type.getElementType()));
  std::shared_ptr<BufferExpr> result = allocate(type);
  SmallVector<int64_t> others(type.getShape());
  others[axis] = 1;
  forEach(others, {}, nullptr, [&](const Access &access) {
    c.loop(c.index(0), c.index(type.getShape()[axis]), 1, combiner.identity(access.width),
           [&](Value i, ValueRange carried) {
             Access element = access;
             element.index[axis] = i;
             Value sum = combiner.combine(carried[0], input->expr->at(c, element));
             result->store(c, sum, element.index);
             return SmallVector<Value>{sum};
           });
  });
  define(op.getResult(), result);
  return success();
}

// --------------------------------------------------------------------------------------------------
// selection

/// A number that orders (value, index) pairs as top_k wants them: larger values first, then lower
/// indices; every NaN below -inf; both zeros alike.
static Value orderKey(Code &c, Value value, Value index) {
  Type i64 = c.b.getI64Type();
  Value plusZero = arith::AddFOp::create(c.b, c.loc, value, c.f32(0.0));
  Value bits = arith::BitcastOp::create(c.b, c.loc, c.b.getI32Type(), plusZero);
  Value sign = arith::ShRSIOp::create(c.b, c.loc, bits, c.i32(31));
  Value flip = arith::AndIOp::create(c.b, c.loc, sign, c.i32(0x7fffffff));
  Value ordered = arith::XOrIOp::create(c.b, c.loc, bits, flip);
  Value nan = arith::CmpFOp::create(c.b, c.loc, arith::CmpFPredicate::UNO, value, value);
  ordered = c.select(nan, c.i32(0x80000000), ordered);
  Value high =
      arith::ShLIOp::create(c.b, c.loc, arith::ExtSIOp::create(c.b, c.loc, i64, ordered),
                            arith::ConstantOp::create(c.b, c.loc, c.b.getI64IntegerAttr(32)));
  Value low = arith::SubIOp::create(
      c.b, c.loc, arith::ConstantOp::create(c.b, c.loc, c.b.getI64IntegerAttr(0xffffffff)),
      c.toI64(index));
  return arith::OrIOp::create(c.b, c.loc, high, low);
}

LogicalResult KernelLowering::lower(tile::TopKOp op) {
  std::shared_ptr<BufferExpr> input = materialise(op.getInput());
  int64_t n = typeOf(op.getInput()).getShape()[1], k = typeOf(op.getIds()).getShape()[1];
  Type i64 = c.b.getI64Type();
  // The k best keys so far, largest first. Most elements fail the comparison with the last one.
  std::shared_ptr<BufferExpr> best = allocate({k}, i64);
  Value lowest = arith::ConstantOp::create(
      c.b, c.loc, c.b.getI64IntegerAttr(std::numeric_limits<int64_t>::min()));
  c.loop(c.index(0), c.index(k), 1, [&](Value j) { best->store(c, lowest, {j}); });
  auto key = [&](Value j) { return c.load(best->pointer, j, i64, 1); };
  auto element = [&](Value i) {
    Access access;
    access.index = {c.index(0), i};
    return input->at(c, access);
  };
  c.loop(c.index(0), c.index(n), 1, [&](Value i) {
    Value candidate = orderKey(c, element(i), i);
    c.when(c.less(key(c.index(k - 1)), candidate), [&] {
      // From the end: each place takes the larger of itself and what moves down into it.
      c.loop(c.index(1), c.index(k), 1, [&](Value up) {
        Value j = c.sub(c.index(k), up);
        best->store(c, c.max(key(j), c.min(key(c.add(j, -1)), candidate)), {j});
      });
      best->store(c, c.max(key(c.index(0)), candidate), {c.index(0)});
    });
  });
  std::shared_ptr<BufferExpr> values = allocate(typeOf(op.getValues())),
                              ids = allocate(typeOf(op.getIds()));
  c.loop(c.index(0), c.index(k), 1, [&](Value j) {
    Value id = arith::XOrIOp::create(
        c.b, c.loc, arith::TruncIOp::create(c.b, c.loc, c.b.getI32Type(), key(j)), c.i32(-1));
    ids->store(c, id, {c.index(0), j});
    values->store(c, element(c.toIndex(id)), {c.index(0), j});
  });
  define(op.getValues(), values);
  define(op.getIds(), ids);
  return success();
}

// ------------------------------------------------------------------------------------------------
// substitution

LogicalResult KernelLowering::lower(tile::TriSolveOp op) {
  std::shared_ptr<BufferExpr> l = materialise(op.getL()), b = materialise(op.getB());
  tile::TileType type = typeOf(op.getResult());
  // Row i of b is read before row i of the result is written, and never again.
  bool inPlace = b->isDense() && isDead(b->pointer, op) && !readsBuffer(*l, b->pointer);
  std::shared_ptr<BufferExpr> x =
      inPlace ? BufferExpr::dense(b->shape, b->element, b->pointer) : allocate(type);
  c.loop(c.index(0), c.index(type.getShape()[0]), 1, [&](Value i) {
    forEach({type.getShape()[1]}, {}, nullptr, [&](const Access &column) {
      auto row = [&](BufferExpr &from, Value r) {
        Access access = column;
        access.index = {r, column.index[0]};
        return from.at(c, access);
      };
      Value rest = c.loop(c.index(0), i, 1, row(*b, i), [&](Value j, ValueRange carried) {
        Access factor;
        factor.index = {i, j};
        Value minus = arith::NegFOp::create(c.b, c.loc, l->at(c, factor));
        return SmallVector<Value>{c.fma(c.splat(minus, column.width), row(*x, j), carried[0])};
      })[0];
      x->store(c, rest, {i, column.index[0]});
    });
  });
  define(op.getResult(), x);
  return success();
}

} // namespace k3::cpu
