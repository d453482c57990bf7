//===- ExecutorTest.cpp - Tests of commands, memory and budget --*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each kind of command alone, on plans of a few lines, with exact values: grids and scalars that
// follow the symbols, copies, fills, collectives over one rank, taps, poison, and what is refused.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/Executor.h"
#include "runtime/exec/Budget.h"
#include "runtime/exec/HandlePool.h"
#include "runtime/exec/TestModel.h"
#include "runtime/exec/Values.h"

#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace k3;
using plan::ArenaClass;
using plan::DType;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// out[block] = scalar + block
void addBlock(const uint64_t *params, int64_t, int64_t, int64_t begin, int64_t end) {
  for (int64_t block = begin; block < end; ++block)
    reinterpret_cast<int32_t *>(params[0])[block] =
        static_cast<int32_t>(params[1]) + static_cast<int32_t>(block);
}

std::vector<int32_t> ints(const Executor &executor, uint32_t buffer, size_t count) {
  std::vector<int32_t> values(count);
  std::memcpy(values.data(), executor.memory().address(buffer), count * 4);
  return values;
}

TEST(Executor, GridsAndScalarsFollowTheSymbols) {
  PlanBuilder builder;
  const uint32_t t = builder.symbol("T", 6);
  const uint32_t one = builder.constant(1), value = builder.symbolValue(t);
  const uint32_t scaled = builder.expr(plan::ExprOp::Mul, value, builder.constant(100));
  const uint32_t out = builder.buffer("out", ArenaClass::Io, DType::I32, {value}, 4 * 8);
  const uint32_t kernel =
      builder.kernel("add_block", addBlock, {plan::ArgKind::Buffer, plan::ArgKind::Scalar});
  plan::EntryT &entry = builder.entry("main", plan::EntryKind::Generic, {t});
  std::vector<std::unique_ptr<plan::ArgT>> args;
  args.push_back(PlanBuilder::bufferArg(out, 4));
  args.push_back(PlanBuilder::scalarArg(scaled));
  PlanBuilder::command(entry, PlanBuilder::launch(kernel, {value, one, one}, std::move(args)));

  auto executor = builder.executor(2);
  ASSERT_TRUE(executor) << executor.status().message();
  std::memset((*executor)->memory().address(out), 0, 32);
  const int64_t three[] = {3}, six[] = {6}, zero[] = {0}, seven[] = {7}, negative[] = {-1};
  ASSERT_TRUE((*executor)->run(0, three));
  EXPECT_THAT(ints(**executor, out, 8), ElementsAre(0, 300, 301, 302, 0, 0, 0, 0));
  ASSERT_TRUE((*executor)->run(0, six));
  EXPECT_THAT(ints(**executor, out, 8), ElementsAre(0, 600, 601, 602, 603, 604, 605, 0));
  ASSERT_TRUE((*executor)->run(0, zero)); // an empty grid does nothing
  EXPECT_THAT(ints(**executor, out, 8), ElementsAre(0, 600, 601, 602, 603, 604, 605, 0));
  ASSERT_TRUE((*executor)->run(0, three));
  EXPECT_THAT(ints(**executor, out, 8), ElementsAre(0, 300, 301, 302, 603, 604, 605, 0));
  for (const auto &bad : {seven, negative}) {
    const Status status = (*executor)->run(0, std::span(bad, 1));
    EXPECT_EQ(status.exitCode(), 2);
    EXPECT_THAT(status.message(), HasSubstr("entry 'main': symbol 0 is out of range (got " +
                                            std::to_string(bad[0]) + ", expected 0 to 6)"));
  }
  EXPECT_EQ((*executor)->findEntry("main"), std::optional<uint32_t>(0));
  EXPECT_EQ((*executor)->findEntry("other"), std::nullopt);
}

