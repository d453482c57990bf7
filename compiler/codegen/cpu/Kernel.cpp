//===- Kernel.cpp - Lowering of one kernel --------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The function around a kernel, the walk over its ops, and the table of its values and buffers.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cpu/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace k3::cpu {

KernelLowering::KernelLowering(tile::KernelOp kernel, bool fuse)
    : kernel(kernel), fuse(fuse), c(OpBuilder(kernel), kernel.getLoc()),
      entry(kernel.getContext()) {}

// ------------------------------------------------------------------------------------------------
// the function

/// The kernel as a function of typed parameters. No two parameters of a launch overlap where one is
/// written (a state that is read and written is one parameter), so the pointers do not alias.
func::FuncOp KernelLowering::declareBody() {
  Type pointer = LLVM::LLVMPointerType::get(c.b.getContext()), i64 = c.b.getI64Type();
  SmallVector<Type> types;
  for (Type type : kernel.getArgumentTypes())
    types.push_back(isa<tile::ViewType>(type) ? pointer : i64);
  types.append(4, i64);
  c.b.setInsertionPoint(kernel);
  auto body = func::FuncOp::create(c.b, c.loc, (kernel.getSymName() + "_body").str(),
                                   c.b.getFunctionType(types, {}));
  body.setPrivate();
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes()))
    if (isa<tile::ViewType>(type))
      body.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), c.b.getUnitAttr());
  body.addEntryBlock();
  return body;
}

/// void NAME(const uint64_t *params, int64_t gridX, int64_t gridY, int64_t begin, int64_t end):
/// unpacks the parameters.
void KernelLowering::declareEntry(func::FuncOp body) {
  Type pointer = LLVM::LLVMPointerType::get(c.b.getContext()), i64 = c.b.getI64Type();
  OpBuilder::InsertionGuard guard(c.b);
  c.b.setInsertionPointAfter(body);
  auto function = func::FuncOp::create(c.b, c.loc, kernel.getSymName(),
                                       c.b.getFunctionType({pointer, i64, i64, i64, i64}, {}));
  Block *block = function.addEntryBlock();
  c.b.setInsertionPointToEnd(block);
  SmallVector<Value> arguments;
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    Value place = c.address(block->getArgument(0), c.index(i), i64);
    arguments.push_back(
        LLVM::LoadOp::create(c.b, c.loc, isa<tile::ViewType>(type) ? pointer : i64, place));
  }
  llvm::append_range(arguments, block->getArguments().drop_front());
  func::CallOp::create(c.b, c.loc, body, arguments);
  func::ReturnOp::create(c.b, c.loc);
}

LogicalResult KernelLowering::run() {
  func::FuncOp body = declareBody();
  declareEntry(body);
  Block *block = &body.getBody().front();
  unsigned parameters = kernel.getArgumentTypes().size();
  c.b.setInsertionPointToEnd(block);
  auto end = func::ReturnOp::create(c.b, c.loc);
  // Allocations go in front of this op, everything else behind it.
  Value first = c.index(0);
  first.getDefiningOp()->moveBefore(block, block->begin());
  entry.setInsertionPoint(first.getDefiningOp());

  c.b.setInsertionPoint(end);
  for (auto [outer, inner] : llvm::zip(kernel.getBody().getArguments(), block->getArguments()))
    scalars.map(outer, isa<tile::ViewType>(outer.getType()) ? Value(inner) : c.toIndex(inner));
  gridX = c.toIndex(block->getArgument(parameters));
  gridY = c.toIndex(block->getArgument(parameters + 1));
  Value begin = c.toIndex(block->getArgument(parameters + 2)),
        stop = c.toIndex(block->getArgument(parameters + 3));
  auto loop = scf::ForOp::create(c.b, c.loc, begin, stop, c.index(1));
  linearBlock = loop.getInductionVar();
  c.b.setInsertionPoint(loop.getBody()->getTerminator());
  if (failed(lowerBlock(kernel.getBody().front())))
    return failure();
  if (bufferBytes > kMaxBufferBytes)
    return kernel.emitError("kernel '")
           << kernel.getSymName() << "': its tiles need too much local memory (got " << bufferBytes
           << " bytes, expected at most " << kMaxBufferBytes << "); choose smaller tiles";
  if (zeros) {
    Type type = LLVM::LLVMArrayType::get(c.b.getI8Type(), zeroBytes);
    zeros.setGlobalType(type);
    OpBuilder inside(kernel.getContext());
    inside.createBlock(&zeros.getInitializerRegion());
    LLVM::ReturnOp::create(inside, kernel.getLoc(),
                           LLVM::ZeroOp::create(inside, kernel.getLoc(), type));
  }
  return success();
}

