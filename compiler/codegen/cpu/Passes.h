//===- Passes.h - Passes of the CPU target ----------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From tile kernels to functions of the LLVM dialect. Registered under their names for k3-opt.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_CODEGEN_CPU_PASSES_H
#define K3_COMPILER_CODEGEN_CPU_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
}

namespace k3::cpu {

/// `tile-to-cpu`: each tile kernel becomes a function on pointers, vectors and loops. Without
/// `fuse` (for tests and for finding faults) no op is merged with another and no buffer is used
/// twice; the results are the same.
std::unique_ptr<mlir::Pass> createTileToCpuPass(bool fuse = true);

/// `tile-to-cpu` and everything behind it, down to the LLVM dialect; `tile-to-cpu-llvm` as a
/// pipeline.
void buildTileToLlvmPipeline(mlir::OpPassManager &pm, bool fuse = true);

void registerCpuPasses();

} // namespace k3::cpu

#endif // K3_COMPILER_CODEGEN_CPU_PASSES_H
