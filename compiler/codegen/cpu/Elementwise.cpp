//===- Elementwise.cpp - Elementwise and layout ops -----------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most of these ops emit nothing: they define an expression, or another way to look at a buffer.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cpu/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace k3::cpu {

static tile::TileType typeOf(Value value) { return cast<tile::TileType>(value.getType()); }

LogicalResult KernelLowering::lower(tile::SplatOp op) {
  tile::TileType type = typeOf(op.getResult());
  Value scalar = scalars.lookup(op.getScalar());
  if (isa<IndexType>(scalar.getType()))
    scalar = c.toI32(scalar);
  if (type.getElementType().isBF16())
    scalar = c.roundToBf16(scalar);
  define(op.getResult(),
         std::make_shared<SplatExpr>(type.getShape(), type.getElementType(), scalar));
  return success();
}

LogicalResult KernelLowering::lower(tile::IotaOp op) {
  tile::TileType type = typeOf(op.getResult());
  define(op.getResult(), std::make_shared<IotaExpr>(type.getShape(), type.getElementType(),
                                                    scalars.lookup(op.getStart()), op.getAxis()));
  return success();
}

LogicalResult KernelLowering::lower(tile::MapOp op) {
  for (Operation &inner : op.getBody().front().without_terminator())
    if (!isSupportedScalarOp(&inner))
      return inner.emitOpError("is not supported in the region of tile.map on the CPU");
  SmallVector<Tile> inputs;
  for (Value input : op.getInputs())
    inputs.push_back(tileOf(input));
  tile::TileType first = typeOf(op.getResult(0));
  auto expr =
      std::make_shared<MapExpr>(first.getShape(), first.getElementType(), op, inputs, scalars);
  if (op.getNumResults() == 1) {
    defineOrCompute(op.getResult(0), expr);
    return success();
  }
  SmallVector<std::shared_ptr<BufferExpr>> buffers;
  for (Value result : op.getResults())
    buffers.push_back(allocate(typeOf(result)));
  evaluateAll(*expr, buffers);
  for (auto [result, buffer] : llvm::zip_equal(op.getResults(), buffers))
    define(result, buffer);
  return success();
}

LogicalResult KernelLowering::lower(tile::CastOp op) {
  tile::TileType type = typeOf(op.getResult());
  defineOrCompute(op.getResult(), std::make_shared<CastExpr>(type.getShape(), type.getElementType(),
                                                             tileOf(op.getInput())));
  return success();
}

LogicalResult KernelLowering::lower(tile::BroadcastOp op) {
  tile::TileType type = typeOf(op.getResult());
  SmallVector<int64_t> sources;
  for (auto [d, extent] : llvm::enumerate(typeOf(op.getInput()).getShape()))
    sources.push_back(extent == 1 ? -1 : int64_t(d));
  defineOrCompute(op.getResult(),
                  std::make_shared<ReindexExpr>(type.getShape(), type.getElementType(),
                                                tileOf(op.getInput()), sources));
  return success();
}

LogicalResult KernelLowering::lower(tile::TransposeOp op) {
  std::shared_ptr<BufferExpr> input = materialise(op.getInput());
  auto turned = std::make_shared<BufferExpr>(
      typeOf(op.getResult()).getShape(), input->element, input->pointer,
      ArrayRef<int64_t>{input->strides[1], input->strides[0]});
  turned->origin = input->origin;
  define(op.getResult(), turned);
  return success();
}

/// For each dimension of `from` the dimension of `to` that has its index, -1 for an extent of 1;
/// nothing if more than unit dimensions differ.
static std::optional<SmallVector<int64_t>> matchDimensions(ArrayRef<int64_t> from,
                                                           ArrayRef<int64_t> to) {
  SmallVector<int64_t> sources;
  unsigned next = 0;
  for (int64_t extent : from) {
    if (extent == 1) {
      sources.push_back(-1);
      continue;
    }
    while (next < to.size() && to[next] == 1)
      ++next;
    if (next == to.size() || to[next] != extent)
      return std::nullopt;
    sources.push_back(next++);
  }
  return sources;
}

