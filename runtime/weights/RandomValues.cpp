//===- RandomValues.cpp - Tensors that nobody trained -----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers until the last step, then one product and one sum in f32 that IEEE 754 fixes to the bit;
// the build compiles this file without fused multiply-add. So every machine makes the same tensor.
//
//===----------------------------------------------------------------------===//

#include "runtime/weights/RandomValues.h"

#include "support/Hash.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

using namespace k3;

/// Numbers of an MXFP4 group, and the bytes of their codes.
static constexpr uint64_t GroupNumbers = 32, GroupBytes = 16;
/// Numbers that are made at once.
static constexpr uint64_t Batch = 256;

/// Every bit of the result depends on every bit of X: two rounds of shift and multiply.
static inline uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ x >> 16;
}

/// The sum of eight draws of 16 bits, less its mean: a normal distribution out to 4.9 times its
/// standard deviation, in whole numbers.
static inline int32_t bellDraw(uint32_t place, uint32_t low, uint32_t high) {
  // Written out, so that the loop around it becomes vectors.
  const uint32_t a = mix(mix(place ^ low) + high), b = mix(a + high), c = mix(b + high),
                 d = mix(c + high);
  const uint32_t sum = (a & 0xffffU) + (a >> 16) + (b & 0xffffU) + (b >> 16) + (c & 0xffffU) +
                       (c >> 16) + (d & 0xffffU) + (d >> 16);
  return static_cast<int32_t>(sum) - 8 * 0xffff / 2;
}

/// The standard deviation of `bellDraw`: one draw of n values has the variance (n^2 - 1) / 12.
static double bellDeviation() { return std::sqrt(8 * (65536.0 * 65536.0 - 1) / 12); }

static uint16_t toBf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fffU + (bits >> 16 & 1)) >> 16); // ties to even
}

Result<RandomTensor> RandomTensor::create(uint64_t seed, std::string_view name, uint64_t rowLength,
                                          plan::DType type) {
  RandomTensor tensor;
  tensor.type_ = type;
  double deviation = 0, row = static_cast<double>(std::max<uint64_t>(rowLength, 1));
  if (type == plan::DType::U8 && name.ends_with("_packed")) {
    tensor.kind_ = Kind::Codes;
    name.remove_suffix(std::string_view("_packed").size());
    row *= 2;
  } else if (type == plan::DType::U8 && name.ends_with("_scale")) {
    tensor.kind_ = Kind::Scales;
    name.remove_suffix(std::string_view("_scale").size());
    row *= static_cast<double>(GroupNumbers);
  } else if (type != plan::DType::BF16 && type != plan::DType::F32) {
    return Status::refused(
        fmt::format("tensor '{}': there are no random values of its type (got {}, expected BF16, "
                    "F32, or U8 with a name in _packed or _scale); give a checkpoint",
                    name, plan::EnumNameDType(type)));
  }

  const auto uniform = [&](double low, double high) {
    tensor.kind_ = Kind::Uniform;
    tensor.scale_ = static_cast<float>((high - low) * 0x1p-24);
    tensor.shift_ = static_cast<float>(low);
  };
  if (name.ends_with("A_log"))
    uniform(-0.7, 0.7);
  else if (name.ends_with("dt_bias"))
    uniform(-7, 2); // slow and fast channels
  else if (name.ends_with("e_score_correction_bias"))
    deviation = 0.1;
  else if (name.ends_with("conv1d.weight") || name.ends_with("embed_tokens.weight"))
    deviation = 0.5;
  else if (name.ends_with("norm.weight"))
    deviation = 0.2, tensor.shift_ = 1;
  else // the sum of a row of these times values of size one has size one
    deviation = (name.ends_with("_res_proj.weight") ? 2 : 1) / std::sqrt(row);
  if (tensor.kind_ != Kind::Uniform)
    tensor.scale_ = static_cast<float>(deviation / bellDeviation());
  tensor.key_ = hashBytes(fmt::format("{}/{}", seed, name));
  return tensor;
}

/// What a run of numbers is made from; places of a run differ in their low halves only.
struct Run {
  uint32_t begin, low, high;
  float scale, shift;
};

/// Writes COUNT numbers. Inlined once for each instruction set below.
[[gnu::always_inline]] static inline void makeRun(bool bell, Run run, uint64_t count, float *to) {
  if (bell) {
    for (uint64_t i = 0; i < count; ++i)
      to[i] = run.shift + run.scale * static_cast<float>(bellDraw(
                                          run.begin + static_cast<uint32_t>(i), run.low, run.high));
    return;
  }
  for (uint64_t i = 0; i < count; ++i) {
    const uint32_t draw =
        mix(mix((run.begin + static_cast<uint32_t>(i)) ^ run.low) + run.high) >> 8;
    to[i] = run.shift + run.scale * static_cast<float>(static_cast<int32_t>(draw));
  }
}

