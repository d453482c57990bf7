//===- CudaCodegen.h - Tile kernels to CUDA C++ and cubins ------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface of the CUDA target: readable text for every kernel, and machine code for it where
// NVRTC is at hand. Both depend on the kernels, the target and the version of NVRTC only.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_CODEGEN_CUDA_CUDACODEGEN_H
#define K3_COMPILER_CODEGEN_CUDA_CUDACODEGEN_H

#include "compiler/codegen/cuda/CudaTarget.h"
#include "support/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace k3::cuda {

/// One kernel as text. It is launched with gridX * gridY * gridZ blocks in one dimension; its
/// parameters are those of the tile.kernel (addresses and 64-bit integers), then gridX and gridY.
struct CudaKernel {
  std::string name;
  std::string text;
  int64_t threads = 0;
  /// Dynamic shared memory of a block.
  int64_t sharedBytes = 0;
};

/// A kernel's machine code and what the assembler reports of it.
struct CudaCode {
  std::string cubin;
  int64_t registers = 0;
  int64_t spillBytes = 0;
};

struct CompileSettings {
  /// The library to load; empty: K3_NVRTC, the loader's path, the places where CUDA is installed.
  std::string nvrtc;
  /// Folder of compiled kernels; empty: K3_CACHE, else ~/.cache/k3. "off": none.
  std::string cache;
  /// 0: as many as the machine has.
  unsigned threads = 0;
  /// Lines `[3/64] name 155 ms` on standard error.
  bool progress = false;
};

/// Whether every tile.kernel of the module fits a block of the target; the first that does not is
/// a diagnostic with the numbers.
mlir::LogicalResult checkForCuda(mlir::ModuleOp module, const CudaTarget &target);

/// Every tile.kernel of the module in its order.
mlir::FailureOr<std::vector<CudaKernel>> printForCuda(mlir::ModuleOp module,
                                                      const CudaTarget &target);

/// Compiles the kernels; the result has their order. `version` gets NVRTC's, "13.0".
Result<std::vector<CudaCode>> compileForCuda(const std::vector<CudaKernel> &kernels,
                                             const CudaTarget &target,
                                             const CompileSettings &settings, std::string &version);

} // namespace k3::cuda

#endif // K3_COMPILER_CODEGEN_CUDA_CUDACODEGEN_H
