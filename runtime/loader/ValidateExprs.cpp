//===- ValidateExprs.cpp - Symbols and expressions of a plan --------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bounds every expression for all allowed values of the symbols at once, by interval arithmetic. A
// difference that could be negative counts from zero, because evaluation refuses a negative value.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/Expr.h"
#include "runtime/loader/Validate.h"

#include <algorithm>
#include <unordered_set>

namespace k3 {

namespace {

// A range keeps one bit for each symbol it depends on.
constexpr uint32_t maxSymbols = 64;
constexpr uint32_t maxDepth = 256;

Status checkSymbols(const PlanChecks &checks) {
  const auto &symbols = *checks.plan.symbols();
  if (symbols.size() > maxSymbols)
    return checks.refuse("symbols", "there are too many (got {}, expected at most {})",
                         symbols.size(), maxSymbols);
  std::unordered_set<std::string_view> names;
  for (uint32_t i = 0; i < symbols.size(); ++i) {
    std::string_view name = symbols[i]->name()->string_view();
    K3_RETURN_IF_ERROR(checks.checkName("symbols", fmt::format("symbol {}", i), name));
    if (!names.insert(name).second)
      return checks.refuse(
          "symbols", "symbol {} '{}': its name is taken (got it twice, expected unique names)", i,
          name);
    uint64_t bound = symbols[i]->upper_bound();
    if (bound < 1 || bound > INT64_MAX)
      return checks.refuse(
          "symbols", "symbol {} '{}': its upper bound is out of range (got {}, expected 1 to {})",
          i, name, bound, INT64_MAX);
  }
  return Status::ok();
}

/// The values an operation can give when its operands lie in LHS and RHS.
ExprFault rangeOf(plan::ExprOp op, const ExprRange &lhs, const ExprRange &rhs, ExprRange &out) {
  bool divides = op == plan::ExprOp::CeilDiv || op == plan::ExprOp::FloorDiv;
  if (divides && rhs.high == 0)
    return ExprFault::DivisionByZero;
  // The result falls as the right operand of a difference or quotient grows.
  bool falls = divides || op == plan::ExprOp::Sub;
  int64_t rhsForHigh = falls ? rhs.low : rhs.high;
  int64_t rhsForLow = falls ? rhs.high : rhs.low;
  if (divides)
    rhsForHigh = std::max<int64_t>(rhsForHigh, 1);
  ExprValue high = applyExprOp(op, lhs.high, rhsForHigh);
  if (high.fault != ExprFault::None)
    return high.fault;
  ExprValue low = applyExprOp(op, lhs.low, rhsForLow);
  if (low.fault != ExprFault::None && low.fault != ExprFault::Negative)
    return low.fault;
  out = {low.fault == ExprFault::Negative ? 0 : low.value, high.value, lhs.symbols | rhs.symbols,
         std::max(lhs.depth, rhs.depth) + 1};
  return ExprFault::None;
}

} // namespace

Status validateExprs(const PlanChecks &checks) {
  K3_RETURN_IF_ERROR(checkSymbols(checks));
  const auto &exprs = *checks.plan.exprs();
  const auto &symbols = *checks.plan.symbols();
  checks.ranges.assign(exprs.size(), {});
  std::vector<int64_t> atBounds(exprs.size());
  for (uint32_t i = 0; i < exprs.size(); ++i) {
    const plan::Expr &node = *exprs[i];
    ExprRange &range = checks.ranges[i];
    if (node.op() > plan::ExprOp::MAX)
      return checks.refuse(
          "exprs", "expression {}: its operation is unknown (got {}, expected at most {})", i,
          static_cast<unsigned>(node.op()), static_cast<unsigned>(plan::ExprOp::MAX));
    if (node.op() == plan::ExprOp::Const) {
      if (node.value() < 0)
        return checks.refuse(
            "exprs", "expression {}: its constant is negative (got {}, expected at least 0)", i,
            node.value());
      range = {node.value(), node.value(), 0, 0};
      atBounds[i] = node.value();
      continue;
    }
    if (node.op() == plan::ExprOp::Symbol) {
      // A negative index becomes a huge one.
      uint64_t index = static_cast<uint64_t>(node.value());
      if (index >= symbols.size())
        return checks.refuse(
            "exprs", "expression {}: its symbol does not exist (got {}, expected less than {})", i,
            node.value(), symbols.size());
      int64_t bound = static_cast<int64_t>(symbols[static_cast<uint32_t>(index)]->upper_bound());
      range = {0, bound, uint64_t{1} << index, 0};
      atBounds[i] = bound;
      continue;
    }
    uint32_t operands[2] = {node.lhs(), node.rhs()};
    for (uint32_t operand : operands)
      if (operand >= i)
        return checks.refuse(
            "exprs",
            "expression {}: its operand does not come before it (got {}, expected less than {})", i,
            operand, i);
    ExprFault fault =
        rangeOf(node.op(), checks.ranges[operands[0]], checks.ranges[operands[1]], range);
    if (fault != ExprFault::None)
      return checks.refuse(
          "exprs",
          "expression {}: is not safe within the symbols' bounds because {} (got operands up "
          "to {} and {})",
          i, describe(fault), checks.ranges[operands[0]].high, checks.ranges[operands[1]].high);
    if (range.depth > maxDepth)
      return checks.refuse(
          "exprs", "expression {}: is nested too deeply (got {} levels, expected at most {})", i,
          range.depth, maxDepth);
    ExprValue value = applyExprOp(node.op(), atBounds[operands[0]], atBounds[operands[1]]);
    if (value.fault != ExprFault::None)
      return checks.refuse(
          "exprs",
          "expression {}: has no value at the symbols' upper bounds because {} (got operands "
          "{} and {})",
          i, describe(value.fault), atBounds[operands[0]], atBounds[operands[1]]);
    atBounds[i] = value.value;
  }
  return Status::ok();
}

} // namespace k3
