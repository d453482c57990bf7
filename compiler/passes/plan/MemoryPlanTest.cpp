//===- MemoryPlanTest.cpp - Tests of the memory plan ----------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Offsets that can be checked by eye, and random inputs against every order of first fit, the best
// of which is optimal.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/plan/MemoryPlan.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace k3 {
namespace {

using Offsets = std::vector<int64_t>;

MemoryPlan planned(const std::vector<Lifetime> &values) { return planMemory(values, 64).value(); }

void expectDisjoint(const std::vector<Lifetime> &values, const MemoryPlan &plan) {
  ASSERT_EQ(plan.offsets.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % 64, 0);
    EXPECT_GE(plan.offsets[i], 0);
    EXPECT_LE(plan.offsets[i] + values[i].size, plan.size);
    for (size_t j = 0; j < i; ++j) {
      bool together = values[i].first <= values[j].last && values[j].first <= values[i].last;
      bool share = plan.offsets[i] < plan.offsets[j] + values[j].size &&
                   plan.offsets[j] < plan.offsets[i] + values[i].size;
      EXPECT_FALSE(together && share) << "values " << j << " and " << i;
    }
  }
}

TEST(MemoryPlan, NothingNeedsNothing) {
  EXPECT_EQ(planned({}).size, 0);
  EXPECT_EQ(planned({{0, 3, 0}}).size, 0);
}

TEST(MemoryPlan, ChainUsesTwoPlaces) {
  // Each command reads the value before and writes the next.
  MemoryPlan plan = planned({{0, 1, 64}, {1, 2, 64}, {2, 3, 64}, {3, 4, 64}});
  EXPECT_EQ(plan.offsets, (Offsets{0, 64, 0, 64}));
  EXPECT_EQ(plan.size, 128);
}

TEST(MemoryPlan, ALastUseAndADefinitionOfOneCommandDoNotShare) {
  EXPECT_EQ(planned({{0, 1, 64}, {1, 1, 64}}).offsets, (Offsets{0, 64}));
  EXPECT_EQ(planned({{0, 1, 64}, {2, 2, 64}}).offsets, (Offsets{0, 0}));
}

TEST(MemoryPlan, SizesAreRoundedUp) {
  MemoryPlan plan = planned({{0, 1, 65}, {1, 2, 1}});
  EXPECT_EQ(plan.offsets, (Offsets{0, 128}));
  EXPECT_EQ(plan.size, 192);
}

TEST(MemoryPlan, LongLivedValueStaysBelowItsGuests) {
  // The stack lives through all; the values of each layer reuse the space above it.
  MemoryPlan plan = planned({{0, 9, 1024}, {0, 1, 256}, {2, 3, 512}, {4, 5, 128}, {4, 6, 64}});
  EXPECT_EQ(plan.offsets, (Offsets{0, 1024, 1024, 1024, 1152}));
  EXPECT_EQ(plan.size, 1536);
}

TEST(MemoryPlan, AGapIsFilled) {
  // 256 bytes at the bottom die early; a later small value goes there though larger ones lie above.
  MemoryPlan plan = planned({{0, 1, 256}, {0, 5, 128}, {3, 5, 192}});
  EXPECT_EQ(plan.offsets, (Offsets{0, 256, 0}));
  EXPECT_EQ(plan.size, 384);
}

TEST(MemoryPlan, TheBetterOrderWins) {
  // Largest first 256 bytes, oldest first 384.
  EXPECT_EQ(planned({{0, 1, 128}, {2, 4, 192}, {1, 2, 64}}).size, 256);
  // Largest first 640 bytes, oldest first 576.
  EXPECT_EQ(planned({{2, 3, 256}, {1, 1, 192}, {0, 2, 256}, {1, 1, 128}}).size, 576);
}

TEST(MemoryPlan, TheOrderOfEqualValuesIsFixed) {
  std::vector<Lifetime> values(20, {0, 5, 64});
  Offsets expected(20);
  for (int i = 0; i < 20; ++i)
    expected[i] = 64 * i;
  EXPECT_EQ(planned(values).offsets, expected);
}

TEST(MemoryPlan, SizesBeyond63BitsAreRefused) {
  EXPECT_TRUE(planMemory({{0, 1, INT64_MAX / 2}, {2, 3, INT64_MAX / 2 - 200}}, 64));
  EXPECT_FALSE(planMemory({{0, 1, INT64_MAX / 2}, {2, 3, INT64_MAX / 2}, {4, 4, 2}}, 64));
  EXPECT_FALSE(planMemory({{0, 1, INT64_MAX}}, 64));
}

TEST(MemoryPlan, PeakCountsWhatLivesTogether) {
  EXPECT_EQ(peakBytes({}, 64), 0);
  EXPECT_EQ(peakBytes({{0, 1, 64}, {1, 2, 65}, {3, 3, 1}}, 64), 192);
}

/// The size of the best plan: first fit in every order contains an optimal one.
int64_t optimum(const std::vector<Lifetime> &values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  int64_t best = INT64_MAX;
  do {
    std::vector<int64_t> offsets(values.size(), -1);
    int64_t size = 0;
    for (size_t index : order) {
      const Lifetime &value = values[index];
      int64_t offset = 0;
      bool moved = true;
      while (moved) {
        moved = false;
        for (size_t other = 0; other < values.size(); ++other)
          if (offsets[other] >= 0 && values[other].first <= value.last &&
              value.first <= values[other].last && offset < offsets[other] + values[other].size &&
              offsets[other] < offset + value.size) {
            offset = offsets[other] + values[other].size;
            moved = true;
          }
      }
      offsets[index] = offset;
      size = std::max(size, offset + value.size);
    }
    best = std::min(best, size);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(MemoryPlan, IsCloseToTheOptimumOnRandomInput) {
  std::mt19937 random(7);
  double sum = 0, worst = 0;
  constexpr int rounds = 200;
  for (int round = 0; round < rounds; ++round) {
    std::vector<Lifetime> values;
    for (int i = 0; i < 6; ++i) {
      int64_t first = random() % 8;
      values.push_back({first, first + static_cast<int64_t>(random() % 4),
                        64 * (1 + static_cast<int64_t>(random() % 8))});
    }
    MemoryPlan plan = planned(values);
    expectDisjoint(values, plan);
    int64_t best = optimum(values);
    EXPECT_GE(best, peakBytes(values, 64));
    EXPECT_GE(plan.size, best);
    double gap = static_cast<double>(plan.size) / static_cast<double>(best) - 1;
    sum += gap;
    worst = std::max(worst, gap);
  }
  RecordProperty("mean_gap_percent", std::to_string(100 * sum / rounds));
  RecordProperty("worst_gap_percent", std::to_string(100 * worst));
  std::printf("gap to the optimum: mean %.2f %%, worst %.1f %%\n", 100 * sum / rounds, 100 * worst);
  EXPECT_LE(sum / rounds, 0.02);
  EXPECT_LE(worst, 0.35);
}

TEST(MemoryPlan, LargeRandomInputNeverOverlaps) {
  std::mt19937 random(11);
  std::vector<Lifetime> values;
  for (int i = 0; i < 400; ++i) {
    int64_t first = random() % 300;
    values.push_back({first, first + static_cast<int64_t>(random() % (i % 20 == 0 ? 200 : 4)),
                      static_cast<int64_t>(random() % 5000)});
  }
  expectDisjoint(values, planned(values));
}

TEST(MemoryPlan, AStepOfManyCommandsIsFast) {
  // 100 layers of 200 values and one that lives through all: quadratic work would take minutes.
  std::vector<Lifetime> values{{0, 20000, 1 << 20}};
  for (int64_t i = 0; i < 20000; ++i)
    values.push_back({i, i + 3, 64 * (1 + i % 50)});
  MemoryPlan plan = planned(values);
  EXPECT_LE(plan.size, 2 * peakBytes(values, 64));
}

} // namespace
} // namespace k3
