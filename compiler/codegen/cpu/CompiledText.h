//===- CompiledText.h - Kernels from text, ready to call --------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tests and benchmarks: parses tile kernels, compiles them and opens the shared object from
// memory.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_CODEGEN_CPU_COMPILEDTEXT_H
#define K3_COMPILER_CODEGEN_CPU_COMPILEDTEXT_H

#include "compiler/codegen/cpu/CpuCodegen.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>

namespace k3::cpu {

class CompiledText {
public:
  /// `error` gets the first diagnostic when the text is refused, and nothing is returned.
  static std::unique_ptr<CompiledText> compile(const std::string &text, std::string &error,
                                               const CpuOptions &options = {});
  ~CompiledText();
  CompiledText(const CompiledText &) = delete;
  CompiledText &operator=(const CompiledText &) = delete;

  using Kernel = void (*)(const uint64_t *, int64_t, int64_t, int64_t, int64_t);
  Kernel find(const std::string &name) const;
  /// Runs every block of the grid. A parameter is a pointer or an integer.
  template <typename... Args>
  void run(const std::string &name, std::array<int64_t, 3> grid, Args... args) const {
    uint64_t params[] = {toParam(args)..., 0};
    find(name)(params, grid[0], grid[1], 0, grid[0] * grid[1] * grid[2]);
  }

  CpuImage image;

private:
  CompiledText() = default;
  template <typename T> static uint64_t toParam(T *pointer) {
    return reinterpret_cast<uint64_t>(pointer);
  }
  static uint64_t toParam(int64_t value) { return uint64_t(value); }

  int file = -1;
  void *handle = nullptr;
};

/// Nearest bf16, ties to even, as its bits; and back.
inline uint16_t toBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline float fromBf16(uint16_t value) {
  uint32_t bits = uint32_t(value) << 16;
  float result;
  std::memcpy(&result, &bits, 4);
  return result;
}

} // namespace k3::cpu

#endif // K3_COMPILER_CODEGEN_CPU_COMPILEDTEXT_H
