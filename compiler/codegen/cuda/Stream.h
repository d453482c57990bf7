//===- Stream.h - Contractions whose weights are read once ------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Recognises the loops of a kernel that multiply rows with weights from memory. Of few rows, the
// weights go from memory to the tensor cores with no tile in between; of many, both operands come
// in stages through shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_CODEGEN_CUDA_STREAM_H
#define K3_COMPILER_CODEGEN_CUDA_STREAM_H

#include "dialects/tile/TileOps.h"

#include "llvm/Support/MathExtras.h"

#include <optional>

namespace k3::cuda {

/// One matrix [columns, inner] of a stream: bf16 numbers, or MXFP4 codes with their scales.
struct StreamWeight {
  tile::LoadOp load;
  /// Null for bf16.
  tile::LoadOp scale;
};

/// acc[i] += x [rows, inner] · weights[i] [columns, inner]ᵀ over the whole inner extent, x bf16.
struct Stream {
  tile::ForOp loop;
  /// A tile.load, or a tile.gather of rows that are known before the loop.
  mlir::Operation *x = nullptr;
  /// One for each carried tile of the loop.
  llvm::SmallVector<StreamWeight, 2> weights;
  int64_t rows = 0, columns = 0, inner = 0;

  /// The loop as a stream, or nothing where any of its parts is not of that form.
  static std::optional<Stream> match(tile::ForOp loop);

  bool isPacked() const { return bool(weights.front().scale); }
  /// Many rows: operands pass through shared memory, where several warps read them.
  bool isStaged() const;
  mlir::Value xView() const { return x->getOperand(0); }
  /// The named rows, or null where x is a load.
  mlir::Value xRows() const;
  /// Tiles of 16 weight rows and of 8 rows of x, which the tensor cores multiply.
  int64_t rowTiles() const { return llvm::divideCeil(columns, 16); }
  int64_t tokenTiles() const { return llvm::divideCeil(rows, 8); }
  /// Inner elements that a warp takes at a time.
  int64_t unit() const { return isPacked() ? 128 : 32; }
  /// Units whose loads are issued before the first is used.
  int64_t unitsInFlight() const;
  /// Numbers that the warps leave for each other at the end, and those of one row of x.
  int64_t partialNumbers() const;
  int64_t partialStride() const { return rowTiles() * 16 + 4; }
  /// Staged: weight rows of one matrix with its padding, all of them side by side, and the warps
  /// that share them out. A warp has 32 weight rows and 128 · warpColumns() / kWarps rows of x.
  int64_t paddedColumns() const { return llvm::alignTo(columns, 32); }
  int64_t allColumns() const { return weights.size() * paddedColumns(); }
  int64_t warpColumns() const { return llvm::PowerOf2Ceil(allColumns() / 32); }
  /// Staged: bf16 numbers of one stage.
  int64_t stageNumbers() const;
};

/// More rows of x than this are staged: their reads would outweigh the weights.
inline constexpr int64_t kStreamRows = 64;
/// Staged: rows of x, and most rows of all weights, of a block; inner elements of a stage; stages.
inline constexpr int64_t kStagedExtent = 128;
inline constexpr int64_t kStagedDepth = 64;
inline constexpr int64_t kStages = 3;

/// Elements of a word of 16 bytes of `view`, if every row of a tile of `type` there is made of
/// whole words, each of which exists whole or not at all; else 0.
int64_t wordOf(mlir::Value view, mlir::ValueRange offsets, mlir::ValueRange bounds,
               tile::TileType type);

} // namespace k3::cuda

#endif // K3_COMPILER_CODEGEN_CUDA_STREAM_H
