//===- CpuCodegen.h - Tile kernels to a shared object -----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface of the CPU target: kernels in, one shared object without undefined symbols out. The
// bytes depend on the kernels and the options only.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_CODEGEN_CPU_CPUCODEGEN_H
#define K3_COMPILER_CODEGEN_CPU_CPUCODEGEN_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace k3::cpu {

struct CpuOptions {
  /// "x86-64-v3", or "host" for the features of the machine at hand.
  std::string cpu = "x86-64-v3";
  /// Threads that compile; 0 means as many as the machine has.
  unsigned threads = 0;
  /// Merge ops into loops and reuse buffers; off only for comparisons.
  bool fuse = true;
};

/// Native code of a set of kernels. Each is exported under its name as
///   void NAME(const uint64_t *params, int64_t gridX, int64_t gridY, int64_t begin, int64_t end)
/// which runs the linear blocks begin .. end-1, x fastest. params[i] is the address of a view or an
/// int64.
struct CpuImage {
  std::string sharedObject;
  /// Names in the order of the module.
  std::vector<std::string> kernels;
  /// CPU features the code may use, in LLVM's spelling, sorted.
  std::vector<std::string> features;
  std::string triple;
};

/// Compiles every tile.kernel of the module, which is left as it is. Failures are diagnostics.
mlir::FailureOr<CpuImage> compileForCpu(mlir::ModuleOp module, const CpuOptions &options);

} // namespace k3::cpu

#endif // K3_COMPILER_CODEGEN_CPU_CPUCODEGEN_H