TEST(Executor, CopiesFillsAndCollectivesOfOneRank) {
  PlanBuilder builder;
  const uint32_t eight = builder.constant(8), two = builder.constant(2);
  const uint32_t a = builder.buffer("a", ArenaClass::Io, DType::I32, {builder.constant(4)}, 16);
  const uint32_t b = builder.buffer("b", ArenaClass::Io, DType::I32, {builder.constant(4)}, 16);
  const uint32_t c = builder.buffer("c", ArenaClass::Io, DType::I32, {builder.constant(4)}, 16);
  plan::EntryT &entry = builder.entry("main", plan::EntryKind::Generic, {});
  plan::FillT fill;
  fill.dst = b;
  fill.dst_offset = 4;
  fill.bytes = eight;
  fill.value = 1;
  PlanBuilder::command(entry, fill);
  PlanBuilder::command(entry, plan::RecordT());
  plan::CopyT copy;
  copy.src = a;
  copy.src_offset = 8;
  copy.dst = b;
  copy.bytes = eight;
  PlanBuilder::command(entry, copy);
  PlanBuilder::command(entry, plan::WaitT());
  plan::CollectiveT collective;
  collective.kind = plan::CollectiveKind::AllReduce;
  collective.src = a;
  collective.dst = c;
  collective.count = two;
  collective.dtype = DType::I32;
  collective.axis = "tp";
  PlanBuilder::command(entry, collective);

  auto executor = builder.executor();
  ASSERT_TRUE(executor) << executor.status().message();
  const int32_t source[] = {10, 11, 12, 13};
  std::memcpy((*executor)->memory().address(a), source, 16);
  ASSERT_TRUE((*executor)->run(0, {}));
  EXPECT_THAT(ints(**executor, b, 4), ElementsAre(12, 13, 0x01010101, 0));
  EXPECT_THAT(ints(**executor, c, 4), ElementsAre(10, 11, 0, 0));
  // With the same symbols nothing is recomputed, and the result is the same.
  std::memset((*executor)->memory().address(b), 0, 16);
  ASSERT_TRUE((*executor)->run(0, {}));
  EXPECT_THAT(ints(**executor, b, 4), ElementsAre(12, 13, 0x01010101, 0));
}

TEST(Executor, RefusesToSendOverOneRank) {
  for (auto kind : {plan::CollectiveKind::Send, plan::CollectiveKind::Recv}) {
    PlanBuilder builder;
    const uint32_t a = builder.buffer("a", ArenaClass::Io, DType::I32, {builder.constant(4)}, 16);
    plan::EntryT &entry = builder.entry("main", plan::EntryKind::Generic, {});
    plan::CollectiveT collective;
    collective.kind = kind;
    // The loader does not look at the buffer that is not used.
    (kind == plan::CollectiveKind::Send ? collective.src : collective.dst) = a;
    (kind == plan::CollectiveKind::Send ? collective.dst : collective.src) = UINT32_MAX;
    collective.count = builder.constant(4);
    collective.dtype = DType::I32;
    collective.axis = "pp";
    PlanBuilder::command(entry, collective);
    EXPECT_EQ(builder.executor().status().message(),
              std::string("entry 'main': command 0 is a ") + plan::EnumNameCollectiveKind(kind) +
                  ", and over one rank there is nobody at the other end; compile the plan again");
  }
}

TEST(Executor, RefusesACopyBeyondItsBuffer) {
  PlanBuilder builder;
  const uint32_t t = builder.symbol("T", 100);
  const uint32_t a = builder.buffer("a", ArenaClass::Io, DType::U8, {builder.constant(16)}, 16);
  plan::EntryT &entry = builder.entry("main", plan::EntryKind::Generic, {t});
  plan::FillT fill;
  fill.dst = a;
  fill.dst_offset = 4;
  fill.bytes = builder.symbolValue(t);
  PlanBuilder::command(entry, fill);
  auto executor = builder.executor();
  ASSERT_TRUE(executor);
  const int64_t fits[] = {12}, tooLong[] = {13};
  EXPECT_TRUE((*executor)->run(0, fits));
  const Status status = (*executor)->run(0, tooLong);
  EXPECT_THAT(status.message(),
              HasSubstr("entry 'main': a fill leaves its buffer (got 13 x 1 bytes, room for 12)"));
}

