//===- PieceCopy.cpp - Moving a rectangle of elements -----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows that are contiguous on both sides go through memcpy; a transpose walks in blocks of 32 × 32,
// so that both sides stay in the first-level cache.
//
//===----------------------------------------------------------------------===//

#include "runtime/weights/PieceCopy.h"

#include "runtime/loader/DTypes.h"

#include <algorithm>
#include <cassert>
#include <cstring>

using namespace k3;

std::string_view k3::elementTypeName(plan::DType type) {
  switch (type) {
  case plan::DType::F32:
    return "F32";
  case plan::DType::I32:
    return "I32";
  case plan::DType::BF16:
    return "BF16";
  case plan::DType::I64:
    return "I64";
  case plan::DType::U8:
    return "U8";
  }
  return "?";
}

bool k3::isExactConversion(ElementType from, plan::DType to) {
  return elementTypeName(from) == elementTypeName(to) ||
         (from == ElementType::BF16 && to == plan::DType::F32);
}

/// Memory is read and written by memcpy, since staging bytes have no alignment.
template <typename From, typename To>
static void moveElement(const std::byte *from, std::byte *to) {
  From value;
  std::memcpy(&value, from, sizeof(From));
  To result;
  if constexpr (sizeof(From) == sizeof(To))
    result = value;
  else
    result = static_cast<To>(value) << 16; // BF16 is the upper half of an F32
  std::memcpy(to, &result, sizeof(To));
}

template <typename From, typename To>
static void moveAll(const std::byte *from, std::byte *to, const Rectangle &r) {
  if (r.toColStride == 1) {
    for (uint64_t row = 0; row < r.rows; ++row) {
      const std::byte *in = from + row * r.fromStride * sizeof(From);
      std::byte *out = to + row * r.toRowStride * sizeof(To);
      if constexpr (sizeof(From) == sizeof(To)) {
        std::memcpy(out, in, r.cols * sizeof(To));
      } else {
        for (uint64_t col = 0; col < r.cols; ++col)
          moveElement<From, To>(in + col * sizeof(From), out + col * sizeof(To));
      }
    }
    return;
  }
  constexpr uint64_t Block = 32;
  for (uint64_t rowBase = 0; rowBase < r.rows; rowBase += Block) {
    for (uint64_t colBase = 0; colBase < r.cols; colBase += Block) {
      const uint64_t rowEnd = std::min(rowBase + Block, r.rows),
                     colEnd = std::min(colBase + Block, r.cols);
      for (uint64_t col = colBase; col < colEnd; ++col) {
        for (uint64_t row = rowBase; row < rowEnd; ++row) {
          moveElement<From, To>(from + (row * r.fromStride + col) * sizeof(From),
                                to + (row * r.toRowStride + col * r.toColStride) * sizeof(To));
        }
      }
    }
  }
}

void k3::copyRectangle(const void *from, ElementType fromType, void *to, plan::DType toType,
                       const Rectangle &rectangle) {
  assert(isExactConversion(fromType, toType) && "the loader refuses any other pair");
  const std::byte *in = static_cast<const std::byte *>(from);
  std::byte *out = static_cast<std::byte *>(to);
  if (elementSize(fromType) != dtypeBytes(toType))
    return moveAll<uint16_t, uint32_t>(in, out, rectangle);
  switch (dtypeBytes(toType)) {
  case 1:
    return moveAll<uint8_t, uint8_t>(in, out, rectangle);
  case 2:
    return moveAll<uint16_t, uint16_t>(in, out, rectangle);
  case 4:
    return moveAll<uint32_t, uint32_t>(in, out, rectangle);
  default:
    return moveAll<uint64_t, uint64_t>(in, out, rectangle);
  }
}