LogicalResult KernelLowering::lower(tile::ReshapeOp op) {
  tile::TileType type = typeOf(op.getResult());
  Tile &input = tileOf(op.getInput());
  if (auto *splat = dyn_cast<SplatExpr>(input->expr.get())) {
    define(op.getResult(),
           std::make_shared<SplatExpr>(type.getShape(), type.getElementType(), splat->scalar));
    return success();
  }
  auto sources = matchDimensions(input->expr->shape, type.getShape());
  if (sources && !isa<BufferExpr>(input->expr.get())) {
    defineOrCompute(op.getResult(), std::make_shared<ReindexExpr>(
                                        type.getShape(), type.getElementType(), input, *sources));
    return success();
  }
  std::shared_ptr<BufferExpr> buffer = materialise(op.getInput());
  if (!buffer->isDense()) {
    auto dense = allocate(buffer->shape, buffer->element);
    copy(*buffer, *dense);
    buffer = dense;
  }
  define(op.getResult(),
         BufferExpr::dense(type.getShape(), type.getElementType(), buffer->pointer));
  return success();
}

LogicalResult KernelLowering::lower(tile::ExtractOp op) {
  std::shared_ptr<BufferExpr> input = materialise(op.getInput());
  auto part = std::make_shared<BufferExpr>(typeOf(op.getResult()).getShape(), input->element,
                                           input->pointer, input->strides);
  part->origin = input->origin ? input->origin : c.index(0);
  for (auto [offset, stride] : llvm::zip_equal(op.getOffsets(), input->strides))
    part->origin = c.add(part->origin, c.mul(scalars.lookup(offset), stride));
  define(op.getResult(), part);
  return success();
}

LogicalResult KernelLowering::lower(tile::InsertOp op) {
  std::shared_ptr<BufferExpr> dest = materialise(op.getDest());
  std::shared_ptr<Expr> part = tileOf(op.getPart())->expr;
  if (readsBuffer(*part, dest->pointer)) {
    auto aside = allocate(part->shape, part->element);
    evaluate(*part, *aside);
    part = aside;
  }
  if (!dest->isDense() || !isDead(dest->pointer, op)) {
    auto own = allocate(dest->shape, dest->element);
    copy(*dest, *own);
    dest = own;
  }
  BufferExpr place(part->shape, dest->element, dest->pointer, dest->strides);
  place.origin = c.index(0);
  for (auto [offset, stride] : llvm::zip_equal(op.getOffsets(), dest->strides))
    place.origin = c.add(place.origin, c.mul(scalars.lookup(offset), stride));
  evaluate(*part, place);
  define(op.getResult(), BufferExpr::dense(dest->shape, dest->element, dest->pointer));
  return success();
}

// --------------------------------------------------------------------------------------------------
// dequantize

LogicalResult KernelLowering::lower(tile::DequantizeOp op) {
  tile::TileType type = typeOf(op.getResult());
  defineOrCompute(op.getResult(),
                  std::make_shared<DequantizeExpr>(type.getShape(), type.getElementType(),
                                                   tileOf(op.getPacked()), tileOf(op.getScale())));
  return success();
}

Value DequantizeExpr::scaleOf(Code &c, Value byte) {
  // Without branches: the exponent field is the byte itself, but 0 means a denormal and 255 sets
  // the quiet bit of NaN.
  Value exponent = arith::ExtUIOp::create(c.b, c.loc, c.b.getI32Type(), byte);
  Value bits = arith::ShLIOp::create(c.b, c.loc, exponent, c.i32(23));
  bits = arith::MaxUIOp::create(c.b, c.loc, bits, c.i32(0x00400000));
  Value next = arith::AddIOp::create(c.b, c.loc, exponent, c.i32(1));
  Value isLast = arith::ShRUIOp::create(c.b, c.loc, next, c.i32(8));
  bits =
      arith::OrIOp::create(c.b, c.loc, bits, arith::ShLIOp::create(c.b, c.loc, isLast, c.i32(22)));
  return arith::BitcastOp::create(c.b, c.loc, c.b.getF32Type(), bits);
}

