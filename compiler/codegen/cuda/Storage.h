//===- Storage.h - Where the tiles of a kernel live -------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides which tiles are buffers in shared memory and which are computed where they are read, and
// gives every buffer an offset by the life of its values.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_CODEGEN_CUDA_STORAGE_H
#define K3_COMPILER_CODEGEN_CUDA_STORAGE_H

#include "compiler/codegen/cuda/Stream.h"

#include "llvm/ADT/DenseSet.h"

#include <optional>

namespace k3::cuda {

/// A range of the block's shared memory that one tile after the other may use.
struct Buffer {
  int64_t bytes = 0;
  int64_t offset = 0;
  /// Positions of the first write and the last read, both included.
  int64_t begin = 0, end = 0;
  /// What the elements are stored as: the tile's type, or the view's where widening is exact.
  mlir::Type element;
  /// Words of 16 bytes lie in the order of k3_swizzled.
  bool swizzled = false;
};

/// A buffer or view that the evaluation of a tile reads. `same`: at the index of the element that
/// is asked for.
struct Leaf {
  mlir::Value value;
  bool same;
};

class Storage {
public:
  explicit Storage(tile::KernelOp kernel);

  /// The buffer of a tile, or nothing if the tile is computed where it is read.
  std::optional<unsigned> bufferOf(mlir::Value tile) const;
  const Buffer &buffer(unsigned index) const { return buffers[index]; }
  llvm::ArrayRef<Buffer> all() const { return buffers; }
  /// The loop as a stream, or null.
  const Stream *streamOf(tile::ForOp loop) const;
  /// The room that all warps share, for partial results of a reduction or stream or for stages.
  std::optional<unsigned> scratchOf(mlir::Operation *op) const;
  /// Buffers and views that evaluating `tile` touches.
  llvm::SmallVector<Leaf> leavesOf(mlir::Value tile) const;
  int64_t bytes() const { return total; }
  /// The first thing that this target cannot do, or empty.
  const std::string &refusal() const { return problem; }

private:
  tile::KernelOp kernel;
  llvm::SmallVector<Buffer> buffers;
  llvm::DenseMap<mlir::Value, unsigned> places;
  llvm::DenseMap<mlir::Operation *, unsigned> scratches;
  llvm::DenseMap<mlir::Operation *, Stream> streams;
  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  /// Position after the last op inside an op with a region.
  llvm::DenseMap<mlir::Operation *, int64_t> ends;
  llvm::DenseSet<mlir::Value> written;
  llvm::DenseSet<mlir::Value> inlined;
  llvm::DenseMap<mlir::Value, int64_t> lastReads;
  /// For the body of a loop and a buffer: which carried tile has it.
  llvm::DenseMap<std::pair<mlir::Block *, unsigned>, unsigned> carries;
  int64_t total = 0;
  std::string problem;

  void number(mlir::Block &block, int64_t &position);
  void chooseInlined(mlir::Block &block);
  bool isReadOnce(mlir::Value tile) const;
  void noteReads(mlir::Block &block);
  void noteRead(mlir::Value tile, mlir::Operation *reader);
  void collect(mlir::Value tile, bool same, llvm::SmallVectorImpl<Leaf> &leaves) const;
  void assign(mlir::Block &block);
  void assignResults(mlir::Operation &op, int64_t at);
  std::optional<unsigned> reuse(mlir::Operation &op, mlir::Value result) const;
  void assignStream(const Stream &stream);
  unsigned add(int64_t elements, mlir::Type element, int64_t position);
  int64_t lastRead(mlir::Value tile) const;
  void swizzle(tile::MmaOp mma);
  void place();
};

/// Bytes of one element in shared memory.
int64_t bytesOf(mlir::Type element);
/// A tile that is another one under another index.
bool isRenaming(mlir::Operation *op);
/// Warps of a block, and elements of a reduction's scratch.
inline constexpr int64_t kWarps = 8;
inline constexpr int64_t kThreads = 32 * kWarps;
/// Reductions with fewer results than this use all warps for each.
bool isBlockWide(tile::ReduceOp op);

} // namespace k3::cuda

#endif // K3_COMPILER_CODEGEN_CUDA_STORAGE_H
