//===- Code.cpp - Words for low-level code --------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bodies of Code.h. Index arithmetic folds at once, because what is constant decides the shape
// of the loops around it.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cpu/Code.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace k3::cpu {

Type storageType(Type element) {
  if (element.isBF16())
    return IntegerType::get(element.getContext(), 16);
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  return element;
}

Type computeType(Type element) {
  return element.isBF16() ? Float32Type::get(element.getContext()) : element;
}

int64_t storageBytes(Type element) { return storageType(element).getIntOrFloatBitWidth() / 8; }

Type withWidth(Type type, int64_t width) {
  return width == 1 ? type : VectorType::get({width}, type);
}

std::optional<int64_t> constantOf(Value value) { return getConstantIntValue(value); }

bool isConstant(Value value, int64_t expected) { return constantOf(value) == expected; }

static int64_t widthOf(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  return type ? type.getNumElements() : 1;
}

// -----------------------------------------------------------------------------------------------------
// indices

Value Code::index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

Value Code::add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); }
Value Code::sub(Value x, Value y) { return b.createOrFold<arith::SubIOp>(loc, x, y); }
Value Code::mul(Value x, int64_t y) { return b.createOrFold<arith::MulIOp>(loc, x, index(y)); }
Value Code::min(Value x, Value y) { return b.createOrFold<arith::MinSIOp>(loc, x, y); }
Value Code::max(Value x, Value y) { return b.createOrFold<arith::MaxSIOp>(loc, x, y); }
Value Code::div(Value x, int64_t y) { return b.createOrFold<arith::DivUIOp>(loc, x, index(y)); }
Value Code::rem(Value x, int64_t y) { return b.createOrFold<arith::RemUIOp>(loc, x, index(y)); }
Value Code::less(Value x, Value y) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, x, y);
}
Value Code::lessUnsigned(Value x, Value y) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, x, y);
}
Value Code::both(Value x, Value y) { return b.createOrFold<arith::AndIOp>(loc, x, y); }
Value Code::select(Value condition, Value x, Value y) {
  return b.createOrFold<arith::SelectOp>(loc, condition, x, y);
}
Value Code::roundDown(Value x, int64_t step) { return step == 1 ? x : mul(div(x, step), step); }

// -------------------------------------------------------------------------------------------
// constants, shapes

Value Code::f32(double value, int64_t width) {
  Type type = withWidth(b.getF32Type(), width);
  FloatAttr scalar = b.getF32FloatAttr(value);
  if (width == 1)
    return arith::ConstantOp::create(b, loc, scalar);
  return arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(cast<ShapedType>(type), Attribute(scalar)));
}

Value Code::i32(int64_t value, int64_t width) {
  IntegerAttr scalar = b.getI32IntegerAttr(int32_t(uint32_t(value)));
  if (width == 1)
    return arith::ConstantOp::create(b, loc, scalar);
  auto type = VectorType::get({width}, b.getI32Type());
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, Attribute(scalar)));
}

Value Code::zero(Type element, int64_t width) {
  Type type = withWidth(computeType(element), width);
  return arith::ConstantOp::create(b, loc, type, b.getZeroAttr(type));
}

Value Code::splat(Value scalar, int64_t width) {
  if (width == 1 || isa<VectorType>(scalar.getType()))
    return scalar;
  return vector::BroadcastOp::create(b, loc, VectorType::get({width}, scalar.getType()), scalar);
}

static Value convertInteger(OpBuilder &b, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (isa<IndexType>(value.getType()) || isa<IndexType>(type))
    return b.createOrFold<arith::IndexCastOp>(loc, type, value);
  if (value.getType().getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
    return b.createOrFold<arith::ExtSIOp>(loc, type, value);
  return b.createOrFold<arith::TruncIOp>(loc, type, value);
}
Value Code::toI32(Value value) { return convertInteger(b, loc, value, b.getI32Type()); }
Value Code::toI64(Value value) { return convertInteger(b, loc, value, b.getI64Type()); }
Value Code::toIndex(Value value) { return convertInteger(b, loc, value, b.getIndexType()); }

Value Code::fma(Value x, Value y, Value z) { return math::FmaOp::create(b, loc, x, y, z); }

Value Code::sumLanes(Value vector) {
  if (!isa<VectorType>(vector.getType()))
    return vector;
  // Only here may the order of a sum be chosen freely.
  return vector::ReductionOp::create(b, loc, vector::CombiningKind::ADD, vector,
                                     arith::FastMathFlags::reassoc);
}

// ------------------------------------------------------------------------------------------------------
// memory

Value Code::address(Value pointer, Value offset, Type element) {
  if (isConstant(offset, 0))
    return pointer;
  return LLVM::GEPOp::create(b, loc, pointer.getType(), storageType(element), pointer,
                             ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(toI64(offset))});
}

