//===- TileMath.cpp - Short words for tiles and scalars -------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bodies of TileMath.h: one tile or arith op each.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/lower/TileMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace k3::lower {

// -----------------------------------------------------------------------------------------------------
// scalars

Scalar Scalar::constant(double value) const {
  return {b, arith::ConstantOp::create(*b, b->getF32FloatAttr(value))};
}
Scalar Scalar::operator+(Scalar o) const { return {b, arith::AddFOp::create(*b, v, o.v)}; }
Scalar Scalar::operator-(Scalar o) const { return {b, arith::SubFOp::create(*b, v, o.v)}; }
Scalar Scalar::operator*(Scalar o) const { return {b, arith::MulFOp::create(*b, v, o.v)}; }
Scalar Scalar::operator/(Scalar o) const { return {b, arith::DivFOp::create(*b, v, o.v)}; }
Scalar Scalar::operator-() const { return {b, arith::NegFOp::create(*b, v)}; }

Scalar exp(Scalar x) { return {x.b, math::ExpOp::create(*x.b, x.v)}; }
Scalar tanh(Scalar x) { return {x.b, math::TanhOp::create(*x.b, x.v)}; }
Scalar sqrt(Scalar x) { return {x.b, math::SqrtOp::create(*x.b, x.v)}; }
Scalar sigmoid(Scalar x) { return x.constant(1.0) / (exp(-x) + 1.0); }
Scalar softplus(Scalar x) {
  Scalar magnitude{x.b, math::AbsFOp::create(*x.b, x.v)};
  return maximum(x, x.constant(0.0)) + Scalar{x.b, math::Log1pOp::create(*x.b, exp(-magnitude).v)};
}
Scalar minimum(Scalar x, Scalar y) { return {x.b, arith::MinimumFOp::create(*x.b, x.v, y.v)}; }
Scalar maximum(Scalar x, Scalar y) { return {x.b, arith::MaximumFOp::create(*x.b, x.v, y.v)}; }
Scalar select(Scalar condition, Scalar x, Scalar y) {
  return {x.b, arith::SelectOp::create(*x.b, condition.v, x.v, y.v)};
}
static Scalar compare(arith::CmpIPredicate predicate, Scalar x, Scalar y) {
  return {x.b, arith::CmpIOp::create(*x.b, predicate, x.v, y.v)};
}
Scalar lessThan(Scalar x, Scalar y) { return compare(arith::CmpIPredicate::slt, x, y); }
Scalar lessEqual(Scalar x, Scalar y) { return compare(arith::CmpIPredicate::sle, x, y); }
Scalar equal(Scalar x, Scalar y) { return compare(arith::CmpIPredicate::eq, x, y); }
Scalar roundTo(Scalar x, Type type) {
  if (type.isF32())
    return x;
  Value narrow = arith::TruncFOp::create(*x.b, type, x.v);
  return {x.b, arith::ExtFOp::create(*x.b, x.b->getF32Type(), narrow)};
}

// -------------------------------------------------------------------------------------------------------
// tiles

tile::TileType TileMath::f32(ArrayRef<int64_t> shape) {
  return tile::TileType::get(shape, b.getF32Type());
}
tile::TileType TileMath::i32(ArrayRef<int64_t> shape) {
  return tile::TileType::get(shape, b.getI32Type());
}
ArrayRef<int64_t> TileMath::shape(Value t) { return cast<tile::TileType>(t.getType()).getShape(); }

/// The shape to which the inputs broadcast.
static SmallVector<int64_t> broadcastShape(ValueRange inputs) {
  auto shape = [](Value t) { return cast<tile::TileType>(t.getType()).getShape(); };
  SmallVector<int64_t> result(shape(inputs.front()));
  for (Value input : inputs)
    for (auto [i, extent] : llvm::enumerate(shape(input)))
      result[i] = std::max(result[i], extent);
  return result;
}

static Value mapTo(ImplicitLocOpBuilder &b, tile::TileType type, ValueRange inputs,
                   const MapFn &fn) {
  auto body = [&](OpBuilder &builder, Location loc, ValueRange args) {
    ImplicitLocOpBuilder inner(loc, builder);
    SmallVector<Scalar> scalars;
    for (Value arg : args)
      scalars.push_back({&inner, arg});
    return SmallVector<Value>{fn(scalars).v};
  };
  return tile::MapOp::create(b, TypeRange{type}, inputs, body).getResult(0);
}

Value TileMath::map(ValueRange inputs, const MapFn &fn) {
  return mapTo(b, f32(broadcastShape(inputs)), inputs, fn);
}

Value TileMath::map(ArrayRef<int64_t> resultShape, ValueRange inputs, const MapFn &fn) {
  return mapTo(b, f32(resultShape), inputs, fn);
}

Value TileMath::mapInt(ValueRange inputs, const MapFn &fn) {
  return mapTo(b, i32(broadcastShape(inputs)), inputs, fn);
}

