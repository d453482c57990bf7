//===- Plan.cpp - Entries and kernels to one program ----------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plan phase: walks every entry, gives all buffers their places and writes the program down in
// the plan dialect. Kernels stay beside it for the code generator; the functions are gone.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "compiler/passes/plan/EntryWalk.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace k3 {
#define GEN_PASS_DEF_PLANPASS
#include "compiler/passes/Passes.h.inc"
} // namespace k3

namespace {

using namespace k3;
using host::ExprAttr;

/// A page of memory: what every allocator gives anyway, and more than any vector load asks for.
constexpr int64_t arenaAlignment = 4096;

/// Writes one program.
class Emitter {
public:
  Emitter(ModuleOp module, Storage &storage, const SymbolTable &symbols)
      : module(module), storage(storage), symbols(symbols), b(module.getContext()) {}

  host::ProgramOp emit(ArrayRef<EntryProgram> entries) {
    b.setInsertionPointToEnd(module.getBody());
    for (auto symbol : module.getOps<model::SymbolOp>())
      order.push_back(symbol.getSymNameAttr());
    auto program = host::ProgramOp::create(b, module.getLoc(), /*rank=*/0, /*events=*/0);
    b.createBlock(&program.getBody());
    emitMemory();
    emitKernels(entries);
    for (const EntryProgram &entry : entries)
      emitEntry(entry);
    return program;
  }

private:
  ModuleOp module;
  Storage &storage;
  const SymbolTable &symbols;
  OpBuilder b;
  SmallVector<StringAttr> order; // of the symbols

  FlatSymbolRefAttr ref(BufferId id) {
    return FlatSymbolRefAttr::get(b.getContext(), storage.buffer(id).name);
  }
  host::AtAttr at(BufferId id) { return host::AtAttr::get(b.getContext(), ref(id), 0); }
  ArrayAttr bindings(ArrayRef<NamedBuffer> values) {
    SmallVector<Attribute> list;
    for (const NamedBuffer &value : values)
      list.push_back(
          host::BindingAttr::get(b.getContext(), b.getStringAttr(value.name), ref(value.buffer)));
    return b.getArrayAttr(list);
  }

  void emitMemory();
  void emitKernels(ArrayRef<EntryProgram> entries);
  void emitEntry(const EntryProgram &entry);
  void emitCommand(const Command &command);
  ArrayAttr symbolsOf(const EntryProgram &entry);
};

struct Plan : k3::impl::PlanPassBase<Plan> {
  void runOnOperation() override;
};

} // namespace

void Emitter::emitMemory() {
  for (unsigned index = 0; index <= host::getMaxEnumValForArenaClass(); ++index) {
    auto kind = static_cast<host::ArenaClass>(index);
    if (int64_t size = storage.arenaSize(kind))
      host::ArenaOp::create(b, module.getLoc(), Storage::arenaName(kind), kind, size,
                            arenaAlignment);
  }
  for (const BufferInfo &buffer : storage.buffers())
    if (buffer.isUsed)
      host::BufferOp::create(b, buffer.loc, buffer.name, Storage::arenaName(buffer.kind),
                             buffer.offset, buffer.size, buffer.dtype, buffer.shape);
  for (const StateInfo &state : storage.states())
    host::StateOp::create(b, storage.buffer(state.buffer).loc, state.kind, state.name,
                          storage.buffer(state.buffer).name, state.shape, state.slotBytes,
                          state.order.empty() ? StringAttr() : b.getStringAttr(state.order));
  for (const WeightInfo &weight : storage.weights())
    host::WeightOp::create(b, storage.buffer(weight.buffer).loc, weight.name,
                           storage.buffer(weight.buffer).name, weight.pieces);
}

void Emitter::emitKernels(ArrayRef<EntryProgram> entries) {
  llvm::SetVector<StringAttr> launched;
  for (const EntryProgram &entry : entries)
    for (const Command &command : entry.commands)
      if (auto *launch = std::get_if<LaunchCommand>(&command.body))
        launched.insert(launch->kernel.getAttr());
  for (StringAttr name : launched) {
    auto kernel = symbols.lookup<tile::KernelOp>(name);
    SmallVector<int32_t> params;
    for (Type type : kernel.getArgumentTypes())
      params.push_back(
          static_cast<int32_t>(type.isIndex() ? host::ArgKind::Scalar : host::ArgKind::Buffer));
    host::KernelOp::create(b, kernel.getLoc(), name.getValue(), params);
  }
}

