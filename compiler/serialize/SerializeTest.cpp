//===- SerializeTest.cpp - Tests of the serialiser ------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes hand-written modules of the plan dialect and reads the bytes with the loader of the
// runtime: every field of every table once.
//
//===----------------------------------------------------------------------===//

#include "compiler/serialize/Serialize.h"
#include "dialects/k3/K3Dialect.h"
#include "dialects/plan/PlanDialect.h"
#include "runtime/loader/Plan.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace k3 {
namespace {

const char *const fullModule = R"(
module attributes {
    k3.limits = {max_tokens = 32 : i64, max_seqs = 2 : i64, max_context = 100 : i64, max_logit_rows = 4 : i64, page_tokens = 64 : i64},
    k3.mesh = {tp = 1 : i64, ep = 1 : i64, pp = 1 : i64},
    k3.model = {name = "kimi_k3", config_hash = "ab", index_hash = "cd", layers = 3 : i64, kda_layers = 2 : i64, mla_layers = 1 : i64,
                text_parameters = 12345678901 : i64, vocab_size = 8 : i64, hidden_size = 16 : i64, bos_token_id = 1 : i64,
                eos_token_ids = array<i64: 2, 5>, cache_bytes_per_token = 48 : i64, state_bytes_per_sequence = 128 : i64}} {
  plan.symbol @T <= 32
  plan.symbol @S <= 2
  plan.program rank 0 events 1 {
    plan.buffer @w in @weights at 0 size 256 : bf16 [8, 16]
    plan.arena @weights weights size 256 align 4096
    plan.arena @state state size 256 align 64
    plan.arena @cache cache size 12288 align 64
    plan.arena @scratch scratch size 4096 align 64
    plan.arena @io io size 4096 align 64
    plan.buffer @s in @state at 0 size 256 : f32 [2, 1, 8, 4]
    plan.buffer @latent in @cache at 0 size 12288 : bf16 [4, 64, 24]
    plan.buffer @x in @scratch at 0 size 1024 : bf16 [T, 16]
    plan.buffer @y in @scratch at 1024 size 1024 : bf16 [T, 16]
    plan.buffer @ids in @io at 64 size 128 : i32 [T]
    plan.buffer @seq_offsets in @io at 192 size 12 : i32 [add(S, 1)]
    plan.buffer @codes in @io at 256 size 16 : i8 [16]
    plan.buffer @wide in @io at 320 size 16 : i64 [2]
    plan.state kda_state "layers.0.kda_state" in @s slot [1, 8, 4] bytes 128 order "vk"
    plan.state latent_cache "layers.2.latent_cache" in @latent slot [64, 24] bytes 3072
    plan.weight "layers.0.w" in @w from [
      #plan.piece<"a.{}.weight", rows = 4, cols = 8, src_begin = 16, src_stride = 16, dst_begin = 0, dst_stride = 8, first = 1, count = 2, index_stride = 32>,
      #plan.piece<"b", rows = 16, cols = 4, src_begin = 2, src_stride = 6, dst_begin = 64, dst_stride = 16, transpose = true>]
    plan.kernel @k params (buffer, buffer, scalar) loc("folder/config.json":7:3)
    plan.entry prefill "prefill" symbols [@T, @S] inputs ["ids" = @ids, "seq_offsets" = @seq_offsets] outputs ["y" = @y] {
      plan.launch @k grid [ceildiv(T, 16), 4, 1] args (@x, @w + 64, ceildiv(T, 16)) loc("text_config.hidden_size"("folder/config.json":12:5))
      plan.tap "layers.0.h" = @x
      plan.copy @x + 2 to @y + 4 bytes mul(T, 16) loc("text_config.hidden_size"("folder/config.json":12:5))
      plan.fill @y with 255 bytes 64 {stream = 1} loc(unknown)
      plan.collective all_reduce @x to @y over "ep" count 16 : bf16
      plan.record 0 {stream = 1}
      plan.wait 0
      plan.host_call "sample" args (@y + 8, 3)
      plan.tap "last" = @y
    }
    plan.entry decode "decode_2" bucket 2 symbols [] inputs [] outputs [] {
      plan.launch @k grid [1, 4, 1] args (@x, @w, 2)
    }
  }
}
)";

class SerializeTest : public ::testing::Test {
protected:
  SerializeTest() {
    DialectRegistry registry;
    registry.insert<host::PlanDialect, model::K3Dialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    contents.flags = {"--target cpu", "--dtype f32"};
    contents.target = "cpu";
    contents.triple = "x86_64-unknown-linux-gnu";
    contents.features = {"fma", "avx2"};
    contents.sharedObject = "native code";
  }