[[gnu::target("avx2")]] static void makeRunAvx2(bool bell, Run run, uint64_t count, float *to) {
  makeRun(bell, run, count, to);
}

static void makeRunAnywhere(bool bell, Run run, uint64_t count, float *to) {
  makeRun(bell, run, count, to);
}

void RandomTensor::numbers(uint64_t first, uint64_t count, float *to) const {
  // 32-bit products of eight lanes at once make a plan's weights five times as fast.
  static const auto make = __builtin_cpu_supports("avx2") ? makeRunAvx2 : makeRunAnywhere;
  for (uint64_t done = 0; done < count;) {
    // The high half of the place changes the key, which then holds for the whole run.
    const uint64_t place = first + done;
    const uint64_t length = std::min(count - done, (uint64_t{1} << 32) - (place & 0xffffffffU));
    const uint32_t high =
        static_cast<uint32_t>(key_ >> 32) ^ static_cast<uint32_t>(place >> 32) * 0x9e3779b9U;
    const Run run{static_cast<uint32_t>(place), static_cast<uint32_t>(key_), high, scale_, shift_};
    make(kind_ != Kind::Uniform, run, length, to + done);
    done += length;
  }
}

/// Writes the codes of group NUMBER, 16 bytes, the even number of a pair in the low half; returns
/// its scale, an E8M0 exponent. As OCP MX says: the largest number has the largest exponent of
/// E2M1, rounding is to nearest with ties to the even code, and what is too large becomes 6.
uint8_t RandomTensor::group(uint64_t number, uint8_t *codes) const {
  float values[GroupNumbers];
  numbers(number * GroupNumbers, GroupNumbers, values);
  float largest = 0x1p-120F; // a group of zeros has a scale too
  for (float value : values)
    largest = std::max(largest, std::fabs(value));
  const int biased = static_cast<int>(std::bit_cast<uint32_t>(largest) >> 23) - 2;
  const float inverse = std::bit_cast<float>(static_cast<uint32_t>(254 - biased) << 23);
  uint8_t nibbles[GroupNumbers];
  for (uint64_t i = 0; i < GroupNumbers; ++i) {
    const float x = std::fabs(values[i]) * inverse;
    // 0, 0.5, 1, 1.5, 2, 3, 4, 6: the code is the number of midpoints below, odd codes lose ties.
    const int code = (x > 0.25F) + (x >= 0.75F) + (x > 1.25F) + (x >= 1.75F) + (x > 2.5F) +
                     (x >= 3.5F) + (x > 5.0F);
    nibbles[i] = static_cast<uint8_t>(code | (std::signbit(values[i]) ? 8 : 0));
  }
  for (uint64_t i = 0; i < GroupBytes; ++i)
    codes[i] = static_cast<uint8_t>(nibbles[2 * i] | nibbles[2 * i + 1] << 4);
  return static_cast<uint8_t>(biased);
}

void RandomTensor::fillCodes(uint64_t first, uint64_t count, uint8_t *to) const {
  uint8_t codes[GroupBytes];
  for (uint64_t done = 0; done < count;) {
    const uint64_t at = (first + done) % GroupBytes;
    const uint64_t part = std::min(count - done, GroupBytes - at);
    group((first + done) / GroupBytes, codes);
    std::memcpy(to + done, codes + at, part);
    done += part;
  }
}

void RandomTensor::fillNumbers(uint64_t first, uint64_t count, std::byte *to) const {
  float values[Batch];
  for (uint64_t done = 0; done < count; done += Batch) {
    const uint64_t part = std::min(count - done, Batch);
    numbers(first + done, part, values);
    if (type_ == plan::DType::F32) {
      std::memcpy(to + done * sizeof(float), values, part * sizeof(float));
      continue;
    }
    uint16_t rounded[Batch];
    for (uint64_t i = 0; i < part; ++i)
      rounded[i] = toBf16(values[i]);
    std::memcpy(to + done * sizeof(uint16_t), rounded, part * sizeof(uint16_t));
  }
}

void RandomTensor::fill(uint64_t first, uint64_t count, std::byte *to) const {
  uint8_t *bytes = reinterpret_cast<uint8_t *>(to);
  if (kind_ == Kind::Codes)
    return fillCodes(first, count, bytes);
  if (kind_ != Kind::Scales)
    return fillNumbers(first, count, to);
  uint8_t codes[GroupBytes];
  for (uint64_t i = 0; i < count; ++i)
    bytes[i] = group(first + i, codes);
}
