//===- BlockTest.cpp - Tests of the emulated threads ----------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An emulator that forgives a missing barrier would be worse than none: what a GPU punishes must be
// seen here, in one order of the threads or another.
//
//===----------------------------------------------------------------------===//

#include "Block.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

using namespace k3::emulator;

namespace {

constexpr unsigned kThreads = 96;
k3_emulated_machine *machine;
std::array<int, kThreads> before, after;

int valueOfLane(unsigned lane, int mine) {
  return static_cast<const int *>(machine->gather(&mine, sizeof mine))[lane];
}

void reverseThroughMemory(void **) {
  unsigned thread = machine->thread;
  before[thread] = int(thread) * 3;
  machine->barrier();
  after[thread] = before[kThreads - 1 - thread];
}

void reverseWithoutBarrier(void **) {
  unsigned thread = machine->thread;
  before[thread] = int(thread) * 3;
  after[thread] = before[kThreads - 1 - thread];
}

void sumOfWarp(void **parameters) {
  int sum = int(machine->thread) * *static_cast<int *>(*parameters);
  for (unsigned distance = 16; distance > 0; distance /= 2)
    sum += valueOfLane(machine->thread % 32 ^ distance, sum);
  after[machine->thread] = sum;
}

void barrierForSome(void **) {
  if (machine->thread != 5)
    machine->barrier();
}

void meetingForSome(void **) {
  if (machine->thread != 40)
    valueOfLane(0, 1);
}

void unlikeMeetings(void **) {
  char small = 0;
  if (machine->thread == 40)
    machine->gather(&small, 1);
  else
    valueOfLane(0, 1);
}

class Orders : public testing::TestWithParam<Order> {
protected:
  Orders() : runner(GetParam()) {
    machine = &runner.machine;
    before.fill(-1);
    after.fill(-1);
  }
  BlockRunner runner;
};

TEST_P(Orders, BarrierOrdersWritesAndReads) {
  for (unsigned block = 0; block < 3; ++block) {
    ASSERT_EQ(runner.run(reverseThroughMemory, nullptr, block, kThreads), nullptr);
    EXPECT_EQ(machine->block, block);
    for (unsigned i = 0; i < kThreads; ++i)
      EXPECT_EQ(after[i], int(kThreads - 1 - i) * 3);
  }
}

TEST_P(Orders, LanesMeetWithTheirWarpOnly) {
  int factor = 7;
  void *parameters[] = {&factor};
  ASSERT_EQ(runner.run(sumOfWarp, parameters, 0, kThreads), nullptr);
  for (unsigned i = 0; i < kThreads; ++i)
    EXPECT_EQ(after[i], 7 * (32 * int(i / 32 * 32) + 31 * 32 / 2));
}

TEST_P(Orders, AbsentThreadsAreAnError) {
  EXPECT_STREQ(runner.run(barrierForSome, nullptr, 0, kThreads),
               "emulator: threads of a block wait at a barrier that others never reach");
  EXPECT_STREQ(runner.run(meetingForSome, nullptr, 0, kThreads),
               "emulator: lanes of a warp wait for others that never come");
  EXPECT_STREQ(runner.run(unlikeMeetings, nullptr, 0, kThreads),
               "emulator: lanes of a warp wait for others that never come");
  // And the next block finds a machine in order.
  EXPECT_EQ(runner.run(reverseThroughMemory, nullptr, 0, kThreads), nullptr);
  EXPECT_EQ(after[0], int(kThreads - 1) * 3);
}

INSTANTIATE_TEST_SUITE_P(All, Orders,
                         testing::Values(Order{}, Order{Order::Backward, 0},
                                         Order{Order::Shuffled, 17}, Order{Order::Shuffled, 18}));

TEST(Block, MissingBarrierGivesOtherNumbersInAnotherOrder) {
  std::array<int, kThreads> first;
  {
    BlockRunner forward({});
    machine = &forward.machine;
    before.fill(-1);
    forward.run(reverseWithoutBarrier, nullptr, 0, kThreads);
    first = after;
  }
  BlockRunner backward({Order::Backward, 0});
  machine = &backward.machine;
  before.fill(-1);
  backward.run(reverseWithoutBarrier, nullptr, 0, kThreads);
  EXPECT_NE(first, after);
}

} // namespace
