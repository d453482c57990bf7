//===- InsertBarriers.cpp - Barriers from a hazard analysis ---------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks the structured program with what was read, written and is still in flight since the last
// barrier. A loop is walked until the state at its head no longer grows, and only then are barriers
// put in.
//
//===----------------------------------------------------------------------===//

#include "dialects/tile/Transforms/Buffers.h"
#include "dialects/tile/Transforms/Passes.h"

namespace k3::tile {
#define GEN_PASS_DEF_TILEINSERTBARRIERS
#include "dialects/tile/Transforms/Passes.h.inc"
} // namespace k3::tile

using namespace mlir;
using namespace k3::tile;

namespace {

/// What happened since the last barrier, on any path.
struct State {
  IndexSet reads;
  IndexSet writes;
  /// Copies started and not yet awaited; a barrier does not complete them.
  IndexSet inFlight;

  void join(const State &other) {
    reads |= other.reads;
    writes |= other.writes;
    inFlight |= other.inFlight;
  }
  bool operator==(const State &other) const {
    return reads == other.reads && writes == other.writes && inFlight == other.inFlight;
  }
};

class BarrierInserter {
public:
  explicit BarrierInserter(KernelOp kernel) : kernel_(kernel), buffers_(kernel) {}

  LogicalResult run() {
    for (AllocOp alloc : buffers_.allocs())
      if (!alloc.getOffset())
        return alloc.emitOpError() << "offset: is missing; run tile-allocate-shared first";
    findOverlaps();
    return walk(kernel_.getBody().front(), emptyState(), /*commit=*/true, /*role=*/{}).status;
  }

private:
  struct Result {
    LogicalResult status;
    State state;
  };

  State emptyState() const {
    return {IndexSet(buffers_.size()), IndexSet(buffers_.size()),
            IndexSet(buffers_.copies().size())};
  }

  /// Two buffers are one hazard if their bytes overlap; views overlap only themselves.
  void findOverlaps() {
    size_t count = buffers_.size();
    overlaps_.assign(count, IndexSet(count));
    for (size_t a = 0; a < count; ++a)
      overlaps_[a].set(a);
    ArrayRef<AllocOp> allocs = buffers_.allocs();
    auto bytes = [](AllocOp alloc) {
      return tileBytes(cast<TileType>(alloc.getResult().getType()));
    };
    auto begin = [](AllocOp alloc) { return static_cast<int64_t>(*alloc.getOffset()); };
    for (size_t a = 0; a < allocs.size(); ++a)
      for (size_t b = 0; b < allocs.size(); ++b)
        if (begin(allocs[a]) < begin(allocs[b]) + bytes(allocs[b]) &&
            begin(allocs[b]) < begin(allocs[a]) + bytes(allocs[a]))
          overlaps_[a].set(b);
  }

  bool meet(const IndexSet &a, const IndexSet &b) const {
    return llvm::any_of(a.set_bits(), [&](unsigned i) { return overlaps_[i].anyCommon(b); });
  }

  bool isHazard(const State &state, const Access &access) const {
    return meet(access.reads, state.writes) || meet(access.writes, state.writes) ||
           meet(access.writes, state.reads);
  }

  /// A use of bytes that a copy is certainly still filling is a fault of the kernel. Where a value
  /// may stand for several buffers, a rotating pipeline is the rule, and nothing is said.
  LogicalResult checkArrived(Operation *op, const State &state, const Access &access) const {
    // Handing a buffer or a token to the next iteration touches no byte.
    if (access.reads.none() && access.writes.none())
      return success();
    for (unsigned index : state.inFlight.set_bits()) {
      CopyOp copy = buffers_.copies()[index];
      IndexSet filled = buffers_.of(copy.getDest());
      if (op == copy || filled.count() != 1)
        continue;
      for (Value operand : op->getOperands()) {
        IndexSet set = buffers_.of(operand);
        if (set.count() != 1 || !meet(set, filled))
          continue;
        InFlightDiagnostic error =
            op->emitOpError() << "buffer: its copy is still in flight; wait for its token first";
        error.attachNote(copy.getLoc()) << "the copy starts here";
        return error;
      }
    }
    return success();
  }

