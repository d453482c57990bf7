//===- AllocateShared.cpp - Offsets of shared buffers ---------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the structured program into positions on a line, gives each buffer the span in which it is
// touched, and packs the spans, largest first, at the lowest offset that is free.
//
//===----------------------------------------------------------------------===//

#include "dialects/tile/Transforms/Buffers.h"
#include "dialects/tile/Transforms/Passes.h"

#include "llvm/Support/MathExtras.h"

namespace k3::tile {
#define GEN_PASS_DEF_TILEALLOCATESHARED
#include "dialects/tile/Transforms/Passes.h.inc"
} // namespace k3::tile

using namespace mlir;
using namespace k3::tile;

namespace {

/// Positions first to last on the line, both included. Empty until something touches the buffer.
struct Span {
  int64_t first = INT64_MAX;
  int64_t last = -1;
  bool isEmpty() const { return last < first; }
  void cover(Span other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
  bool meets(Span other) const {
    return !isEmpty() && !other.isEmpty() && first <= other.last && other.first <= last;
  }
};

class Lifetimes {
public:
  explicit Lifetimes(KernelOp kernel) : buffers_(kernel), spans_(buffers_.allocs().size()) {
    number(kernel);
    kernel.walk([&](Operation *op) { touch(op); });
  }

  ArrayRef<AllocOp> allocs() const { return buffers_.allocs(); }
  ArrayRef<Span> spans() const { return spans_; }

private:
  /// An op with regions gets one position before them and one behind.
  void number(Operation *op) {
    int64_t first = next_++;
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        number(&inner);
    positions_[op] = {first, next_++};
  }

  /// Roles of one block run side by side, so what one of them touches is touched while any of them
  /// runs.
  Span spanOfRoles(Block *block) const {
    Span span;
    for (auto role : block->getOps<RoleOp>())
      span.cover(positions_.at(role));
    return span;
  }

  void touch(Operation *op) {
    for (Value operand : op->getOperands()) {
      if (!isa<TileType, TokenType>(operand.getType()))
        continue;
      IndexSet touched = buffers_.of(operand);
      for (unsigned index : touched.set_bits())
        if (index < spans_.size())
          spans_[index].cover(spanOf(op, buffers_.allocs()[index]));
    }
  }

  /// The span of one use: the op itself, widened to each loop and each group of roles around it. A
  /// loop that holds the allocation too does not widen, because every iteration has a buffer of its
  /// own.
  Span spanOf(Operation *op, AllocOp alloc) const {
    Span span = positions_.at(op);
    for (Operation *parent = op; !isa<KernelOp>(parent); parent = parent->getParentOp()) {
      if (isa<RoleOp>(parent))
        span.cover(spanOfRoles(parent->getBlock()));
      bool carried = isa<YieldOp>(op) && parent == op->getParentOp();
      if (isa<ForOp>(parent) && (carried || !parent->isProperAncestor(alloc)))
        span.cover(positions_.at(parent));
    }
    return span;
  }

  Buffers buffers_;
  SmallVector<Span> spans_;
  llvm::DenseMap<Operation *, Span> positions_;
  int64_t next_ = 0;
};

struct AllocateShared : k3::tile::impl::TileAllocateSharedBase<AllocateShared> {
  using TileAllocateSharedBase::TileAllocateSharedBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    Lifetimes lifetimes(kernel);
    int64_t total = place(lifetimes);
    if (maxBytes > 0 && total > maxBytes) {
      kernel.emitError() << "kernel @" << kernel.getSymName()
                         << ": needs too much shared memory (got " << total << " bytes, limit is "
                         << maxBytes.getValue() << "); choose smaller tiles or fewer stages";
      return signalPassFailure();
    }
    Builder builder(kernel.getContext());
    NamedAttrList schedule(kernel.getScheduleAttr());
    schedule.set("shared_bytes", builder.getI64IntegerAttr(total));
    kernel.setScheduleAttr(schedule.getDictionary(kernel.getContext()));
  }

  /// Sets every offset; returns the bytes needed.
  int64_t place(const Lifetimes &lifetimes) {
    struct Placed {
      Span span;
      int64_t begin, end;
    };
    ArrayRef<AllocOp> allocs = lifetimes.allocs();
    auto bytesOf = [&](size_t index) {
      return tileBytes(cast<TileType>(AllocOp(allocs[index]).getResult().getType()));
    };
    SmallVector<size_t> order = llvm::to_vector(llvm::seq<size_t>(0, allocs.size()));
    llvm::stable_sort(order, [&](size_t a, size_t b) { return bytesOf(a) > bytesOf(b); });

    SmallVector<Placed> placed;
    int64_t total = 0;
    for (size_t index : order) {
      Span span = lifetimes.spans()[index];
      SmallVector<Placed> blocking = llvm::filter_to_vector(
          placed, [&](const Placed &other) { return other.span.meets(span); });
      llvm::sort(blocking, [](const Placed &a, const Placed &b) {
        return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
      });
      int64_t begin = 0, bytes = bytesOf(index);
      for (const Placed &other : blocking) {
        if (begin + bytes <= other.begin)
          break;
        begin = std::max<int64_t>(begin, llvm::alignTo(other.end, sharedAlignment));
      }
      placed.push_back({span, begin, begin + bytes});
      total = std::max(total, begin + bytes);
      AllocOp(allocs[index]).setOffset(begin);
    }
    return total;
  }
};

} // namespace
