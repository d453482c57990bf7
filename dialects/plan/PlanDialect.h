//===- PlanDialect.h - The plan dialect -------------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the dialect, its enums and attributes.
//
//===----------------------------------------------------------------------===//

#ifndef K3_DIALECTS_PLAN_PLANDIALECT_H
#define K3_DIALECTS_PLAN_PLANDIALECT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

#include "dialects/plan/PlanDialect.h.inc"
#include "dialects/plan/PlanEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/plan/PlanAttrs.h.inc"

#endif // K3_DIALECTS_PLAN_PLANDIALECT_H
