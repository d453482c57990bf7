//===- RandomWeights.h - A model without its checkpoint ---------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fills the weights of a plan with the random tensors that its recipes ask for, so that a model can
// be measured without a checkpoint. The bytes are the same on every device and for any number of
// threads.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_EXEC_RANDOMWEIGHTS_H
#define K3_RUNTIME_EXEC_RANDOMWEIGHTS_H

#include "runtime/exec/Executor.h"
#include "runtime/schema/plan_generated.h"
#include "support/Status.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace k3 {

/// The seed in "random:SEED", nothing for a folder. A seed that is no number is refused.
Result<std::optional<uint64_t>> parseRandomWeights(std::string_view weights);

/// Writes elements [FIRST, FIRST + COUNT) of WEIGHT to TO, in the type of its buffer. A recipe
/// takes whole rows of its tensors, so the columns of a piece are the length of a row.
Status makeRandomWeight(const plan::Program &program, const plan::Weight &weight, uint64_t seed,
                        uint64_t first, uint64_t count, std::byte *to);

/// Fills all weights of EXECUTOR's program with THREADS threads, on a GPU by way of its pinned
/// staging buffer. QUIET shows no progress.
Status fillRandomWeights(Executor &executor, uint64_t seed, unsigned threads, bool quiet);

} // namespace k3

#endif // K3_RUNTIME_EXEC_RANDOMWEIGHTS_H
