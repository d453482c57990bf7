//===- Lowering.h - Lowerings of fused groups to kernels --------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function a schedule family: each turns a k3.fused group into tile kernels and launches that
// give the same values.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_PASSES_LOWER_LOWERING_H
#define K3_COMPILER_PASSES_LOWER_LOWERING_H

#include "compiler/passes/lower/TileMath.h"

namespace k3::lower {

/// What the lowerings may assume of the machine. The CPU's numbers suit 8-wide vectors and a 1 MiB
/// second-level cache.
struct Knobs {
  /// Rows of a contraction tile when the number of rows is a symbol.
  int64_t contractionRows = 16;
  /// Weight rows (output columns) of a contraction tile.
  int64_t contractionColumns = 32;
  /// Rows and columns of a tile of bf16 numbers where there may be more than `stagedAbove` rows; 0:
  /// such tiles are as any. The target stages their operands.
  int64_t stagedExtent = 0;
  int64_t stagedAbove = 64;
  /// Inner extent of a contraction step; a shorter contraction takes one step.
  int64_t contractionDepth = 4096;
  /// Contractions are loops, however short, so that the target can stream their weights.
  bool contractionLoops = false;
  /// Blocks that a contraction should have: tiles get narrower, down to 16 columns, to give them.
  int64_t contractionBlocks = 0;
  /// Tokens of one chunk of the recurrence; 16 keeps exp(5 * 16 / 2) inside f32 for the bounded
  /// gate.
  int64_t chunk = 16;
  /// Most value columns of a head that one block of the chunked recurrence carries, in whole
  /// eights; 0: all. Columns of the state do not know each other.
  int64_t scanColumns = 0;
  /// Scores and products with the state have operands of two bf16 parts where the inputs of the
  /// chunked recurrence are bf16; what is added to the state or solved for stays f32.
  bool scanNarrow = false;
  /// Scores of an unbounded gate by halves of the chunk, products that need one exponential an
  /// element and half, instead of pair by pair.
  bool scanHalves = false;
  /// Heads that share the cache rows loaded by one block of attention.
  int64_t attentionHeads = 16;
  /// Room for the tiles of attention, which take fewer keys a step and then fewer heads to fit; 0:
  /// whole pages.
  int64_t attentionBytes = 0;
  /// Blocks of attention that a static batch should have: the pages of a row are dealt out to
  /// several when it has fewer rows.
  int64_t attentionBlocks = 0;
  /// Channels of one block of the convolution.
  int64_t convChannels = 1024;
  /// Output columns of one block of a projection a head; 0: all of the head.
  int64_t headColumns = 0;

  /// Tiles of a block live in shared memory: about 90 KiB, and the recurrence's state of 64 KiB
  /// with 7 KiB a row of a chunk.
  static Knobs forGpu(int64_t sharedBytes) {
    Knobs knobs;
    knobs.contractionDepth = 256;
    knobs.contractionRows = 64;
    knobs.contractionLoops = true;
    knobs.contractionBlocks = 264;
    knobs.scanColumns = 32;
    knobs.scanNarrow = knobs.scanHalves = true;
    knobs.attentionHeads = 32;
    knobs.attentionBytes = sharedBytes * 7 / 8;
    knobs.attentionBlocks = 256;
    knobs.convChannels = 256;
    knobs.headColumns = 32;
    if (sharedBytes < 120 * 1024)
      knobs.chunk = 8;
    else
      knobs.stagedExtent = 128;
    return knobs;
  }
};

/// The pairs of a batch sorted by expert, in tiles of rows with one expert each.
struct ExpertOrder {
  /// [mostTiles * rows of a tile, 2] i32: the pair (token * topK + choice) and the token of a row;
  /// -1 where a tile has no pair.
  mlir::Value rows;
  /// [1 + mostTiles, 1] i32: how many tiles there are, then the expert of each.
  mlir::Value tiles;
  int64_t mostTiles = 0;
};

struct Context {
  mlir::OpBuilder &host;
  KernelTable &kernels;
  const Knobs &knobs;
  /// By the tensor of choices.
  llvm::DenseMap<mlir::Value, ExpertOrder> orders{};
};

/// The values of tensors inside a kernel, by k3 value.
using TileMap = llvm::DenseMap<mlir::Value, mlir::Value>;

/// Computes an elementwise op (add, gate, glu, cast) on f32 tiles, rounded to the op's result type.
/// `get` gives the tile of an operand. Returns null for any other op.
mlir::Value lowerElementwise(mlir::Operation *op, TileMath &m,
                             llvm::function_ref<mlir::Value(mlir::Value)> get);

/// The gated activation of ops with `activation`, `beta` and `linear_beta`.
Scalar gluScalar(Scalar gate, Scalar up, model::Activation activation, double beta,
                 std::optional<double> linearBeta);

mlir::LogicalResult lowerRow(model::FusedOp group, Context &context);
mlir::LogicalResult lowerContraction(model::FusedOp group, Context &context);
mlir::LogicalResult lowerHeadContraction(model::FusedOp group, Context &context);
mlir::LogicalResult lowerExperts(model::FusedOp group, Context &context);
mlir::LogicalResult lowerConv(model::FusedOp group, Context &context);
mlir::LogicalResult lowerScan(model::FusedOp group, Context &context);
mlir::LogicalResult lowerAttention(model::FusedOp group, Context &context);

/// "bf16" or "f32", for kernel names.
std::string typeName(mlir::Type type);

} // namespace k3::lower

#endif // K3_COMPILER_PASSES_LOWER_LOWERING_H