ArrayAttr Emitter::symbolsOf(const EntryProgram &entry) {
  llvm::StringSet<> used;
  auto note = [&](ExprAttr expr) {
    host::walkSymbols(expr, [&](StringRef name) { used.insert(name); });
  };
  auto noteShape = [&](BufferId id) {
    llvm::for_each(storage.buffer(id).shape.getAsRange<ExprAttr>(), note);
  };
  for (ArrayRef<NamedBuffer> values : {ArrayRef(entry.inputs), ArrayRef(entry.outputs)})
    for (const NamedBuffer &value : values)
      noteShape(value.buffer);
  for (const Command &command : entry.commands) {
    if (auto *launch = std::get_if<LaunchCommand>(&command.body)) {
      llvm::for_each(launch->grid, note);
      for (const auto &arg : launch->args)
        if (auto *expr = std::get_if<ExprAttr>(&arg))
          note(*expr);
        else
          noteShape(std::get<BufferId>(arg));
    } else if (auto *copy = std::get_if<CopyCommand>(&command.body)) {
      note(copy->bytes);
    } else {
      noteShape(std::get<TapCommand>(command.body).value.buffer);
    }
  }
  SmallVector<Attribute> list;
  for (StringAttr name : order)
    if (used.contains(name.getValue()))
      list.push_back(FlatSymbolRefAttr::get(name));
  return b.getArrayAttr(list);
}

void Emitter::emitCommand(const Command &command) {
  if (auto *launch = std::get_if<LaunchCommand>(&command.body)) {
    SmallVector<Attribute> grid(launch->grid.begin(), launch->grid.end()), args;
    for (const auto &arg : launch->args)
      if (auto *expr = std::get_if<ExprAttr>(&arg))
        args.push_back(*expr);
      else
        args.push_back(at(std::get<BufferId>(arg)));
    host::LaunchOp::create(b, command.loc, launch->kernel, b.getArrayAttr(grid),
                           b.getArrayAttr(args));
  } else if (auto *copy = std::get_if<CopyCommand>(&command.body)) {
    host::CopyOp::create(b, command.loc, at(copy->src), at(copy->dst), copy->bytes);
  } else {
    const NamedBuffer &value = std::get<TapCommand>(command.body).value;
    host::TapOp::create(b, command.loc, b.getStringAttr(value.name), ref(value.buffer));
  }
}

void Emitter::emitEntry(const EntryProgram &entry) {
  auto op =
      host::EntryOp::create(b, entry.loc, entry.kind, b.getStringAttr(entry.name),
                            entry.bucket ? b.getI64IntegerAttr(*entry.bucket) : IntegerAttr(),
                            symbolsOf(entry), bindings(entry.inputs), bindings(entry.outputs));
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&op.getBody());
  for (const Command &command : entry.commands)
    emitCommand(command);
}

/// Replaces the declarations of the k3 dialect by those of the host, and drops what no entry uses.
static void replaceDeclarations(ModuleOp module, host::ProgramOp program) {
  SymbolTable kernels(program);
  OpBuilder b(program);
  for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
    if (auto symbol = dyn_cast<model::SymbolOp>(op))
      host::SymbolOp::create(b, symbol.getLoc(), symbol.getSymName(), symbol.getUpper());
    auto kernel = dyn_cast<tile::KernelOp>(op);
    bool isUnused = kernel && !kernels.lookup(kernel.getSymName());
    if (isUnused || isa<model::SymbolOp, model::ParamOp, model::StateOp, func::FuncOp>(op))
      op.erase();
  }
}

void Plan::runOnOperation() {
  ModuleOp module = getOperation();
  FailureOr<StorageLimits> limits = StorageLimits::read(module);
  if (failed(limits))
    return signalPassFailure();
  if (auto mesh = module->getAttrOfType<DictionaryAttr>(model::kMeshAttr))
    for (NamedAttribute axis : mesh)
      if (int64_t ranks = cast<IntegerAttr>(axis.getValue()).getInt(); ranks != 1) {
        module.emitError() << "mesh: programs of several ranks are not planned yet (got "
                           << axis.getName().getValue() << " " << ranks << ", expected 1)";
        return signalPassFailure();
      }
  SymbolTable symbols(module);
  Storage storage(module, *limits);
  std::vector<EntryProgram> entries;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr(model::kEntryAttr))
      continue;
    FailureOr<EntryProgram> entry = walkEntry(function, storage, symbols);
    if (failed(entry))
      return signalPassFailure();
    entries.push_back(std::move(*entry));
  }
  if (entries.empty()) {
    module.emitError() << "module: has no entry; mark a function with " << model::kEntryAttr;
    return signalPassFailure();
  }
  if (failed(storage.placeRest(module.getLoc())))
    return signalPassFailure();
  replaceDeclarations(module, Emitter(module, storage, symbols).emit(entries));
}
