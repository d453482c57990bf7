//===- PlanVerify.cpp - Rules of the plan dialect -------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the loader of the runtime will ask of the file is asked of the ops first, where the message
// can point at them: names exist, ranges lie inside their arenas at the symbols' upper bounds,
// arguments fit parameters.
//
//===----------------------------------------------------------------------===//

#include "dialects/plan/PlanOps.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace k3::host;

// -----------------------------------------------------------------------------------------------
// helpers

namespace {

/// Looks names up around one op.
class Scope {
public:
  Scope(Operation *op, SymbolTableCollection &symbols)
      : op(op), symbols(symbols), module(op->getParentOfType<ModuleOp>()) {}

  /// The op of that name in the program; reports a missing or a wrong one.
  template <typename OpTy> OpTy find(FlatSymbolRefAttr name, StringRef what) {
    Operation *found = symbols.lookupNearestSymbolFrom(op, name);
    if (!found)
      op->emitOpError() << what << " @" << name.getValue() << ": not found in this program";
    else if (auto typed = dyn_cast<OpTy>(found))
      return typed;
    else
      op->emitOpError() << what << " @" << name.getValue() << ": is of another kind (got "
                        << found->getName() << ", expected " << OpTy::getOperationName() << ")";
    return {};
  }

  BufferOp buffer(FlatSymbolRefAttr name) { return find<BufferOp>(name, "buffer"); }

  /// The range of an expression at the symbols' bounds.
  FailureOr<ExprRange> range(ExprAttr expr, StringRef what) {
    std::string missing;
    std::optional<ExprRange> range = rangeOf(expr, [&](StringRef name) -> std::optional<int64_t> {
      auto symbol =
          module ? symbols.lookupSymbolIn<SymbolOp>(module, StringAttr::get(op->getContext(), name))
                 : SymbolOp();
      if (symbol)
        return symbol.getUpper();
      missing = name.str();
      return std::nullopt;
    });
    if (range)
      return *range;
    if (!missing.empty())
      return op->emitOpError() << what << ": symbol '" << missing
                               << "' is not declared by a plan.symbol";
    return op->emitOpError() << what << ": " << expr
                             << " has no non-negative 64-bit value at the symbols' upper bounds";
  }

  /// The same for a command, whose entry must be given every symbol.
  FailureOr<ExprRange> commandRange(ExprAttr expr, StringRef what) {
    ArrayAttr given = cast<EntryOp>(op->getParentOp()).getSymbols();
    std::string missing;
    walkSymbols(expr, [&](StringRef name) {
      if (!llvm::is_contained(given, FlatSymbolRefAttr::get(op->getContext(), name)))
        missing = name.str();
    });
    if (!missing.empty())
      return op->emitOpError() << what << ": depends on symbol '" << missing
                               << "', which its entry is not given";
    return range(expr, what);
  }

  /// `bytes` from an address must lie in its buffer.
  LogicalResult bytesFit(AtAttr at, int64_t bytes, StringRef what) {
    BufferOp found = buffer(at.getBuffer());
    if (!found)
      return failure();
    int64_t size = found.getSize();
    if (at.getOffset() > size || bytes > size - at.getOffset())
      return op->emitOpError() << what << ": ends outside @" << found.getSymName() << " (got "
                               << bytes << " bytes at offset " << at.getOffset()
                               << ", expected within " << size << ")";
    return success();
  }

  LogicalResult argument(Attribute arg, unsigned index) {
    std::string what = ("argument " + Twine(index)).str();
    if (auto expr = dyn_cast<ExprAttr>(arg))
      return commandRange(expr, what);
    auto at = dyn_cast<AtAttr>(arg);
    if (!at)
      return op->emitOpError() << what << ": is neither an address nor an expression (got " << arg
                               << ")";
    BufferOp found = buffer(at.getBuffer());
    if (!found)
      return failure();
    if (at.getOffset() && at.getOffset() >= static_cast<int64_t>(found.getSize()))
      return op->emitOpError() << what << ": begins outside @" << found.getSymName()
                               << " (got offset " << at.getOffset() << ", expected less than "
                               << found.getSize() << ")";
    return success();
  }

private:
  Operation *op;
  SymbolTableCollection &symbols;
  ModuleOp module;
};

} // namespace

/// Bytes of a dense array, or nothing if they do not fit 63 bits.
static std::optional<int64_t> denseBytes(Type dtype, ArrayRef<int64_t> shape) {
  int64_t bytes = elementBytes(dtype);
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      return std::nullopt;
  return bytes;
}

/// Reports the second of two ops in `range` that give one name.
template <typename OpTy, typename Range> static LogicalResult checkUnique(Range ops) {
  llvm::StringSet<> names;
  for (OpTy op : ops)
    if (!names.insert(op.getName()).second)
      return op.emitOpError() << "'" << op.getName()
                              << "': the name is taken (got it twice, expected unique names)";
  return success();
}

// ----------------------------------------------------------------------------------------------
// declarations

LogicalResult ProgramOp::verifyRegions() {
  for (Operation &op : getBody().front())
    if (!isa<ArenaOp, BufferOp, StateOp, WeightOp, KernelOp, EntryOp>(op))
      return op.emitOpError() << "cannot stand in a plan.program";
  Block &block = getBody().front();
  return success(succeeded(checkUnique<StateOp>(block.getOps<StateOp>())) &&
                 succeeded(checkUnique<WeightOp>(block.getOps<WeightOp>())) &&
                 succeeded(checkUnique<EntryOp>(block.getOps<EntryOp>())));
}

LogicalResult ArenaOp::verify() {
  if (!llvm::isPowerOf2_64(getAlignment()) || getAlignment() < bufferAlignment)
    return emitOpError() << "@" << getSymName() << ": wrong alignment (got " << getAlignment()
                         << ", expected a power of two of at least " << bufferAlignment << ")";
  return success();
}

LogicalResult BufferOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Scope scope(*this, symbols);
  auto arena = scope.find<ArenaOp>(getArenaAttr(), "arena");
  if (!arena)
    return failure();
  if (getOffset() % bufferAlignment)
    return emitOpError() << "@" << getSymName() << ": offset is not aligned (got " << getOffset()
                         << ", expected a multiple of " << bufferAlignment << ")";
  if (getOffset() > arena.getSize() || getSize() > arena.getSize() - getOffset())
    return emitOpError() << "@" << getSymName() << ": ends outside its arena (got " << getSize()
                         << " bytes at offset " << getOffset() << ", expected within "
                         << arena.getSize() << ")";
  SmallVector<int64_t> extents;
  for (auto [axis, expr] : llvm::enumerate(getShape().getAsRange<ExprAttr>())) {
    FailureOr<ExprRange> range = scope.range(expr, ("extent " + Twine(axis)).str());
    if (failed(range))
      return failure();
    extents.push_back(range->high);
  }
  std::optional<int64_t> bytes = denseBytes(getDtype(), extents);
  if (!bytes)
    return emitOpError() << "@" << getSymName() << ": its shape overflows 63 bits";
  if (*bytes > static_cast<int64_t>(getSize()))
    return emitOpError() << "@" << getSymName() << ": is smaller than its shape (got " << getSize()
                         << " bytes, expected at least " << *bytes << ")";
  return success();
}

LogicalResult StateOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Scope scope(*this, symbols);
  BufferOp buffer = scope.buffer(getBufferAttr());
  if (!buffer)
    return failure();
  auto arena = scope.find<ArenaOp>(buffer.getArenaAttr(), "arena");
  if (!arena)
    return failure();
  ArenaClass expected = getKind() == StateKind::LatentCache ? ArenaClass::Cache : ArenaClass::State;
  if (arena.getKind() != expected)
    return emitOpError() << "'" << getName() << "': lies in the wrong arena (got class "
                         << stringifyArenaClass(arena.getKind()) << ", expected "
                         << stringifyArenaClass(expected) << ")";
  size_t rank = getKind() == StateKind::KdaState ? 3 : 2;
  if (getShape().size() != rank)
    return emitOpError() << "'" << getName() << "': wrong rank of a slot (got " << getShape().size()
                         << ", expected " << rank << ")";
  StringRef order = getOrder().value_or("");
  if (getKind() == StateKind::KdaState ? order != "kv" && order != "vk" : !order.empty())
    return emitOpError() << "'" << getName() << "': wrong order of axes (got '" << order
                         << "', expected "
                         << (getKind() == StateKind::KdaState ? "kv or vk)" : "none)");
  std::optional<int64_t> bytes = denseBytes(buffer.getDtype(), getShape());
  if (!bytes || *bytes > static_cast<int64_t>(getSlotBytes()))
    return emitOpError() << "'" << getName() << "': a slot is smaller than its shape (got "
                         << getSlotBytes() << " bytes, expected at least " << bytes.value_or(0)
                         << ")";
  return success();
}

