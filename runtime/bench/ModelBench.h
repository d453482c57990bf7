//===- ModelBench.h - Time of prompts and tokens ----------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures a model from end to end: how long a batch of prompts takes to its first tokens, and how
// long each step of one token a sequence takes after that. The same steps as generation, on any
// device.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_BENCH_MODELBENCH_H
#define K3_RUNTIME_BENCH_MODELBENCH_H

#include "runtime/bench/Statistics.h"
#include "runtime/exec/Session.h"
#include "runtime/schema/plan_generated.h"
#include "support/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace k3 {

struct ModelBenchOptions {
  std::vector<uint64_t> batches = {1};    // sequences at the same time
  std::vector<uint64_t> contexts = {128}; // tokens of each prompt
  uint64_t newTokens = 32;                // of each sequence, after its prompt
  uint64_t repeats = 5;
  uint64_t prefillChunk = 0; // tokens of a piece; 0: as many as the plan takes
};

/// One batch size at one length of prompts. Times are seconds.
struct ModelBenchCase {
  uint64_t batch = 0, context = 0;
  Spread firstToken;  // until every sequence has its first token, over the repeats
  Spread prefillRate; // tokens of prompts a second, over the repeats
  double token50 = 0; // of the steps of all repeats: half took no longer
  double token99 = 0; // 99 of 100 took no longer
  Spread rate;        // new tokens of all sequences a second, over the repeats
  double hostPerStep =
      0;              // median time of a step in which the host did not wait for a GPU; 0 on a CPU
  uint64_t steps = 0; // that were timed
};

/// Refuses what a plan of these LIMITS cannot run, before anything is loaded.
Status checkModelBench(const plan::Limits &limits, const ModelBenchOptions &options);

/// Measures one case on SESSION, all of whose slots are free. Every run is greedy and begins anew
/// with the same random prompts. A first one is not timed; each must give the ids of the first, and
/// a logit that is not finite is an error.
Result<ModelBenchCase> benchModel(Session &session, uint64_t batch, uint64_t context,
                                  const ModelBenchOptions &options);

} // namespace k3

#endif // K3_RUNTIME_BENCH_MODELBENCH_H