Value KernelLowering::blockIndex(tile::GridAxis axis) {
  auto divide = [&](Value x, Value y) { return Value(arith::DivUIOp::create(c.b, c.loc, x, y)); };
  auto remainder = [&](Value x, Value y) {
    return Value(arith::RemUIOp::create(c.b, c.loc, x, y));
  };
  if (axis == tile::GridAxis::X)
    return remainder(linearBlock, gridX);
  Value rest = divide(linearBlock, gridX);
  return axis == tile::GridAxis::Y ? remainder(rest, gridY) : divide(rest, gridY);
}

// ---------------------------------------------------------------------------------------------------
// the walk

LogicalResult KernelLowering::lowerBlock(Block &block) {
  for (Operation &op : block) {
    current = &op;
    c.loc = op.getLoc();
    if (failed(lowerOp(&op)))
      return failure();
    // What the op read is used up; its own results are pending if they are expressions.
    for (Value operand : op.getOperands())
      pending.remove(operand);
    for (Value result : op.getResults())
      if (isa<tile::TileType>(result.getType()) && isPending(result))
        pending.insert(result);
  }
  return success();
}

LogicalResult KernelLowering::lowerOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<tile::ForOp, tile::IfOp, tile::LoadOp, tile::StoreOp, tile::GatherOp, tile::ScatterOp,
            tile::ReadOp, tile::CopyOp, tile::StageOp, tile::FetchOp, tile::SplatOp, tile::IotaOp,
            tile::MapOp, tile::CastOp, tile::BroadcastOp, tile::TransposeOp, tile::ReshapeOp,
            tile::ExtractOp, tile::InsertOp, tile::DequantizeOp, tile::ReduceOp, tile::ScanOp,
            tile::TopKOp, tile::TriSolveOp, tile::MmaOp>([&](auto typed) { return lower(typed); })
      .Case<tile::BlockIdOp>([&](auto id) {
        scalars.map(id.getResult(), blockIndex(id.getAxis()));
        return success();
      })
      .Case<tile::AllocOp>([&](auto alloc) {
        define(alloc.getResult(), allocate(cast<tile::TileType>(alloc.getResult().getType())));
        return success();
      })
      // A block is one thread here: copies are done when they are issued, and nobody else waits.
      .Case<tile::WaitOp, tile::BarrierOp, tile::ReturnOp>([&](auto) { return success(); })
      .Case<tile::YieldOp>([&](auto yield) {
        if (isa<tile::ForOp>(yield->getParentOp()))
          finishIteration(yield);
        return success();
      })
      .Default([&](Operation *other) -> LogicalResult {
        bool scalar = llvm::none_of(other->getOperandTypes(),
                                    llvm::IsaPred<tile::TileType, tile::ViewType>) &&
                      isSupportedScalarOp(other);
        if (!scalar)
          return other->emitOpError("is not supported by the CPU lowering");
        SmallVector<Value> operands;
        for (Value operand : other->getOperands())
          operands.push_back(scalars.lookup(operand));
        scalars.map(other->getResult(0), cloneScalarOp(c, other, operands, 1));
        return success();
      });
}

// ----------------------------------------------------------------------------------------- values
// and buffers

Tile &KernelLowering::tileOf(Value value) { return tiles[value]; }

void KernelLowering::define(Value value, std::shared_ptr<Expr> expr) {
  if (auto *buffer = dyn_cast<BufferExpr>(expr.get()))
    residents[buffer->pointer].push_back(value);
  Tile &tile = tiles[value];
  if (tile)
    tile->expr = std::move(expr);
  else
    tile = std::make_shared<Slot>(Slot{std::move(expr)});
}

