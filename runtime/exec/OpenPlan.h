//===- OpenPlan.h - From a plan to a ready executor -------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The way every command starts a plan: check the machine, print the memory budget and refuse what
// does not fit, then allocate, then stream the weights.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_EXEC_OPENPLAN_H
#define K3_RUNTIME_EXEC_OPENPLAN_H

#include "runtime/exec/Executor.h"
#include "runtime/loader/Plan.h"
#include "support/Status.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace k3 {

struct OpenOptions {
  std::string weights;            // checkpoint folder or "random:SEED"; empty: none was given
  unsigned threads = 0;           // 0: K3_THREADS or all processors
  std::optional<uint64_t> memory; // bytes the run may take
  uint64_t dumpBytes = 0;         // host memory for a dump
  bool graphs = true;             // on a GPU
};

/// Starts PLAN, which must outlive the executor. With K3_POISON=1 in the environment scratch is
/// filled with NaN before every run.
Result<std::unique_ptr<Executor>> openPlan(const LoadedPlan &plan, const OpenOptions &options);

} // namespace k3

#endif // K3_RUNTIME_EXEC_OPENPLAN_H
