//===- Statistics.cpp - What many timings say -----------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nearest rank throughout: every number that is reported was measured, none lies between two.
//
//===----------------------------------------------------------------------===//

#include "runtime/bench/Statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

using namespace k3;

double k3::percentile(std::span<const double> values, double share) {
  assert(!values.empty() && "a percentile of nothing");
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  const size_t index = rank < 1 ? 0 : static_cast<size_t>(rank) - 1;
  return sorted[std::min(index, sorted.size() - 1)];
}

Spread k3::spreadOf(std::span<const double> values) {
  const auto [least, most] = std::ranges::minmax(values);
  return {percentile(values, 0.5), least, most};
}
