//===- ProgramWriter.cpp - One program as plain structs -------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function a table. Names become indices: of arenas and buffers in this program, of everything
// else in the tables that all programs share.
//
//===----------------------------------------------------------------------===//

#include "compiler/serialize/ProgramWriter.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace k3 {

static_assert(static_cast<int>(host::ArenaClass::Peer) == static_cast<int>(plan::ArenaClass::Peer));
static_assert(static_cast<int>(host::StateKind::LatentCache) ==
              static_cast<int>(plan::StateKind::LatentCache));
static_assert(static_cast<int>(host::EntryKind::Decode) ==
              static_cast<int>(plan::EntryKind::Decode));
static_assert(static_cast<int>(host::CollectiveKind::Recv) ==
              static_cast<int>(plan::CollectiveKind::Recv));

static plan::DType dtypeOf(Type type) {
  if (type.isF32())
    return plan::DType::F32;
  if (type.isBF16())
    return plan::DType::BF16;
  if (type.isInteger(32))
    return plan::DType::I32;
  return type.isInteger(64) ? plan::DType::I64 : plan::DType::U8;
}

namespace {

class ProgramWriter {
public:
  ProgramWriter(host::ProgramOp source, Tables &tables) : source(source), tables(tables) {}

  std::unique_ptr<plan::ProgramT> write();

private:
  host::ProgramOp source;
  Tables &tables;
  std::unique_ptr<plan::ProgramT> program = std::make_unique<plan::ProgramT>();
  llvm::StringMap<uint32_t> arenas, buffers;

  uint32_t buffer(FlatSymbolRefAttr name) const { return buffers.lookup(name.getValue()); }

  void add(host::ArenaOp op);
  void add(host::BufferOp op);
  void add(host::StateOp op);
  void add(host::WeightOp op);
  void add(host::EntryOp op);
  std::vector<std::unique_ptr<plan::EntryArgT>> bindings(ArrayAttr list) const;
  std::vector<std::unique_ptr<plan::ArgT>> args(ArrayAttr list);
  plan::CommandBodyUnion body(Operation &op);
};

} // namespace

// ------------------------------------------------------------------------------------------------
// declarations

void ProgramWriter::add(host::ArenaOp op) {
  auto arena = std::make_unique<plan::ArenaT>();
  arena->cls = static_cast<plan::ArenaClass>(op.getKind());
  arena->size = op.getSize();
  arena->alignment = op.getAlignment();
  arenas[op.getSymName()] = program->arenas.size();
  program->arenas.push_back(std::move(arena));
}

void ProgramWriter::add(host::BufferOp op) {
  auto buffer = std::make_unique<plan::BufferT>();
  buffer->name = op.getSymName().str();
  buffer->arena = arenas.lookup(op.getArena());
  buffer->offset = op.getOffset();
  buffer->size = op.getSize();
  buffer->dtype = dtypeOf(op.getDtype());
  buffer->shape = tables.exprs(op.getShape());
  buffers[op.getSymName()] = program->buffers.size();
  program->buffers.push_back(std::move(buffer));
}

void ProgramWriter::add(host::StateOp op) {
  auto state = std::make_unique<plan::StateT>();
  state->name = op.getName().str();
  state->kind = static_cast<plan::StateKind>(op.getKind());
  state->buffer = buffer(op.getBufferAttr());
  state->shape.assign(op.getShape().begin(), op.getShape().end());
  state->order = op.getOrder().value_or("").str();
  state->slot_bytes = op.getSlotBytes();
  program->states.push_back(std::move(state));
}

void ProgramWriter::add(host::WeightOp op) {
  auto weight = std::make_unique<plan::WeightT>();
  weight->name = op.getName().str();
  weight->buffer = buffer(op.getBufferAttr());
  for (auto source : op.getPieces().getAsRange<host::PieceAttr>()) {
    auto piece = std::make_unique<plan::PieceT>();
    piece->source = source.getSource().str();
    piece->first = source.getFirst();
    piece->count = source.getCount();
    piece->src_begin = source.getSrcBegin();
    piece->rows = source.getRows();
    piece->cols = source.getCols();
    piece->src_row_stride = source.getSrcStride();
    piece->dst_begin = source.getDstBegin();
    piece->dst_row_stride = source.getDstStride();
    piece->dst_index_stride = source.getIndexStride();
    piece->transform =
        source.getTranspose() ? plan::PackTransform::Transpose : plan::PackTransform::Copy;
    weight->pieces.push_back(std::move(piece));
  }
  program->weights.push_back(std::move(weight));
}

// ------------------------------------------------------------------------------------------------
// entries

std::vector<std::unique_ptr<plan::EntryArgT>> ProgramWriter::bindings(ArrayAttr list) const {
  std::vector<std::unique_ptr<plan::EntryArgT>> args;
  for (auto binding : list.getAsRange<host::BindingAttr>()) {
    args.push_back(std::make_unique<plan::EntryArgT>());
    args.back()->name = binding.getName().str();
    args.back()->buffer = buffer(binding.getBuffer());
  }
  return args;
}

