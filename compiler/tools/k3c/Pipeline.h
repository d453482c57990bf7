//===- Pipeline.h - Phases to passes ----------------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds the passes of one phase to a pass manager; the order and the reasons stand in Pipeline.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_TOOLS_K3C_PIPELINE_H
#define K3_COMPILER_TOOLS_K3C_PIPELINE_H

#include "compiler/tools/k3c/Driver.h"
#include "compiler/tools/k3c/Phases.h"

#include "mlir/Pass/PassManager.h"

namespace k3 {

/// Adds the passes of `phase`, which must not be import, codegen or serialise: those are no passes.
void addPhase(mlir::OpPassManager &pm, Phase phase, const CompileOptions &options);

} // namespace k3

#endif // K3_COMPILER_TOOLS_K3C_PIPELINE_H
