//===- EntryWalk.h - Commands of one entry ----------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows an entry and the layer bodies it calls, once for each call, and writes down what the host
// does: launches with addresses and expressions, copies, taps, and how long each value lives. The
// bodies are read where they stand; nothing is cloned.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_PASSES_PLAN_ENTRYWALK_H
#define K3_COMPILER_PASSES_PLAN_ENTRYWALK_H

#include "compiler/passes/plan/Storage.h"
#include "dialects/tile/TileOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <array>
#include <variant>

namespace k3 {

/// A name under which a run sees a buffer: input, output or tap.
struct NamedBuffer {
  std::string name;
  BufferId buffer;
};

struct LaunchCommand {
  mlir::FlatSymbolRefAttr kernel;
  std::array<host::ExprAttr, 3> grid;
  llvm::SmallVector<std::variant<BufferId, host::ExprAttr>> args;
};
struct CopyCommand {
  BufferId src, dst;
  host::ExprAttr bytes;
};
struct TapCommand {
  NamedBuffer value;
};
struct Command {
  std::variant<LaunchCommand, CopyCommand, TapCommand> body;
  mlir::Location loc;
};

/// One entry, ready to be written down once its buffers have places.
struct EntryProgram {
  std::string name;
  host::EntryKind kind;
  std::optional<int64_t> bucket;
  std::vector<NamedBuffer> inputs, outputs;
  std::vector<Command> commands;
  mlir::Location loc;
};

/// Walks the entry `function`, adds its buffers to `storage` and places its scratch values.
/// `symbols` must know the functions and kernels of the module.
mlir::FailureOr<EntryProgram> walkEntry(mlir::func::FuncOp function, Storage &storage,
                                        const mlir::SymbolTable &symbols);

} // namespace k3

#endif // K3_COMPILER_PASSES_PLAN_ENTRYWALK_H