  Result<std::string> serialize(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return Status::failed("the module of the test does not parse");
    return serializePlan(*module, contents);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  PlanContents contents;
};

LoadedPlan load(const Result<std::string> &bytes) {
  EXPECT_TRUE(bytes) << bytes.status().message();
  Result<LoadedPlan> loaded = parsePlan(*bytes, "test.k3plan");
  EXPECT_TRUE(loaded) << loaded.status().message();
  return std::move(*loaded);
}

TEST_F(SerializeTest, WritesTheHead) {
  LoadedPlan loaded = load(serialize(fullModule));
  const plan::Plan &plan = loaded.plan();
  EXPECT_EQ(plan.format_major(), planFormatMajor);
  EXPECT_EQ(plan.producer()->version()->str(), K3_VERSION);
  EXPECT_EQ(plan.producer()->flags()->size(), 2u);
  EXPECT_EQ(plan.producer()->flags()->Get(1)->str(), "--dtype f32");
  EXPECT_EQ(plan.producer()->llvm_version()->str().substr(0, 3), "22.");
  const plan::Model &model = *plan.model();
  EXPECT_EQ(model.name()->str(), "kimi_k3");
  EXPECT_EQ(model.config_hash()->str(), "ab");
  EXPECT_EQ(model.index_hash()->str(), "cd");
  EXPECT_EQ(model.layers(), 3u);
  EXPECT_EQ(model.kda_layers(), 2u);
  EXPECT_EQ(model.mla_layers(), 1u);
  EXPECT_EQ(model.text_parameters(), 12345678901u);
  EXPECT_EQ(model.vocab_size(), 8u);
  EXPECT_EQ(model.hidden_size(), 16u);
  EXPECT_EQ(model.bos_token_id(), 1);
  EXPECT_EQ(std::vector<int64_t>(model.eos_token_ids()->begin(), model.eos_token_ids()->end()),
            (std::vector<int64_t>{2, 5}));
  EXPECT_EQ(model.cache_bytes_per_token(), 48u);
  EXPECT_EQ(model.state_bytes_per_sequence(), 128u);
  EXPECT_EQ(plan.limits()->max_tokens(), 32u);
  EXPECT_EQ(plan.limits()->max_seqs(), 2u);
  EXPECT_EQ(plan.limits()->max_context(), 100u);
  EXPECT_EQ(plan.limits()->max_logit_rows(), 4u);
  EXPECT_EQ(plan.limits()->page_tokens(), 64u);
  EXPECT_EQ(plan.limits()->cache_pages(), 4u);
  EXPECT_EQ(plan.target()->name()->str(), "cpu");
  EXPECT_EQ(plan.target()->triple()->str(), "x86_64-unknown-linux-gnu");
  EXPECT_EQ(plan.target()->features()->Get(0)->str(), "avx2");
  EXPECT_EQ(plan.target()->features()->Get(1)->str(), "fma");
  EXPECT_EQ(plan.mesh()->tp(), 1u);
}

TEST_F(SerializeTest, WritesSharedTables) {
  LoadedPlan loaded = load(serialize(fullModule));
  const plan::Plan &plan = loaded.plan();
  ASSERT_EQ(plan.symbols()->size(), 2u);
  EXPECT_EQ(plan.symbols()->Get(0)->name()->str(), "T");
  EXPECT_EQ(plan.symbols()->Get(0)->upper_bound(), 32u);
  ASSERT_EQ(plan.kernels()->size(), 1u);
  const plan::Kernel &kernel = *plan.kernels()->Get(0);
  EXPECT_EQ(kernel.name()->str(), "k");
  ASSERT_EQ(kernel.params()->size(), 3u);
  EXPECT_EQ(static_cast<plan::ArgKind>(kernel.params()->Get(0)), plan::ArgKind::Buffer);
  EXPECT_EQ(static_cast<plan::ArgKind>(kernel.params()->Get(2)), plan::ArgKind::Scalar);
  EXPECT_EQ(std::vector<uint32_t>(kernel.block()->begin(), kernel.block()->end()),
            (std::vector<uint32_t>{1, 1, 1}));
  ASSERT_EQ(plan.images()->size(), 1u);
  EXPECT_EQ(plan.images()->Get(0)->kind(), plan::ImageKind::CpuSharedObject);
  ASSERT_EQ(plan.segments()->size(), 1u);
  EXPECT_EQ(plan.segments()->Get(0)->name()->str(), "cpu");
  EXPECT_EQ(loaded.segment(0), "native code");

  // Equal places are one, and none holds a folder.
  const plan::Location &atKernel = *plan.locations()->Get(kernel.location());
  EXPECT_EQ(atKernel.file()->str(), "config.json");
  EXPECT_EQ(atKernel.line(), 7u);
  EXPECT_EQ(atKernel.column(), 3u);
  const auto &commands = *plan.programs()->Get(0)->entries()->Get(0)->commands();
  const plan::Location &atLaunch = *plan.locations()->Get(commands.Get(0)->location());
  EXPECT_EQ(atLaunch.file()->str(), "config.json");
  EXPECT_EQ(atLaunch.line(), 12u);
  EXPECT_EQ(atLaunch.column(), 5u);
  EXPECT_EQ(atLaunch.key()->str(), "text_config.hidden_size");
  EXPECT_EQ(commands.Get(1)->location(), commands.Get(0)->location());
  EXPECT_EQ(commands.Get(2)->location(), UINT32_MAX);
}

TEST_F(SerializeTest, WritesMemory) {
  LoadedPlan loaded = load(serialize(fullModule));
  const plan::Program &program = *loaded.plan().programs()->Get(0);
  EXPECT_EQ(program.rank(), 0u);
  EXPECT_EQ(program.events(), 1u);
  ASSERT_EQ(program.arenas()->size(), 5u);
  EXPECT_EQ(program.arenas()->Get(2)->cls(), plan::ArenaClass::Cache);
  EXPECT_EQ(program.arenas()->Get(2)->size(), 12288u);
  EXPECT_EQ(program.arenas()->Get(0)->alignment(), 4096u);
  ASSERT_EQ(program.buffers()->size(), 9u);
  const plan::Buffer &y = *program.buffers()->Get(4);
  EXPECT_EQ(y.name()->str(), "y");
  EXPECT_EQ(y.arena(), 3u);
  EXPECT_EQ(y.offset(), 1024u);
  EXPECT_EQ(y.size(), 1024u);
  EXPECT_EQ(y.dtype(), plan::DType::BF16);
  EXPECT_EQ(loaded.upperBound(y.shape()->Get(0)), 32);
  EXPECT_EQ(loaded.upperBound(program.buffers()->Get(6)->shape()->Get(0)), 3);
  plan::DType types[] = {plan::DType::F32, plan::DType::I32, plan::DType::U8, plan::DType::I64};
  uint32_t typed[] = {1, 5, 7, 8};
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(program.buffers()->Get(typed[i])->dtype(), types[i]);

  ASSERT_EQ(program.states()->size(), 2u);
  const plan::State &state = *program.states()->Get(0);
  EXPECT_EQ(state.name()->str(), "layers.0.kda_state");
  EXPECT_EQ(state.kind(), plan::StateKind::KdaState);
  EXPECT_EQ(state.buffer(), 1u);
  EXPECT_EQ(std::vector<uint64_t>(state.shape()->begin(), state.shape()->end()),
            (std::vector<uint64_t>{1, 8, 4}));
  EXPECT_EQ(state.order()->str(), "vk");
  EXPECT_EQ(state.slot_bytes(), 128u);
  EXPECT_EQ(program.states()->Get(1)->kind(), plan::StateKind::LatentCache);

  ASSERT_EQ(program.weights()->size(), 1u);
  const plan::Weight &weight = *program.weights()->Get(0);
  EXPECT_EQ(weight.name()->str(), "layers.0.w");
  EXPECT_EQ(weight.buffer(), 0u);
  ASSERT_EQ(weight.pieces()->size(), 2u);
  const plan::Piece &range = *weight.pieces()->Get(0), &turned = *weight.pieces()->Get(1);
  EXPECT_EQ(range.source()->str(), "a.{}.weight");
  EXPECT_EQ(range.first(), 1u);
  EXPECT_EQ(range.count(), 2u);
  EXPECT_EQ(range.src_begin(), 16u);
  EXPECT_EQ(range.rows(), 4u);
  EXPECT_EQ(range.cols(), 8u);
  EXPECT_EQ(range.src_row_stride(), 16u);
  EXPECT_EQ(range.dst_begin(), 0u);
  EXPECT_EQ(range.dst_row_stride(), 8u);
  EXPECT_EQ(range.dst_index_stride(), 32u);
  EXPECT_EQ(range.transform(), plan::PackTransform::Copy);
  EXPECT_EQ(turned.dst_begin(), 64u);
  EXPECT_EQ(turned.dst_row_stride(), 16u);
  EXPECT_EQ(turned.transform(), plan::PackTransform::Transpose);
}

TEST_F(SerializeTest, WritesEntries) {
  LoadedPlan loaded = load(serialize(fullModule));
  const plan::Program &program = *loaded.plan().programs()->Get(0);
  ASSERT_EQ(program.entries()->size(), 2u);
  const plan::Entry &entry = *program.entries()->Get(0);
  EXPECT_EQ(entry.name()->str(), "prefill");
  EXPECT_EQ(entry.kind(), plan::EntryKind::Prefill);
  EXPECT_EQ(entry.symbols()->size(), 2u);
  ASSERT_EQ(entry.inputs()->size(), 2u);
  EXPECT_EQ(entry.inputs()->Get(1)->name()->str(), "seq_offsets");
  EXPECT_EQ(entry.inputs()->Get(1)->buffer(), 6u);
  EXPECT_EQ(entry.outputs()->Get(0)->name()->str(), "y");
  EXPECT_EQ(entry.outputs()->Get(0)->buffer(), 4u);

  const auto &commands = *entry.commands();
  ASSERT_EQ(commands.size(), 7u);
  const plan::Launch &launch = *commands.Get(0)->body_as_Launch();
  EXPECT_EQ(launch.kernel(), 0u);
  EXPECT_EQ(loaded.upperBound(launch.grid()->Get(0)), 2);
  EXPECT_EQ(loaded.upperBound(launch.grid()->Get(1)), 4);
  EXPECT_EQ(launch.args()->Get(1)->buffer(), 0u);
  EXPECT_EQ(launch.args()->Get(1)->offset(), 64u);
  // One expression, one node.
  EXPECT_EQ(launch.args()->Get(2)->kind(), plan::ArgKind::Scalar);
  EXPECT_EQ(launch.args()->Get(2)->scalar(), launch.grid()->Get(0));
  const plan::Copy &copy = *commands.Get(1)->body_as_Copy();
  EXPECT_EQ(copy.src(), 3u);
  EXPECT_EQ(copy.src_offset(), 2u);
  EXPECT_EQ(copy.dst(), 4u);
  EXPECT_EQ(copy.dst_offset(), 4u);
  EXPECT_EQ(loaded.upperBound(copy.bytes()), 512);
  const plan::Fill &fill = *commands.Get(2)->body_as_Fill();
  EXPECT_EQ(fill.dst(), 4u);
  EXPECT_EQ(fill.value(), 255u);
  EXPECT_EQ(loaded.upperBound(fill.bytes()), 64);
  EXPECT_EQ(commands.Get(2)->stream(), 1u);
  EXPECT_EQ(commands.Get(1)->stream(), 0u);
  const plan::Collective &collective = *commands.Get(3)->body_as_Collective();
  EXPECT_EQ(collective.kind(), plan::CollectiveKind::AllReduce);
  EXPECT_EQ(collective.axis()->str(), "ep");
  EXPECT_EQ(collective.dtype(), plan::DType::BF16);
  EXPECT_EQ(loaded.upperBound(collective.count()), 16);
  EXPECT_EQ(commands.Get(4)->body_as_Record()->event(), 0u);
  EXPECT_EQ(commands.Get(5)->body_type(), plan::CommandBody::Wait);
  const plan::HostCall &call = *commands.Get(6)->body_as_HostCall();
  EXPECT_EQ(call.name()->str(), "sample");
  EXPECT_EQ(call.args()->Get(0)->offset(), 8u);

  ASSERT_EQ(entry.taps()->size(), 2u);
  EXPECT_EQ(entry.taps()->Get(0)->name()->str(), "layers.0.h");
  EXPECT_EQ(entry.taps()->Get(0)->after(), 0u);
  EXPECT_EQ(entry.taps()->Get(0)->buffer(), 3u);
  EXPECT_EQ(entry.taps()->Get(1)->after(), 6u);
  EXPECT_EQ(program.entries()->Get(1)->kind(), plan::EntryKind::Decode);
  EXPECT_EQ(program.entries()->Get(1)->bucket(), 2u);
}

TEST_F(SerializeTest, TheSameModuleGivesTheSameBytes) {
  Result<std::string> first = serialize(fullModule), second = serialize(fullModule);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
}

TEST_F(SerializeTest, AFolderLeavesNoTrace) {
  std::string elsewhere = fullModule;
  for (size_t at; (at = elsewhere.find("folder/")) != std::string::npos;)
    elsewhere.replace(at, 7, "/other/place/");
  Result<std::string> here = serialize(fullModule), there = serialize(elsewhere);
  ASSERT_TRUE(here && there);
  EXPECT_EQ(*here, *there);
}

TEST_F(SerializeTest, AModuleWithoutFactsIsNamed) {
  contents.sharedObject = {};
  LoadedPlan loaded = load(serialize("plan.program rank 0 events 0 {}"));
  EXPECT_EQ(loaded.plan().model()->name()->str(), "module");
  EXPECT_EQ(loaded.plan().model()->bos_token_id(), -1);
  EXPECT_EQ(loaded.plan().images()->size(), 0u);
}

TEST_F(SerializeTest, AModuleWithoutProgramIsRefused) {
  Result<std::string> bytes = serialize("module {}");
  ASSERT_FALSE(bytes);
  EXPECT_EQ(
      bytes.status().message(),
      "plan: the module has no program (got 0 plan.program ops, expected one a rank); run the "
      "plan phase first");
}

TEST_F(SerializeTest, WhatTheLoaderRefusesIsNotWritten) {
  // Kernels without an image pass the dialect, which does not know the code.
  contents.sharedObject = {};
  Result<std::string> bytes = serialize(fullModule);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(
      bytes.status().message(),
      "plan: section 'kernels': kernel 0 'k': its image does not exist (got 0, expected less than "
      "0); rebuild the plan with k3c");
}

} // namespace
} // namespace k3
