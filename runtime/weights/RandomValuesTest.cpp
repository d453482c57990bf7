//===- RandomValuesTest.cpp - Tests of random tensors -----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Holds the values to bits written down once, to the moments of their distributions, and the packed
// form to a quantiser in double that is written as the specification of MXFP4 reads.
//
//===----------------------------------------------------------------------===//

#include "runtime/weights/RandomValues.h"
#include "runtime/loader/DTypes.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

using namespace k3;
using plan::DType;

namespace {

template <typename T>
std::vector<T> make(uint64_t seed, const std::string &name, uint64_t row, DType type,
                    uint64_t first, uint64_t count) {
  auto tensor = RandomTensor::create(seed, name, row, type);
  EXPECT_TRUE(tensor) << tensor.status().message();
  EXPECT_EQ(sizeof(T), dtypeBytes(type));
  std::vector<T> values(count);
  tensor->fill(first, count, reinterpret_cast<std::byte *>(values.data()));
  return values;
}

std::vector<float> floats(const std::string &name, uint64_t row, uint64_t count) {
  return make<float>(3, name, row, DType::F32, 0, count);
}

double mean(const std::vector<float> &values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation(const std::vector<float> &values) {
  double sum = 0, middle = mean(values);
  for (float value : values)
    sum += (value - middle) * (value - middle);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

TEST(RandomValues, AreTheSameBitsOnEveryMachine) {
  EXPECT_EQ(make<uint16_t>(7, "model.layers.0.x.weight", 64, DType::BF16, 0, 4),
            (std::vector<uint16_t>{15516, 48564, 15479, 15875}));
  EXPECT_EQ(make<uint32_t>(7, "model.layers.0.A_log", 3, DType::F32, 0, 3),
            (std::vector<uint32_t>{1059251425, 3130025984, 1059128677}));
  EXPECT_EQ(make<uint8_t>(7, "model.e.weight_packed", 32, DType::U8, 0, 4),
            (std::vector<uint8_t>{0xD6, 0x08, 0x96, 0xE6}));
  EXPECT_EQ(make<uint8_t>(7, "model.e.weight_scale", 2, DType::U8, 0, 4),
            (std::vector<uint8_t>{123, 123, 123, 122}));
}

TEST(RandomValues, FollowTheDistributionsOfTheReference) {
  const uint64_t count = 40000;
  const struct {
    const char *name;
    double mean, deviation, margin;
  } normal[] = {
      {"model.embed_tokens.weight", 0, 0.5, 0.01},
      {"model.layers.3.input_layernorm.weight", 1, 0.2, 0.005},
      {"model.layers.3.self_attn.q_conv1d.weight", 0, 0.5, 0.01},
      {"model.layers.3.block_sparse_moe.gate.e_score_correction_bias", 0, 0.1, 0.003},
      {"model.layers.3.self_attn.q_proj.weight", 0, 0.1, 0.003}, // rows of 100
      {"model.layers.3.mlp_res_proj.weight", 0, 0.2, 0.005},
  };
  for (const auto &[name, wantedMean, wantedDeviation, margin] : normal) {
    const std::vector<float> values = floats(name, 100, count);
    EXPECT_NEAR(mean(values), wantedMean, margin) << name;
    EXPECT_NEAR(deviation(values), wantedDeviation, margin) << name;
    // A normal distribution has 4.55 % outside of two deviations; of the 0.27 % outside of three a
    // sum of eight draws has about half.
    uint64_t two = 0, three = 0;
    for (float value : values) {
      two += std::fabs(value - wantedMean) > 2 * wantedDeviation;
      three += std::fabs(value - wantedMean) > 3 * wantedDeviation;
    }
    EXPECT_NEAR(static_cast<double>(two) / count, 0.0455, 0.005) << name;
    EXPECT_NEAR(static_cast<double>(three) / count, 0.0015, 0.001) << name;
  }
  const struct {
    const char *name;
    float low, high;
  } uniform[] = {{"model.layers.0.self_attn.A_log", -0.7F, 0.7F},
                 {"model.layers.0.self_attn.dt_bias", -7, 2}};
  for (const auto &[name, low, high] : uniform) {
    const std::vector<float> values = floats(name, 100, count);
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    const float span = high - low;
    EXPECT_GE(*least, low) << name;
    EXPECT_LT(*least, low + 0.001F * span) << name;
    EXPECT_LE(*most, high) << name;
    EXPECT_GT(*most, high - 0.001F * span) << name;
    EXPECT_NEAR(deviation(values), span / std::sqrt(12.0), 0.01 * span) << name;
  }
}

TEST(RandomValues, DependOnSeedNameAndPlaceAlone) {
  const auto whole = make<uint16_t>(5, "a.weight", 33, DType::BF16, 0, 1000);
  for (const auto &[first, count] : {std::pair<uint64_t, uint64_t>{1, 1}, {255, 3}, {17, 700}}) {
    const auto part = make<uint16_t>(5, "a.weight", 33, DType::BF16, first, count);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + static_cast<long>(first)));
  }
  EXPECT_NE(make<uint16_t>(6, "a.weight", 33, DType::BF16, 0, 1000), whole);
  EXPECT_NE(make<uint16_t>(5, "b.weight", 33, DType::BF16, 0, 1000), whole);
  // A place past 2^32, where the numbers of a run change their key, in one run and in two.
  const uint64_t border = uint64_t{1} << 32;
  const auto over = make<uint16_t>(5, "a.weight", 33, DType::BF16, border - 5, 10);
  const auto after = make<uint16_t>(5, "a.weight", 33, DType::BF16, border, 5);
  EXPECT_TRUE(std::equal(after.begin(), after.end(), over.begin() + 5));
  EXPECT_FALSE(std::equal(after.begin(), after.end(), whole.begin()));
}

TEST(RandomValues, PackedTensorsAreTheQuantisedNumbers) {
  constexpr uint64_t Row = 96, Rows = 7; // three groups a row
  const double table[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  const std::vector<float> numbers = floats("e.weight", Row, Row * Rows);
  const auto codes = make<uint8_t>(3, "e.weight_packed", Row / 2, DType::U8, 0, Row * Rows / 2);
  const auto scales = make<uint8_t>(3, "e.weight_scale", Row / 32, DType::U8, 0, Row * Rows / 32);
  for (uint64_t group = 0; group < scales.size(); ++group) {
    double largest = 0;
    for (uint64_t i = 0; i < 32; ++i)
      largest = std::max(largest, std::fabs(static_cast<double>(numbers[group * 32 + i])));
    const int exponent = static_cast<int>(std::floor(std::log2(largest))) - 2;
    ASSERT_EQ(scales[group], exponent + 127) << group;
    for (uint64_t i = 0; i < 32; ++i) {
      const double x =
          std::fabs(static_cast<double>(numbers[group * 32 + i])) / std::ldexp(1.0, exponent);
      int best = 0;
      for (int code = 1; code < 8; ++code) {
        const double there = std::fabs(x - table[code]), here = std::fabs(x - table[best]);
        if (there < here || (there == here && code % 2 == 0))
          best = code;
      }
      const uint8_t byte = codes[group * 16 + i / 2];
      const int nibble = i % 2 ? byte >> 4 : byte & 15;
      EXPECT_EQ(nibble, best | (std::signbit(numbers[group * 32 + i]) ? 8 : 0))
          << "number " << group * 32 + i;
    }
  }
  // A part that begins inside a group.
  const auto part = make<uint8_t>(3, "e.weight_packed", Row / 2, DType::U8, 13, 40);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), codes.begin() + 13));
}

TEST(RandomValues, OtherTypesAreRefused) {
  for (const auto &[name, type] :
       {std::pair{"a.weight", DType::U8}, {"a.weight", DType::I32}, {"a_packed", DType::I64}}) {
    auto tensor = RandomTensor::create(1, name, 4, type);
    ASSERT_FALSE(tensor);
    EXPECT_EQ(tensor.status().exitCode(), 2);
    EXPECT_EQ(tensor.status().message(),
              std::string("tensor '") + name + "': there are no random values of its type (got " +
                  plan::EnumNameDType(type) +
                  ", expected BF16, F32, or U8 with a name in _packed or _scale); give a "
                  "checkpoint");
  }
}

} // namespace
