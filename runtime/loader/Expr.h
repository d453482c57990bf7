//===- Expr.h - Integer expressions of a plan -------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Extents that depend on the step (grids, byte counts, scalar arguments) are small expressions over
// the plan's symbols. Their arithmetic is defined here once, for validation at load and for every
// step (ExprTable.h).
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_LOADER_EXPR_H
#define K3_RUNTIME_LOADER_EXPR_H

#include "runtime/schema/plan_generated.h"

#include <cstdint>

namespace k3 {

enum class ExprFault { None, Overflow, Negative, DivisionByZero, UnknownOp };

/// What went wrong, for messages: "it overflows 64 bits".
const char *describe(ExprFault fault);

struct ExprValue {
  int64_t value = 0;
  ExprFault fault = ExprFault::None;
};

/// One binary operation on non-negative operands.
ExprValue applyExprOp(plan::ExprOp op, int64_t lhs, int64_t rhs);

} // namespace k3

#endif // K3_RUNTIME_LOADER_EXPR_H
