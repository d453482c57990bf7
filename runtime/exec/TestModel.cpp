//===- TestModel.cpp - A plan whose kernels are test functions --*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plan is small, but has every input of the protocol, a state, a cache, a weight and a tap.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/TestModel.h"

#include "runtime/exec/TestModelKernel.h"

#include "runtime/loader/DTypes.h"

#include <algorithm>

using namespace k3;

PlanBuilder::PlanBuilder() {
  plan.producer = std::make_unique<plan::ProducerT>();
  plan.model = std::make_unique<plan::ModelT>();
  plan.limits = std::make_unique<plan::LimitsT>();
  plan.target = std::make_unique<plan::TargetT>();
  plan.mesh = std::make_unique<plan::MeshT>();
  plan.programs.push_back(std::make_unique<plan::ProgramT>());
  for (plan::ArenaClass cls : plan::EnumValuesArenaClass()) {
    auto arena = std::make_unique<plan::ArenaT>();
    arena->cls = cls;
    arena->alignment = 64;
    program().arenas.push_back(std::move(arena));
  }
}

uint32_t PlanBuilder::add(plan::ExprOp op, int64_t value, uint32_t lhs, uint32_t rhs) {
  auto expr = std::make_unique<plan::ExprT>();
  expr->op = op;
  expr->value = value;
  expr->lhs = lhs;
  expr->rhs = rhs;
  plan.exprs.push_back(std::move(expr));
  return static_cast<uint32_t>(plan.exprs.size() - 1);
}

uint32_t PlanBuilder::symbol(const std::string &name, uint64_t bound) {
  auto symbol = std::make_unique<plan::SymbolT>();
  symbol->name = name;
  symbol->upper_bound = bound;
  plan.symbols.push_back(std::move(symbol));
  return static_cast<uint32_t>(plan.symbols.size() - 1);
}

uint32_t PlanBuilder::constant(int64_t value) { return add(plan::ExprOp::Const, value, 0, 0); }
uint32_t PlanBuilder::symbolValue(uint32_t symbol) {
  return add(plan::ExprOp::Symbol, symbol, 0, 0);
}
uint32_t PlanBuilder::expr(plan::ExprOp op, uint32_t lhs, uint32_t rhs) {
  return add(op, 0, lhs, rhs);
}

uint32_t PlanBuilder::buffer(const std::string &name, plan::ArenaClass cls, plan::DType type,
                             std::vector<uint32_t> shape, uint64_t size) {
  plan::ArenaT &arena = *program().arenas[static_cast<size_t>(cls)];
  auto buffer = std::make_unique<plan::BufferT>();
  buffer->name = name;
  buffer->arena = static_cast<uint32_t>(cls);
  buffer->offset = arena.size;
  buffer->size = size;
  buffer->dtype = type;
  buffer->shape = std::move(shape);
  arena.size += (size + 63) / 64 * 64;
  program().buffers.push_back(std::move(buffer));
  return static_cast<uint32_t>(program().buffers.size() - 1);
}

uint32_t PlanBuilder::kernel(const std::string &name, CpuKernel function,
                             std::vector<plan::ArgKind> params) {
  auto kernel = std::make_unique<plan::KernelT>();
  kernel->name = name;
  kernel->params = std::move(params);
  kernel->block = {1, 1, 1};
  plan.kernels.push_back(std::move(kernel));
  functions_[name] = function;
  return static_cast<uint32_t>(plan.kernels.size() - 1);
}

plan::EntryT &PlanBuilder::entry(const std::string &name, plan::EntryKind kind,
                                 std::vector<uint32_t> symbols) {
  auto entry = std::make_unique<plan::EntryT>();
  entry->name = name;
  entry->kind = kind;
  entry->symbols = std::move(symbols);
  program().entries.push_back(std::move(entry));
  return *program().entries.back();
}

static std::unique_ptr<plan::EntryArgT> entryArg(const std::string &name, uint32_t buffer) {
  auto arg = std::make_unique<plan::EntryArgT>();
  arg->name = name;
  arg->buffer = buffer;
  return arg;
}

void PlanBuilder::input(plan::EntryT &entry, const std::string &name, uint32_t buffer) {
  entry.inputs.push_back(entryArg(name, buffer));
}
void PlanBuilder::output(plan::EntryT &entry, const std::string &name, uint32_t buffer) {
  entry.outputs.push_back(entryArg(name, buffer));
}