Value Code::load(Value pointer, Value offset, Type element, int64_t width) {
  Value raw =
      LLVM::LoadOp::create(b, loc, withWidth(storageType(element), width),
                           address(pointer, offset, element), unsigned(storageBytes(element)));
  return fromStorage(raw, element);
}

void Code::store(Value value, Value pointer, Value offset, Type element) {
  LLVM::StoreOp::create(b, loc, toStorage(value, element), address(pointer, offset, element),
                        unsigned(storageBytes(element)));
}

Value Code::fromStorage(Value raw, Type element) {
  int64_t width = widthOf(raw);
  if (element.isInteger(1)) {
    Value none = arith::ConstantOp::create(b, loc, raw.getType(), b.getZeroAttr(raw.getType()));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, raw, none);
  }
  if (!element.isBF16())
    return raw;
  Value wide = arith::ExtUIOp::create(b, loc, withWidth(b.getI32Type(), width), raw);
  Value bits = arith::ShLIOp::create(b, loc, wide, i32(16, width));
  return arith::BitcastOp::create(b, loc, withWidth(b.getF32Type(), width), bits);
}

/// The bits of the value, rounded so that the upper half is the nearest bf16.
Value Code::roundedBits(Value value) {
  int64_t width = widthOf(value);
  Value bits = arith::BitcastOp::create(b, loc, withWidth(b.getI32Type(), width), value);
  Value odd = arith::AndIOp::create(b, loc, arith::ShRUIOp::create(b, loc, bits, i32(16, width)),
                                    i32(1, width));
  Value bias = arith::AddIOp::create(b, loc, odd, i32(0x7fff, width));
  Value rounded = arith::AddIOp::create(b, loc, bits, bias);
  // The carry would turn a NaN into infinity or zero; setting the quiet bit keeps it one.
  Value quiet = arith::OrIOp::create(b, loc, bits, i32(0x400000, width));
  Value nan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
  return arith::SelectOp::create(b, loc, nan, quiet, rounded);
}

Value Code::toStorage(Value value, Type element) {
  int64_t width = widthOf(value);
  if (element.isInteger(1))
    return arith::ExtUIOp::create(b, loc, withWidth(b.getI8Type(), width), value);
  if (!element.isBF16())
    return value;
  Value high = arith::ShRUIOp::create(b, loc, roundedBits(value), i32(16, width));
  return arith::TruncIOp::create(b, loc, withWidth(b.getI16Type(), width), high);
}

Value Code::roundToBf16(Value value) {
  int64_t width = widthOf(value);
  Value bits = arith::AndIOp::create(b, loc, roundedBits(value), i32(0xffff0000, width));
  return arith::BitcastOp::create(b, loc, value.getType(), bits);
}

// ------------------------------------------------------------------------------------------------
// control flow

void Code::loop(Value lower, Value upper, int64_t step, llvm::function_ref<void(Value)> body) {
  loop(lower, upper, step, ValueRange{}, [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>{};
  });
}

SmallVector<Value> Code::loop(Value lower, Value upper, int64_t step, ValueRange inits,
                              llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  std::optional<int64_t> lb = constantOf(lower), ub = constantOf(upper);
  if (lb && ub && *lb >= *ub)
    return SmallVector<Value>(inits);
  if (lb && ub && *lb + step >= *ub)
    return body(lower, inits);
  auto loop = scf::ForOp::create(b, loc, lower, upper, index(step), inits);
  OpBuilder::InsertionGuard guard(b);
  if (inits.empty())
    b.setInsertionPoint(loop.getBody()->getTerminator());
  else
    b.setInsertionPointToEnd(loop.getBody());
  SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!inits.empty())
    scf::YieldOp::create(b, loc, next);
  return SmallVector<Value>(loop.getResults());
}

void Code::when(Value condition, llvm::function_ref<void()> body) {
  if (std::optional<int64_t> known = constantOf(condition)) {
    if (*known)
      body();
    return;
  }
  auto branch = scf::IfOp::create(b, loc, condition, false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenYield());
  body();
}

Value Code::valueIf(Value condition, Type type, llvm::function_ref<Value()> body) {
  if (std::optional<int64_t> known = constantOf(condition))
    return *known ? body() : arith::ConstantOp::create(b, loc, type, b.getZeroAttr(type));
  auto branch = scf::IfOp::create(b, loc, TypeRange{type}, condition, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&branch.getThenRegion().front());
  scf::YieldOp::create(b, loc, body());
  b.setInsertionPointToEnd(&branch.getElseRegion().front());
  scf::YieldOp::create(b, loc, Value(arith::ConstantOp::create(b, loc, type, b.getZeroAttr(type))));
  return branch.getResult(0);
}

} // namespace k3::cpu
