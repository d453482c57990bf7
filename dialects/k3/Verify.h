//===- Verify.h - Checks of a whole k3 module -------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What no single op can check: that every symbol has a bound, and that names with a layer in them
// are used where a layer is known. Each phase of the compiler ends with it.
//
//===----------------------------------------------------------------------===//

#ifndef K3_DIALECTS_K3_VERIFY_H
#define K3_DIALECTS_K3_VERIFY_H

#include "mlir/IR/BuiltinOps.h"

namespace k3::model {

/// Checks the functions of `module`, after the verifiers of its ops; reports the first fault at its
/// op.
mlir::LogicalResult verifyModule(mlir::ModuleOp module);

} // namespace k3::model

#endif // K3_DIALECTS_K3_VERIFY_H
