//===- Nvrtc.h - NVIDIA's compiler, opened at run time ----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the library, holds its functions, and turns one text into a cubin. Nothing of CUDA is
// needed to build this: the handful of declarations stand here.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_CODEGEN_CUDA_NVRTC_H
#define K3_COMPILER_CODEGEN_CUDA_NVRTC_H

#include "compiler/codegen/cuda/CudaCodegen.h"
#include "support/Status.h"

#include <string>

namespace k3::cuda {

class Nvrtc {
public:
  /// Opens PATH, or without it the first library that is found; the failure names all that were
  /// tried.
  static Result<Nvrtc> open(const std::string &path);

  /// "13.0".
  const std::string &version() const { return version_; }
  /// May be called from several threads at once.
  Result<CudaCode> compile(const CudaKernel &kernel, const CudaTarget &target) const;
  /// All that decides the bytes beside text and version.
  static std::string options(const CudaTarget &target);

private:
  struct Program;
  template <typename Function> bool bind(Function &function, const char *name);
  std::string errorText(int code) const;

  void *library_ = nullptr;
  std::string version_;
  int (*versionOf_)(int *, int *) = nullptr;
  const char *(*errorString_)(int) = nullptr;
  int (*create_)(Program **, const char *, const char *, int, const char *const *,
                 const char *const *) = nullptr;
  int (*destroy_)(Program **) = nullptr;
  int (*compile_)(Program *, int, const char *const *) = nullptr;
  int (*cubinSize_)(Program *, size_t *) = nullptr;
  int (*cubin_)(Program *, char *) = nullptr;
  int (*logSize_)(Program *, size_t *) = nullptr;
  int (*log_)(Program *, char *) = nullptr;
};

} // namespace k3::cuda

#endif // K3_COMPILER_CODEGEN_CUDA_NVRTC_H
