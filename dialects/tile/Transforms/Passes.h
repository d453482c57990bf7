//===- Passes.h - Passes over tile kernels ----------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constructors and registration of the passes declared in Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef K3_DIALECTS_TILE_TRANSFORMS_PASSES_H
#define K3_DIALECTS_TILE_TRANSFORMS_PASSES_H

#include "dialects/tile/TileOps.h"

#include "mlir/Pass/Pass.h"

namespace k3::tile {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "dialects/tile/Transforms/Passes.h.inc"

} // namespace k3::tile

#endif // K3_DIALECTS_TILE_TRANSFORMS_PASSES_H
