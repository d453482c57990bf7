//===- CudaCodegen.cpp - Tile kernels to CUDA C++ -------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans the storage of each kernel, refuses what does not fit the target, and prints the rest.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cuda/CudaCodegen.h"

#include "compiler/codegen/cuda/Header.h"
#include "compiler/codegen/cuda/KernelPrinter.h"

using namespace mlir;

namespace k3::cuda {

static LogicalResult checkFits(tile::KernelOp kernel, const Storage &storage,
                               const CudaTarget &target) {
  if (storage.bytes() <= target.sharedBytes)
    return success();
  return kernel.emitOpError() << "needs more shared memory than a block of " << target.name
                              << " has (got " << storage.bytes() << " bytes, expected at most "
                              << target.sharedBytes
                              << "); use a target with more or tiles that are smaller";
}

LogicalResult checkForCuda(ModuleOp module, const CudaTarget &target) {
  for (auto kernel : module.getOps<tile::KernelOp>())
    if (failed(checkFits(kernel, Storage(kernel), target)))
      return failure();
  return success();
}

FailureOr<std::vector<CudaKernel>> printForCuda(ModuleOp module, const CudaTarget &target) {
  std::vector<CudaKernel> kernels;
  for (auto kernel : module.getOps<tile::KernelOp>()) {
    Storage storage(kernel);
    if (failed(checkFits(kernel, storage, target)))
      return failure();
    FailureOr<std::string> body = KernelPrinter(kernel, storage).print();
    if (failed(body))
      return failure();
    std::string text = "// " + kernel.getSymName().str() + " for " + std::string(target.name) +
                       ": blocks of " + std::to_string(kThreads) + " threads, " +
                       std::to_string(storage.bytes()) + " bytes of shared memory.\n" +
                       "#define K3_PROGRAMMATIC_LAUNCH " + (target.programmaticLaunch ? "1" : "0") +
                       "\n#include \"" + kHeaderName + "\"\n\n" + *body;
    kernels.push_back({kernel.getSymName().str(), std::move(text), kThreads, storage.bytes()});
  }
  return kernels;
}

} // namespace k3::cuda
