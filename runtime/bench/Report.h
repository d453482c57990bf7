//===- Report.h - Benchmarks as table and JSON ------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What was measured, on what, in two forms: a table for people on standard output and one JSON
// object for scripts.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_BENCH_REPORT_H
#define K3_RUNTIME_BENCH_REPORT_H

#include "runtime/bench/ModelBench.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

namespace k3 {

/// What the numbers belong to.
struct BenchSubject {
  std::string plan;           // file name
  std::string model;          // "kimi_k3"
  std::string target;         // "cpu", "sm_90a"
  std::string device;         // name of the processor or GPU
  unsigned threads = 0;       // that run kernels; 0 on a GPU
  std::string weights;        // as given
  std::string date;           // UTC, "2026-12-01T12:00:00Z"
  uint64_t planBytes = 0;     // memory that the plan asks for on its device
  uint64_t hostPeakBytes = 0; // largest resident size of the process
};

/// "1.23 ms": three digits or more of seconds, in the unit that suits.
std::string formatSeconds(double seconds);

/// One line a case under a line of names.
std::string modelTable(std::span<const ModelBenchCase> cases);

/// All of it; seconds and bytes throughout.
nlohmann::json modelJson(const BenchSubject &subject, const ModelBenchOptions &options,
                         std::span<const ModelBenchCase> cases);

/// The subject alone, to which other reports add.
nlohmann::json subjectJson(const BenchSubject &subject);

} // namespace k3

#endif // K3_RUNTIME_BENCH_REPORT_H
