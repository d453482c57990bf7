//===- K3Ops.h - Ops of the k3 dialect --------------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the ops of the k3 dialect, which say what a model computes. The definitions are in
// K3Ops.td.
//
//===----------------------------------------------------------------------===//

#ifndef K3_DIALECTS_K3_K3OPS_H
#define K3_DIALECTS_K3_K3OPS_H

#include "dialects/k3/K3Dialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "dialects/k3/K3Ops.h.inc"

#endif // K3_DIALECTS_K3_K3OPS_H
