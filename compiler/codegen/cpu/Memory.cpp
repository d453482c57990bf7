//===- Memory.cpp - Global and shared memory ------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes of views with their bounds, and the shared buffers of the staging ops, which are
// plain buffers here.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cpu/Kernel.h"
#include "compiler/codegen/cpu/Ranges.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace k3::cpu {

/// Elements of a dimension that exist: bound - offset, between 0 and the extent, and none for a
/// negative offset.
static Value validExtent(Code &c, IRMapping &scalars, Value offset, Value bound, int64_t extent) {
  Range left = rangeOfDifference(bound, offset);
  bool positive = rangeOf(offset).low >= 0;
  if (positive && left.low >= extent)
    return c.index(extent);
  if (positive && left.low == left.high)
    return c.index(std::clamp<int64_t>(left.low, 0, extent));
  Value from = scalars.lookup(offset), to = scalars.lookup(bound);
  Value valid = c.max(c.min(c.sub(to, from), c.index(extent)), c.index(0));
  return positive ? valid : c.select(c.less(from, c.index(0)), c.index(0), valid);
}

Window KernelLowering::window(Value view, ValueRange offsets, ValueRange bounds,
                              ArrayRef<int64_t> shape) {
  auto type = cast<tile::ViewType>(view.getType());
  ArrayRef<int64_t> extents = type.getShape();
  SmallVector<int64_t> strides(extents.size(), 1);
  for (int64_t d = int64_t(extents.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * extents[d + 1];

  Window window;
  window.base = scalars.lookup(view);
  window.element = type.getElementType();
  window.view = view;
  window.offsets.assign(offsets.begin(), offsets.end());
  window.bounds.assign(bounds.begin(), bounds.end());
  unsigned leading = extents.size() - shape.size();
  window.strides.assign(strides.begin() + leading, strides.end());
  window.origin = c.index(0);
  Value inside;
  for (auto [d, offset, bound, stride] : llvm::enumerate(offsets, bounds, strides)) {
    window.origin = c.add(window.origin, c.mul(scalars.lookup(offset), stride));
    if (d >= leading) {
      window.valid.push_back(validExtent(c, scalars, offset, bound, shape[d - leading]));
    } else if (rangeOf(offset).low < 0 || rangeOfDifference(bound, offset).low < 1) {
      // One comparison also refuses a negative index, which is a very large unsigned one.
      Value here = c.lessUnsigned(scalars.lookup(offset), scalars.lookup(bound));
      inside = inside ? c.both(inside, here) : here;
    }
  }
  if (inside)
    window.valid[0] = c.select(inside, window.valid[0], c.index(0));
  return window;
}

LogicalResult KernelLowering::lower(tile::LoadOp op) {
  auto type = cast<tile::TileType>(op.getResult().getType());
  Window from = window(op.getView(), op.getOffsets(), op.getBounds(), type.getShape());
  Value none;
  for (int64_t d = 0; d + 1 < type.getRank(); ++d)
    if (!isConstant(from.valid[d], type.getShape()[d]))
      none = zeroRow(type.getShape().back() * storageBytes(from.element));
  defineOrCompute(op.getResult(),
                  std::make_shared<ViewExpr>(type.getShape(), type.getElementType(), from, none));
  return success();
}

LogicalResult KernelLowering::lower(tile::StoreOp op) {
  auto type = cast<tile::TileType>(op.getValue().getType());
  Window to = window(op.getView(), op.getOffsets(), op.getBounds(), type.getShape());
  settle(op.getView(), &to);
  Expr &value = *tileOf(op.getValue())->expr;
  forEach(
      type.getShape(), to.valid, [&](ArrayRef<Value> index) { return value.safeExtent(c, index); },
      [&](const Access &access) {
        c.store(value.at(c, access), to.base, to.offset(c, access.index), to.element);
      });
  return success();
}

LogicalResult KernelLowering::lower(tile::GatherOp op) {
  auto type = cast<tile::TileType>(op.getResult().getType());
  // The window spans all rows; the row is added at each access.
  Value zero = c.index(0);
  scalars.map(zero, zero);
  Window from = window(op.getView(), {zero, op.getColumn()},
                       {op.getRowBound(), op.getColumnBound()}, type.getShape());
  Tile rows = tileOf(op.getRows());
  Value none = zeroRow(type.getShape().back() * storageBytes(from.element));
  defineOrCompute(op.getResult(),
                  std::make_shared<GatherExpr>(type.getShape(), type.getElementType(), from, rows,
                                               scalars.lookup(op.getRowBound()), none));
  return success();
}

LogicalResult KernelLowering::lower(tile::ScatterOp op) {
  auto type = cast<tile::TileType>(op.getValue().getType());
  // The window spans all rows; the row is added at each access.
  Value zero = c.index(0);
  scalars.map(zero, zero);
  Window to = window(op.getView(), {zero, op.getColumn()}, {op.getRowBound(), op.getColumnBound()},
                     type.getShape());
  settle(op.getView(), nullptr);
  Expr &value = *tileOf(op.getValue())->expr, &rows = *tileOf(op.getRows())->expr;
  int64_t columns = type.getShape()[1];
  c.loop(c.index(0), c.index(type.getShape()[0]), 1, [&](Value m) {
    Access first;
    first.index = {m};
    Value row = c.toIndex(rows.at(c, first));
    c.when(c.lessUnsigned(row, scalars.lookup(op.getRowBound())), [&] {
      forEach(
          {columns}, {to.valid[1]},
          [&](ArrayRef<Value>) { return value.safeExtent(c, {m, c.index(0)}); },
          [&](const Access &access) {
            Access element = access;
            element.index = {m, access.index[0]};
            c.store(value.at(c, element), to.base, to.offset(c, {row, access.index[0]}),
                    to.element);
          });
    });
  });
  return success();
}

LogicalResult KernelLowering::lower(tile::ReadOp op) {
  // A read is a load of one element whose indices are all leading ones.
  auto type = cast<tile::ViewType>(op.getView().getType());
  Value inside = arith::ConstantOp::create(c.b, c.loc, c.b.getBoolAttr(true));
  Value place = c.index(0);
  int64_t stride = 1;
  for (int64_t d = type.getShape().size() - 1; d >= 0; --d) {
    Value offset = op.getOffsets()[d], bound = op.getBounds()[d];
    place = c.add(place, c.mul(scalars.lookup(offset), stride));
    stride *= d > 0 ? type.getShape()[d] : 1;
    if (rangeOf(offset).low < 0 || rangeOfDifference(bound, offset).low < 1)
      inside = c.both(inside, c.lessUnsigned(scalars.lookup(offset), scalars.lookup(bound)));
  }
  Type element = type.getElementType();
  Value value = c.valueIf(inside, computeType(element),
                          [&] { return c.load(scalars.lookup(op.getView()), place, element, 1); });
  scalars.map(op.getResult(), isa<IndexType>(op.getResult().getType()) ? c.toIndex(value) : value);
  return success();
}

// -----------------------------------------------------------------------------------------------------
// staging

LogicalResult KernelLowering::lower(tile::CopyOp op) {
  std::shared_ptr<BufferExpr> to = materialise(op.getDest());
  settle(to->pointer, nullptr);
  Window from = window(op.getView(), op.getOffsets(), op.getBounds(), to->shape);
  Value none = zeroRow(to->shape.back() * storageBytes(from.element));
  ViewExpr read(to->shape, to->element, from, none);
  evaluate(read, *to);
  return success();
}

LogicalResult KernelLowering::lower(tile::StageOp op) {
  std::shared_ptr<BufferExpr> to = materialise(op.getDest());
  settle(to->pointer, nullptr);
  evaluate(*tileOf(op.getValue())->expr, *to);
  return success();
}

LogicalResult KernelLowering::lower(tile::FetchOp op) {
  // The shared buffer may be overwritten at any time, so a fetch is a copy.
  std::shared_ptr<BufferExpr> from = materialise(op.getSource());
  auto type = cast<tile::TileType>(op.getResult().getType());
  BufferExpr part(type.getShape(), from->element, from->pointer, from->strides);
  part.origin = from->origin ? from->origin : c.index(0);
  for (auto [offset, stride] : llvm::zip(op.getOffsets(), from->strides))
    part.origin = c.add(part.origin, c.mul(scalars.lookup(offset), stride));
  std::shared_ptr<BufferExpr> own = allocate(type);
  copy(part, *own);
  define(op.getResult(), own);
  return success();
}

} // namespace k3::cpu
