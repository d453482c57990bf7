//===- Pipeline.cpp - Phases to passes ------------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pipeline, phase by phase, with the reason for each pass where it stands.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/k3c/Pipeline.h"

#include "compiler/codegen/cuda/CudaTarget.h"
#include "compiler/passes/Passes.h"
#include "dialects/tile/TileOps.h"
#include "dialects/tile/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace k3 {

void addPhase(OpPassManager &pm, Phase phase, const CompileOptions &options) {
  switch (phase) {
  case Phase::Entry:
    pm.addPass(createEntryPass());
    break;

  case Phase::Simplify:
    // Absorption first: it turns one op into projections a head, which packing must not see as
    // shared ones.
    pm.addPass(createAbsorbPass());
    pm.addPass(createSplitExpertsPass());
    pm.addPass(createPackPass());
    break;

  case Phase::Shard:
    pm.addPass(createShardPass());
    break;

  case Phase::Numerics: {
    NumericsPassOptions numerics;
    numerics.dtype = options.dtype;
    pm.addPass(createNumericsPass(numerics));
    break;
  }

  case Phase::Fuse: {
    // Equal weights and constants become one value, so that a group loads them once.
    pm.addPass(createCSEPass());
    FusePassOptions fuse;
    fuse.disabled.assign(options.noFuse.begin(), options.noFuse.end());
    pm.addPass(createFusePass(fuse));
    break;
  }

  case Phase::Tile: {
    LowerToTilePassOptions lower;
    if (const cuda::CudaTarget *gpu =
            cuda::findTarget(options.schedule.empty() ? options.target : options.schedule))
      lower.sharedBytes = gpu->sharedBytes;
    pm.addPass(createLowerToTilePass(lower));
    // What the lowering wrote twice: index arithmetic, bounds, views of the same batch field.
    pm.addPass(createCSEPass());
    pm.addPass(createCanonicalizerPass());
    break;
  }

  case Phase::Schedule:
    pm.addNestedPass<tile::KernelOp>(tile::createTileAllocateShared());
    pm.addNestedPass<tile::KernelOp>(tile::createTileInsertBarriers());
    break;

  case Phase::Layout:
    // The CPU kernels read weights row by row, as the checkpoint stores them: the params' pieces
    // are the recipes.
    break;

  case Phase::Plan:
    pm.addPass(createPlanPass());
    break;

  case Phase::Import:
  case Phase::Codegen:
  case Phase::Serialise:
    llvm_unreachable("not a phase of passes");
  }
  // Every seam ends with what no single op can check: bounds of symbols, layers of names, calls.
  // After the plan phase the verifiers of the plan dialect and the loader's own checks take over.
  if (phase < Phase::Plan)
    pm.addPass(createVerifyPass());
}

} // namespace k3
