//===- Passes.h - Passes of the compiler ------------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the passes of Passes.td and their registration; one function registers all of them for k3-opt.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_PASSES_PASSES_H
#define K3_COMPILER_PASSES_PASSES_H

#include "dialects/k3/K3Dialect.h"
#include "dialects/plan/PlanDialect.h"
#include "dialects/tile/TileDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace k3 {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/passes/Passes.h.inc"

} // namespace k3

#endif // K3_COMPILER_PASSES_PASSES_H