void PlanBuilder::tap(plan::EntryT &entry, const std::string &name, uint32_t after,
                      uint32_t buffer) {
  auto tap = std::make_unique<plan::TapT>();
  tap->name = name;
  tap->after = after;
  tap->buffer = buffer;
  entry.taps.push_back(std::move(tap));
}

std::unique_ptr<plan::ArgT> PlanBuilder::bufferArg(uint32_t buffer, uint64_t offset) {
  auto arg = std::make_unique<plan::ArgT>();
  arg->kind = plan::ArgKind::Buffer;
  arg->buffer = buffer;
  arg->offset = offset;
  return arg;
}

std::unique_ptr<plan::ArgT> PlanBuilder::scalarArg(uint32_t expr) {
  auto arg = std::make_unique<plan::ArgT>();
  arg->kind = plan::ArgKind::Scalar;
  arg->scalar = expr;
  return arg;
}

plan::LaunchT PlanBuilder::launch(uint32_t kernel, std::vector<uint32_t> grid,
                                  std::vector<std::unique_ptr<plan::ArgT>> args) {
  plan::LaunchT launch;
  launch.kernel = kernel;
  launch.grid = std::move(grid);
  launch.args = std::move(args);
  return launch;
}

Result<std::unique_ptr<Executor>> PlanBuilder::executor(unsigned threads, bool poison) {
  packed_.Clear();
  packed_.Finish(plan::Plan::Pack(packed_, &plan));
  K3_ASSIGN_OR_RETURN(std::unique_ptr<CpuDevice> device, CpuDevice::create(threads));
  const plan::Plan &root = *flatbuffers::GetRoot<plan::Plan>(packed_.GetBufferPointer());
  return Executor::create(
      root, 0, std::move(device),
      [this](const plan::Kernel &kernel) -> Result<CpuKernel> {
        return functions_.at(kernel.name()->str());
      },
      ExecutorOptions{threads, poison});
}

