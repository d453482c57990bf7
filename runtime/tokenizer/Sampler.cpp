//===- Sampler.cpp - The next token from logits ---------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything here is arithmetic that IEEE 754 fixes to the bit: the exponential is our own, because
// those of C libraries differ in the last place, and the build compiles this file without fused
// multiply-add.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/Sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

using namespace k3;

std::array<uint32_t, 4> k3::philox4x32(std::array<uint32_t, 4> counter,
                                       std::array<uint32_t, 2> key) {
  constexpr uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    uint64_t product0 = kMultiplier0 * counter[0], product1 = kMultiplier1 * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(product0)};
    key = {key[0] + kWeyl0, key[1] + kWeyl1};
  }
  return counter;
}

double k3::uniformAt(uint64_t seed, int64_t position) {
  uint64_t at = static_cast<uint64_t>(position);
  std::array<uint32_t, 4> words =
      philox4x32({static_cast<uint32_t>(at), static_cast<uint32_t>(at >> 32), 0, 0},
                 {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  uint64_t bits = static_cast<uint64_t>(words[0]) << 32 | words[1];
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

/// exp(x) for x <= 0: x = k ln 2 + r with |r| <= 0.35, and 14 terms of the series at r. The error
/// is below two units in the last place; results too small for a normal number are 0.
static double expOfNegative(double x) {
  if (!(x > -708.0))
    return 0.0;
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  // ln 2 in two parts, the first short enough that its product with k is exact.
  constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;
  double k = std::floor(x * kLog2E + 0.5);
  double r = (x - k * kLn2High) - k * kLn2Low;
  double sum = 1.0;
  for (int term = 13; term >= 1; --term)
    sum = 1.0 + sum * r / term;
  return std::ldexp(sum, static_cast<int>(k));
}

/// The most probable first; equal logits in order of id.
static constexpr auto kMoreProbable = [](const auto &a, const auto &b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
};

Result<Sampler> Sampler::create(const SamplingParams &params) {
  if (!std::isfinite(params.temperature) || params.temperature < 0)
    return Status::refused("temperature: is out of range (got " +
                           std::to_string(params.temperature) +
                           ", expected a number of at least 0); use 0 for greedy");
  if (params.topK < 0)
    return Status::refused("top-k: is out of range (got " + std::to_string(params.topK) +
                           ", expected a number of at least 0); use 0 to keep all tokens");
  if (!(params.topP > 0 && params.topP <= 1))
    return Status::refused("top-p: is out of range (got " + std::to_string(params.topP) +
                           ", expected a number above 0 and at most 1); use 1 to keep all tokens");
  return Sampler(params);
}

/// The index of the largest logit, the first of equal ones; refuses values that are not finite.
static Result<size_t> findLargest(std::span<const float> logits, int64_t position) {
  if (logits.empty())
    return Status::failed(
        "logits: row of position " + std::to_string(position) +
        " is empty (got 0 values, expected one a token id); compile the plan again");
  size_t largest = 0;
  for (size_t id = 0; id < logits.size(); ++id) {
    if (!std::isfinite(logits[id]))
      return Status::failed(
          "logits: value at id " + std::to_string(id) + " of position " + std::to_string(position) +
          " is " +
          (std::isnan(logits[id]) ? "nan"
           : logits[id] > 0       ? "inf"
                                  : "-inf") +
          " (expected a finite number); dump the states of this prompt to see the "
          "layer where it starts");
    if (logits[id] > logits[largest])
      largest = id;
  }
  return largest;
}

Result<int32_t> Sampler::sample(std::span<const float> logits, int64_t position) {
  K3_ASSIGN_OR_RETURN(size_t largest, findLargest(logits, position));
  if (params_.temperature == 0)
    return static_cast<int32_t>(largest);
  double top = logits[largest], temperature = params_.temperature;
  candidates_.resize(logits.size());
  for (size_t id = 0; id < logits.size(); ++id)
    candidates_[id] = {expOfNegative((logits[id] - top) / temperature), logits[id],
                       static_cast<int32_t>(id)};
  keepTopK();
  keepTopP();
  return draw(position);
}

void Sampler::keepTopK() {
  if (params_.topK == 0 || static_cast<uint64_t>(params_.topK) >= candidates_.size())
    return;
  auto end = candidates_.begin() + params_.topK;
  std::partial_sort(candidates_.begin(), end, candidates_.end(), kMoreProbable);
  candidates_.erase(end, candidates_.end());
}

void Sampler::keepTopP() {
  if (params_.topP == 1.0f)
    return;
  double total = 0;
  for (const Candidate &candidate : candidates_)
    total += candidate.weight;
  // A heap gives the few tokens that matter without sorting the vocabulary: pop_heap moves each to
  // the back.
  auto lessProbable = [](const Candidate &a, const Candidate &b) { return kMoreProbable(b, a); };
  std::make_heap(candidates_.begin(), candidates_.end(), lessProbable);
  auto heapEnd = candidates_.end();
  for (double kept = 0; kept < params_.topP * total && heapEnd != candidates_.begin(); --heapEnd) {
    std::pop_heap(candidates_.begin(), heapEnd, lessProbable);
    kept += (heapEnd - 1)->weight;
  }
  candidates_.erase(candidates_.begin(), heapEnd);
  std::reverse(candidates_.begin(), candidates_.end());
}

int32_t Sampler::draw(int64_t position) const {
  double total = 0;
  for (const Candidate &candidate : candidates_)
    total += candidate.weight;
  double target = uniformAt(params_.seed, position) * total, sum = 0;
  for (const Candidate &candidate : candidates_) {
    sum += candidate.weight;
    if (sum > target)
      return candidate.id;
  }
  return candidates_.back().id;
}