TEST(Executor, RefusesUnknownHostFunctions) {
  PlanBuilder builder;
  plan::EntryT &entry = builder.entry("main", plan::EntryKind::Generic, {});
  plan::HostCallT call;
  call.name = "format_disk";
  PlanBuilder::command(entry, std::move(call));
  auto executor = builder.executor();
  ASSERT_FALSE(executor);
  EXPECT_EQ(executor.status().exitCode(), 2);
  EXPECT_THAT(
      executor.status().message(),
      HasSubstr("entry 'main': host function 'format_disk' is not one that this runtime has"));
}

class Recorder : public TapSink {
public:
  void tap(std::string_view name, DType type, std::span<const uint64_t> shape,
           const std::byte *data) override {
    int32_t first;
    std::memcpy(&first, data, 4);
    seen.push_back(std::string(name) + " " + std::to_string(shape[0]) + " " +
                   std::to_string(first));
  }
  std::vector<std::string> seen;
};

TEST(Executor, TapsSeeABufferBeforeItIsReused) {
  PlanBuilder builder;
  const uint32_t t = builder.symbol("T", 4), bytes = builder.constant(4),
                 length = builder.symbolValue(t);
  const uint32_t a = builder.buffer("a", ArenaClass::Scratch, DType::I32, {length}, 16);
  plan::EntryT &entry = builder.entry("main", plan::EntryKind::Generic, {t});
  for (uint8_t value : {1, 2, 3}) {
    plan::FillT fill;
    fill.dst = a;
    fill.bytes = bytes;
    fill.value = value;
    PlanBuilder::command(entry, fill);
  }
  PlanBuilder::tap(entry, "last", 2, a);
  PlanBuilder::tap(entry, "first", 0, a);
  auto executor = builder.executor();
  ASSERT_TRUE(executor);
  Recorder recorder;
  const int64_t symbols[] = {2};
  ASSERT_TRUE((*executor)->run(0, symbols, &recorder));
  EXPECT_THAT(recorder.seen, ElementsAre("first 2 16843009", "last 2 50529027"));
}

TEST(Executor, PoisonFillsScratchAlone) {
  PlanBuilder builder;
  const uint32_t scratch =
      builder.buffer("s", ArenaClass::Scratch, DType::I32, {builder.constant(2)}, 8);
  const uint32_t io = builder.buffer("i", ArenaClass::Io, DType::I32, {builder.constant(2)}, 8);
  const uint32_t state =
      builder.buffer("t", ArenaClass::State, DType::I32, {builder.constant(2)}, 8);
  builder.entry("main", plan::EntryKind::Generic, {});
  for (bool poison : {false, true}) {
    auto executor = builder.executor(1, poison);
    ASSERT_TRUE(executor);
    ASSERT_TRUE((*executor)->run(0, {}));
    EXPECT_THAT(ints(**executor, scratch, 2), ElementsAre(poison ? -1 : 0, poison ? -1 : 0));
    EXPECT_THAT(ints(**executor, io, 2), ElementsAre(0, 0));
    EXPECT_THAT(ints(**executor, state, 2), ElementsAre(0, 0));
  }
}

