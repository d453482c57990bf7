//===- MemoryPlan.h - Offsets for values by liveness ------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Places values of known sizes and lifetimes in one arena, so that no two that live together share
// a byte. Knows nothing of IR, so that its results can be checked by eye and against brute force.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_PASSES_PLAN_MEMORYPLAN_H
#define K3_COMPILER_PASSES_PLAN_MEMORYPLAN_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace k3 {

/// A value of `size` bytes that exists while commands first .. last run, both included. Not
/// negative.
struct Lifetime {
  int64_t first, last, size;
};

struct MemoryPlan {
  /// One a value, multiples of the alignment.
  std::vector<int64_t> offsets;
  /// End of the last value.
  int64_t size = 0;
};

/// The better of two greedy orders, largest first and oldest first, each value at the lowest offset
/// that is free all its life. Nothing if the sizes do not fit 63 bits. The same input gives the
/// same plan.
std::optional<MemoryPlan> planMemory(llvm::ArrayRef<Lifetime> values, int64_t alignment);

/// The most bytes that live at once: no plan can be smaller. Sizes are rounded up to the alignment.
int64_t peakBytes(llvm::ArrayRef<Lifetime> values, int64_t alignment);

} // namespace k3

#endif // K3_COMPILER_PASSES_PLAN_MEMORYPLAN_H
