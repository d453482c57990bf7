//===- Expr.cpp - Integer expressions of a plan ---------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Non-negative 64-bit numbers; what leaves them is a fault with a name, never a wrong number.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/Expr.h"

#include <algorithm>

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

} // namespace k3