void k3::buildTestModel(PlanBuilder &builder, const TestModelOptions &options) {
  using plan::ArenaClass;
  using plan::DType;
  plan::LimitsT &limits = *builder.plan.limits;
  limits.max_seqs = options.maxSeqs;
  limits.max_tokens = options.maxTokens;
  limits.max_context = options.maxContext;
  limits.max_logit_rows = options.maxLogitRows;
  limits.page_tokens = options.pageTokens;
  limits.cache_pages = options.cachePages;
  builder.plan.model->vocab_size = TestVocabulary;
  builder.plan.model->eos_token_ids = {7};

  const uint64_t maxPages = (options.maxContext + options.pageTokens - 1) / options.pageTokens;
  uint64_t tokens = options.maxTokens, sequences = options.maxSeqs, rows = options.maxLogitRows;
  for (uint64_t bucket : options.buckets) {
    tokens = std::max(tokens, bucket);
    sequences = std::max(sequences, bucket);
    rows = std::max(rows, bucket);
  }
  const uint32_t t = builder.symbol("T", options.maxTokens),
                 s = builder.symbol("S", options.maxSeqs),
                 r = builder.symbol("R", options.maxLogitRows);
  const uint32_t one = builder.constant(1), two = builder.constant(2),
                 vocabulary = builder.constant(TestVocabulary);
  const uint32_t pages = builder.constant(static_cast<int64_t>(maxPages)),
                 pageTokens = builder.constant(static_cast<int64_t>(options.pageTokens));
  const auto count = [&](uint64_t value) { return builder.constant(static_cast<int64_t>(value)); };

  const uint32_t state = builder.buffer("sum", ArenaClass::State, DType::F32,
                                        {count(options.maxSeqs), one, two, count(3)},
                                        4 * TestStateSize * options.maxSeqs);
  const uint32_t cache = builder.buffer("cache", ArenaClass::Cache, DType::F32,
                                        {count(options.cachePages), pageTokens, one},
                                        4 * options.cachePages * options.pageTokens);
  const uint32_t bias = builder.buffer("bias", ArenaClass::Weights, DType::F32, {one}, 4);
  auto piece = std::make_unique<plan::PieceT>();
  piece->source = "model.bias";
  piece->rows = piece->cols = piece->src_row_stride = piece->dst_row_stride = 1;
  auto weight = std::make_unique<plan::WeightT>();
  weight->name = "bias";
  weight->buffer = bias;
  weight->pieces.push_back(std::move(piece));
  builder.program().weights.push_back(std::move(weight));

  const struct {
    const char *name;
    plan::StateKind kind;
    uint32_t buffer;
    std::vector<uint64_t> shape;
    uint64_t slotBytes;
  } states[] = {
      {"layers.0.kda_state", plan::StateKind::KdaState, state, {1, 2, 3}, 4 * TestStateSize},
      {"layers.1.latent_cache",
       plan::StateKind::LatentCache,
       cache,
       {options.pageTokens, 1},
       4 * options.pageTokens}};
  for (const auto &source : states) {
    auto entry = std::make_unique<plan::StateT>();
    entry->name = source.name;
    entry->kind = source.kind;
    if (source.kind == plan::StateKind::KdaState)
      entry->order = "vk";
    entry->buffer = source.buffer;
    entry->shape = source.shape;
    entry->slot_bytes = source.slotBytes;
    builder.program().states.push_back(std::move(entry));
  }
  std::vector<plan::ArgKind> params(TestModelBuffers, plan::ArgKind::Buffer);
  params.resize(TestModelParams, plan::ArgKind::Scalar);
  const uint32_t kernel = builder.kernel("k3_test_add_up_ids", k3_test_add_up_ids, params);

  const auto addEntry = [&](const std::string &name, uint64_t bucket) {
    const uint32_t tokenCount = bucket ? count(bucket) : builder.symbolValue(t),
                   sequenceCount = bucket ? count(bucket) : builder.symbolValue(s),
                   rowCount = bucket ? count(bucket) : builder.symbolValue(r);
    const uint32_t offsetCount = builder.expr(plan::ExprOp::Add, sequenceCount, one);
    const auto io = [&](const char *what, std::vector<uint32_t> shape, uint64_t elements) {
      return builder.buffer(name + "." + what, ArenaClass::Io, DType::I32, std::move(shape),
                            4 * elements);
    };
    const uint32_t inputs[] = {io("ids", {tokenCount}, tokens),
                               io("token_seq", {tokenCount}, tokens),
                               io("token_pos", {tokenCount}, tokens),
                               io("seq_offsets", {offsetCount}, sequences + 1),
                               io("seq_slots", {sequenceCount}, sequences),
                               io("seq_context", {sequenceCount}, sequences),
                               io("page_table", {sequenceCount, pages}, sequences * maxPages),
                               io("logit_rows", {rowCount}, rows)};
    const uint32_t h =
        builder.buffer(name + ".h", ArenaClass::Scratch, DType::F32, {tokenCount, two}, 8 * tokens);
    const uint32_t logits = builder.buffer(name + ".logits", ArenaClass::Io, DType::F32,
                                           {rowCount, vocabulary}, 4 * rows * TestVocabulary);
    plan::EntryT &entry =
        builder.entry(name, bucket ? plan::EntryKind::Decode : plan::EntryKind::Prefill,
                      bucket ? std::vector<uint32_t>{} : std::vector<uint32_t>{t, s, r});
    entry.bucket = bucket;
    const char *names[] = {"ids",       "token_seq",   "token_pos",  "seq_offsets",
                           "seq_slots", "seq_context", "page_table", "logit_rows"};
    for (size_t i = 0; i < std::size(names); ++i)
      PlanBuilder::input(entry, names[i], inputs[i]);
    PlanBuilder::output(entry, "logits", logits);
    std::vector<std::unique_ptr<plan::ArgT>> args;
    for (uint32_t input : inputs)
      args.push_back(PlanBuilder::bufferArg(input));
    for (uint32_t buffer : {state, cache, h, logits, bias})
      args.push_back(PlanBuilder::bufferArg(buffer));
    for (uint32_t scalar : {sequenceCount, rowCount, pages, pageTokens})
      args.push_back(PlanBuilder::scalarArg(scalar));
    PlanBuilder::command(entry, PlanBuilder::launch(kernel, {one, one, one}, std::move(args)));
    PlanBuilder::tap(entry, "layers.0.h", 0, h);
  };
  addEntry("prefill", 0);
  for (uint64_t bucket : options.buckets)
    addEntry("decode_" + std::to_string(bucket), bucket);
}
