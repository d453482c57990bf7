//===- Control.cpp - Loops, branches and the reuse of buffers -------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop keeps one buffer for each carried tile and computes the next value in place where the old
// one is dead, so that accumulators and states never move.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cpu/Kernel.h"

using namespace mlir;

namespace k3::cpu {

bool KernelLowering::isStillRead(Value value, Operation *self) {
  for (Operation *user : value.getUsers()) {
    if (user == self)
      continue;
    Operation *here = current->getBlock()->findAncestorOpInBlock(*user);
    if (!here || here == current || current->isBeforeInBlock(here))
      return true;
    // An earlier op has read the buffer, unless its result is still an expression on it.
    for (Value result : user->getResults())
      if (isPending(result) && isStillRead(result, self))
        return true;
  }
  return false;
}

bool KernelLowering::isDead(Value pointer, Operation *self) {
  return fuse && llvm::all_of(residents[pointer], [&](Value resident) {
           return resident.getParentBlock() == current->getBlock() && !isStillRead(resident, self);
         });
}

std::shared_ptr<BufferExpr> KernelLowering::destination(Value value, Expr &expr) {
  Operation *self = value.getDefiningOp();
  auto type = cast<tile::TileType>(value.getType());
  auto fits = [&](BufferExpr &buffer) {
    return buffer.isDense() && ArrayRef(buffer.shape) == type.getShape() &&
           buffer.element == type.getElementType() && isDead(buffer.pointer, self) &&
           expr.readsInPlace(buffer.pointer);
  };
  if (auto loop = dyn_cast_or_null<tile::ForOp>(value.getParentBlock()->getParentOp());
      loop && current->getBlock() == value.getParentBlock()) {
    auto operands = value.getParentBlock()->getTerminator()->getOperands();
    if (llvm::count(operands, value) == 1) {
      BufferExpr &next = *carried[std::distance(operands.begin(), llvm::find(operands, value))];
      if (fits(next))
        return BufferExpr::dense(next.shape, next.element, next.pointer);
    }
  }
  std::shared_ptr<BufferExpr> reused;
  expr.visitChildren([&](Tile &child) {
    auto *buffer = dyn_cast<BufferExpr>(child->expr.get());
    if (!reused && buffer && fits(*buffer))
      reused = BufferExpr::dense(buffer->shape, buffer->element, buffer->pointer);
  });
  return reused ? reused : allocate(type);
}

bool KernelLowering::mayStayPending(Value value) {
  Expr &expr = *tileOf(value)->expr;
  if (expr.kind == Expr::Kind::Buffer || expr.kind == Expr::Kind::Splat)
    return true;
  Operation *op = value.getDefiningOp();
  if (!fuse)
    return false;
  if (!value.hasOneUse())
    return isa<tile::IotaOp>(op);
  OpOperand &use = *value.getUses().begin();
  Operation *user = use.getOwner();
  if (user->getBlock() != op->getBlock())
    return isa<tile::IotaOp>(op);
  bool read = isa<tile::LoadOp>(op);
  return llvm::TypeSwitch<Operation *, bool>(user)
      .Case<tile::MapOp>([&](auto map) {
        // A repeated element is computed once; a read may be repeated.
        auto result = cast<tile::TileType>(map.getResult(0).getType());
        return result.getShape() == ArrayRef(expr.shape) || read;
      })
      .Case<tile::ReduceOp, tile::ScanOp, tile::CastOp, tile::YieldOp, tile::ReshapeOp>(
          [&](auto) { return true; })
      .Case<tile::StoreOp, tile::ScatterOp, tile::StageOp>(
          [&](auto write) { return write.getValue() == value; })
      .Case<tile::InsertOp>([&](auto insert) { return insert.getPart() == value; })
      .Case<tile::DequantizeOp>(
          [&](auto dequantize) { return read && mayFeedMma(dequantize.getResult()); })
      .Case<tile::MmaOp>([&](auto mma) {
        return mma.getAcc() == value || read || (isa<tile::DequantizeOp>(op) && mayFeedMma(value));
      })
      .Default(false);
}

bool mayFeedMma(Value value) {
  if (!value.hasOneUse())
    return false;
  auto mma = dyn_cast<tile::MmaOp>(*value.getUsers().begin());
  return mma && mma->getBlock() == value.getParentBlock() && mma.getB() == value &&
         mma.getA() != value && mma.getAcc() != value && mma.getTransposeB() &&
         !mma.getTransposeA();
}

// -------------------------------------------------------------------------------------------------------
// loops

/// The buffer of a carried tile: that of the initial value where nobody else reads it.
std::shared_ptr<BufferExpr> KernelLowering::carryBuffer(tile::ForOp op, unsigned i) {
  Value init = op.getInits()[i];
  auto type = cast<tile::TileType>(init.getType());
  Tile &tile = tileOf(init);
  auto buffer = std::dynamic_pointer_cast<BufferExpr>(tile->expr);
  bool alone = buffer && buffer->isDense() && isDead(buffer->pointer, op);
  for (auto [j, other] : llvm::enumerate(op.getInits()))
    if (alone && j != i && isa<tile::TileType>(other.getType()))
      alone = !readsBuffer(*tileOf(other)->expr, buffer->pointer);
  // A nested reader inside the body sees the initial value, not the carried one.
  if (alone)
    for (Value resident : residents[buffer->pointer])
      alone &= llvm::all_of(resident.getUsers(),
                            [&](Operation *user) { return !op->isProperAncestor(user); });
  std::shared_ptr<BufferExpr> own =
      alone ? BufferExpr::dense(buffer->shape, buffer->element, buffer->pointer) : allocate(type);
  if (!alone)
    evaluate(*tile->expr, *own);
  return own;
}

LogicalResult KernelLowering::lower(tile::ForOp op) {
  settleForRegion(op);
  SmallVector<std::shared_ptr<BufferExpr>> buffers;
  SmallVector<Value> inits;
  for (auto [i, init] : llvm::enumerate(op.getInits())) {
    bool isTile = isa<tile::TileType>(init.getType());
    buffers.push_back(isTile ? carryBuffer(op, i) : nullptr);
    if (!isTile)
      inits.push_back(scalars.lookup(init));
  }
  auto loop =
      scf::ForOp::create(c.b, c.loc, scalars.lookup(op.getLower()), scalars.lookup(op.getUpper()),
                         scalars.lookup(op.getStep()), inits);
  Block &body = op.getBody().front();
  scalars.map(op.getInductionVar(), loop.getInductionVar());
  auto bind = [&](ValueRange values, ValueRange numbers) {
    unsigned next = 0;
    for (auto [value, buffer] : llvm::zip_equal(values, buffers)) {
      if (!buffer) {
        scalars.map(value, numbers[next++]);
        continue;
      }
      residents[buffer->pointer].clear();
      define(value, buffer);
    }
  };
  bind(body.getArguments().drop_front(), loop.getRegionIterArgs());
  {
    OpBuilder::InsertionGuard guard(c.b);
    if (inits.empty())
      c.b.setInsertionPoint(loop.getBody()->getTerminator());
    else
      c.b.setInsertionPointToEnd(loop.getBody());
    std::swap(carried, buffers);
    if (failed(lowerBlock(body)))
      return failure();
    std::swap(carried, buffers);
  }
  current = op;
  bind(op.getResults(), loop.getResults());
  return success();
}

void KernelLowering::finishIteration(tile::YieldOp yield) {
  SmallVector<Value> numbers;
  SmallVector<std::pair<std::shared_ptr<BufferExpr>, unsigned>> moved;
  for (auto [i, value] : llvm::enumerate(yield.getValues())) {
    if (!carried[i]) {
      numbers.push_back(scalars.lookup(value));
      continue;
    }
    // A pending value is computed into the carried buffer if that is dead, else into one of its
    // own.
    std::shared_ptr<BufferExpr> buffer = materialise(value);
    if (buffer->pointer == carried[i]->pointer && buffer->isDense())
      continue;
    bool shared = llvm::any_of(
        carried, [&](auto &other) { return other && other->pointer == buffer->pointer; });
    if (shared) {
      auto aside = allocate(buffer->shape, buffer->element);
      copy(*buffer, *aside);
      buffer = aside;
    }
    moved.push_back({buffer, i});
  }
  for (auto &[buffer, i] : moved)
    copy(*buffer, *carried[i]);
  if (!numbers.empty())
    scf::YieldOp::create(c.b, c.loc, numbers);
}

LogicalResult KernelLowering::lower(tile::IfOp op) {
  settleForRegion(op);
  auto branch = scf::IfOp::create(c.b, c.loc, scalars.lookup(op.getCondition()), false);
  OpBuilder::InsertionGuard guard(c.b);
  c.b.setInsertionPoint(branch.thenYield());
  LogicalResult result = lowerBlock(op.getBody().front());
  current = op;
  return result;
}

} // namespace k3::cpu
