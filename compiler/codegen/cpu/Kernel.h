//===- Kernel.h - Lowering of one kernel ------------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks a tile kernel in order and emits a function on pointers, vectors and loops. Pending
// expressions, buffers and their reuse are decided here; each group of ops has a file of its own.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_CODEGEN_CPU_KERNEL_H
#define K3_COMPILER_CODEGEN_CPU_KERNEL_H

#include "compiler/codegen/cpu/Tiles.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace k3::cpu {

/// What the buffers of one kernel may take of a worker's stack.
inline constexpr int64_t kMaxBufferBytes = int64_t(4) << 20;

class KernelLowering {
public:
  /// Without `fuse` every value is computed where it is defined, into a buffer of its own.
  KernelLowering(tile::KernelOp kernel, bool fuse);

  /// Emits the exported function behind the kernel. The kernel itself stays.
  mlir::LogicalResult run();

private:
  // Kernel.cpp: the function and the grid.
  mlir::func::FuncOp declareBody();
  void declareEntry(mlir::func::FuncOp body);
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  mlir::Value blockIndex(tile::GridAxis axis);

  // Control.cpp: loops, branches, and which buffer a value is computed into.
  mlir::LogicalResult lower(tile::ForOp op);
  mlir::LogicalResult lower(tile::IfOp op);
  void finishIteration(tile::YieldOp yield);
  std::shared_ptr<BufferExpr> carryBuffer(tile::ForOp op, unsigned i);
  /// True if no value that lies in the buffer is read from the current op on, except by `self`.
  bool isDead(mlir::Value pointer, mlir::Operation *self);
  bool isStillRead(mlir::Value value, mlir::Operation *self);
  bool isPending(mlir::Value value);
  /// True if `value` may stay an expression until its only reader.
  bool mayStayPending(mlir::Value value);

  // Kernel.cpp: values and buffers.
  Tile &tileOf(mlir::Value value);
  void define(mlir::Value value, std::shared_ptr<Expr> expr);
  /// Defines `value` as `expr`, computed now unless its only reader can take the expression.
  void defineOrCompute(mlir::Value value, std::shared_ptr<Expr> expr);
  std::shared_ptr<BufferExpr> allocate(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  std::shared_ptr<BufferExpr> allocate(tile::TileType type) {
    return allocate(type.getShape(), type.getElementType());
  }
  /// The buffer of `value`: computes a pending expression.
  std::shared_ptr<BufferExpr> materialise(mlir::Value value);
  /// A buffer to compute `value` into: that of the loop's next iteration or of a dead operand where
  /// `expr` reads it element by element, else a new one.
  std::shared_ptr<BufferExpr> destination(mlir::Value value, Expr &expr);
  /// Computes pending expressions that read `memory` (a view or a buffer) because the current op
  /// writes it. An operand of the current op may stay if it reads exactly the elements of `target`,
  /// one by one.
  void settle(mlir::Value memory, const Window *target);
  void settleForRegion(mlir::Operation *op);
  /// The address of that many zero bytes.
  mlir::Value zeroRow(int64_t bytes);

  // Loops.cpp
  /// Element loops over `shape`, or over the first `limits` elements of each dimension. `safe`
  /// limits vectors.
  void forEach(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<mlir::Value> limits,
               llvm::function_ref<mlir::Value(llvm::ArrayRef<mlir::Value>)> safe,
               llvm::function_ref<void(const Access &)> body);
  void evaluate(Expr &expr, BufferExpr &into);
  void evaluateAll(MapExpr &expr, llvm::ArrayRef<std::shared_ptr<BufferExpr>> into);
  void copy(BufferExpr &from, BufferExpr &into);

  // Memory.cpp
  Window window(mlir::Value view, mlir::ValueRange offsets, mlir::ValueRange bounds,
                llvm::ArrayRef<int64_t> shape);
  mlir::LogicalResult lower(tile::LoadOp op);
  mlir::LogicalResult lower(tile::StoreOp op);
  mlir::LogicalResult lower(tile::GatherOp op);
  mlir::LogicalResult lower(tile::ScatterOp op);
  mlir::LogicalResult lower(tile::ReadOp op);
  mlir::LogicalResult lower(tile::CopyOp op);
  mlir::LogicalResult lower(tile::StageOp op);
  mlir::LogicalResult lower(tile::FetchOp op);

  // Elementwise.cpp
  mlir::LogicalResult lower(tile::SplatOp op);
  mlir::LogicalResult lower(tile::IotaOp op);
  mlir::LogicalResult lower(tile::MapOp op);
  mlir::LogicalResult lower(tile::CastOp op);
  mlir::LogicalResult lower(tile::BroadcastOp op);
  mlir::LogicalResult lower(tile::TransposeOp op);
  mlir::LogicalResult lower(tile::ReshapeOp op);
  mlir::LogicalResult lower(tile::ExtractOp op);
  mlir::LogicalResult lower(tile::InsertOp op);
  mlir::LogicalResult lower(tile::DequantizeOp op);

  // Reduce.cpp
  mlir::LogicalResult lower(tile::ReduceOp op);
  mlir::LogicalResult lower(tile::ScanOp op);
  mlir::LogicalResult lower(tile::TopKOp op);
  mlir::LogicalResult lower(tile::TriSolveOp op);

  // Mma.cpp
  mlir::LogicalResult lower(tile::MmaOp op);
  std::shared_ptr<BufferExpr> accumulator(tile::MmaOp op, Expr &a, Expr &b, Expr &start);

  tile::KernelOp kernel;
  bool fuse;
  Code c;
  mlir::OpBuilder entry;
  mlir::IRMapping scalars;
  llvm::DenseMap<mlir::Value, Tile> tiles;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> residents;
  /// Values that are expressions still, and feed no other expression.
  llvm::SetVector<mlir::Value> pending;
  /// The buffers of the innermost loop's carried tiles.
  llvm::SmallVector<std::shared_ptr<BufferExpr>> carried;
  mlir::Operation *current = nullptr;
  mlir::Value linearBlock, gridX, gridY;
  mlir::LLVM::GlobalOp zeros;
  mlir::Value zerosAddress;
  int64_t bufferBytes = 0, zeroBytes = 0;
};

/// True if the only reader is an mma in the same block that takes the tile as rows of b along k.
bool mayFeedMma(mlir::Value value);

/// The lowering of tile.mma on operands that are in place (Mma.cpp uses it; it knows no tile
/// values).
struct MmaOperands {
  BufferExpr *acc;
  Expr *a, *b;
  /// Extents that hold data; at or past them a and b count as zero.
  mlir::Value m, n, k;
  bool transposeA;
};
/// acc += a * bᵀ with both rows along k: dot products.
void emitDotProducts(Code &c, const MmaOperands &op);
/// acc += a * b (or aᵀ * b) with the rows of b along n: sums of scaled rows.
void emitRowSums(Code &c, const MmaOperands &op);

} // namespace k3::cpu

#endif // K3_COMPILER_CODEGEN_CPU_KERNEL_H
