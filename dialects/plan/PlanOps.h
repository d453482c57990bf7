//===- PlanOps.h - Ops of the plan dialect ----------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The generated op classes. Include this to build or walk programs.
//
//===----------------------------------------------------------------------===//

#ifndef K3_DIALECTS_PLAN_PLANOPS_H
#define K3_DIALECTS_PLAN_PLANOPS_H

#include "dialects/plan/PlanDialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"

#define GET_OP_CLASSES
#include "dialects/plan/PlanOps.h.inc"

#endif // K3_DIALECTS_PLAN_PLANOPS_H
