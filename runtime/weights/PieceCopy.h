//===- PieceCopy.h - Moving a rectangle of elements -------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The inner loop of weight packing: copies or transposes a rectangle, and widens BF16 to F32 on the
// way. No other conversion exists, so that a weight in memory always has the exact value of the
// checkpoint.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_WEIGHTS_PIECECOPY_H
#define K3_RUNTIME_WEIGHTS_PIECECOPY_H

#include "runtime/schema/plan_generated.h"
#include "runtime/weights/Safetensors.h"

#include <cstdint>
#include <string_view>

namespace k3 {

/// The spelling of the checkpoint format.
std::string_view elementTypeName(plan::DType type);
/// Whether elements of FROM can be stored as TO without changing a value: equal types, or BF16 to
/// F32.
bool isExactConversion(ElementType from, plan::DType to);

/// A rectangle: element (r, c) moves from FROM[r * fromStride + c] to TO[r * toRowStride + c *
/// toColStride].
struct Rectangle {
  uint64_t rows = 0;
  uint64_t cols = 0;
  uint64_t fromStride = 0;
  uint64_t toRowStride = 0;
  uint64_t toColStride = 1;
};

/// Moves a rectangle. The types satisfy isExactConversion; strides count elements.
void copyRectangle(const void *from, ElementType fromType, void *to, plan::DType toType,
                   const Rectangle &rectangle);

} // namespace k3

#endif // K3_RUNTIME_WEIGHTS_PIECECOPY_H
