//===- Stream.cpp - Contractions whose weights are read once --------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stream reads 16 bytes at a time, so that alignment is proved here from shapes and from the
// form of the offsets; what cannot be proved is printed as an ordinary loop.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cuda/Stream.h"

#include "compiler/codegen/cuda/Storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace k3::cuda {

static std::optional<int64_t> constantOf(Value value) {
  IntegerAttr attribute;
  if (matchPattern(value, m_Constant(&attribute)))
    return attribute.getInt();
  return std::nullopt;
}

/// Whether an index is known to be a multiple of `factor`.
static bool isMultiple(Value value, int64_t factor) {
  if (std::optional<int64_t> constant = constantOf(value))
    return *constant % factor == 0;
  if (auto product = value.getDefiningOp<arith::MulIOp>())
    return isMultiple(product.getLhs(), factor) || isMultiple(product.getRhs(), factor);
  if (auto sum = value.getDefiningOp<arith::AddIOp>())
    return isMultiple(sum.getLhs(), factor) && isMultiple(sum.getRhs(), factor);
  return false;
}

/// What is left of `offset` = rest + step, null if it is no such sum. A rest of 0 is the step
/// alone.
static std::optional<Value> restOf(Value offset, Value step) {
  if (offset == step)
    return Value();
  if (auto sum = offset.getDefiningOp<arith::AddIOp>()) {
    if (sum.getLhs() == step)
      return sum.getRhs();
    if (sum.getRhs() == step)
      return sum.getLhs();
  }
  return std::nullopt;
}

/// Whether `bound` admits columns rest .. rest + inner - 1.
static bool admits(Value bound, Value rest, int64_t inner) {
  std::optional<int64_t> first = rest ? constantOf(rest) : 0, end = constantOf(bound);
  if (first && end)
    return *end >= *first + inner;
  auto sum = bound.getDefiningOp<arith::AddIOp>();
  if (!rest || !sum)
    return false;
  for (auto [one, other] : {std::pair{sum.getLhs(), sum.getRhs()}, {sum.getRhs(), sum.getLhs()}})
    if (one == rest && constantOf(other).value_or(0) >= inner)
      return true;
  return false;
}

/// Whether rows of the view begin at multiples of `elements`, and columns at such a multiple too.
static bool isAligned(Value tensor, Value rest, int64_t elements) {
  auto view = cast<tile::ViewType>(tensor.getType());
  return view.getShape().size() >= 2 && view.getShape().back() % elements == 0 &&
         (!rest || isMultiple(rest, elements));
}

int64_t wordOf(Value view, ValueRange offsets, ValueRange bounds, tile::TileType type) {
  Type element = cast<tile::ViewType>(view.getType()).getElementType();
  int64_t word = element.isBF16() ? 8 : element.isF32() ? 4 : 0;
  if (!word || type.getShape().back() % word || !isAligned(view, offsets.back(), word) ||
      !isMultiple(bounds.back(), word))
    return 0;
  return word;
}

/// `load` is a tile [rows, depth / per] whose columns follow the step, `per` elements a column.
static bool followsStep(tile::LoadOp load, Value step, int64_t inner, int64_t per) {
  Value column = load.getOffsets().back(), bound = load.getBounds().back();
  if (per > 1) {
    auto quotient = column.getDefiningOp<arith::DivSIOp>();
    if (!quotient || constantOf(quotient.getRhs()) != per)
      return false;
    column = quotient.getLhs();
  }
  return column == step && constantOf(bound) == inner / per;
}

static Type elementOf(tile::LoadOp load) {
  return cast<tile::ViewType>(load.getView().getType()).getElementType();
}

static std::optional<StreamWeight> matchWeight(Value operand, Value step, int64_t inner) {
  if (auto load = operand.getDefiningOp<tile::LoadOp>()) {
    if (!elementOf(load).isBF16() || inner % 8 || !followsStep(load, step, inner, 1) ||
        !isAligned(load.getView(), Value(), 8))
      return std::nullopt;
    return StreamWeight{load, {}};
  }
  auto unpacked = operand.getDefiningOp<tile::DequantizeOp>();
  if (!unpacked || inner % 32)
    return std::nullopt;
  auto codes = unpacked.getPacked().getDefiningOp<tile::LoadOp>(),
       scale = unpacked.getScale().getDefiningOp<tile::LoadOp>();
  if (!codes || !scale || !followsStep(codes, step, inner, 2) ||
      !followsStep(scale, step, inner, 32) || !isAligned(codes.getView(), Value(), 16))
    return std::nullopt;
  return StreamWeight{codes, scale};
}

