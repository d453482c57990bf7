//===- Sampler.h - The next token from logits -------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses a token from one row of logits: greedy, or drawn at a temperature from the top-k and
// top-p part of the distribution. The same logits, parameters and position give the same token on
// every machine.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_TOKENIZER_SAMPLER_H
#define K3_RUNTIME_TOKENIZER_SAMPLER_H

#include "support/Status.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace k3 {

struct SamplingParams {
  /// 0 is greedy: the largest logit, the lower id on a tie.
  float temperature = 0.0f;
  /// Keep the K largest logits (the lower id on a tie); 0 keeps all.
  int64_t topK = 0;
  /// Of those, keep the fewest most probable ones whose probabilities add up to at least P; 1 keeps
  /// all.
  float topP = 1.0f;
  uint64_t seed = 0;
};

/// Philox 4x32 with 10 rounds (Salmon et al., SC'11): a counter and a key give four random words. A
/// counter instead of a state means that a request draws the same numbers however it was batched or
/// resumed.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// The number in [0, 1) that a request with SEED draws for the token at POSITION: key = seed,
/// counter = position, and the upper 53 of the first 64 bits.
double uniformAt(uint64_t seed, int64_t position);

/// One request's sampler. Temperature comes first, then top-k, then top-p over what top-k left. The
/// draw walks the kept tokens from the most probable down (in order of id when all are kept) until
/// their sum passes `uniformAt` times the kept total. `sample` allocates only when it meets a
/// larger row than before.
class Sampler {
public:
  /// Refuses parameters that have no meaning: temperature below 0 or not finite, top-k below 0,
  /// top-p not in (0, 1].
  static Result<Sampler> create(const SamplingParams &params);

  /// The token that follows POSITION, the position whose LOGITS these are. A value that is not
  /// finite is an error that names it: an arg-max over NaN would otherwise go on for ever with one
  /// arbitrary token.
  Result<int32_t> sample(std::span<const float> logits, int64_t position);

  const SamplingParams &params() const { return params_; }

private:
  struct Candidate {
    double weight;
    float logit;
    int32_t id;
  };

  explicit Sampler(const SamplingParams &params) : params_(params) {}
  void keepTopK();
  void keepTopP();
  int32_t draw(int64_t position) const;

  SamplingParams params_;
  std::vector<Candidate> candidates_;
};

} // namespace k3

#endif // K3_RUNTIME_TOKENIZER_SAMPLER_H