LogicalResult WeightOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Scope scope(*this, symbols);
  BufferOp buffer = scope.buffer(getBufferAttr());
  if (!buffer)
    return failure();
  int64_t elements = buffer.getSize() / elementBytes(buffer.getDtype()), sum = 0;
  for (PieceAttr piece : getPieces().getAsRange<PieceAttr>()) {
    int64_t size = 0;
    if (__builtin_mul_overflow(piece.getRows(), piece.getCols(), &size) ||
        __builtin_mul_overflow(size, piece.getCount(), &size) ||
        __builtin_add_overflow(sum, size, &sum))
      return emitOpError() << "'" << getName() << "': the sizes of its pieces overflow 63 bits";
  }
  if (sum != elements)
    return emitOpError() << "'" << getName() << "': its pieces do not fill it (got " << sum
                         << " elements, expected " << elements << ")";
  return success();
}

LogicalResult KernelOp::verify() {
  for (auto [index, kind] : llvm::enumerate(getParams()))
    if (!symbolizeArgKind(kind))
      return emitOpError() << "@" << getSymName() << ": parameter " << index
                           << " is of an unknown kind (got " << kind << ")";
  if (getBlock().size() != 3 || llvm::any_of(getBlock(), [](int64_t axis) { return axis < 1; }))
    return emitOpError() << "@" << getSymName() << ": block needs three positive extents (got "
                         << getBlockAttr() << ")";
  return success();
}

LogicalResult EntryOp::verify() {
  bool isDecode = getKind() == EntryKind::Decode;
  if (isDecode ? getBucket().value_or(0) < 1 : getBucket().has_value())
    return emitOpError() << "'" << getName() << "': "
                         << (isDecode ? "a decode entry needs a bucket of at least 1 (got "
                                      : "only a decode entry has a bucket (got ")
                         << getBucket().value_or(0) << ")";
  for (ArrayAttr bindings : {getInputs(), getOutputs()}) {
    llvm::StringSet<> names;
    for (BindingAttr binding : bindings.getAsRange<BindingAttr>())
      if (!names.insert(binding.getName().getValue()).second)
        return emitOpError() << "'" << getName() << "': " << binding.getName()
                             << " is bound twice (expected unique names)";
  }
  return success();
}

LogicalResult EntryOp::verifyRegions() {
  bool sawCommand = false;
  for (Operation &op : getBody().front()) {
    auto tap = dyn_cast<TapOp>(op);
    if (!tap && !isa<LaunchOp, CopyOp, FillOp, CollectiveOp, RecordOp, WaitOp, HostCallOp>(op))
      return op.emitOpError() << "is no command of the host";
    if (tap && !sawCommand)
      return tap.emitOpError() << "'" << tap.getName()
                               << "': stands before every command (expected a command before it)";
    sawCommand |= !tap;
  }
  return checkUnique<TapOp>(getBody().front().getOps<TapOp>());
}

LogicalResult EntryOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Scope scope(*this, symbols);
  auto module = (*this)->getParentOfType<ModuleOp>();
  for (auto name : getSymbols().getAsRange<FlatSymbolRefAttr>())
    if (!module || !symbols.lookupSymbolIn<SymbolOp>(module, name.getAttr()))
      return emitOpError() << "'" << getName() << "': symbol '" << name.getValue()
                           << "' is not declared by a plan.symbol";
  for (ArrayAttr bindings : {getInputs(), getOutputs()})
    for (BindingAttr binding : bindings.getAsRange<BindingAttr>())
      if (!scope.buffer(binding.getBuffer()))
        return failure();
  return success();
}

// ---------------------------------------------------------------------------------------------------
// commands

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Scope scope(*this, symbols);
  auto kernel = scope.find<KernelOp>(getKernelAttr(), "kernel");
  if (!kernel)
    return failure();
  if (getGrid().size() != 3)
    return emitOpError() << "the grid has a wrong number of axes (got " << getGrid().size()
                         << ", expected 3)";
  for (ExprAttr axis : getGrid().getAsRange<ExprAttr>())
    if (failed(scope.commandRange(axis, "the grid")))
      return failure();
  ArrayRef<int32_t> params = kernel.getParams();
  if (getArgs().size() != params.size())
    return emitOpError() << "kernel @" << getKernel() << ": wrong number of arguments (got "
                         << getArgs().size() << ", expected " << params.size() << ")";
  for (auto [index, arg] : llvm::enumerate(getArgs())) {
    if (failed(scope.argument(arg, index)))
      return failure();
    ArgKind given = isa<AtAttr>(arg) ? ArgKind::Buffer : ArgKind::Scalar;
    ArgKind expected = static_cast<ArgKind>(params[index]);
    if (given != expected)
      return emitOpError() << "kernel @" << getKernel() << ": argument " << index
                           << " is of the wrong kind (got " << stringifyArgKind(given)
                           << ", expected " << stringifyArgKind(expected) << ")";
  }
  return success();
}

LogicalResult CopyOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Scope scope(*this, symbols);
  FailureOr<ExprRange> bytes = scope.commandRange(getBytes(), "the size");
  if (failed(bytes) || failed(scope.bytesFit(getSrc(), bytes->high, "the source")) ||
      failed(scope.bytesFit(getDst(), bytes->high, "the destination")))
    return failure();
  BufferOp src = scope.buffer(getSrc().getBuffer()), dst = scope.buffer(getDst().getBuffer());
  int64_t from = src.getOffset() + getSrc().getOffset(),
          to = dst.getOffset() + getDst().getOffset();
  if (src.getArena() == dst.getArena() && std::max(from, to) < std::min(from, to) + bytes->high)
    return emitOpError() << "source and destination overlap (got " << bytes->high << " bytes from "
                         << from << " to " << to << " of @" << src.getArena() << ")";
  return success();
}

LogicalResult FillOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Scope scope(*this, symbols);
  if (getValue() > 255)
    return emitOpError() << "the value is no byte (got " << getValue() << ", expected 0 to 255)";
  FailureOr<ExprRange> bytes = scope.commandRange(getBytes(), "the size");
  return failed(bytes) ? failure() : scope.bytesFit(getDst(), bytes->high, "the destination");
}

LogicalResult CollectiveOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Scope scope(*this, symbols);
  if (getAxis() != "tp" && getAxis() != "ep" && getAxis() != "pp")
    return emitOpError() << "unknown axis (got '" << getAxis() << "', expected tp, ep or pp)";
  FailureOr<ExprRange> count = scope.commandRange(getCount(), "the count");
  if (failed(count))
    return failure();
  std::optional<int64_t> bytes = denseBytes(getDtype(), {count->high});
  if (!bytes)
    return emitOpError() << "the size overflows 63 bits (got " << count->high << " elements)";
  // A gather's destination and a scatter's source grow with the ranks, which the file's reader
  // knows.
  if (getKind() != CollectiveKind::Recv &&
      failed(scope.bytesFit(AtAttr::get(getContext(), getSrcAttr(), 0), *bytes, "the source")))
    return failure();
  int64_t received = getKind() == CollectiveKind::ReduceScatter ? 0 : *bytes;
  if (getKind() != CollectiveKind::Send)
    return scope.bytesFit(AtAttr::get(getContext(), getDstAttr(), 0), received, "the destination");
  return success();
}

static LogicalResult checkEvent(Operation *op, uint64_t event) {
  uint64_t events = op->getParentOfType<ProgramOp>().getEvents();
  if (event >= events)
    return op->emitOpError() << "no such event (got " << event << ", expected less than " << events
                             << ")";
  return success();
}

LogicalResult RecordOp::verifySymbolUses(SymbolTableCollection &) {
  return checkEvent(*this, getEvent());
}

LogicalResult WaitOp::verifySymbolUses(SymbolTableCollection &) {
  return checkEvent(*this, getEvent());
}

LogicalResult HostCallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Scope scope(*this, symbols);
  for (auto [index, arg] : llvm::enumerate(getArgs()))
    if (failed(scope.argument(arg, index)))
      return failure();
  return success();
}

LogicalResult TapOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return success(bool(Scope(*this, symbols).buffer(getBufferAttr())));
}
