//===- WeightLoader.h - Filling a plan's weights ----------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Streams the tensors of a checkpoint into the weights of a plan, as the plan's packing recipes
// say. Everything is checked before the first byte of a tensor is read; the host memory it takes is
// fixed and known to the budget.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_WEIGHTS_WEIGHTLOADER_H
#define K3_RUNTIME_WEIGHTS_WEIGHTLOADER_H

#include "runtime/schema/plan_generated.h"
#include "runtime/weights/Checkpoint.h"
#include "support/Status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace k3 {

struct WeightLoadOptions {
  unsigned threads = 2;
  uint64_t stagingBytes = 8u << 20; // of one thread
  /// The program is the only rank and names all tensors: one that it does not use, or only uses in
  /// part, is refused.
  bool wholeModel = true;
  bool quiet = false; // no progress on standard error
};

/// Tensors of the checkpoint that were left alone, by reason.
struct SkippedTensors {
  std::string_view reason;
  uint64_t count = 0;
  uint64_t bytes = 0;
};

struct WeightLoadReport {
  uint64_t tensors = 0;   // pieces read, one for each index of a range
  uint64_t bytesRead = 0; // of the checkpoint
  std::vector<SkippedTensors> skipped;
};

/// Whether a text model runs without the tensor: the vision tower and its projector.
bool isVisionTensor(std::string_view name);

/// Fills the weights of PROGRAM from CHECKPOINT. ADDRESSES holds the address of each buffer of the
/// program.
Result<WeightLoadReport> loadWeights(const plan::Program &program, const Checkpoint &checkpoint,
                                     std::span<std::byte *const> addresses,
                                     const WeightLoadOptions &options);

} // namespace k3

#endif // K3_RUNTIME_WEIGHTS_WEIGHTLOADER_H
