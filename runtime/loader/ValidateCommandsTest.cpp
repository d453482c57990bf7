//===- ValidateCommandsTest.cpp - Tests of the commands' checks -----------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each kind of command and each of its rules, the test plan with one thing wrong and the
// sentence.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/ValidateCommands.h"
#include "runtime/loader/ValidateTesting.h"

namespace k3 {
namespace {

using plan::CollectiveKind;

#define EXPECT_COMMAND_REFUSED(WHICH, KIND, WHAT, ...)                                             \
  EXPECT_REFUSED("commands",                                                                       \
                 "rank 0 entry 'prefill' command " + std::to_string(WHICH) + ": " + WHAT,          \
                 plan::KIND##T &body = *t.command(WHICH).body.As##KIND();                          \
                 __VA_ARGS__)

TEST(ValidateCommands, launch) {
  EXPECT_COMMAND_REFUSED(CommandLaunch, Launch,
                         "its kernel does not exist (got 2, expected less than 2)",
                         body.kernel = 2);
  EXPECT_COMMAND_REFUSED(CommandLaunch, Launch,
                         "its grid has a wrong number of axes (got 2, expected 3)",
                         body.grid.pop_back());
  EXPECT_COMMAND_REFUSED(CommandLaunch, Launch,
                         "the grid: its expression does not exist (got 9, expected less than 8)",
                         body.grid[1] = 9);
  EXPECT_COMMAND_REFUSED(CommandLaunch, Launch,
                         "its grid overflows 63 bits (got an axis of 4611686018427387904)",
                         body.grid[2] = t.constant(int64_t{1} << 62));
  // A zero somewhere does not make the rest harmless.
  EXPECT_COMMAND_REFUSED(CommandLaunch, Launch,
                         "its grid overflows 63 bits (got an axis of 4611686018427387904)",
                         body.grid[0] = t.constant(0);
                         body.grid[1] = body.grid[2] = t.constant(int64_t{1} << 62));
  EXPECT_COMMAND_REFUSED(
      CommandLaunch, Launch,
      "kernel 'k3_embed_h4_f32' is given a wrong number of arguments (got 3, expected 4)",
      body.args.pop_back());
  EXPECT_COMMAND_REFUSED(
      CommandLaunch, Launch,
      "kernel 'k3_embed_h4_f32' is given argument 0 of a wrong kind (got Scalar, expected Buffer)",
      body.args[0]->kind = plan::ArgKind::Scalar);
  EXPECT_COMMAND_REFUSED(
      CommandLaunch, Launch,
      "kernel 'k3_embed_h4_f32' is given argument 3 of a wrong kind (got Buffer, expected Scalar)",
      body.args[3]->kind = plan::ArgKind::Buffer);
}

TEST(ValidateCommands, arguments) {
  EXPECT_COMMAND_REFUSED(CommandLaunch, Launch,
                         "argument 0: its kind is unknown (got 2, expected at most 1)",
                         body.args[0]->kind = static_cast<plan::ArgKind>(2));
  EXPECT_COMMAND_REFUSED(CommandLaunch, Launch,
                         "argument 1: its buffer does not exist (got 8, expected less than 8)",
                         body.args[1]->buffer = 8);
  EXPECT_COMMAND_REFUSED(
      CommandLaunch, Launch,
      "argument 1: begins outside buffer 'layers.0.w' (got offset 128, expected less than 128)",
      body.args[1]->offset = 128);
  EXPECT_COMMAND_REFUSED(CommandLaunch, Launch,
                         "argument 3: its expression does not exist (got 99, expected less than 8)",
                         body.args[3]->scalar = 99);
}

TEST(ValidateCommands, symbolsMustBeGiven) {
  EXPECT_COMMAND_REFUSED(
      CommandFill, Fill,
      "the size: depends on symbol 'T', which its entry is not given (got an entry without it, "
      "expected it in the entry's symbols)",
      (void)body;
      t.entry(0).symbols = {1});
  // Symbol S is not used by any command.
  TestPlan t = makeTestPlan();
  t.entry(0).symbols = {0};
  EXPECT_EQ(refusalOf(t), "");
}

TEST(ValidateCommands, copy) {
  EXPECT_COMMAND_REFUSED(CommandCopy, Copy,
                         "the size: its expression does not exist (got 99, expected less than 8)",
                         body.bytes = 99);
  EXPECT_COMMAND_REFUSED(CommandCopy, Copy,
                         "the source: its buffer does not exist (got 8, expected less than 8)",
                         body.src = 8);
  EXPECT_COMMAND_REFUSED(CommandCopy, Copy,
                         "the source: ends outside buffer 'layers.0.h' (got 128 bytes at offset 1, "
                         "expected within 128)",
                         body.src_offset = 1);
  EXPECT_COMMAND_REFUSED(CommandCopy, Copy,
                         "the destination: ends outside buffer 'logits' (got 128 bytes at offset "
                         "18446744073709551615, expected within 128)",
                         body.dst_offset = UINT64_MAX);
  EXPECT_COMMAND_REFUSED(CommandCopy, Copy,
                         "source and destination overlap (got 128 bytes from 0 to 0 of arena 3, "
                         "expected disjoint ranges)",
                         body.dst = BufferScratch);
}

TEST(ValidateCommands, fill) {
  EXPECT_COMMAND_REFUSED(CommandFill, Fill,
                         "the destination: its buffer does not exist (got 8, expected less than 8)",
                         body.dst = 8);
  EXPECT_COMMAND_REFUSED(CommandFill, Fill,
                         "the destination: ends outside buffer 'layers.0.h' (got 128 bytes at "
                         "offset 64, expected within 128)",
                         body.dst_offset = 64);
}

TEST(ValidateCommands, collective) {
  EXPECT_COMMAND_REFUSED(CommandCollective, Collective,
                         "its collective is unknown (got 6, expected at most 5)",
                         body.kind = static_cast<CollectiveKind>(6));
  EXPECT_COMMAND_REFUSED(CommandCollective, Collective,
                         "its dtype is unknown (got 5, expected at most 4)",
                         body.dtype = static_cast<plan::DType>(5));
  EXPECT_COMMAND_REFUSED(CommandCollective, Collective,
                         "its axis is unknown (got 'dp', expected tp, ep or pp)", body.axis = "dp");
  EXPECT_COMMAND_REFUSED(CommandCollective, Collective,
                         "its peer does not exist (got 1, expected less than 1)",
                         body.kind = CollectiveKind::Send;
                         body.peer = 1);
  EXPECT_COMMAND_REFUSED(
      CommandCollective, Collective,
      "the source: ends outside buffer 'ids' (got 128 bytes at offset 0, expected within 64)",
      body.src = BufferIds;
      body.count = t.constant(32));
  EXPECT_COMMAND_REFUSED(
      CommandCollective, Collective,
      "the destination: ends outside buffer 'ids' (got 128 bytes at offset 0, expected within 64)",
      body.dst = BufferIds;
      body.count = t.constant(32));
  EXPECT_COMMAND_REFUSED(CommandCollective, Collective,
                         "its size overflows 64 bits (got 9223372036854775807 elements for 1 "
                         "ranks, expected within its "
                         "buffers)",
                         body.count = t.constant(INT64_MAX));
  // What is not used is not looked at.
  TestPlan t = makeTestPlan();
  plan::CollectiveT &body = *t.command(CommandCollective).body.AsCollective();
  body.kind = CollectiveKind::Send;
  body.dst = UINT32_MAX;
  EXPECT_EQ(refusalOf(t), "");
  body.kind = CollectiveKind::Recv;
  body.dst = BufferLogits;
  body.src = UINT32_MAX;
  EXPECT_EQ(refusalOf(t), "");
}

TEST(ValidateCommands, gatherNeedsRoomForAllRanks) {
  TestPlan t = makeTestPlan();
  TestPlan other = makeTestPlan();
  t.plan.programs.push_back(std::move(other.plan.programs[0]));
  t.plan.programs[1]->rank = 1;
  t.plan.mesh->tp = 2;
  plan::CollectiveT &body = *t.command(CommandCollective).body.AsCollective();
  body.kind = CollectiveKind::AllGather;
  body.dst = BufferIds;
  EXPECT_EQ(refusalOf(t), "");
  body.count = t.constant(9);
  EXPECT_EQ(
      refusalOf(t),
      "t.k3plan: section 'commands': rank 0 entry 'prefill' command 5: the destination: ends "
      "outside "
      "buffer 'ids' (got 72 bytes at offset 0, expected within 64); rebuild the plan with k3c");
  body.kind = CollectiveKind::ReduceScatter;
  body.count = t.constant(32);
  EXPECT_EQ(refusalOf(t), "");
}

TEST(ValidateCommands, eventsAndHostCalls) {
  EXPECT_COMMAND_REFUSED(CommandRecord, Record,
                         "its event does not exist (got 1, expected less than 1)", body.event = 1);
  EXPECT_COMMAND_REFUSED(CommandWait, Wait,
                         "its event does not exist (got 1, expected less than 1)", body.event = 1);
  EXPECT_COMMAND_REFUSED(CommandHostCall, HostCall,
                         "argument 0: its expression does not exist (got 99, expected less "
                         "than 8)",
                         body.args[0]->scalar = 99);
  EXPECT_REFUSED("commands",
                 "rank 0 entry 'prefill' command 6 host function: its name has a wrong length (got "
                 "0 bytes, expected 1 "
                 "to 4096)",
                 t.command(CommandHostCall).body.AsHostCall()->name = "");
}

TEST(ValidateCommands, streamsAndLocations) {
  EXPECT_COMMAND_REFUSED(CommandFill, Fill,
                         "its stream does not exist (got 64, expected less than 64)", (void)body;
                         t.command(CommandFill).stream = 64);
  EXPECT_COMMAND_REFUSED(CommandFill, Fill,
                         "its location does not exist (got 1, expected less than 1)", (void)body;
                         t.command(CommandFill).location = 1);
  TestPlan t = makeTestPlan();
  t.command(CommandFill).location = UINT32_MAX;
  EXPECT_EQ(refusalOf(t), "");
}

TEST(ValidateCommands, unknownKind) {
  // A kind of a newer minor: structurally fine, but it cannot be left out.
  TestPlan t = makeTestPlan();
  std::string bytes = t.bytes();
  flatbuffers::FlatBufferBuilder builder;
  plan::FillT fill;
  auto body = plan::CreateFill(builder, &fill).Union();
  auto command = plan::CreateCommand(builder, static_cast<plan::CommandBody>(8), body);
  builder.Finish(command);
  const auto *made = flatbuffers::GetRoot<plan::Command>(builder.GetBufferPointer());
  Result<LoadedPlan> loaded = parsePlan(bytes, "t.k3plan");
  ASSERT_TRUE(loaded.isOk());
  std::vector<ExprRange> ranges(8);
  PlanChecks checks{loaded->plan(), loaded->path(), ranges};
  std::string entry = "entry 'prefill'";
  EXPECT_EQ(
      validateCommand({checks, *(*loaded->plan().programs())[0], entry, 0, 3}, *made).message(),
      "t.k3plan: section 'commands': entry 'prefill' command 3: its kind is unknown (got 8, "
      "expected 1 to 7); "
      "rebuild the plan with k3c");
}

} // namespace
} // namespace k3
