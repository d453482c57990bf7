//===- MemoryPlan.cpp - Offsets for values by liveness --------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Greedy placement. Values are looked up by the commands they live through, so a step of thousands
// of short values costs about the sum of their lifetimes and not the square of their number.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/plan/MemoryPlan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace k3 {

namespace {

class Placement {
public:
  Placement(llvm::ArrayRef<Lifetime> values, llvm::ArrayRef<int64_t> sizes, int64_t commands)
      : values(values), sizes(sizes), seen(values.size(), 0), alive(commands) {
    plan.offsets.assign(values.size(), 0);
  }

  /// Puts a value at the lowest offset that is free from its first to its last command.
  void place(unsigned index) {
    const Lifetime &value = values[index];
    neighbours.clear();
    ++round;
    for (int64_t command = value.first; command <= value.last; ++command)
      for (unsigned other : alive[command])
        if (std::exchange(seen[other], round) != round)
          neighbours.push_back(other);
    std::sort(neighbours.begin(), neighbours.end(),
              [&](unsigned a, unsigned b) { return plan.offsets[a] < plan.offsets[b]; });
    int64_t offset = 0;
    for (unsigned other : neighbours) {
      if (plan.offsets[other] - offset >= sizes[index])
        break;
      offset = std::max(offset, plan.offsets[other] + sizes[other]);
    }
    plan.offsets[index] = offset;
    plan.size = std::max(plan.size, offset + sizes[index]);
    for (int64_t command = value.first; command <= value.last; ++command)
      alive[command].push_back(index);
  }

  MemoryPlan take() { return std::move(plan); }

private:
  llvm::ArrayRef<Lifetime> values;
  llvm::ArrayRef<int64_t> sizes;
  MemoryPlan plan;
  std::vector<unsigned> neighbours;
  std::vector<unsigned> seen;
  unsigned round = 0;
  std::vector<std::vector<unsigned>> alive;
};

} // namespace

static int64_t alignTo(int64_t size, int64_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

std::optional<MemoryPlan> planMemory(llvm::ArrayRef<Lifetime> values, int64_t alignment) {
  int64_t total = 0;
  // Only the order of the ends matters; equal ranks stand for the commands between two of them.
  std::map<int64_t, int64_t> ranks;
  for (const Lifetime &value : values) {
    int64_t padded = 0;
    if (__builtin_add_overflow(value.size, alignment - 1, &padded) ||
        __builtin_add_overflow(total, padded, &total))
      return std::nullopt;
    ranks[value.first] = ranks[value.last] = 0;
  }
  int64_t commands = 0;
  for (auto &entry : ranks)
    entry.second = commands++;

  std::vector<Lifetime> ranked(values.begin(), values.end());
  std::vector<int64_t> sizes;
  for (Lifetime &value : ranked) {
    value.first = ranks[value.first];
    value.last = ranks[value.last];
    sizes.push_back(alignTo(value.size, alignment));
  }
  std::vector<unsigned> bySize(values.size());
  std::iota(bySize.begin(), bySize.end(), 0u);
  std::vector<unsigned> byAge = bySize;
  std::stable_sort(bySize.begin(), bySize.end(),
                   [&](unsigned a, unsigned b) { return sizes[a] > sizes[b]; });
  std::stable_sort(byAge.begin(), byAge.end(), [&](unsigned a, unsigned b) {
    return std::pair(ranked[a].first, -sizes[a]) < std::pair(ranked[b].first, -sizes[b]);
  });

  std::optional<MemoryPlan> best;
  for (const std::vector<unsigned> &order : {bySize, byAge}) {
    Placement placement(ranked, sizes, commands);
    for (unsigned index : order)
      placement.place(index);
    MemoryPlan plan = placement.take();
    if (!best || plan.size < best->size)
      best = std::move(plan);
  }
  return best;
}

int64_t peakBytes(llvm::ArrayRef<Lifetime> values, int64_t alignment) {
  std::map<int64_t, int64_t> changes;
  for (const Lifetime &value : values) {
    changes[value.first] += alignTo(value.size, alignment);
    changes[value.last + 1] -= alignTo(value.size, alignment);
  }
  int64_t live = 0, peak = 0;
  for (auto [command, change] : changes)
    peak = std::max(peak, live += change);
  return peak;
}

} // namespace k3