static Value reduce(ImplicitLocOpBuilder &b, tile::ReduceKind kind, Value t, int64_t axis) {
  auto type = cast<tile::TileType>(t.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = 1;
  return tile::ReduceOp::create(b, tile::TileType::get(shape, type.getElementType()), kind, t,
                                axis);
}
Value TileMath::sum(Value t, int64_t axis) { return reduce(b, tile::ReduceKind::Add, t, axis); }
Value TileMath::max(Value t, int64_t axis) { return reduce(b, tile::ReduceKind::Max, t, axis); }

Value TileMath::splat(ArrayRef<int64_t> resultShape, double value) {
  Value scalar = arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  return tile::SplatOp::create(b, f32(resultShape), scalar);
}
Value TileMath::iota(ArrayRef<int64_t> resultShape, int64_t axis) {
  return tile::IotaOp::create(b, i32(resultShape), k.index(0), axis);
}
Value TileMath::reshape(Value t, ArrayRef<int64_t> resultShape) {
  auto type = cast<tile::TileType>(t.getType());
  return tile::ReshapeOp::create(b, tile::TileType::get(resultShape, type.getElementType()), t);
}
Value TileMath::transpose(Value t) {
  auto type = cast<tile::TileType>(t.getType());
  return tile::TransposeOp::create(
      b, tile::TileType::get({type.getDimSize(1), type.getDimSize(0)}, type.getElementType()), t);
}
Value TileMath::extract(Value t, ArrayRef<int64_t> resultShape, ValueRange offsets) {
  auto type = cast<tile::TileType>(t.getType());
  return tile::ExtractOp::create(b, tile::TileType::get(resultShape, type.getElementType()), t,
                                 offsets);
}
Value TileMath::mma(Value acc, Value a, Value bOperand, bool transposeA, bool transposeB) {
  return tile::MmaOp::create(b, acc, a, bOperand, transposeA, transposeB);
}

Value TileMath::load(Value view, ArrayRef<int64_t> resultShape, ValueRange offsets,
                     ValueRange bounds) {
  Type element = cast<tile::ViewType>(view.getType()).getElementType();
  if (element.isBF16())
    element = b.getF32Type();
  return tile::LoadOp::create(b, tile::TileType::get(resultShape, element), view, offsets, bounds);
}
void TileMath::store(Value t, Value view, ValueRange offsets, ValueRange bounds) {
  tile::StoreOp::create(b, t, view, offsets, bounds);
}
Value TileMath::readIndex(Value view, ValueRange offsets, ValueRange bounds) {
  return tile::ReadOp::create(b, b.getIndexType(), view, offsets, bounds);
}

ValueRange TileMath::loop(Value lower, Value upper, int64_t step, ValueRange inits,
                          llvm::function_ref<SmallVector<Value>(Value, ValueRange)> fn) {
  auto body = [&](OpBuilder &builder, Location loc, Value i, ValueRange carried) {
    OpBuilder::InsertionGuard guard(b);
    b.restoreInsertionPoint(builder.saveInsertionPoint());
    tile::YieldOp::create(b, ValueRange(fn(i, carried)));
  };
  return tile::ForOp::create(b, lower, upper, k.index(step), inits, body).getResults();
}

void TileMath::when(Value condition, llvm::function_ref<void()> fn) {
  tile::IfOp::create(b, condition, [&](OpBuilder &builder, Location loc) {
    OpBuilder::InsertionGuard guard(b);
    b.restoreInsertionPoint(builder.saveInsertionPoint());
    fn();
    tile::YieldOp::create(b);
  });
}

Value TileMath::atLeast(Value x, Value y) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, x, y);
}
Value TileMath::lessIndex(Value x, Value y) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x, y);
}
Value TileMath::selectIndex(Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, condition, x, y);
}

Value TileMath::add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(x, y); }
Value TileMath::sub(Value x, Value y) { return b.createOrFold<arith::SubIOp>(x, y); }
Value TileMath::mul(Value x, Value y) { return b.createOrFold<arith::MulIOp>(x, y); }
Value TileMath::minIndex(Value x, Value y) { return b.createOrFold<arith::MinSIOp>(x, y); }
Value TileMath::maxIndex(Value x, Value y) { return b.createOrFold<arith::MaxSIOp>(x, y); }
Value TileMath::div(Value x, Value y) { return b.createOrFold<arith::DivSIOp>(x, y); }
Value TileMath::rem(Value x, Value y) { return b.createOrFold<arith::RemSIOp>(x, y); }

// ------------------------------------------------------------------------------------------------
// compositions

Value TileMath::rmsNorm(Value x, Value gain, double eps, Type roundType) {
  int64_t axis = shape(x).size() - 1;
  double extent = shape(x).back();
  Value squares = sum(map({x}, [](ArrayRef<Scalar> s) { return s[0] * s[0]; }), axis);
  return map({x, squares, gain}, [&](ArrayRef<Scalar> s) {
    return roundTo(s[0] * (s[0].constant(1.0) / sqrt(s[1] / extent + eps)) * s[2], roundType);
  });
}

Value TileMath::l2Norm(Value x, double scale) {
  int64_t axis = shape(x).size() - 1;
  Value squares = sum(map({x}, [](ArrayRef<Scalar> s) { return s[0] * s[0]; }), axis);
  return map({x, squares},
             [&](ArrayRef<Scalar> s) { return s[0] * (s[0].constant(scale) / sqrt(s[1] + 1e-6)); });
}

} // namespace k3::lower
