//===- PlanDialect.h - The plan dialect and its attributes ------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect class, enums and attributes of what the host does, and the arithmetic of its
// expressions. Ops are in PlanOps.h.
//
//===----------------------------------------------------------------------===//

#ifndef K3_DIALECTS_PLAN_PLANDIALECT_H
#define K3_DIALECTS_PLAN_PLANDIALECT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

#include <optional>

#include "dialects/plan/PlanDialect.h.inc"
#include "dialects/plan/PlanEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/plan/PlanAttrs.h.inc"

namespace k3::host {

/// Borders on which buffers lie in their arenas.
inline constexpr int64_t bufferAlignment = 64;

/// The values that an expression can take while every symbol lies between 0 and its upper bound.
struct ExprRange {
  int64_t low, high;
};

/// The range of `expr`, or nothing if the expression names a symbol without a bound, divides by
/// zero, or leaves the non-negative 64-bit numbers at the upper bounds.
std::optional<ExprRange> rangeOf(ExprAttr expr,
                                 llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> bound);

/// Calls `visit` for every symbol of the expression, as often as it occurs.
void walkSymbols(ExprAttr expr, llvm::function_ref<void(llvm::StringRef)> visit);

/// Bytes of one element: f32, bf16, i32, i64 or i8.
int64_t elementBytes(mlir::Type dtype);

/// `ceildiv(T, 16)`, as it stands between the brackets of #plan.expr.
mlir::ParseResult parseExprText(mlir::AsmParser &parser, ExprAttr &expr);
void printExprText(mlir::AsmPrinter &printer, ExprAttr expr);

} // namespace k3::host

#endif // K3_DIALECTS_PLAN_PLANDIALECT_H