  /// Walks a block from a state. Barriers are created only if `commit`; `role` is the role around,
  /// if any.
  Result walk(Block &block, State state, bool commit, RoleOp role) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isa<BarrierOp>(op)) {
        if (role)
          return {op.emitOpError() << "role '" << role.getName()
                                   << "': other warps cannot meet at a barrier inside",
                  state};
        state.reads.reset();
        state.writes.reset();
        continue;
      }
      if (auto wait = dyn_cast<WaitOp>(op)) {
        for (Value token : wait.getTokens()) {
          state.inFlight.reset(buffers_.copiesOf(token));
          state.writes |= buffers_.of(token);
        }
        continue;
      }
      Result inner = walkRegions(op, state, commit, role);
      if (failed(inner.status))
        return inner;
      state = inner.state;
    }
    return {success(), state};
  }

  Result walkRegions(Operation &op, State state, bool commit, RoleOp role) {
    if (auto loop = dyn_cast<ForOp>(op)) {
      Block &body = loop.getBody().front();
      State head = state, before;
      do {
        before = head;
        Result once = walk(body, head, /*commit=*/false, role);
        if (failed(once.status))
          return once;
        head.join(once.state);
      } while (!(before == head));
      Result last = commit ? walk(body, head, /*commit=*/true, role) : Result{success(), head};
      return {last.status, head};
    }
    if (auto branch = dyn_cast<IfOp>(op)) {
      Result taken = walk(branch.getBody().front(), state, commit, role);
      taken.state.join(state);
      return taken;
    }
    if (auto inner = dyn_cast<RoleOp>(op))
      return walkRole(inner, state, commit);
    return step(op, state, buffers_.accessOf(&op), commit, role);
  }

  /// A role is one access to everything that it touches: a barrier may stand before it, but never
  /// inside.
  Result walkRole(RoleOp role, State state, bool commit) {
    Access all{IndexSet(buffers_.size()), IndexSet(buffers_.size())};
    role.walk([&](Operation *op) {
      Access access = buffers_.accessOf(op);
      all.reads |= access.reads;
      all.writes |= access.writes;
    });
    Result inside = walk(role.getBody().front(), emptyState(), commit, role);
    if (failed(inside.status))
      return inside;
    Result outside = step(*role, state, all, commit, /*role=*/{});
    outside.state.inFlight |= inside.state.inFlight;
    return outside;
  }

  Result step(Operation &op, State state, const Access &access, bool commit, RoleOp role) {
    if (failed(checkArrived(&op, state, access)))
      return {failure(), state};
    if (isHazard(state, access)) {
      if (role)
        return {
            op.emitOpError() << "role '" << role.getName()
                             << "': needs a barrier here, where other warps cannot meet; hand the "
                                "data over outside the role",
            state};
      if (commit) {
        OpBuilder builder(&op);
        BarrierOp::create(builder, op.getLoc());
      }
      state.reads.reset();
      state.writes.reset();
    }
    state.reads |= access.reads;
    // The bytes of a copy arrive when it is awaited, and need a barrier from there on.
    auto copy = dyn_cast<CopyOp>(op);
    if (copy)
      state.inFlight.set(llvm::find(buffers_.copies(), copy) - buffers_.copies().begin());
    else
      state.writes |= access.writes;
    return {success(), state};
  }

  KernelOp kernel_;
  Buffers buffers_;
  SmallVector<IndexSet> overlaps_;
};

struct InsertBarriers : k3::tile::impl::TileInsertBarriersBase<InsertBarriers> {
  void runOnOperation() override {
    if (failed(BarrierInserter(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace
