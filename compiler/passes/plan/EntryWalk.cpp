//===- EntryWalk.cpp - Commands of one entry ------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each value of a function is bound to a buffer, an expression or the fields of a batch; each op
// either binds values or adds a command. A value lives from the first command that touches it to
// the last.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/plan/EntryWalk.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace k3 {

using host::ExprAttr;
using host::ExprOp;

namespace {

/// The i32 arrays of a batch, in the order of the entry's inputs.
constexpr llvm::StringLiteral batchFields[] = {"token_seq", "token_pos",   "seq_offsets",
                                               "seq_slots", "seq_context", "page_table"};
using BatchBuffers = std::array<BufferId, std::size(batchFields)>;
using Bound = std::variant<BufferId, ExprAttr, BatchBuffers>;

class Walker {
public:
  Walker(func::FuncOp entry, Storage &storage, const SymbolTable &symbols)
      : entry(entry), storage(storage), symbols(symbols), context(entry.getContext()),
        program{
            entry.getSymName().str(), host::EntryKind::Generic, {}, {}, {}, {}, entry.getLoc()} {}

  FailureOr<EntryProgram> run();

private:
  /// One call: what the values of its function stand for.
  struct Frame {
    llvm::DenseMap<Value, Bound> bound;
    std::optional<int64_t> layer;
  };

  func::FuncOp entry;
  Storage &storage;
  const SymbolTable &symbols;
  MLIRContext *context;
  EntryProgram program;
  int64_t commandCount = 0; // without taps
  std::vector<BufferId> scratch;
  llvm::DenseMap<BufferId, Lifetime> lifetimes;
  std::vector<Command> earlyTaps;
  llvm::SmallVector<func::FuncOp> callStack;

  LogicalResult bindArguments(Frame &frame);
  FailureOr<BatchBuffers> bindBatch(model::BatchType type, Location loc);
  FailureOr<SmallVector<Bound>> walk(func::FuncOp function, Frame &frame);
  LogicalResult visit(Operation &op, Frame &frame);
  LogicalResult visitCall(func::CallOp call, Frame &frame);
  LogicalResult visitLaunch(tile::LaunchOp launch, Frame &frame);
  LogicalResult visitTap(model::TapOp tap, Frame &frame);
  LogicalResult visitArith(Operation &op, Frame &frame);
  LogicalResult bindOutputs(ArrayRef<Bound> results);
  LogicalResult placeScratch();

  /// Records that the command being added, or the last one, touches a buffer.
  void touch(BufferId buffer, int64_t command);
  void add(Command command) { program.commands.push_back(std::move(command)); }
  FailureOr<BufferId> addScratch(StringRef name, Type dtype, ArrayRef<ExprAttr> shape, Location loc,
                                 const Frame &frame);
  LogicalResult bind(Frame &frame, Value value, FailureOr<BufferId> buffer) {
    if (failed(buffer))
      return failure();
    frame.bound[value] = *buffer;
    return success();
  }
  template <typename T> FailureOr<T> lookup(Frame &frame, Value value, Operation &user) {
    if (auto it = frame.bound.find(value); it != frame.bound.end())
      if (T *found = std::get_if<T>(&it->second))
        return *found;
    return user.emitOpError() << "operand of type " << value.getType()
                              << " has no place in the plan";
  }
};

} // namespace

// -----------------------------------------------------------------------------------------------
// the entry's own arguments and results

FailureOr<BatchBuffers> Walker::bindBatch(model::BatchType type, Location loc) {
  bool isRagged = !type.getTokens().empty();
  ExprAttr tokens =
      isRagged ? ExprAttr::getSymbol(context, type.getTokens()) : storage.constant(type.getRows());
  ExprAttr seqs =
      isRagged ? ExprAttr::getSymbol(context, type.getSeqs()) : storage.constant(type.getRows());
  ExprAttr offsets = ExprAttr::getBinary(ExprOp::Add, seqs, storage.constant(1));
  ExprAttr pages = storage.constant(storage.limits().pagesPerSequence());
  SmallVector<ExprAttr> shapes[] = {{tokens}, {tokens}, {offsets}, {seqs}, {seqs}, {seqs, pages}};

  BatchBuffers buffers;
  Type i32 = IntegerType::get(context, 32);
  for (auto [field, shape, buffer] : llvm::zip_equal(batchFields, shapes, buffers)) {
    FailureOr<BufferId> id = storage.io("in", field, i32, shape, loc);
    if (failed(id))
      return failure();
    buffer = *id;
    program.inputs.push_back({field.str(), *id});
  }
  return buffers;
}

LogicalResult Walker::bindArguments(Frame &frame) {
  for (auto [index, argument] : llvm::enumerate(entry.getArguments())) {
    if (auto batch = dyn_cast<model::BatchType>(argument.getType())) {
      FailureOr<BatchBuffers> buffers = bindBatch(batch, argument.getLoc());
      if (failed(buffers))
        return failure();
      frame.bound[argument] = *buffers;
      continue;
    }
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      return entry.emitError() << "entry '" << program.name << "': argument " << index
                               << " cannot be filled by a run (got " << argument.getType()
                               << ", expected a tensor or a batch)";
    StringRef name = entry.getArgAttrOfType<StringAttr>(index, model::kNameAttr).getValue();
    FailureOr<BufferId> buffer =
        storage.io("in", name, type.getElementType(), storage.shapeOf(type), argument.getLoc());
    if (failed(bind(frame, argument, buffer)))
      return failure();
    program.inputs.push_back({name.str(), *buffer});
  }
  return success();
}

LogicalResult Walker::bindOutputs(ArrayRef<Bound> results) {
  for (auto [index, result] : llvm::enumerate(results)) {
    StringRef name = entry.getResultAttrOfType<StringAttr>(index, model::kNameAttr).getValue();
    const BufferId *source = std::get_if<BufferId>(&result);
    auto type = dyn_cast<RankedTensorType>(entry.getResultTypes()[index]);
    if (!source || !type)
      return entry.emitError() << "entry '" << program.name << "': result " << index
                               << " cannot be read by a run (got " << entry.getResultTypes()[index]
                               << ", expected a tensor)";
    if (storage.buffer(*source).kind == host::ArenaClass::Scratch) {
      storage.promote(*source, name);
      program.outputs.push_back({name.str(), *source});
      continue;
    }
    // An input, a weight, or a value returned twice: it has a place already.
    SmallVector<ExprAttr> shape = storage.shapeOf(type);
    FailureOr<BufferId> output =
        storage.io("out", name, type.getElementType(), shape, entry.getLoc());
    if (failed(output))
      return failure();
    ExprAttr bytes = storage.constant(host::elementBytes(type.getElementType()));
    for (ExprAttr extent : shape)
      bytes = ExprAttr::getBinary(ExprOp::Mul, extent, bytes);
    add({CopyCommand{*source, *output, bytes}, entry.getLoc()});
    touch(*source, commandCount++);
    program.outputs.push_back({name.str(), *output});
  }
  return success();
}

// ------------------------------------------------------------------------------------------------
// values

void Walker::touch(BufferId buffer, int64_t command) {
  auto [it, isNew] = lifetimes.try_emplace(buffer, Lifetime{command, command, 0});
  it->second.last = std::max(it->second.last, command);
}

FailureOr<BufferId> Walker::addScratch(StringRef name, Type dtype, ArrayRef<ExprAttr> shape,
                                       Location loc, const Frame &frame) {
  std::string full = program.name + "/";
  if (frame.layer)
    full += "layers." + std::to_string(*frame.layer) + ".";
  FailureOr<BufferId> buffer = storage.scratch(full + name.str(), dtype, shape, loc);
  if (succeeded(buffer))
    scratch.push_back(*buffer);
  return buffer;
}

LogicalResult Walker::placeScratch() {
  SmallVector<BufferId> ids;
  SmallVector<Lifetime> values;
  for (BufferId id : scratch) {
    host::ArenaClass kind = storage.buffer(id).kind;
    auto life = lifetimes.find(id);
    storage.buffer(id).isUsed = life != lifetimes.end();
    if (kind != host::ArenaClass::Scratch || life == lifetimes.end())
      continue;
    ids.push_back(id);
    values.push_back({life->second.first, life->second.last, storage.buffer(id).size});
  }
  return storage.placeScratch(ids, values, entry.getLoc());
}

// ------------------------------------------------------------------------------------------------
// ops

