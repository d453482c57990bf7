//===- Values.cpp - Buffers as floats and back ------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// BF16 is the upper half of an F32, so both directions are integer operations.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/Values.h"

#include <bit>
#include <cmath>
#include <cstring>

using namespace k3;

uint16_t k3::roundToBf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return static_cast<uint16_t>(bits >> 16 |
                                 0x40); // a payload in the lower half must not become an infinity
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

float k3::widenBf16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

template <typename T>
static void append(std::vector<float> &out, const std::byte *data, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    if constexpr (sizeof(T) == 2)
      out.push_back(widenBf16(value));
    else
      out.push_back(static_cast<float>(value));
  }
}

void k3::appendFloats(std::vector<float> &out, plan::DType type, const std::byte *data,
                      uint64_t count) {
  switch (type) {
  case plan::DType::F32:
    return append<float>(out, data, count);
  case plan::DType::BF16:
    return append<uint16_t>(out, data, count);
  case plan::DType::I32:
    return append<int32_t>(out, data, count);
  case plan::DType::I64:
    return append<int64_t>(out, data, count);
  case plan::DType::U8:
    return append<uint8_t>(out, data, count);
  }
}
