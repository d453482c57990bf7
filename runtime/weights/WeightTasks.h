//===- WeightTasks.h - What has to be read, checked -------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the packing recipes of a program into a list of reads in file order, after holding each
// recipe against the tensor it names. All reasons to refuse a checkpoint are found here, before
// anything is read.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_WEIGHTS_WEIGHTTASKS_H
#define K3_RUNTIME_WEIGHTS_WEIGHTTASKS_H

#include "runtime/schema/plan_generated.h"
#include "runtime/weights/Checkpoint.h"
#include "runtime/weights/WeightLoader.h"

#include <span>
#include <vector>

namespace k3 {

/// Rows [rowBegin, rowEnd) of one piece for one index of its range.
struct WeightTask {
  TensorPlace place;
  const plan::Piece *piece;
  std::byte *to; // the element for row 0, column 0
  plan::DType toType;
  uint64_t rowBegin, rowEnd;
};

struct WeightTasks {
  std::vector<WeightTask> tasks; // in the order of the files
  uint64_t bytes = 0;            // that the tasks need of the checkpoint
  std::vector<SkippedTensors> skipped;
  uint64_t tensors = 0;
};

Result<WeightTasks> planWeightTasks(const plan::Program &program, const Checkpoint &checkpoint,
                                    std::span<std::byte *const> addresses, bool wholeModel);

} // namespace k3

#endif // K3_RUNTIME_WEIGHTS_WEIGHTTASKS_H
