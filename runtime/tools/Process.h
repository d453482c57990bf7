//===- Process.h - What commands ask of the system --------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A few facts about the process and the machine, and the way onto a stack that is deep enough for
// kernels.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_TOOLS_PROCESS_H
#define K3_RUNTIME_TOOLS_PROCESS_H

#include "support/Status.h"

#include <cstdint>
#include <functional>
#include <string>

namespace k3 {

/// The largest resident size so far in bytes, or 0 when the system does not say.
uint64_t peakMemory();
/// What the first processor calls itself, or "unknown".
std::string processorName();
/// Now, in UTC: "2026-12-01T12:00:00Z".
std::string utcNow();

/// Runs WORK on a thread with the stack that kernels need, reports its failure, and returns the
/// exit status.
int runOnKernelStack(const std::function<Status()> &work);

} // namespace k3

#endif // K3_RUNTIME_TOOLS_PROCESS_H
