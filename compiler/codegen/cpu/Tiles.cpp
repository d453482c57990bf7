//===- Tiles.cpp - Tile values during lowering ----------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How each kind of expression gives the code of its elements. Bounds are looked at once a row where
// that is enough: rows that do not exist are read from a row of zeros, and only the ragged end of a
// row is read element by element.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cpu/Tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace k3::cpu {

int64_t Expr::numElements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

static SmallVector<int64_t> rowMajor(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = int64_t(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

static Value linearise(Code &c, Value origin, ArrayRef<Value> index, ArrayRef<int64_t> strides) {
  Value sum = origin ? origin : c.index(0);
  for (auto [i, stride] : llvm::zip_equal(index, strides))
    sum = c.add(sum, c.mul(i, stride));
  return sum;
}

/// Eight neighbours, one after the other, for expressions that cannot read them at once.
static Value collectLanes(Code &c, Expr &expr, const Access &access) {
  Value lanes = c.zero(expr.element, kLanes);
  Access one = access;
  one.width = 1;
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    one.index.back() = c.add(access.index.back(), lane);
    lanes = vector::InsertOp::create(c.b, c.loc, expr.at(c, one), lanes, lane);
  }
  return lanes;
}

// -----------------------------------------------------------------------------------------------------
// buffers

std::shared_ptr<BufferExpr> BufferExpr::dense(ArrayRef<int64_t> shape, Type element,
                                              Value pointer) {
  return std::make_shared<BufferExpr>(shape, element, pointer, rowMajor(shape));
}

/// True if elements follow each other in row-major order.
static bool areDense(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  int64_t expected = 1;
  for (auto [extent, stride] : llvm::reverse(llvm::zip_equal(shape, strides))) {
    if (extent != 1 && stride != expected)
      return false;
    expected *= extent;
  }
  return true;
}

bool BufferExpr::isDense() const {
  return (!origin || isConstant(origin, 0)) && areDense(shape, strides);
}

Value BufferExpr::offset(Code &c, ArrayRef<Value> index) const {
  return linearise(c, origin, index, strides);
}

Value BufferExpr::at(Code &c, const Access &access) {
  Value place = access.flat ? access.index.back() : offset(c, access.index);
  if (access.width != 1 && strides.back() != 1)
    return collectLanes(c, *this, access);
  return c.load(pointer, place, element, access.width);
}

void BufferExpr::store(Code &c, Value value, ArrayRef<Value> index) const {
  c.store(value, pointer, offset(c, index), element);
}

// -------------------------------------------------------------------------------------------------------
// views

Value Window::offset(Code &c, ArrayRef<Value> index) const {
  return linearise(c, origin, index, strides);
}

Value ViewExpr::outerInside(Code &c, ArrayRef<Value> index) {
  Value inside = arith::ConstantOp::create(c.b, c.loc, c.b.getBoolAttr(true));
  for (int64_t d = 0; d + 1 < rank(); ++d)
    if (!isFull(d))
      inside = c.both(inside, c.less(index[d], window.valid[d]));
  return inside;
}

Value ViewExpr::safeExtent(Code &c, ArrayRef<Value> index) {
  if (isFull(rank() - 1))
    return {};
  // A row that does not exist is read from the zeros, in full.
  return c.select(outerInside(c, index), window.valid.back(), c.index(shape.back()));
}

bool ViewExpr::isFlat() {
  for (int64_t d = 0; d < rank(); ++d)
    if (!isFull(d))
      return false;
  return areDense(shape, window.strides);
}

Value ViewExpr::at(Code &c, const Access &access) {
  if (access.flat)
    return c.load(window.base, c.add(window.origin, access.index.back()), window.element,
                  access.width);
  Value place = window.offset(c, access.index);
  if (!access.checked)
    return c.load(window.base, place, window.element, access.width);
  Value inside = outerInside(c, access.index);
  if (access.width == 1) {
    if (!isFull(rank() - 1))
      inside = c.both(inside, c.less(access.index.back(), window.valid.back()));
    return c.valueIf(inside, computeType(element),
                     [&] { return c.load(window.base, place, window.element, 1); });
  }
  if (isConstant(inside, -1))
    return c.load(window.base, place, window.element, access.width);
  SmallVector<Value> first(access.index);
  first.back() = c.index(0);
  Value row =
      c.select(inside, c.address(window.base, window.offset(c, first), window.element), zeros);
  return c.load(row, access.index.back(), window.element, access.width);
}

Value GatherExpr::row(Code &c, Value m) {
  Access access;
  access.index = {m};
  return c.toIndex(rows->expr->at(c, access));
}

Value GatherExpr::safeExtent(Code &c, ArrayRef<Value> index) {
  if (isConstant(window.valid[1], shape[1]))
    return {};
  return c.select(c.lessUnsigned(row(c, index[0]), rowBound), window.valid[1], c.index(shape[1]));
}

Value GatherExpr::at(Code &c, const Access &access) {
  Value chosen = row(c, access.index[0]);
  Value inside = c.lessUnsigned(chosen, rowBound);
  if (access.width == 1) {
    inside = c.both(inside, c.less(access.index[1], window.valid[1]));
    return c.valueIf(inside, computeType(element), [&] {
      return c.load(window.base, window.offset(c, {chosen, access.index[1]}), window.element, 1);
    });
  }
  Value start = c.address(window.base, window.offset(c, {chosen, c.index(0)}), window.element);
  return c.load(c.select(inside, start, zeros), access.index[1], window.element, access.width);
}

// -------------------------------------------------------------------------------------------------
// arithmetic

Value IotaExpr::at(Code &c, const Access &access) {
  Value first = c.toI32(c.add(start, access.index[axis]));
  Value all = c.splat(first, access.width);
  if (access.width == 1 || axis != rank() - 1)
    return all;
  SmallVector<int32_t> steps = llvm::to_vector(llvm::seq<int32_t>(0, access.width));
  Value ramp = arith::ConstantOp::create(c.b, c.loc, c.b.getI32VectorAttr(steps));
  return arith::AddIOp::create(c.b, c.loc, all, ramp);
}

Value readBroadcast(Code &c, Tile &tile, const Access &access) {
  Expr &expr = *tile->expr;
  Access own = access;
  if (access.flat && expr.isSingle()) {
    own.flat = false;
    for (Value &i : own.index)
      i = c.index(0);
  }
  bool repeated = expr.shape.back() == 1 && !own.flat;
  if (repeated)
    own.width = 1;
  if (!own.flat)
    for (auto [d, extent] : llvm::enumerate(expr.shape))
      if (extent == 1)
        own.index[d] = c.index(0);
  return c.splat(expr.at(c, own), access.width);
}

SmallVector<Value> MapExpr::all(Code &c, const Access &access) {
  Block &body = op.getBody().front();
  IRMapping values;
  for (auto [argument, input] : llvm::zip_equal(body.getArguments(), inputs))
    values.map(argument, readBroadcast(c, input, access));
  auto operandsOf = [&](Operation &inner) {
    SmallVector<Value> operands;
    for (Value operand : inner.getOperands())
      operands.push_back(
          c.splat(values.contains(operand) ? values.lookup(operand) : scalars.lookup(operand),
                  access.width));
    return operands;
  };
  for (Operation &inner : body.without_terminator())
    values.map(inner.getResult(0), cloneScalarOp(c, &inner, operandsOf(inner), access.width));
  SmallVector<Value> results = operandsOf(*body.getTerminator());
  for (auto [result, tile] : llvm::zip_equal(results, op.getResults()))
    if (cast<tile::TileType>(tile.getType()).getElementType().isBF16())
      result = c.roundToBf16(result);
  return results;
}

Value MapExpr::safeExtent(Code &c, ArrayRef<Value> index) {
  Value safe;
  for (Tile &input : inputs) {
    if (input->expr->shape.back() != shape.back())
      continue;
    SmallVector<Value> own(index);
    for (auto [d, extent] : llvm::enumerate(input->expr->shape))
      if (extent == 1)
        own[d] = c.index(0);
    if (Value extent = input->expr->safeExtent(c, own))
      safe = safe ? c.min(safe, extent) : extent;
  }
  return safe;
}

bool MapExpr::isFlat() {
  return llvm::all_of(inputs, [&](Tile &input) {
    return input->expr->isSingle() || (input->expr->shape == shape && input->expr->isFlat());
  });
}

bool MapExpr::readsInPlace(Value pointer) {
  return llvm::all_of(inputs, [&](Tile &input) {
    // A repeated element would be overwritten before its last read.
    if (input->expr->shape != shape)
      return !readsBuffer(*input->expr, pointer);
    return input->expr->readsInPlace(pointer);
  });
}

Value CastExpr::at(Code &c, const Access &access) {
  Value value = input->expr->at(c, access);
  Type from = input->expr->element;
  if (from.isF32() && element.isBF16())
    return c.roundToBf16(value);
  if (from.isInteger(32) && element.isF32())
    return arith::SIToFPOp::create(c.b, c.loc, withWidth(element, access.width), value);
  if (from.isInteger(1) && element.isF32())
    return arith::UIToFPOp::create(c.b, c.loc, withWidth(element, access.width), value);
  return value;
}

// ------------------------------------------------------------------------------------------------
// other indices

SmallVector<Value> ReindexExpr::translate(Code &c, ArrayRef<Value> index) {
  SmallVector<Value> inner;
  for (int64_t source : sources)
    inner.push_back(source < 0 ? c.index(0) : index[source]);
  return inner;
}

Value ReindexExpr::at(Code &c, const Access &access) {
  if (access.width != 1 && !lastStaysLast()) {
    if (llvm::is_contained(sources, rank() - 1))
      return collectLanes(c, *this, access);
    Access one = access;
    one.width = 1;
    return c.splat(at(c, one), access.width);
  }
  Access inner = access;
  inner.index = translate(c, access.index);
  return input->expr->at(c, inner);
}

Value ReindexExpr::safeExtent(Code &c, ArrayRef<Value> index) {
  return lastStaysLast() ? input->expr->safeExtent(c, translate(c, index)) : Value();
}

bool ReindexExpr::readsInPlace(Value pointer) { return !readsBuffer(*input->expr, pointer); }

bool readsBuffer(Expr &expr, Value pointer) {
  if (auto *buffer = dyn_cast<BufferExpr>(&expr))
    return buffer->pointer == pointer;
  bool found = false;
  expr.visitChildren([&](Tile &child) { found |= readsBuffer(*child->expr, pointer); });
  return found;
}

bool readsMemory(Expr &expr, Value memory) {
  if (expr.viewRead() == memory && memory)
    return true;
  if (auto *buffer = dyn_cast<BufferExpr>(&expr))
    return buffer->pointer == memory;
  bool found = false;
  expr.visitChildren([&](Tile &child) { found |= readsMemory(*child->expr, memory); });
  return found;
}

} // namespace k3::cpu