/// The codes of eight columns lie in the nibbles of one i32, lowest first. A table in a register
/// gives the magnitudes. Shifting the code to the top leaves its sign in place, and its other bits
/// over bits of the number: the table holds the numbers with those flipped, so that one exclusive
/// or puts both right.
Value DequantizeExpr::decode(Code &c, Value word) {
  Type i32s = withWidth(c.b.getI32Type(), kLanes), f32s = withWidth(c.b.getF32Type(), kLanes);
  const float magnitudes[kLanes] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
  SmallVector<int32_t> shifts, table;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    shifts.push_back(int32_t(4 * lane));
    table.push_back(int32_t(llvm::bit_cast<uint32_t>(magnitudes[lane]) ^ lane << 28));
  }
  auto constant = [&](ArrayRef<int32_t> values) -> Value {
    return arith::ConstantOp::create(c.b, c.loc, c.b.getI32VectorAttr(values));
  };
  Value codes = arith::ShRUIOp::create(c.b, c.loc, c.splat(word, kLanes), constant(shifts));
  // The instruction looks at the lowest three bits of each lane.
  Value flipped =
      LLVM::CallIntrinsicOp::create(c.b, c.loc, i32s, c.b.getStringAttr("llvm.x86.avx2.permd"),
                                    ValueRange{constant(table), codes})
          .getResult(0);
  Value top = arith::ShLIOp::create(c.b, c.loc, codes, c.i32(28, kLanes));
  return arith::BitcastOp::create(c.b, c.loc, f32s,
                                  arith::XOrIOp::create(c.b, c.loc, flipped, top));
}

Value DequantizeExpr::codes(Code &c, Value n, Value k, bool checked) {
  Access bytes;
  bytes.index = {n, c.div(k, 2)};
  bytes.width = kLanes / 2;
  bytes.checked = checked;
  Value four = packed->expr->at(c, bytes);
  Value word = vector::BitCastOp::create(c.b, c.loc, VectorType::get({1}, c.b.getI32Type()), four);
  return vector::ExtractOp::create(c.b, c.loc, word, int64_t(0));
}

Value DequantizeExpr::scaleAt(Code &c, Value n, Value k, bool checked) {
  Access byte;
  byte.index = {n, c.div(k, 32)};
  byte.checked = checked;
  return scaleOf(c, scale->expr->at(c, byte));
}

Value DequantizeExpr::safeExtent(Code &c, ArrayRef<Value> index) {
  SmallVector<Value> first{index[0], c.index(0)};
  Value bytes = packed->expr->safeExtent(c, first), scales = scale->expr->safeExtent(c, first);
  Value columns = bytes ? c.mul(bytes, 2) : Value();
  if (!scales)
    return columns;
  Value scaled = c.mul(scales, 32);
  return columns ? c.min(columns, scaled) : scaled;
}

Value DequantizeExpr::at(Code &c, const Access &access) {
  Value n = access.index[0], k = access.index[1];
  Value factor = scaleAt(c, n, k, access.checked);
  Value number;
  if (access.width != 1) {
    number = decode(c, codes(c, n, k, access.checked));
  } else {
    Access one = access;
    one.index = {n, c.div(k, 2)};
    Value byte = arith::ExtUIOp::create(c.b, c.loc, c.b.getI32Type(), packed->expr->at(c, one));
    Value shift = c.toI32(c.mul(c.rem(k, 2), 4));
    Value code = arith::ShRUIOp::create(c.b, c.loc, byte, shift);
    number = vector::ExtractOp::create(c.b, c.loc, decode(c, code), int64_t(0));
  }
  return arith::MulFOp::create(c.b, c.loc, number, c.splat(factor, access.width));
}

} // namespace k3::cpu
