//===- Statistics.h - What many timings say ---------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The few numbers that a benchmark reports of a list of timings. A median and the range around it,
// because a mean hides what else the machine did.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_BENCH_STATISTICS_H
#define K3_RUNTIME_BENCH_STATISTICS_H

#include <span>

namespace k3 {

/// The middle of some numbers, and the least and the most of them.
struct Spread {
  double median = 0, least = 0, most = 0;
};

/// The smallest of VALUES, at least one, that SHARE of them (0 to 1) do not exceed.
double percentile(std::span<const double> values, double share);

/// Of at least one value. The median of an even number of values is the lower of the middle two.
Spread spreadOf(std::span<const double> values);

} // namespace k3

#endif // K3_RUNTIME_BENCH_STATISTICS_H
