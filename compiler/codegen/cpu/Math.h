//===- Math.h - Elementary functions in f32 ---------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expands math ops into polynomials and bit operations on f32 values or vectors of them, so that
// kernels need no libm. Maximum errors against double, over the sweeps of CpuMathTest: see Math.cpp
// at each function.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_CODEGEN_CPU_MATH_H
#define K3_COMPILER_CODEGEN_CPU_MATH_H

#include "compiler/codegen/cpu/Code.h"

namespace k3::cpu {

/// The value of `op`, a one-result math op, on operands that may be wider than its own. Null: not
/// supported.
mlir::Value expandMath(Code &c, mlir::Operation *op, mlir::ValueRange operands);

} // namespace k3::cpu

#endif // K3_COMPILER_CODEGEN_CPU_MATH_H
