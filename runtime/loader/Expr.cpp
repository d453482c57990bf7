//===- Expr.cpp - Integer expressions of a plan ---------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nodes come after their operands, so one sweep down finds what is needed and one sweep up computes
// it: shared operands cost nothing twice and nothing recurses.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/Expr.h"

#include "support/Format.h"

#include <algorithm>
#include <vector>

namespace k3 {

const char *describe(ExprFault fault) {
  switch (fault) {
  case ExprFault::None:
    return "it has a value";
  case ExprFault::Overflow:
    return "it overflows 64 bits";
  case ExprFault::Negative:
    return "it becomes negative";
  case ExprFault::DivisionByZero:
    return "it divides by zero";
  case ExprFault::UnknownOp:
    return "its operation is unknown";
  }
  return "it has no value";
}

ExprValue applyExprOp(plan::ExprOp op, int64_t lhs, int64_t rhs) {
  int64_t value = 0;
  switch (op) {
  case plan::ExprOp::Add:
    if (__builtin_add_overflow(lhs, rhs, &value))
      return {0, ExprFault::Overflow};
    return {value, ExprFault::None};
  case plan::ExprOp::Sub:
    if (lhs < rhs)
      return {0, ExprFault::Negative};
    return {lhs - rhs, ExprFault::None};
  case plan::ExprOp::Mul:
    if (__builtin_mul_overflow(lhs, rhs, &value))
      return {0, ExprFault::Overflow};
    return {value, ExprFault::None};
  case plan::ExprOp::CeilDiv:
    if (rhs == 0)
      return {0, ExprFault::DivisionByZero};
    return {lhs / rhs + (lhs % rhs != 0), ExprFault::None};
  case plan::ExprOp::FloorDiv:
    if (rhs == 0)
      return {0, ExprFault::DivisionByZero};
    return {lhs / rhs, ExprFault::None};
  case plan::ExprOp::Min:
    return {std::min(lhs, rhs), ExprFault::None};
  case plan::ExprOp::Max:
    return {std::max(lhs, rhs), ExprFault::None};
  case plan::ExprOp::Const:
  case plan::ExprOp::Symbol:
    break;
  }
  return {0, ExprFault::UnknownOp};
}

Result<int64_t> evaluate(const plan::Plan &plan, uint32_t expr, std::span<const int64_t> symbols) {
  const auto &exprs = *plan.exprs();
  if (expr >= exprs.size())
    return Status::refused(fmt::format(
        "expression {}: does not exist (got {}, expected less than {}); rebuild the plan with k3c",
        expr, expr, exprs.size()));
  auto isBinary = [](const plan::Expr *node) {
    return node->op() != plan::ExprOp::Const && node->op() != plan::ExprOp::Symbol;
  };
  std::vector<bool> needed(expr + 1);
  needed[expr] = true;
  for (uint32_t i = expr + 1; i-- > 0;)
    if (needed[i] && isBinary(exprs[i]))
      needed[exprs[i]->lhs()] = needed[exprs[i]->rhs()] = true;

  std::vector<int64_t> values(expr + 1);
  for (uint32_t i = 0; i <= expr; ++i) {
    if (!needed[i])
      continue;
    const plan::Expr *node = exprs[i];
    if (node->op() == plan::ExprOp::Const) {
      values[i] = node->value();
      continue;
    }
    if (node->op() == plan::ExprOp::Symbol) {
      size_t index = static_cast<size_t>(node->value());
      const plan::Symbol *symbol = (*plan.symbols())[static_cast<uint32_t>(index)];
      if (index >= symbols.size())
        return Status::refused(fmt::format(
            "symbol '{}': no value is given (got {} values, expected at least {}); give "
            "one for each symbol of the plan",
            symbol->name()->string_view(), symbols.size(), index + 1));
      if (symbols[index] < 0 || static_cast<uint64_t>(symbols[index]) > symbol->upper_bound())
        return Status::refused(fmt::format(
            "symbol '{}': is outside its bounds (got {}, expected 0 to {}); rebuild the "
            "plan with larger limits",
            symbol->name()->string_view(), symbols[index], symbol->upper_bound()));
      values[i] = symbols[index];
      continue;
    }
    ExprValue result = applyExprOp(node->op(), values[node->lhs()], values[node->rhs()]);
    if (result.fault != ExprFault::None)
      return Status::refused(fmt::format(
          "expression {}: has no value because {} (got operands {} and {}); rebuild the "
          "plan with k3c",
          i, describe(result.fault), values[node->lhs()], values[node->rhs()]));
    values[i] = result.value;
  }
  return values[expr];
}

} // namespace k3
