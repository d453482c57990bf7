//===- Conv.h - One token of a short convolution ----------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by the recurrence step, which convolves the channels of its head itself.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_PASSES_LOWER_CONV_H
#define K3_COMPILER_PASSES_LOWER_CONV_H

#include "compiler/passes/lower/TileMath.h"

namespace k3::lower {

/// Convolves `width` channels from `channel` for row `row` of a static batch, whose state lies in
/// `slot` (>= 0), and shifts the state. Result [1, width], SiLU applied, rounded to the op's result
/// type.
mlir::Value lowerConvStep(model::ShortConvOp conv, KernelBuilder &k, TileMath &m, mlir::Value row,
                          mlir::Value slot, mlir::Value channel, int64_t width);

} // namespace k3::lower

#endif // K3_COMPILER_PASSES_LOWER_CONV_H
