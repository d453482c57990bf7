//===- ExpertOrder.h - Rows sorted by the expert they go to -----*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels that say which (token, choice) pairs go to which expert, in tiles of equal size, so that
// one block multiplies many rows with the weights of one expert.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_PASSES_LOWER_EXPERTORDER_H
#define K3_COMPILER_PASSES_LOWER_EXPERTORDER_H

#include "compiler/passes/lower/Lowering.h"

namespace k3::lower {

/// Sorts the pairs of `ids` [T, topK] by expert into tiles of `rowsOfTile` rows of one expert each,
/// unless the context has their order already. The launches stand at the insertion point.
ExpertOrder orderByExpert(mlir::Value ids, int64_t experts, int64_t rowsOfTile, Context &context,
                          mlir::Location loc);

} // namespace k3::lower

#endif // K3_COMPILER_PASSES_LOWER_EXPERTORDER_H
