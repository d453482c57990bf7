//===- TestModelKernel.cpp - The kernel of the test model -------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads its inputs by the protocol of ModelEntry.h and nothing else. Linked into tests, and made
// into a shared object for those that need a whole plan.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/TestModelKernel.h"

enum Param : size_t {
  Ids,
  TokenSeq,
  TokenPos,
  Offsets,
  Slots,
  Context,
  Pages,
  Rows,
  State,
  Cache,
  H,
  Logits,
  Bias,
  S,
  R,
  MaxPages,
  PageTokens
};
static_assert(S == k3::TestModelBuffers && PageTokens + 1 == k3::TestModelParams);

using k3::TestStateSize;
using k3::TestVocabulary;

void k3_test_add_up_ids(const uint64_t *params, int64_t, int64_t, int64_t, int64_t) {
  const auto ints = [params](Param param) { return reinterpret_cast<int32_t *>(params[param]); };
  float *state = reinterpret_cast<float *>(params[State]);
  float *h = reinterpret_cast<float *>(params[H]);
  float *logits = reinterpret_cast<float *>(params[Logits]);
  for (int64_t sequence = 0; sequence < static_cast<int64_t>(params[S]); ++sequence) {
    const int32_t slot = ints(Slots)[sequence];
    if (slot < 0) {
      // A padding row computes, but neither reads nor writes what outlives the step.
      h[2 * ints(Offsets)[sequence]] = h[2 * ints(Offsets)[sequence] + 1] = 0;
      continue;
    }
    for (int32_t token = ints(Offsets)[sequence]; token < ints(Offsets)[sequence + 1]; ++token) {
      float &sum = state[TestStateSize * static_cast<size_t>(slot)];
      const int64_t position = ints(Context)[sequence] + token - ints(Offsets)[sequence];
      sum +=
          static_cast<float>(ints(Ids)[token]) + reinterpret_cast<const float *>(params[Bias])[0];
      for (size_t i = 1; i < TestStateSize; ++i)
        (&sum)[i] = sum + 100 * static_cast<float>(i);
      const int64_t pageTokens = static_cast<int64_t>(params[PageTokens]);
      const int32_t page =
          ints(Pages)[sequence * static_cast<int64_t>(params[MaxPages]) + position / pageTokens];
      reinterpret_cast<float *>(params[Cache])[page * pageTokens + position % pageTokens] =
          static_cast<float>(ints(Ids)[token]);
      h[2 * token] = sum;
      // Two inputs say the same; a disagreement must not go unnoticed.
      const bool agree = ints(TokenPos)[token] == position && ints(TokenSeq)[token] == sequence;
      h[2 * token + 1] = agree ? static_cast<float>(position) : -1;
    }
  }
  for (int64_t row = 0; row < static_cast<int64_t>(params[R]); ++row) {
    for (uint64_t id = 0; id < TestVocabulary; ++id)
      logits[row * TestVocabulary + id] =
          h[2 * ints(Rows)[row]] -
              TestVocabulary * static_cast<int64_t>(h[2 * ints(Rows)[row]] / TestVocabulary) ==
          id;
  }
}