std::optional<Stream> Stream::match(tile::ForOp loop) {
  Stream stream;
  stream.loop = loop;
  std::optional<int64_t> upper = constantOf(loop.getUpper());
  if (constantOf(loop.getLower()) != 0 || !upper || loop.getInits().empty())
    return std::nullopt;
  stream.inner = *upper;
  Block &body = loop.getBody().front();
  Value step = loop.getInductionVar();
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    auto mma = value.getDefiningOp<tile::MmaOp>();
    if (!mma || mma.getAcc() != body.getArgument(i + 1) || mma.getTransposeA() ||
        !mma.getTransposeB())
      return std::nullopt;
    Operation *x = mma.getA().getDefiningOp();
    std::optional<StreamWeight> weight = matchWeight(mma.getB(), step, stream.inner);
    if (!isa_and_nonnull<tile::LoadOp, tile::GatherOp>(x) || !weight || (stream.x && stream.x != x))
      return std::nullopt;
    stream.x = x;
    stream.weights.push_back(*weight);
    stream.rows = mma.getM();
    stream.columns = mma.getN();
    if (bool(weight->scale) != stream.isPacked())
      return std::nullopt;
  }
  Value column, bound;
  if (auto load = dyn_cast<tile::LoadOp>(stream.x)) {
    column = load.getOffsets().back();
    bound = load.getBounds().back();
  } else {
    auto gather = cast<tile::GatherOp>(stream.x);
    column = gather.getColumn();
    bound = gather.getColumnBound();
    if (gather.getRows().getParentBlock() == &body)
      return std::nullopt;
  }
  std::optional<Value> rest = restOf(column, step);
  if (!rest || !cast<tile::ViewType>(stream.xView().getType()).getElementType().isBF16() ||
      !isAligned(stream.xView(), *rest, 8) || !admits(bound, *rest, stream.inner))
    return std::nullopt;
  if (stream.isStaged() && (stream.rows > kStagedExtent || stream.allColumns() > kStagedExtent))
    return std::nullopt;
  // Nothing else may happen in the loop: its body is not run step by step.
  for (Operation &op : body.without_terminator()) {
    bool known = isa<tile::LoadOp, tile::GatherOp, tile::DequantizeOp, tile::MmaOp>(op) ||
                 op.getDialect()->getNamespace() == arith::ArithDialect::getDialectNamespace();
    if (!known || (isa<tile::MmaOp>(op) && !op.hasOneUse()))
      return std::nullopt;
  }
  return stream;
}

int64_t Stream::unitsInFlight() const {
  int64_t words = int64_t(weights.size()) * rowTiles() * 2 * (isPacked() ? 5 : 4) +
                  tokenTiles() * (isPacked() ? 16 : 4);
  int64_t most = std::clamp<int64_t>(64 / words, 1, 4), best = 1;
  // The fewest idle places in the last round, then the most loads together.
  auto rounds = [&](int64_t units) {
    return llvm::divideCeil(llvm::divideCeil(inner, unit() * kWarps), units) * units;
  };
  for (int64_t units = 2; units <= most; ++units)
    if (rounds(units) <= rounds(best))
      best = units;
  return best;
}

bool Stream::isStaged() const { return rows > kStreamRows; }

Value Stream::xRows() const {
  auto gather = dyn_cast<tile::GatherOp>(x);
  return gather ? gather.getRows() : Value();
}

int64_t Stream::stageNumbers() const { return (kStagedExtent + warpColumns() * 32) * kStagedDepth; }

int64_t Stream::partialNumbers() const {
  return kWarps * int64_t(weights.size()) * partialStride() * tokenTiles() * 8;
}

} // namespace k3::cuda
