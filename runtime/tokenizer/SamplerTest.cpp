//===- SamplerTest.cpp - Tests of the sampler -----------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The expected tokens and numbers were computed apart from this code, from the published algorithm
// of Philox and the definition of the draw. They pin the numbers down: a change of one is a change
// of users' output.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/Sampler.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <set>

using namespace k3;
using testing::ElementsAre;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Sampler makeSampler(const SamplingParams &params) {
  Result<Sampler> sampler = Sampler::create(params);
  EXPECT_TRUE(sampler.isOk()) << sampler.status().message();
  return std::move(*sampler);
}

std::vector<int32_t> draws(const SamplingParams &params, std::span<const float> logits, int count) {
  Sampler sampler = makeSampler(params);
  std::vector<int32_t> ids;
  for (int position = 0; position < count; ++position) {
    Result<int32_t> id = sampler.sample(logits, position);
    EXPECT_TRUE(id.isOk()) << id.status().message();
    ids.push_back(id.isOk() ? *id : -1);
  }
  return ids;
}

/// The ids that come up at all in many draws.
std::vector<int32_t> support(const SamplingParams &params, std::span<const float> logits) {
  std::vector<int32_t> ids = draws(params, logits, 2000);
  std::set<int32_t> distinct(ids.begin(), ids.end());
  return {distinct.begin(), distinct.end()};
}

