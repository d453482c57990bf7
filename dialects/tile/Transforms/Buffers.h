//===- Buffers.h - Which memory a value stands for --------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names the memory of one kernel (its shared buffers and its views) and follows it through carried
// values and tokens. Allocation and barrier insertion ask the same questions of it.
//
//===----------------------------------------------------------------------===//

#ifndef K3_DIALECTS_TILE_TRANSFORMS_BUFFERS_H
#define K3_DIALECTS_TILE_TRANSFORMS_BUFFERS_H

#include "dialects/tile/TileOps.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallBitVector.h"

namespace k3::tile {

/// A set of buffers or of copies, by number.
using IndexSet = llvm::SmallBitVector;

/// What an op does to memory when it is issued. A copy writes later: see `copies`.
struct Access {
  IndexSet reads;
  IndexSet writes;
};

class Buffers {
public:
  explicit Buffers(KernelOp kernel);

  /// Shared buffers come first, in program order, then the views of the kernel.
  llvm::ArrayRef<AllocOp> allocs() const { return allocs_; }
  size_t size() const { return allocs_.size() + viewCount_; }

  /// The buffers that a shared tile, a view or a token (by its copies) may stand for; empty for
  /// other values.
  IndexSet of(mlir::Value value) const;

  /// The copies that a token may stand for.
  IndexSet copiesOf(mlir::Value token) const;
  llvm::ArrayRef<CopyOp> copies() const { return copies_; }

  /// The effect of one op, without its regions. The destination of a copy counts as written
  /// although the bytes arrive later, because it must be free when the copy starts.
  Access accessOf(mlir::Operation *op) const;

private:
  bool merge(mlir::Value into, mlir::Value from);

  llvm::SmallVector<AllocOp> allocs_;
  llvm::SmallVector<CopyOp> copies_;
  size_t viewCount_ = 0;
  llvm::DenseMap<mlir::Value, IndexSet> buffers_;
  llvm::DenseMap<mlir::Value, IndexSet> tokens_;
};

} // namespace k3::tile

#endif // K3_DIALECTS_TILE_TRANSFORMS_BUFFERS_H