std::vector<std::unique_ptr<plan::ArgT>> ProgramWriter::args(ArrayAttr list) {
  std::vector<std::unique_ptr<plan::ArgT>> args;
  for (Attribute source : list) {
    auto arg = std::make_unique<plan::ArgT>();
    if (auto at = dyn_cast<host::AtAttr>(source)) {
      arg->kind = plan::ArgKind::Buffer;
      arg->buffer = buffer(at.getBuffer());
      arg->offset = at.getOffset();
    } else {
      arg->kind = plan::ArgKind::Scalar;
      arg->scalar = tables.expr(cast<host::ExprAttr>(source));
    }
    args.push_back(std::move(arg));
  }
  return args;
}

plan::CommandBodyUnion ProgramWriter::body(Operation &op) {
  plan::CommandBodyUnion body;
  llvm::TypeSwitch<Operation *>(&op)
      .Case<host::LaunchOp>([&](host::LaunchOp launch) {
        plan::LaunchT table;
        table.kernel = tables.kernel(launch.getKernel());
        table.grid = tables.exprs(launch.getGrid());
        table.args = args(launch.getArgs());
        body.Set(std::move(table));
      })
      .Case<host::CopyOp>([&](host::CopyOp copy) {
        plan::CopyT table;
        table.src = buffer(copy.getSrc().getBuffer());
        table.src_offset = copy.getSrc().getOffset();
        table.dst = buffer(copy.getDst().getBuffer());
        table.dst_offset = copy.getDst().getOffset();
        table.bytes = tables.expr(copy.getBytes());
        body.Set(std::move(table));
      })
      .Case<host::FillOp>([&](host::FillOp fill) {
        plan::FillT table;
        table.dst = buffer(fill.getDst().getBuffer());
        table.dst_offset = fill.getDst().getOffset();
        table.bytes = tables.expr(fill.getBytes());
        table.value = static_cast<uint8_t>(fill.getValue());
        body.Set(std::move(table));
      })
      .Case<host::CollectiveOp>([&](host::CollectiveOp collective) {
        plan::CollectiveT table;
        table.kind = static_cast<plan::CollectiveKind>(collective.getKind());
        table.src = buffer(collective.getSrcAttr());
        table.dst = buffer(collective.getDstAttr());
        table.count = tables.expr(collective.getCount());
        table.dtype = dtypeOf(collective.getDtype());
        table.axis = collective.getAxis().str();
        table.peer = collective.getPeer();
        body.Set(std::move(table));
      })
      .Case<host::RecordOp>([&](host::RecordOp record) {
        plan::RecordT table;
        table.event = record.getEvent();
        body.Set(std::move(table));
      })
      .Case<host::WaitOp>([&](host::WaitOp wait) {
        plan::WaitT table;
        table.event = wait.getEvent();
        body.Set(std::move(table));
      })
      .Case<host::HostCallOp>([&](host::HostCallOp call) {
        plan::HostCallT table;
        table.name = call.getName().str();
        table.args = args(call.getArgs());
        body.Set(std::move(table));
      });
  return body;
}

void ProgramWriter::add(host::EntryOp op) {
  auto entry = std::make_unique<plan::EntryT>();
  entry->name = op.getName().str();
  entry->kind = static_cast<plan::EntryKind>(op.getKind());
  entry->bucket = op.getBucket().value_or(0);
  for (auto symbol : op.getSymbols().getAsRange<FlatSymbolRefAttr>())
    entry->symbols.push_back(tables.symbol(symbol.getValue()));
  entry->inputs = bindings(op.getInputs());
  entry->outputs = bindings(op.getOutputs());
  for (Operation &source : op.getBody().front()) {
    if (auto tap = dyn_cast<host::TapOp>(source)) {
      auto table = std::make_unique<plan::TapT>();
      table->name = tap.getName().str();
      table->after = entry->commands.size() - 1;
      table->buffer = buffer(tap.getBufferAttr());
      entry->taps.push_back(std::move(table));
      continue;
    }
    auto command = std::make_unique<plan::CommandT>();
    command->body = body(source);
    if (auto stream = source.getAttrOfType<IntegerAttr>("stream"))
      command->stream = stream.getInt();
    command->location = tables.location(source.getLoc());
    entry->commands.push_back(std::move(command));
  }
  program->entries.push_back(std::move(entry));
}

std::unique_ptr<plan::ProgramT> ProgramWriter::write() {
  program->rank = source.getRank();
  program->events = source.getEvents();
  // Declarations may stand in any order in a hand-written module; indices need arenas first.
  Block &block = source.getBody().front();
  for (auto op : block.getOps<host::ArenaOp>())
    add(op);
  for (auto op : block.getOps<host::BufferOp>())
    add(op);
  for (auto op : block.getOps<host::StateOp>())
    add(op);
  for (auto op : block.getOps<host::WeightOp>())
    add(op);
  for (auto op : block.getOps<host::KernelOp>())
    tables.addKernel(op);
  for (auto op : block.getOps<host::EntryOp>())
    add(op);
  return std::move(program);
}

std::unique_ptr<plan::ProgramT> writeProgram(host::ProgramOp program, Tables &tables) {
  return ProgramWriter(program, tables).write();
}

} // namespace k3
