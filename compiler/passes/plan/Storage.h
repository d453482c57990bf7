//===- Storage.h - Buffers of a program -------------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects every buffer that a program needs: weights and states, instantiated for each layer and
// shared by all entries; step inputs and outputs by name; values of one step. Then gives each a
// place in the arena of its class.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_PASSES_PLAN_STORAGE_H
#define K3_COMPILER_PASSES_PLAN_STORAGE_H

#include "compiler/passes/plan/MemoryPlan.h"
#include "dialects/k3/K3Ops.h"
#include "dialects/plan/PlanOps.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <map>
#include <string>

namespace k3 {

/// The limits of `k3.limits` that sizes depend on.
struct StorageLimits {
  int64_t maxSeqs, maxContext, pageTokens;
  int64_t pagesPerSequence() const { return (maxContext - 1) / pageTokens + 1; }

  /// Reads them, or reports at the module.
  static mlir::FailureOr<StorageLimits> read(mlir::ModuleOp module);
};

using BufferId = unsigned;

struct BufferInfo {
  std::string name; // unique among the symbols of the program
  host::ArenaClass kind;
  mlir::Type dtype;
  mlir::ArrayAttr shape; // of #plan.expr
  int64_t size;          // bytes at the symbols' upper bounds
  int64_t offset = 0;
  bool isUsed = true;
  mlir::Location loc;
};

struct WeightInfo {
  std::string name;
  BufferId buffer;
  mlir::ArrayAttr pieces; // of #plan.piece
};

struct StateInfo {
  std::string name;
  BufferId buffer;
  host::StateKind kind;
  llvm::SmallVector<int64_t> shape; // of a slot or page
  int64_t slotBytes;
  llvm::StringRef order; // "kv", "vk" or empty
};

class Storage {
public:
  /// Reserves the names of kernels and arenas, which are symbols of the program as well.
  Storage(mlir::ModuleOp module, StorageLimits limits);

  const StorageLimits &limits() const { return limits_; }

  // Each reports a failure at the op that needs the buffer.
  mlir::FailureOr<BufferId> weight(model::WeightOp op, std::optional<int64_t> layer);
  mlir::FailureOr<BufferId> state(model::RefOp op, std::optional<int64_t> layer);
  /// An input (`role` "in") or output ("out") of an entry. One name shares its bytes in all
  /// entries.
  mlir::FailureOr<BufferId> io(llvm::StringRef role, llvm::StringRef name, mlir::Type dtype,
                               llvm::ArrayRef<host::ExprAttr> shape, mlir::Location loc);
  mlir::FailureOr<BufferId> scratch(llvm::StringRef name, mlir::Type dtype,
                                    llvm::ArrayRef<host::ExprAttr> shape, mlir::Location loc);
  /// Makes a scratch buffer an output: its writer then writes there, and nothing is copied.
  void promote(BufferId buffer, llvm::StringRef name);

  /// The places of the scratch values of one entry; entries share the arena because they never run
  /// at once.
  mlir::LogicalResult placeScratch(llvm::ArrayRef<BufferId> buffers,
                                   llvm::ArrayRef<Lifetime> lifetimes, mlir::Location loc);
  /// Places everything else. Called once, after the last entry.
  mlir::LogicalResult placeRest(mlir::Location loc);

  BufferInfo &buffer(BufferId id) { return buffers_[id]; }
  llvm::ArrayRef<BufferInfo> buffers() const { return buffers_; }
  llvm::ArrayRef<WeightInfo> weights() const { return weights_; }
  llvm::ArrayRef<StateInfo> states() const { return states_; }
  /// Bytes of an arena; 0: there is none.
  int64_t arenaSize(host::ArenaClass kind) const { return arenaSizes_[static_cast<size_t>(kind)]; }
  static llvm::StringRef arenaName(host::ArenaClass kind) {
    return host::stringifyArenaClass(kind);
  }

  /// The shape of a tensor: its symbol, then numbers.
  llvm::SmallVector<host::ExprAttr> shapeOf(mlir::RankedTensorType type) const;
  host::ExprAttr constant(int64_t value) const {
    return host::ExprAttr::getConstant(context_, value);
  }

private:
  mlir::FailureOr<BufferId> add(llvm::StringRef name, host::ArenaClass kind, mlir::Type dtype,
                                llvm::ArrayRef<host::ExprAttr> shape, mlir::Location loc);
  std::string uniqueName(llvm::StringRef name);
  mlir::FailureOr<std::string> instanceName(mlir::Operation *user, llvm::StringRef name,
                                            std::optional<int64_t> layer);
  mlir::ArrayAttr pieces(model::ParamOp param, std::optional<int64_t> layer);

  mlir::MLIRContext *context_;
  mlir::SymbolTable symbols_;
  StorageLimits limits_;
  std::vector<BufferInfo> buffers_;
  std::vector<WeightInfo> weights_;
  std::vector<StateInfo> states_;
  llvm::StringMap<BufferId> weightIds_, stateIds_;
  /// Buffers that share the bytes of one input or output, by role and name, in the order of use.
  std::vector<llvm::SmallVector<BufferId>> ioRegions_;
  llvm::StringMap<unsigned> ioRegionIds_;
  llvm::StringSet<> names_;
  llvm::StringMap<unsigned> nextSuffix_;
  int64_t arenaSizes_[6] = {};
};

} // namespace k3

#endif // K3_COMPILER_PASSES_PLAN_STORAGE_H
