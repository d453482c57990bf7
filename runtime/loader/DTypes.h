//===- DTypes.h - Element types of a plan -----------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Width and name of each element type of the schema, in one place for loader, weights and executor.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_LOADER_DTYPES_H
#define K3_RUNTIME_LOADER_DTYPES_H

#include "runtime/schema/plan_generated.h"

#include <cstdint>

namespace k3 {

/// Bytes of one element; 0 for a value outside the enumeration, which a validated plan does not
/// hold.
constexpr uint64_t dtypeBytes(plan::DType dtype) {
  switch (dtype) {
  case plan::DType::F32:
  case plan::DType::I32:
    return 4;
  case plan::DType::BF16:
    return 2;
  case plan::DType::I64:
    return 8;
  case plan::DType::U8:
    return 1;
  }
  return 0;
}

} // namespace k3

#endif // K3_RUNTIME_LOADER_DTYPES_H
