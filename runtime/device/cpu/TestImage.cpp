//===- TestImage.cpp - A shared object of kernels for tests -----*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stands in for the image of a plan where a test needs code that does not come from the compiler.
// Kernels have the signature that plan.fbs gives them.
//
//===----------------------------------------------------------------------===//

#include <cstdint>

extern "C" {

/// out[block] = x + 100 y + 10000 z
void k3_test_coordinates(const uint64_t *params, int64_t gridX, int64_t gridY, int64_t begin,
                         int64_t end) {
  int32_t *out = reinterpret_cast<int32_t *>(params[0]);
  for (int64_t block = begin; block < end; ++block)
    out[block] = static_cast<int32_t>(block % gridX + 100 * (block / gridX % gridY) +
                                      10000 * (block / gridX / gridY));
}

/// Stores how often it was called.
void k3_test_count(const uint64_t *params, int64_t, int64_t, int64_t, int64_t) {
  static int64_t calls = 0;
  *reinterpret_cast<int64_t *>(params[0]) = ++calls;
}
}
