//===- CudaTarget.h - The GPUs that kernels are made for --------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the emitter and the schedules know of an architecture, one line each.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_CODEGEN_CUDA_CUDATARGET_H
#define K3_COMPILER_CODEGEN_CUDA_CUDATARGET_H

#include <array>
#include <cstdint>
#include <string_view>

namespace k3::cuda {

struct CudaTarget {
  /// As in --target and for the assembler.
  std::string_view name;
  /// Shared memory that one block may ask for.
  int64_t sharedBytes;
  /// Whether a kernel can be launched before the one ahead of it has ended.
  bool programmaticLaunch;
};

inline constexpr std::array<CudaTarget, 4> kTargets{{
    {"sm_80", 163 * 1024, false},
    {"sm_90a", 227 * 1024, true},
    {"sm_100a", 227 * 1024, true},
    {"sm_120a", 99 * 1024, true},
}};

inline const CudaTarget *findTarget(std::string_view name) {
  for (const CudaTarget &target : kTargets)
    if (target.name == name)
      return &target;
  return nullptr;
}

} // namespace k3::cuda

#endif // K3_COMPILER_CODEGEN_CUDA_CUDATARGET_H
