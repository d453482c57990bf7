//===- TestPlan.cpp - A small complete plan -------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes are as small as the rules allow, because one test goes over every bit of the file.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/TestPlan.h"

#include "runtime/loader/PlanWriter.h"

namespace k3 {

namespace {

using plan::ArenaClass;
using plan::DType;
using plan::ExprOp;

void addArena(TestPlan &test, ArenaClass cls, uint64_t size) {
  auto arena = std::make_unique<plan::ArenaT>();
  arena->cls = cls;
  arena->size = size;
  arena->alignment = 64;
  test.program().arenas.push_back(std::move(arena));
}

void addBuffer(TestPlan &test, const char *name, ArenaClass cls, uint64_t offset, uint64_t size,
               DType dtype, std::vector<uint32_t> shape) {
  auto buffer = std::make_unique<plan::BufferT>();
  buffer->name = name;
  buffer->arena =
      static_cast<uint32_t>(cls); // one arena of each class, in the order of the classes
  buffer->offset = offset;
  buffer->size = size;
  buffer->dtype = dtype;
  buffer->shape = std::move(shape);
  test.program().buffers.push_back(std::move(buffer));
}

void addState(TestPlan &test, const char *name, plan::StateKind kind, uint32_t buffer,
              std::vector<uint64_t> shape, uint64_t slotBytes) {
  auto state = std::make_unique<plan::StateT>();
  state->name = name;
  state->kind = kind;
  state->buffer = buffer;
  state->shape = std::move(shape);
  state->slot_bytes = slotBytes;
  if (kind == plan::StateKind::KdaState)
    state->order = "kv";
  test.program().states.push_back(std::move(state));
}

std::unique_ptr<plan::PieceT> piece(const char *source, uint64_t count, uint64_t rows,
                                    uint64_t cols, uint64_t dstBegin) {
  auto made = std::make_unique<plan::PieceT>();
  made->source = source;
  made->count = count;
  made->rows = rows;
  made->cols = cols;
  made->src_row_stride = cols;
  made->dst_begin = dstBegin;
  made->dst_row_stride = cols;
  made->dst_index_stride = rows * cols;
  return made;
}

std::unique_ptr<plan::ArgT> bufferArg(uint32_t buffer, uint64_t offset = 0) {
  auto arg = std::make_unique<plan::ArgT>();
  arg->kind = plan::ArgKind::Buffer;
  arg->buffer = buffer;
  arg->offset = offset;
  return arg;
}

std::unique_ptr<plan::ArgT> scalarArg(uint32_t expr) {
  auto arg = std::make_unique<plan::ArgT>();
  arg->kind = plan::ArgKind::Scalar;
  arg->scalar = expr;
  return arg;
}

std::unique_ptr<plan::EntryArgT> entryArg(const char *name, uint32_t buffer) {
  auto arg = std::make_unique<plan::EntryArgT>();
  arg->name = name;
  arg->buffer = buffer;
  return arg;
}

template <typename Body> void addCommand(plan::EntryT &entry, Body body) {
  auto command = std::make_unique<plan::CommandT>();
  command->body.Set(std::move(body));
  command->location = 0;
  entry.commands.push_back(std::move(command));
}

void addKernel(TestPlan &test, const char *name, std::vector<plan::ArgKind> params) {
  auto kernel = std::make_unique<plan::KernelT>();
  kernel->name = name;
  kernel->params = std::move(params);
  kernel->block = {1, 1, 1};
  test.plan.kernels.push_back(std::move(kernel));
}

void addHead(TestPlan &test) {
  plan::PlanT &plan = test.plan;
  plan.producer = std::make_unique<plan::ProducerT>();
  plan.producer->version = "0.1.0";
  plan.producer->flags = {"--target cpu", "--dtype f32"};
  plan.producer->llvm_version = "22.1.8";
  plan.model = std::make_unique<plan::ModelT>();
  plan.model->name = "kimi_k3";
  plan.model->config_hash = std::string(64, 'c');
  plan.model->layers = 2;
  plan.model->kda_layers = 1;
  plan.model->mla_layers = 1;
  plan.model->text_parameters = 1234;
  plan.model->vocab_size = 4;
  plan.model->hidden_size = 4;
  plan.model->bos_token_id = 0;
  plan.model->eos_token_ids = {3};
  plan.model->cache_bytes_per_token = 8;
  plan.model->state_bytes_per_sequence = 128;
  plan.limits = std::make_unique<plan::LimitsT>();
  plan.limits->max_tokens = 8;
  plan.limits->max_seqs = 2;
  plan.limits->max_context = 8;
  plan.limits->max_logit_rows = 8;
  plan.limits->page_tokens = 4;
  plan.limits->cache_pages = 4;
  plan.target = std::make_unique<plan::TargetT>();
  plan.target->name = "cpu";
  plan.target->triple = "x86_64-unknown-linux-gnu";
  plan.target->features = {"sse", "sse2"};
  plan.mesh = std::make_unique<plan::MeshT>();
  for (auto [name, bound] : {std::pair("T", 8), std::pair("S", 2)}) {
    auto symbol = std::make_unique<plan::SymbolT>();
    symbol->name = name;
    symbol->upper_bound = static_cast<uint64_t>(bound);
    plan.symbols.push_back(std::move(symbol));
  }
  auto location = std::make_unique<plan::LocationT>();
  location->file = "config.json";
  location->line = 3;
  location->column = 5;
  location->key = "hidden_size";
  plan.locations.push_back(std::move(location));
}

void addMemory(TestPlan &test, uint32_t tokens, uint32_t slots, uint32_t one, uint32_t four) {
  addArena(test, ArenaClass::Weights, 192);
  addArena(test, ArenaClass::State, 320);
  addArena(test, ArenaClass::Cache, 128);
  addArena(test, ArenaClass::Scratch, 256);
  addArena(test, ArenaClass::Io, 192);
  addArena(test, ArenaClass::Peer, 0);
  addBuffer(test, "ids", ArenaClass::Io, 0, 64, DType::I32, {tokens});
  addBuffer(test, "logits", ArenaClass::Io, 64, 128, DType::F32, {tokens, four});
  addBuffer(test, "layers.0.h", ArenaClass::Scratch, 0, 128, DType::F32, {tokens, four});
  addBuffer(test, "layers.0.w", ArenaClass::Weights, 0, 128, DType::F32,
            {test.expr(ExprOp::Mul, slots, four), four});
  addBuffer(test, "layers.0.b", ArenaClass::Weights, 128, 64, DType::BF16, {four});
  addBuffer(test, "layers.0.kda_state", ArenaClass::State, 0, 128, DType::F32,
            {slots, one, four, four});
  addBuffer(test, "layers.0.conv_state.q", ArenaClass::State, 128, 96, DType::F32,
            {slots, slots, four});
  addBuffer(test, "layers.1.latent_cache", ArenaClass::Cache, 0, 128, DType::BF16,
            {four, four, four});
  addState(test, "layers.0.kda_state", plan::StateKind::KdaState, BufferState, {1, 4, 4}, 64);
  addState(test, "layers.0.conv_state.q", plan::StateKind::ConvState, BufferConv, {2, 4}, 48);
  addState(test, "layers.1.latent_cache", plan::StateKind::LatentCache, BufferCache, {4, 4}, 32);

  // [8, 4]: a range of two tensors [2, 4] next to the transpose of a [4, 4].
  auto weight = std::make_unique<plan::WeightT>();
  weight->name = "layers.0.w";
  weight->buffer = BufferWeight;
  weight->pieces.push_back(piece("layers.0.experts.{}.weight", 2, 2, 4, 0));
  weight->pieces.push_back(piece("layers.0.proj.weight", 1, 4, 4, 16));
  weight->pieces.back()->transform = plan::PackTransform::Transpose;
  test.program().weights.push_back(std::move(weight));
  auto bias = std::make_unique<plan::WeightT>();
  bias->name = "layers.0.b";
  bias->buffer = BufferBias;
  bias->pieces.push_back(piece("layers.0.bias", 1, 1, 4, 0));
  test.program().weights.push_back(std::move(bias));
}

std::unique_ptr<plan::EntryT> prefill(TestPlan &test, uint32_t tokens, uint32_t one,
                                      uint32_t rowBytes) {
  auto entry = std::make_unique<plan::EntryT>();
  entry->name = "prefill";
  entry->kind = plan::EntryKind::Prefill;
  entry->symbols = {0, 1};
  entry->inputs.push_back(entryArg("ids", BufferIds));
  entry->outputs.push_back(entryArg("logits", BufferLogits));
  uint32_t allRows = test.expr(ExprOp::Mul, tokens, rowBytes);

  plan::FillT fill;
  fill.dst = BufferScratch;
  fill.bytes = allRows;
  addCommand(*entry, std::move(fill));
  plan::LaunchT launch;
  launch.grid = {tokens, one, one};
  launch.args.push_back(bufferArg(BufferIds));
  launch.args.push_back(bufferArg(BufferWeight, 64));
  launch.args.push_back(bufferArg(BufferScratch));
  launch.args.push_back(scalarArg(tokens));
  addCommand(*entry, std::move(launch));
  addCommand(*entry, plan::RecordT());
  addCommand(*entry, plan::WaitT());
  plan::CopyT copy;
  copy.src = BufferScratch;
  copy.dst = BufferLogits;
  copy.bytes = allRows;
  addCommand(*entry, std::move(copy));
  plan::CollectiveT collective;
  collective.src = BufferLogits;
  collective.dst = BufferLogits;
  collective.count = tokens;
  collective.axis = "tp";
  addCommand(*entry, std::move(collective));
  plan::HostCallT call;
  call.name = "nothing";
  call.args.push_back(scalarArg(one));
  addCommand(*entry, std::move(call));

  auto tap = std::make_unique<plan::TapT>();
  tap->name = "layers.0.h";
  tap->after = CommandLaunch;
  tap->buffer = BufferScratch;
  entry->taps.push_back(std::move(tap));
  return entry;
}

std::unique_ptr<plan::EntryT> decode(uint32_t one) {
  auto entry = std::make_unique<plan::EntryT>();
  entry->name = "decode_1";
  entry->kind = plan::EntryKind::Decode;
  entry->bucket = 1;
  entry->inputs.push_back(entryArg("ids", BufferIds));
  entry->outputs.push_back(entryArg("logits", BufferLogits));
  plan::LaunchT launch;
  launch.kernel = 1;
  launch.grid = {one, one, one};
  launch.args.push_back(bufferArg(BufferLogits));
  addCommand(*entry, std::move(launch));
  return entry;
}

} // namespace

std::string TestPlan::bytes() {
  std::vector<SegmentBytes> views;
  for (const auto &[name, content] : segments)
    views.push_back({name, content});
  Result<std::string> file = writeUncheckedPlan(plan, views);
  return file ? *file : "";
}

uint32_t TestPlan::constant(int64_t value) {
  auto node = std::make_unique<plan::ExprT>();
  node->value = value;
  plan.exprs.push_back(std::move(node));
  return static_cast<uint32_t>(plan.exprs.size() - 1);
}

uint32_t TestPlan::symbol(uint32_t index) {
  uint32_t at = constant(index);
  plan.exprs[at]->op = ExprOp::Symbol;
  return at;
}

uint32_t TestPlan::expr(ExprOp op, uint32_t lhs, uint32_t rhs) {
  uint32_t at = constant(0);
  plan.exprs[at]->op = op;
  plan.exprs[at]->lhs = lhs;
  plan.exprs[at]->rhs = rhs;
  return at;
}

TestPlan makeTestPlan() {
  TestPlan test;
  addHead(test);
  test.plan.programs.push_back(std::make_unique<plan::ProgramT>());
  test.program().events = 1;
  uint32_t tokens = test.symbol(0);
  test.symbol(1);
  uint32_t one = test.constant(1), two = test.constant(2), four = test.constant(4),
           rowBytes = test.constant(16);
  addMemory(test, tokens, two, one, four);
  addKernel(
      test, "k3_embed_h4_f32",
      {plan::ArgKind::Buffer, plan::ArgKind::Buffer, plan::ArgKind::Buffer, plan::ArgKind::Scalar});
  addKernel(test, "k3_head_h4_f32", {plan::ArgKind::Buffer});
  test.plan.images.push_back(std::make_unique<plan::ImageT>());
  test.segments = {{"kernels.so", std::string(100, 'x')}, {"notes", "second"}};
  test.program().entries.push_back(prefill(test, tokens, one, rowBytes));
  test.program().entries.push_back(decode(one));
  return test;
}

} // namespace k3
