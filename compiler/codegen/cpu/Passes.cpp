//===- Passes.cpp - Passes of the CPU target ------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass around KernelLowering, and the pipeline of upstream conversions that finishes its work.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cpu/Passes.h"

#include "compiler/codegen/cpu/Kernel.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace k3::cpu {

namespace {

class TileToCpuPass : public PassWrapper<TileToCpuPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TileToCpuPass)

  TileToCpuPass() = default;
  explicit TileToCpuPass(bool fuseOps) { fuse = fuseOps; }
  TileToCpuPass(const TileToCpuPass &other) : PassWrapper(other) { fuse = other.fuse; }

  StringRef getArgument() const final { return "tile-to-cpu"; }
  StringRef getDescription() const final {
    return "lower tile kernels to functions on pointers, vectors and loops";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                    scf::SCFDialect, vector::VectorDialect>();
  }
  void runOnOperation() final {
    for (tile::KernelOp kernel :
         llvm::make_early_inc_range(getOperation().getOps<tile::KernelOp>())) {
      if (failed(KernelLowering(kernel, fuse).run()))
        return signalPassFailure();
      kernel.erase();
    }
  }

private:
  Option<bool> fuse{*this, "fuse", llvm::cl::desc("merge ops into loops and reuse buffers"),
                    llvm::cl::init(true)};
};

} // namespace

std::unique_ptr<Pass> createTileToCpuPass(bool fuse) {
  return std::make_unique<TileToCpuPass>(fuse);
}

void buildTileToLlvmPipeline(OpPassManager &pm, bool fuse) {
  pm.addPass(createTileToCpuPass(fuse));
  // The lowering repeats constants and address arithmetic at every access; without this the rest
  // takes twice as long.
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  // Each conversion leaves casts at its borders.
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void registerCpuPasses() {
  PassRegistration<TileToCpuPass>();
  PassPipelineRegistration<>("tile-to-cpu-llvm", "lower tile kernels to the LLVM dialect",
                             [](OpPassManager &pm) { buildTileToLlvmPipeline(pm); });
}

} // namespace k3::cpu