TEST(ExprTable, EvaluatesEveryOperation) {
  PlanBuilder builder;
  const uint32_t t = builder.symbol("T", 100), s = builder.symbol("S", 100);
  const uint32_t x = builder.symbolValue(t), y = builder.symbolValue(s);
  std::vector<uint32_t> exprs;
  for (plan::ExprOp op :
       {plan::ExprOp::Add, plan::ExprOp::Sub, plan::ExprOp::Mul, plan::ExprOp::CeilDiv,
        plan::ExprOp::FloorDiv, plan::ExprOp::Min, plan::ExprOp::Max})
    exprs.push_back(builder.expr(op, x, y));
  exprs.push_back(builder.constant(42));
  builder.entry("main", plan::EntryKind::Generic, {});
  auto executor = builder.executor();
  ASSERT_TRUE(executor);
  ExprTable table((*executor)->plan());
  std::vector<uint32_t> slots;
  for (uint32_t expr : exprs)
    slots.push_back(table.add(expr));
  EXPECT_TRUE(table.isDynamic(slots.front()));
  EXPECT_FALSE(table.isDynamic(slots.back()));
  const int64_t symbols[] = {17, 5};
  ASSERT_TRUE(table.evaluate(symbols));
  std::vector<int64_t> values;
  for (uint32_t slot : slots)
    values.push_back(table.value(slot));
  EXPECT_THAT(values, ElementsAre(22, 12, 85, 4, 3, 5, 17, 42));
  const int64_t falling[] = {5, 17}, zero[] = {5, 0};
  EXPECT_THAT(table.evaluate(falling).message(), HasSubstr("Sub of 5 and 17"));
  EXPECT_THAT(table.evaluate(zero).message(), HasSubstr("CeilDiv of 5 and 0"));
}

TEST(Budget, AddsUpAndSaysByHowMuch) {
  PlanBuilder builder;
  buildTestModel(builder);
  auto executor = builder.executor();
  ASSERT_TRUE(executor);
  Budget budget((*executor)->program());
  const uint64_t arenas = budget.total();
  uint64_t expected = 0;
  for (const plan::Arena *arena : *(*executor)->program().arenas())
    expected += arena->size();
  EXPECT_EQ(arenas, expected);
  budget.add("staging", 1000);
  budget.add("nothing", 0);
  EXPECT_EQ(budget.total(), arenas + 1000);
  EXPECT_EQ(budget.lines().back().what, "staging");
  EXPECT_THAT(budget.table(), HasSubstr("staging                          1000 B"));
  EXPECT_TRUE(budget.check(std::nullopt));
  EXPECT_TRUE(budget.check(arenas + 1000));
  const Status status = budget.check(arenas + 993);
  EXPECT_EQ(status.exitCode(), 1);
  EXPECT_THAT(status.message(), HasSubstr(": 7 more)"));
}

TEST(HandlePool, OldHandlesReachNothing) {
  HandlePool pool(2);
  const Handle first = *pool.acquire(), second = *pool.acquire();
  EXPECT_EQ(first.index, 0u);
  EXPECT_EQ(second.index, 1u);
  EXPECT_EQ(pool.acquire(), std::nullopt);
  EXPECT_TRUE(pool.release(first));
  EXPECT_FALSE(pool.release(first));
  const Handle again = *pool.acquire();
  EXPECT_EQ(again.index, first.index);
  EXPECT_FALSE(pool.isCurrent(first));
  EXPECT_TRUE(pool.isCurrent(again));
  EXPECT_FALSE(pool.release(first));
  EXPECT_EQ(pool.available(), 0u);
  EXPECT_FALSE(pool.isCurrent(Handle{9, 1}));
}

TEST(Values, RoundsToNearestEven) {
  EXPECT_EQ(roundToBf16(1.0f), 0x3F80);
  EXPECT_EQ(roundToBf16(1.0f + 0x1p-8f), 0x3F80); // halfway: to even
  EXPECT_EQ(roundToBf16(1.0f + 0x3p-8f), 0x3F82); // halfway: to even
  EXPECT_EQ(roundToBf16(1.0f + 0x1.8p-8f), 0x3F81);
  EXPECT_EQ(roundToBf16(-3.4e38f), 0xFF80);
  EXPECT_TRUE(std::isnan(widenBf16(roundToBf16(std::nanf("")))));
  EXPECT_EQ(widenBf16(0xC040), -3.0f);
}

} // namespace
