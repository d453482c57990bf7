//===- Buffers.cpp - Which memory a value stands for ----------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop may rotate its buffers through carried values, so what a value stands for is a set, found
// by iterating until no set grows.
//
//===----------------------------------------------------------------------===//

#include "dialects/tile/Transforms/Buffers.h"

using namespace mlir;
using namespace k3::tile;

static bool isShared(Type type) {
  auto tile = dyn_cast<TileType>(type);
  return tile && tile.getSpace() == Space::Shared;
}

/// Adds `from` to `into`; true if that changed it.
static bool unite(IndexSet &into, const IndexSet &from) {
  IndexSet before = into;
  into |= from;
  return into != before;
}

Buffers::Buffers(KernelOp kernel) {
  kernel.walk([&](Operation *op) {
    if (auto alloc = dyn_cast<AllocOp>(op))
      allocs_.push_back(alloc);
    else if (auto copy = dyn_cast<CopyOp>(op))
      copies_.push_back(copy);
  });
  SmallVector<Value> roots(allocs_.begin(), allocs_.end());
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (isa<ViewType>(argument.getType()))
      roots.push_back(argument);
  viewCount_ = roots.size() - allocs_.size();
  for (auto [index, root] : llvm::enumerate(roots)) {
    IndexSet &set = buffers_[root];
    set.resize(roots.size());
    set.set(index);
  }
  for (auto [index, copy] : llvm::enumerate(copies_)) {
    IndexSet &set = tokens_[copy.getToken()];
    set.resize(copies_.size());
    set.set(index);
  }

  bool changed = true;
  while (changed) {
    changed = false;
    kernel.walk([&](ForOp loop) {
      auto yielded = cast<YieldOp>(loop.getBody().front().getTerminator()).getValues();
      for (auto [init, argument, next, result] :
           llvm::zip_equal(loop.getInits(), loop.getRegionIterArgs(), yielded, loop.getResults())) {
        changed |= merge(argument, init);
        changed |= merge(argument, next);
        changed |= merge(result, argument);
      }
    });
  }
}

bool Buffers::merge(Value into, Value from) {
  if (isShared(into.getType())) {
    IndexSet source = of(from);
    IndexSet &target = buffers_[into];
    target.resize(size());
    return unite(target, source);
  }
  if (isa<TokenType>(into.getType())) {
    IndexSet source = copiesOf(from);
    IndexSet &target = tokens_[into];
    target.resize(copies_.size());
    return unite(target, source);
  }
  return false;
}

IndexSet Buffers::copiesOf(Value token) const {
  auto found = tokens_.find(token);
  return found == tokens_.end() ? IndexSet(copies_.size()) : found->second;
}

IndexSet Buffers::of(Value value) const {
  IndexSet result(size());
  if (isa<TokenType>(value.getType())) {
    IndexSet copies = copiesOf(value);
    for (unsigned copy : copies.set_bits())
      result |= of(CopyOp(copies_[copy]).getDest());
    return result;
  }
  auto found = buffers_.find(value);
  return found == buffers_.end() ? result : found->second;
}

Access Buffers::accessOf(Operation *op) const {
  Access access{IndexSet(size()), IndexSet(size())};
  // Carrying a buffer from one iteration to the next touches none of its bytes, and waiting is
  // treated by its users.
  if (isa<AllocOp, ForOp, YieldOp, WaitOp>(op))
    return access;
  Value written;
  if (auto store = dyn_cast<StoreOp>(op))
    written = store.getView();
  else if (auto scatter = dyn_cast<ScatterOp>(op))
    written = scatter.getView();
  else if (auto stage = dyn_cast<StageOp>(op))
    written = stage.getDest();
  else if (auto copy = dyn_cast<CopyOp>(op))
    written = copy.getDest();
  for (Value operand : op->getOperands())
    (operand == written ? access.writes : access.reads) |= of(operand);
  return access;
}
