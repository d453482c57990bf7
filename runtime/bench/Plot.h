//===- Plot.h - A picture of a benchmark ------------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Draws measured cases as a small SVG that a browser or a README shows without anything else.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_BENCH_PLOT_H
#define K3_RUNTIME_BENCH_PLOT_H

#include "runtime/bench/ModelBench.h"

#include <span>
#include <string>

namespace k3 {

/// Two panels over the length of the prompts, a line for each batch size: the time of a token, from
/// p50 up to p99, and new tokens a second, from the least to the most of the repeats. TITLE stands
/// above them and may hold any text. At least one case.
std::string plotModel(std::string_view title, std::span<const ModelBenchCase> cases);

} // namespace k3

#endif // K3_RUNTIME_BENCH_PLOT_H
