//===- Ranges.cpp - What is known of an index -----------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interval arithmetic with saturation over the few ops that index computations of kernels are made
// of. Anything else is unknown, which costs a mask and never a wrong result.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cpu/Ranges.h"

#include "dialects/tile/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace k3::cpu {

static constexpr int64_t kLow = std::numeric_limits<int64_t>::min();
static constexpr int64_t kHigh = std::numeric_limits<int64_t>::max();

static bool isOpen(int64_t end) { return end == kLow || end == kHigh; }

static int64_t addEnds(int64_t x, int64_t y, int64_t unknown) {
  int64_t sum;
  return isOpen(x) || isOpen(y) || llvm::AddOverflow(x, y, sum) ? unknown : sum;
}

static Range addRanges(Range x, Range y) {
  return {addEnds(x.low, y.low, kLow), addEnds(x.high, y.high, kHigh)};
}

static Range scale(Range x, int64_t factor) {
  if (factor == 0)
    return {0, 0};
  auto times = [&](int64_t end, int64_t unknown) {
    int64_t product;
    return isOpen(end) || llvm::MulOverflow(end, factor, product) ? unknown : product;
  };
  return factor > 0 ? Range{times(x.low, kLow), times(x.high, kHigh)}
                    : Range{times(x.high, kLow), times(x.low, kHigh)};
}

/// The induction variable of a loop: between its lower end and the last multiple of the step below
/// its upper one.
static Range rangeOfInduction(tile::ForOp loop) {
  Range lower = rangeOf(loop.getLower()), upper = rangeOf(loop.getUpper());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  int64_t high = isOpen(upper.high) ? kHigh : upper.high - 1;
  if (step && *step > 0 && lower.low == lower.high && !isOpen(lower.low) && high != kHigh &&
      high >= lower.low)
    high = lower.low + (high - lower.low) / *step * *step;
  return {lower.low, high};
}

Range rangeOf(Value index) {
  if (std::optional<int64_t> known = getConstantIntValue(index))
    return {*known, *known};
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    auto loop = dyn_cast_or_null<tile::ForOp>(argument.getOwner()->getParentOp());
    return loop && loop.getInductionVar() == index ? rangeOfInduction(loop) : Range{kLow, kHigh};
  }
  Operation *op = index.getDefiningOp();
  if (isa<tile::BlockIdOp>(op))
    return {0, kHigh};
  if (isa<arith::AddIOp>(op))
    return addRanges(rangeOf(op->getOperand(0)), rangeOf(op->getOperand(1)));
  if (isa<arith::SubIOp>(op))
    return addRanges(rangeOf(op->getOperand(0)), scale(rangeOf(op->getOperand(1)), -1));
  if (auto product = dyn_cast<arith::MulIOp>(op)) {
    if (std::optional<int64_t> factor = getConstantIntValue(product.getRhs()))
      return scale(rangeOf(product.getLhs()), *factor);
    if (std::optional<int64_t> factor = getConstantIntValue(product.getLhs()))
      return scale(rangeOf(product.getRhs()), *factor);
    Range x = rangeOf(product.getLhs()), y = rangeOf(product.getRhs());
    return x.low >= 0 && y.low >= 0 ? Range{0, kHigh} : Range{kLow, kHigh};
  }
  if (isa<arith::MinSIOp, arith::MaxSIOp>(op)) {
    Range x = rangeOf(op->getOperand(0)), y = rangeOf(op->getOperand(1));
    if (isa<arith::MinSIOp>(op))
      return {std::min(x.low, y.low), std::min(x.high, y.high)};
    return {std::max(x.low, y.low), std::max(x.high, y.high)};
  }
  if (isa<arith::DivSIOp, arith::DivUIOp>(op)) {
    Range x = rangeOf(op->getOperand(0));
    std::optional<int64_t> divisor = getConstantIntValue(op->getOperand(1));
    if (x.low >= 0 && divisor && *divisor > 0)
      return {x.low / *divisor, isOpen(x.high) ? kHigh : x.high / *divisor};
    return {kLow, kHigh};
  }
  if (isa<arith::RemSIOp, arith::RemUIOp>(op)) {
    std::optional<int64_t> divisor = getConstantIntValue(op->getOperand(1));
    if (rangeOf(op->getOperand(0)).low >= 0 && divisor && *divisor > 0)
      return {0, *divisor - 1};
    return {kLow, kHigh};
  }
  if (auto choice = dyn_cast<arith::SelectOp>(op)) {
    Range x = rangeOf(choice.getTrueValue()), y = rangeOf(choice.getFalseValue());
    return {std::min(x.low, y.low), std::max(x.high, y.high)};
  }
  return {kLow, kHigh};
}

namespace {

/// A sum of values with factors, and a constant.
struct Linear {
  llvm::SmallMapVector<Value, int64_t, 4> terms;
  int64_t constant = 0;

  /// Adds factor * value, taken apart as far as possible. False on overflow.
  bool accumulate(Value value, int64_t factor) {
    if (std::optional<int64_t> known = getConstantIntValue(value)) {
      int64_t product;
      return !llvm::MulOverflow(*known, factor, product) &&
             !llvm::AddOverflow(constant, product, constant);
    }
    if (auto sum = value.getDefiningOp<arith::AddIOp>())
      return accumulate(sum.getLhs(), factor) && accumulate(sum.getRhs(), factor);
    if (auto difference = value.getDefiningOp<arith::SubIOp>())
      return accumulate(difference.getLhs(), factor) && accumulate(difference.getRhs(), -factor);
    if (auto product = value.getDefiningOp<arith::MulIOp>()) {
      int64_t scaled;
      if (std::optional<int64_t> by = getConstantIntValue(product.getRhs()))
        return !llvm::MulOverflow(factor, *by, scaled) && accumulate(product.getLhs(), scaled);
    }
    terms[value] += factor;
    return true;
  }
};

} // namespace

Range rangeOfDifference(Value x, Value y) {
  Linear difference;
  if (!difference.accumulate(x, 1) || !difference.accumulate(y, -1))
    return {kLow, kHigh};
  Range range{difference.constant, difference.constant};
  for (auto [value, factor] : difference.terms)
    range = addRanges(range, scale(rangeOf(value), factor));
  return range;
}

} // namespace k3::cpu