TEST(Philox, KnownAnswers) {
  EXPECT_THAT(philox4x32({0, 0, 0, 0}, {0, 0}),
              ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  EXPECT_THAT(
      philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
      ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  EXPECT_THAT(
      philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST(Philox, UniformUsesAllBitsOfSeedAndPosition) {
  EXPECT_EQ(uniformAt(0, 0), 0x1.989fa35785a70p-2);
  EXPECT_EQ(uniformAt(42, 0), 0x1.39d5e0a6efea9p-1);
  EXPECT_EQ(uniformAt(42, 1), 0x1.f9b6424ea774dp-1);
  EXPECT_EQ(uniformAt(9223372036854775813u, 1099511627779), 0x1.cd7ac347a148cp-2);
}

TEST(Sampler, GreedyTakesTheLargestAndTheLowerIdOnATie) {
  EXPECT_THAT(draws({}, std::vector<float>{-3, 5, 2, 5, 4.5f}, 2), ElementsAre(1, 1));
  EXPECT_THAT(draws({}, std::vector<float>{-0.0f, 0.0f}, 1), ElementsAre(0));
  EXPECT_THAT(draws({}, std::vector<float>{-9}, 1), ElementsAre(0));
}

TEST(Sampler, DrawsAtATemperature) {
  std::vector<float> logits = {1, 3, 2, 4};
  SamplingParams params{.temperature = 1, .seed = 42};
  EXPECT_THAT(draws(params, logits, 24),
              ElementsAre(3, 3, 3, 3, 2, 2, 1, 3, 3, 1, 3, 2, 3, 1, 1, 3, 3, 1, 3, 2, 2, 3, 3, 2));
  params.temperature = 2;
  EXPECT_THAT(draws(params, logits, 24),
              ElementsAre(3, 3, 3, 3, 1, 1, 1, 1, 3, 1, 2, 1, 2, 1, 1, 3, 3, 0, 3, 1, 1, 1, 3, 1));
}

TEST(Sampler, DrawsFromTopKAndTopP) {
  std::vector<float> logits = {1, 3, 2, 4};
  EXPECT_THAT(draws({.temperature = 1, .topK = 2, .seed = 7}, logits, 16),
              ElementsAre(1, 3, 3, 3, 3, 3, 1, 3, 3, 3, 1, 1, 3, 3, 3, 3));
  EXPECT_THAT(draws({.temperature = 1, .topP = 0.9f, .seed = 7}, logits, 16),
              ElementsAre(2, 3, 3, 3, 3, 3, 1, 3, 3, 3, 1, 1, 3, 3, 3, 3));
  // More than there are, and all of the probability, change nothing.
  EXPECT_EQ(draws({.temperature = 1, .topK = 9, .topP = 1, .seed = 42}, logits, 50),
            draws({.temperature = 1, .seed = 42}, logits, 50));
}

TEST(Sampler, TopKKeepsExactlyKAndTheLowerIdsOfATie) {
  EXPECT_THAT(support({.temperature = 1, .topK = 3}, std::vector<float>{2, 1, 2, 2, 2}),
              ElementsAre(0, 2, 3));
  EXPECT_THAT(support({.temperature = 50, .topK = 1}, std::vector<float>{1, 3, 3}), ElementsAre(1));
}

TEST(Sampler, TopPKeepsTheFewestThatReachP) {
  // Probabilities 0.644, 0.237, 0.087 and 0.032 of ids 3, 1, 2, 0.
  std::vector<float> logits = {1, 3, 2, 4};
  EXPECT_THAT(support({.temperature = 1, .topP = 1e-9f}, logits), ElementsAre(3));
  EXPECT_THAT(support({.temperature = 1, .topP = 0.643f}, logits), ElementsAre(3));
  EXPECT_THAT(support({.temperature = 1, .topP = 0.645f}, logits), ElementsAre(1, 3));
  EXPECT_THAT(support({.temperature = 1, .topP = 0.88f}, logits), ElementsAre(1, 3));
  EXPECT_THAT(support({.temperature = 1, .topP = 0.882f}, logits), ElementsAre(1, 2, 3));
  EXPECT_THAT(support({.temperature = 1, .topP = 0.97f}, logits), ElementsAre(0, 1, 2, 3));
  // Two of four equal ones are exactly one half: no third.
  EXPECT_THAT(support({.temperature = 1, .topP = 0.5f}, std::vector<float>{0, 0, 0, 0}),
              ElementsAre(0, 1));
}

TEST(Sampler, TemperatureComesBeforeTopPAndTopKBeforeTopP) {
  // At temperature 4 the largest has 0.42, at 1 it has 0.88.
  std::vector<float> logits = {4, 2, 0, 0};
  EXPECT_THAT(support({.temperature = 1, .topP = 0.5f}, logits), ElementsAre(0));
  EXPECT_THAT(support({.temperature = 4, .topP = 0.5f}, logits), ElementsAre(0, 1));
  // 0.25 of four is half of the two that top-k leaves.
  EXPECT_THAT(support({.temperature = 1, .topK = 2, .topP = 0.5f}, std::vector<float>{0, 0, 0, 0}),
              ElementsAre(0));
}

TEST(Sampler, FrequenciesFollowTheDistribution) {
  std::vector<float> logits = {1, 3, 2, 4};
  std::vector<int> counts(4);
  for (int32_t id : draws({.temperature = 1, .seed = 1}, logits, 100000))
    ++counts[static_cast<size_t>(id)];
  const double expected[] = {0.03205860, 0.23688282, 0.08714432, 0.64391426};
  for (size_t id = 0; id < 4; ++id)
    EXPECT_NEAR(counts[id] / 1e5, expected[id], 0.006) << id;
}

TEST(Sampler, ExtremeLogitsAndTemperatures) {
  std::vector<float> wide = {-3e38f, 3e38f, 0};
  EXPECT_THAT(support({.temperature = 1}, wide), ElementsAre(1));
  EXPECT_THAT(support({.temperature = 1e-45f, .topP = 0.9f}, wide), ElementsAre(1));
  EXPECT_THAT(support({.temperature = 3e38f}, std::vector<float>{1, 2, 3}), ElementsAre(0, 1, 2));
}

TEST(Sampler, ARowDrawsTheSameWhateverCameBefore) {
  std::vector<float> logits = {1, 3, 2, 4}, longer(1000, 0.5f);
  Sampler used = makeSampler({.temperature = 1, .topK = 3, .seed = 5});
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(used.sample(longer, i).isOk());
  Sampler fresh = makeSampler({.temperature = 1, .topK = 3, .seed = 5});
  for (int64_t position : {0, 3, 999999})
    EXPECT_EQ(*used.sample(logits, position), *fresh.sample(logits, position)) << position;
}

TEST(Sampler, NamesTheValueThatIsNotFinite) {
  std::vector<float> logits(100, 1.0f);
  logits[17] = kNan;
  for (float temperature : {0.0f, 1.0f}) {
    Result<int32_t> id = makeSampler({.temperature = temperature}).sample(logits, 42);
    ASSERT_FALSE(id.isOk());
    EXPECT_EQ(id.status().code(), Code::Failed);
    EXPECT_EQ(id.status().message(),
              "logits: value at id 17 of position 42 is nan (expected a finite number); dump the "
              "states of this prompt to see the layer where it starts");
  }
  logits[16] = kInf;
  EXPECT_THAT(makeSampler({}).sample(logits, 0).status().message(),
              testing::HasSubstr("value at id 16 of position 0 is inf "));
  logits[0] = -kInf;
  EXPECT_THAT(makeSampler({}).sample(logits, 0).status().message(),
              testing::HasSubstr("value at id 0 of position 0 is -inf "));
  EXPECT_THAT(makeSampler({}).sample({}, 3).status().message(),
              testing::HasSubstr("row of position 3 is empty"));
}

TEST(Sampler, RefusesParametersWithoutMeaning) {
  auto message = [](const SamplingParams &params) {
    Result<Sampler> sampler = Sampler::create(params);
    EXPECT_EQ(sampler.status().code(), Code::Refused);
    return sampler.status().message();
  };
  EXPECT_EQ(message({.temperature = -1}), "temperature: is out of range (got -1.000000, expected a "
                                          "number of at least 0); use 0 for greedy");
  EXPECT_THAT(message({.temperature = kNan}), testing::StartsWith("temperature: "));
  EXPECT_THAT(message({.temperature = kInf}), testing::StartsWith("temperature: "));
  EXPECT_EQ(message({.topK = -1}),
            "top-k: is out of range (got -1, expected a number of at least 0); "
            "use 0 to keep all tokens");
  EXPECT_EQ(message({.topP = 0}),
            "top-p: is out of range (got 0.000000, expected a number above 0 and "
            "at most 1); use 1 to keep all tokens");
  EXPECT_THAT(message({.topP = 1.5f}), testing::StartsWith("top-p: "));
  EXPECT_THAT(message({.topP = kNan}), testing::StartsWith("top-p: "));
}

} // namespace
