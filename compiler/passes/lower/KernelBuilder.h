//===- KernelBuilder.h - Builds one tile kernel and its launch --*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects what a kernel reads and writes while its body is being built, so that a lowering only
// says what it computes. Arguments appear on first use; equal kernels are shared when the builder
// finishes.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_PASSES_LOWER_KERNELBUILDER_H
#define K3_COMPILER_PASSES_LOWER_KERNELBUILDER_H

#include "dialects/k3/K3Ops.h"
#include "dialects/tile/TileOps.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace k3::lower {

/// The kernels of a module, by name and by the text of their bodies.
class KernelTable {
public:
  explicit KernelTable(mlir::ModuleOp module);

  /// Gives `kernel` a unique name, or erases it and returns the name of an equal one made before.
  mlir::StringAttr intern(tile::KernelOp kernel, llvm::StringRef name);

private:
  mlir::ModuleOp module;
  llvm::StringMap<mlir::StringAttr> byBody;
  llvm::StringSet<> names;
};

/// Columns begin .. begin + cols - 1 of a tensor that exists in memory: what a k3.slice chain
/// stands for.
struct Columns {
  mlir::Value tensor;
  int64_t begin = 0;
  int64_t cols = 0;
};

/// Follows k3.slice to the tensor in memory.
Columns resolveColumns(mlir::Value value);

/// The view type under which a kernel sees a tensor, state, cache or stack.
tile::ViewType getViewType(mlir::Type type);

/// The most rows that a tensor, stack or batch type can have.
int64_t mostRows(mlir::Type type, mlir::OpBuilder &host);

/// Builds one kernel. `b` inserts into its body; host values become arguments through `view` and
/// `scalar`.
class KernelBuilder {
public:
  /// `host` is placed where the launch goes; `results` are the tensor types the launch returns.
  KernelBuilder(mlir::OpBuilder &host, KernelTable &table, mlir::Location loc,
                mlir::TypeRange results);

  mlir::ImplicitLocOpBuilder b;

  mlir::Value view(mlir::Value hostValue);
  mlir::Value scalar(mlir::Value hostIndex);
  mlir::Value resultView(unsigned i) { return resultViews[i]; }
  /// The same memory as rows of `width` columns, of which a row of the tensor is a whole number. A
  /// kernel sees a tensor in one of the two ways.
  mlir::Value rowsView(mlir::Value hostValue, int64_t width);
  mlir::Value resultRowsView(unsigned i, int64_t width);
  /// One i32 array of the batch (`token_seq`, `seq_slots`, ...); page_table is [S, pages].
  mlir::Value batchView(mlir::Value batch, llvm::StringRef field);
  mlir::Value index(int64_t value);
  mlir::Value blockId(tile::GridAxis axis);
  /// Rows of a tensor, stack or batch type inside the kernel: a constant, or an argument bound to
  /// its symbol.
  mlir::Value rows(mlir::Type type);
  /// The same on the host side, for grids.
  mlir::Value hostRows(mlir::Type type);
  mlir::Value hostIndex(int64_t value);
  mlir::Value hostCeilDiv(mlir::Value value, int64_t by);

  /// Ends the body, shares or names the kernel, and emits the launch.
  tile::LaunchOp finish(llvm::StringRef name, mlir::Value gridX, mlir::Value gridY,
                        mlir::Value gridZ);

private:
  mlir::OpBuilder &host;
  KernelTable &table;
  tile::KernelOp kernel;
  llvm::SmallVector<mlir::Type> resultTypes;
  llvm::SmallVector<mlir::Value> resultViews;
  llvm::SmallVector<mlir::Value> inputs;
  llvm::DenseMap<mlir::Value, mlir::Value> arguments;
  llvm::StringMap<mlir::Value> symbolScalars;
  llvm::DenseMap<std::pair<mlir::Value, mlir::StringAttr>, mlir::Value> batchFields;

  mlir::Value addArgument(mlir::Value hostValue, mlir::Type type);
};

} // namespace k3::lower

#endif // K3_COMPILER_PASSES_LOWER_KERNELBUILDER_H