LogicalResult Walker::visitArith(Operation &op, Frame &frame) {
  if (auto constant = dyn_cast<arith::ConstantIndexOp>(op)) {
    if (constant.value() < 0)
      return op.emitOpError() << "indices of the host are not negative (got " << constant.value()
                              << ")";
    frame.bound[op.getResult(0)] = storage.constant(constant.value());
    return success();
  }
  std::optional<ExprOp> kind =
      llvm::TypeSwitch<Operation *, std::optional<ExprOp>>(&op)
          .Case<arith::AddIOp>([](auto) { return ExprOp::Add; })
          .Case<arith::SubIOp>([](auto) { return ExprOp::Sub; })
          .Case<arith::MulIOp>([](auto) { return ExprOp::Mul; })
          .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>([](auto) { return ExprOp::CeilDiv; })
          .Case<arith::FloorDivSIOp, arith::DivSIOp, arith::DivUIOp>(
              [](auto) { return ExprOp::FloorDiv; })
          .Case<arith::MinSIOp, arith::MinUIOp>([](auto) { return ExprOp::Min; })
          .Case<arith::MaxSIOp, arith::MaxUIOp>([](auto) { return ExprOp::Max; })
          .Default([](auto) { return std::nullopt; });
  if (!kind || !op.getResult(0).getType().isIndex())
    return op.emitOpError() << "cannot stand in an entry that becomes a plan; the host knows "
                               "launches, taps, calls and arithmetic on indices";
  FailureOr<ExprAttr> lhs = lookup<ExprAttr>(frame, op.getOperand(0), op);
  FailureOr<ExprAttr> rhs = lookup<ExprAttr>(frame, op.getOperand(1), op);
  if (failed(lhs) || failed(rhs))
    return failure();
  ExprAttr value = ExprAttr::getBinary(*kind, *lhs, *rhs);
  if (!value)
    return op.emitOpError() << "has no non-negative 64-bit value (got operands " << *lhs << " and "
                            << *rhs << ")";
  frame.bound[op.getResult(0)] = value;
  return success();
}

LogicalResult Walker::visitLaunch(tile::LaunchOp launch, Frame &frame) {
  LaunchCommand command{launch.getKernelAttr(), {}, {}};
  Value grid[] = {launch.getGridX(), launch.getGridY(), launch.getGridZ()};
  for (auto [value, expr] : llvm::zip_equal(grid, command.grid)) {
    FailureOr<ExprAttr> known = lookup<ExprAttr>(frame, value, *launch);
    if (failed(known))
      return failure();
    expr = *known;
  }
  for (Value input : launch.getInputs()) {
    if (input.getType().isIndex()) {
      FailureOr<ExprAttr> expr = lookup<ExprAttr>(frame, input, *launch);
      if (failed(expr))
        return failure();
      command.args.push_back(*expr);
      continue;
    }
    FailureOr<BufferId> buffer = lookup<BufferId>(frame, input, *launch);
    if (failed(buffer))
      return failure();
    touch(*buffer, commandCount);
    command.args.push_back(*buffer);
  }
  for (Value result : launch.getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    FailureOr<BufferId> buffer = addScratch(launch.getKernel(), type.getElementType(),
                                            storage.shapeOf(type), launch.getLoc(), frame);
    if (failed(bind(frame, result, buffer)))
      return failure();
    touch(*buffer, commandCount);
    command.args.push_back(*buffer);
  }
  add({std::move(command), launch.getLoc()});
  ++commandCount;
  for (Command &tap : earlyTaps)
    add(std::move(tap));
  earlyTaps.clear();
  return success();
}

LogicalResult Walker::visitTap(model::TapOp tap, Frame &frame) {
  FailureOr<BufferId> buffer = lookup<BufferId>(frame, tap.getValue(), *tap);
  if (failed(buffer))
    return failure();
  std::string name = tap.getName().str();
  if (size_t at = name.find(model::kLayerPlaceholder); at != std::string::npos) {
    if (!frame.layer)
      return tap.emitOpError() << "'" << name << "': is used where no layer is known; put "
                               << model::kLayerAttr << " on the call";
    name.replace(at, model::kLayerPlaceholder.size(), std::to_string(*frame.layer));
  }
  Command command{TapCommand{{name, *buffer}}, tap.getLoc()};
  // What exists before the first command is an input, which no command overwrites.
  touch(*buffer, std::max<int64_t>(commandCount - 1, 0));
  if (commandCount == 0)
    earlyTaps.push_back(std::move(command));
  else
    add(std::move(command));
  return success();
}

LogicalResult Walker::visitCall(func::CallOp call, Frame &frame) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
  if (!callee || callee.isExternal())
    return call.emitOpError() << "@" << call.getCallee() << " has no body to plan";
  if (llvm::is_contained(callStack, callee))
    return call.emitOpError() << "@" << call.getCallee() << " calls itself; the host has no loops";
  Frame inner;
  inner.layer = frame.layer;
  if (auto layer = call->getAttrOfType<IntegerAttr>(model::kLayerAttr))
    inner.layer = layer.getInt();
  for (auto [operand, argument] : llvm::zip_equal(call.getOperands(), callee.getArguments())) {
    auto it = frame.bound.find(operand);
    if (it == frame.bound.end())
      return call.emitOpError() << "operand of type " << operand.getType()
                                << " has no place in the plan";
    inner.bound[argument] = it->second;
  }
  FailureOr<SmallVector<Bound>> results = walk(callee, inner);
  if (failed(results))
    return failure();
  for (auto [result, bound] : llvm::zip_equal(call.getResults(), *results))
    frame.bound[result] = bound;
  return success();
}

