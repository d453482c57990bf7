//===- Ranges.h - What is known of an index ---------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linear forms and intervals of index values, on the tile level. They prove that an access is
// inside its bound, so that no mask is emitted for it.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_CODEGEN_CPU_RANGES_H
#define K3_COMPILER_CODEGEN_CPU_RANGES_H

#include "mlir/IR/Value.h"

#include <optional>

namespace k3::cpu {

/// An interval of int64; the ends of the type mean that nothing is known.
struct Range {
  int64_t low, high;
};

Range rangeOf(mlir::Value index);

/// The interval of x - y, exact when the two differ by a constant.
Range rangeOfDifference(mlir::Value x, mlir::Value y);

} // namespace k3::cpu

#endif // K3_COMPILER_CODEGEN_CPU_RANGES_H
