//===- Contraction.h - What contractions have in common ---------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The size of output tiles and the loop over the inner extent, for projections and for experts.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_PASSES_LOWER_CONTRACTION_H
#define K3_COMPILER_PASSES_LOWER_CONTRACTION_H

#include "compiler/passes/lower/Lowering.h"

namespace k3::lower {

/// The output tile of a block.
struct Blocking {
  int64_t rows, columns;
};

/// Columns of an output tile: few rows read weights only, and more blocks read them faster.
int64_t chooseColumns(int64_t columns, int64_t rowBlocks, const Knobs &knobs);

/// Whether both operands come in whole words of 16 bytes, x as bf16 numbers and the weights as such
/// or as MXFP4 codes, and there may be many rows.
bool isStaged(const Context &context, mlir::Value x, mlir::Value weight);

/// Most columns of each of `parts` matrices that read the same rows of x in stages.
int64_t stagedColumns(int64_t columns, int64_t parts, const Knobs &knobs);

/// Tiles of `parts` matrices of `columns` rows each, which read the same rows of x.
Blocking chooseBlocking(const Context &context, mlir::Value x, mlir::Value weight, int64_t columns,
                        int64_t parts);

/// acc += x[row.., 0..K) · W[n.., 0..K)ᵀ over the inner extent, in steps of the schedule's depth.
llvm::SmallVector<mlir::Value>
contract(KernelBuilder &k, TileMath &m, const Knobs &knobs, int64_t inner, mlir::ValueRange accs,
         llvm::function_ref<mlir::Value(mlir::Value step, int64_t depth)> loadX,
         llvm::function_ref<mlir::Value(unsigned acc, mlir::Value step, int64_t depth)> loadW);

} // namespace k3::lower

#endif // K3_COMPILER_PASSES_LOWER_CONTRACTION_H