LogicalResult Walker::visit(Operation &op, Frame &frame) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case<model::WeightOp>([&](auto weight) {
        return bind(frame, weight.getResult(), storage.weight(weight, frame.layer));
      })
      .Case<model::RefOp>(
          [&](auto ref) { return bind(frame, ref.getResult(), storage.state(ref, frame.layer)); })
      .Case<model::StackOp>([&](model::StackOp stack) {
        model::StackType type = stack.getResult().getType();
        ExprAttr rows = type.getTokens().empty() ? storage.constant(type.getRows())
                                                 : ExprAttr::getSymbol(context, type.getTokens());
        ExprAttr shape[] = {rows, storage.constant(type.getCapacity()),
                            storage.constant(type.getHidden())};
        return bind(frame, stack.getResult(),
                    addScratch("stack", type.getElementType(), shape, stack.getLoc(), frame));
      })
      .Case<model::DimOp>([&](model::DimOp dim) {
        frame.bound[dim.getResult()] = ExprAttr::getSymbol(context, dim.getSymbol());
        return success();
      })
      .Case<model::BatchFieldOp>([&](model::BatchFieldOp field) {
        FailureOr<BatchBuffers> batch = lookup<BatchBuffers>(frame, field.getBatch(), op);
        if (failed(batch))
          return failure();
        const auto *known = llvm::find(batchFields, field.getField());
        if (known == std::end(batchFields))
          return LogicalResult(op.emitOpError()
                               << "no such field of a batch (got '" << field.getField() << "')");
        frame.bound[field.getResult()] = (*batch)[known - batchFields];
        return success();
      })
      .Case<func::CallOp>([&](auto call) { return visitCall(call, frame); })
      .Case<tile::LaunchOp>([&](auto launch) { return visitLaunch(launch, frame); })
      .Case<model::TapOp>([&](auto tap) { return visitTap(tap, frame); })
      .Default([&](Operation *) -> LogicalResult {
        if (op.getNumResults() == 1 && op.getNumRegions() == 0 && op.getNumOperands() <= 2)
          return visitArith(op, frame);
        return op.emitOpError() << "cannot stand in an entry that becomes a plan; the host knows "
                                   "launches, taps, calls and arithmetic on indices";
      });
}

FailureOr<SmallVector<Bound>> Walker::walk(func::FuncOp function, Frame &frame) {
  if (!function.getBody().hasOneBlock())
    return function.emitError() << "function '" << function.getSymName() << "': has branches (got "
                                << function.getBody().getBlocks().size() << " blocks, expected 1)";
  callStack.push_back(function);
  llvm::scope_exit pop([&] { callStack.pop_back(); });
  Block &block = function.getBody().front();
  for (Operation &op : block.without_terminator())
    if (failed(visit(op, frame)))
      return failure();
  SmallVector<Bound> results;
  for (Value value : block.getTerminator()->getOperands()) {
    auto it = frame.bound.find(value);
    if (it == frame.bound.end())
      return block.getTerminator()->emitOpError()
             << "operand of type " << value.getType() << " has no place in the plan";
    results.push_back(it->second);
  }
  return results;
}

FailureOr<EntryProgram> Walker::run() {
  StringRef kind = entry->getAttrOfType<StringAttr>(model::kEntryAttr).getValue();
  program.kind = *host::symbolizeEntryKind(kind);
  if (program.kind == host::EntryKind::Decode)
    program.bucket = entry->getAttrOfType<IntegerAttr>(model::kBucketAttr).getInt();
  Frame frame;
  if (failed(bindArguments(frame)))
    return failure();
  FailureOr<SmallVector<Bound>> results = walk(entry, frame);
  if (failed(results) || failed(bindOutputs(*results)))
    return failure();
  if (!earlyTaps.empty())
    return entry.emitError() << "entry '" << program.name
                             << "': has taps but runs no kernel; drop the taps";
  if (failed(placeScratch()))
    return failure();
  return std::move(program);
}

FailureOr<EntryProgram> walkEntry(func::FuncOp function, Storage &storage,
                                  const SymbolTable &symbols) {
  return Walker(function, storage, symbols).run();
}

} // namespace k3
