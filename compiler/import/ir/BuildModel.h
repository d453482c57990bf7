//===- BuildModel.h - A model as k3 IR --------------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns a configuration and its bound tensors into a module of the k3 dialect: one prefill entry,
// one body for each kind of layer, params whose pieces name the checkpoint's tensors, and locations
// that point into config.json.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_IMPORT_IR_BUILDMODEL_H
#define K3_COMPILER_IMPORT_IR_BUILDMODEL_H

#include "compiler/import/Checkpoint.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace k3 {

/// The hard limits that a plan is sized for; all in tokens, sequences or rows.
struct PlanLimits {
  int64_t maxTokens = 512;
  int64_t maxSeqs = 1;
  int64_t maxContext = 4096;
  int64_t maxLogitRows = 64;
  int64_t pageTokens = 64;
};

/// `#k3.limits` of a module: what every phase reads the limits from.
mlir::DictionaryAttr makeLimitsAttr(mlir::MLIRContext *context, const PlanLimits &limits);

/// Activations, conv states and caches are bf16 here; the numerics phase changes them.
mlir::OwningOpRef<mlir::ModuleOp> buildModel(mlir::MLIRContext *context, const ImportedModel &model,
                                             const PlanLimits &limits);

} // namespace k3

#endif // K3_COMPILER_IMPORT_IR_BUILDMODEL_H