bool KernelLowering::isPending(Value value) {
  auto it = tiles.find(value);
  return it != tiles.end() && it->second && !isa<BufferExpr>(it->second->expr.get());
}

void KernelLowering::defineOrCompute(Value value, std::shared_ptr<Expr> expr) {
  define(value, std::move(expr));
  if (!mayStayPending(value))
    materialise(value);
}

std::shared_ptr<BufferExpr> KernelLowering::allocate(ArrayRef<int64_t> shape, Type element) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  bufferBytes += llvm::alignTo(count * storageBytes(element), 64);
  Type pointer = LLVM::LLVMPointerType::get(c.b.getContext());
  Value one =
      LLVM::ConstantOp::create(entry, c.loc, entry.getI64Type(), entry.getI64IntegerAttr(1));
  Type array = LLVM::LLVMArrayType::get(storageType(element), count);
  Value memory = LLVM::AllocaOp::create(entry, c.loc, pointer, array, one, 64);
  return BufferExpr::dense(shape, element, memory);
}

std::shared_ptr<BufferExpr> KernelLowering::materialise(Value value) {
  Tile &tile = tileOf(value);
  if (auto buffer = std::dynamic_pointer_cast<BufferExpr>(tile->expr))
    return buffer;
  bool constant = tile->expr->kind == Expr::Kind::Splat || isa<tile::IotaOp>(value.getDefiningOp());
  std::shared_ptr<BufferExpr> buffer =
      constant ? allocate(cast<tile::TileType>(value.getType())) : destination(value, *tile->expr);
  evaluate(*tile->expr, *buffer);
  // Constants have many readers, some of which this place may not dominate.
  if (constant)
    return buffer;
  if (auto *read = dyn_cast<ViewExpr>(tile->expr.get()))
    buffer->valid = read->window.valid;
  define(value, buffer);
  pending.remove(value);
  return buffer;
}

/// True if `expr` reads `view` at no other place than element by element at `target`.
static bool readsOnlyAt(Expr &expr, Value view, const Window &target, ArrayRef<int64_t> shape) {
  if (auto *read = dyn_cast<ViewExpr>(&expr))
    if (read->window.view == view)
      return read->window.offsets == target.offsets && read->window.bounds == target.bounds &&
             expr.shape == shape;
  bool elementwise = expr.kind == Expr::Kind::Map || expr.kind == Expr::Kind::Cast;
  bool good = true;
  expr.visitChildren([&](Tile &child) {
    good &= readsMemory(*child->expr, view)
                ? elementwise && readsOnlyAt(*child->expr, view, target, shape)
                : true;
  });
  return good && (expr.kind == Expr::Kind::View || elementwise || !readsMemory(expr, view));
}

void KernelLowering::settle(Value memory, const Window *target) {
  SmallVector<Value> waiting(pending.begin(), pending.end());
  for (Value value : waiting) {
    Expr &expr = *tileOf(value)->expr;
    if (!readsMemory(expr, memory))
      continue;
    bool feeds = llvm::is_contained(current->getOperands(), value);
    if (!(feeds && target && readsOnlyAt(expr, memory, *target, expr.shape)))
      materialise(value);
  }
}

void KernelLowering::settleForRegion(Operation *op) {
  op->walk([&](Operation *inner) {
    llvm::TypeSwitch<Operation *>(inner)
        .Case<tile::StoreOp, tile::ScatterOp>([&](auto write) { settle(write.getView(), nullptr); })
        .Case<tile::CopyOp, tile::StageOp>([&](auto write) {
          if (tiles.contains(write.getDest()))
            settle(materialise(write.getDest())->pointer, nullptr);
        });
  });
}

Value KernelLowering::zeroRow(int64_t bytes) {
  zeroBytes = std::max(zeroBytes, bytes);
  if (!zeros) {
    OpBuilder outside(kernel);
    zeros = LLVM::GlobalOp::create(
        outside, kernel.getLoc(), LLVM::LLVMArrayType::get(c.b.getI8Type(), bytes), true,
        LLVM::Linkage::Internal, (kernel.getSymName() + "_zeros").str(), Attribute(), 64);
    zerosAddress = LLVM::AddressOfOp::create(entry, kernel.getLoc(), zeros);
  }
  return zerosAddress;
}

} // namespace k3::cpu
