//===- Values.h - Buffers as floats and back --------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts between the element types of buffers and the F32 of dumps and input files. Only dumps
// and single entries use it; a model's step never converts on the host.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_EXEC_VALUES_H
#define K3_RUNTIME_EXEC_VALUES_H

#include "runtime/schema/plan_generated.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace k3 {

/// VALUE rounded to BF16, ties to even; a NaN stays one.
uint16_t roundToBf16(float value);
float widenBf16(uint16_t bits);

/// Appends COUNT elements at DATA to OUT as floats.
void appendFloats(std::vector<float> &out, plan::DType type, const std::byte *data, uint64_t count);

} // namespace k3

#endif // K3_RUNTIME_EXEC_VALUES_H
