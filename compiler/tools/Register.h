//===- Register.h - Every dialect and pass of ours --------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one list of dialects and passes that k3-opt, k3-translate and the language server know. k3c
// registers only what it runs, which keeps its start short.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_TOOLS_REGISTER_H
#define K3_COMPILER_TOOLS_REGISTER_H

#include "compiler/codegen/cpu/Passes.h"
#include "compiler/passes/Passes.h"
#include "dialects/k3/K3Dialect.h"
#include "dialects/plan/PlanDialect.h"
#include "dialects/tile/TileDialect.h"
#include "dialects/tile/Transforms/Passes.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

namespace k3 {

/// Our dialects, and the upstream ones that kernels are lowered through.
inline void registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<model::K3Dialect, tile::TileDialect, host::PlanDialect>();
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
}

/// Our passes, and upstream's.
inline void registerAllPasses() {
  registerK3Passes();
  tile::registerTilePasses();
  cpu::registerCpuPasses();
  mlir::registerAllPasses();
}

} // namespace k3

#endif // K3_COMPILER_TOOLS_REGISTER_H
