//===- Progress.h - A progress line on standard error -----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shows how much of a long transfer is done, how fast it runs and how long it will take: a bar that
// is redrawn on a terminal, a line every two seconds elsewhere, so that a log of a loading server
// says where it stands.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_WEIGHTS_PROGRESS_H
#define K3_RUNTIME_WEIGHTS_PROGRESS_H

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace k3 {

/// Counts bytes. `add` may be called by any thread, the others by one.
class Progress {
public:
  /// LABEL begins each line. A quiet one prints nothing.
  Progress(std::string label, uint64_t total, bool quiet);
  void add(uint64_t bytes) { done_.fetch_add(bytes, std::memory_order_relaxed); }
  /// Draws, if it is time to. Meant to be called about ten times a second.
  void tick();
  /// Draws the last line, with the total time and the mean rate.
  void finish();

private:
  double seconds() const;
  std::string label_;
  uint64_t total_;
  std::atomic<uint64_t> done_{0};
  std::chrono::steady_clock::time_point start_;
  double lastLine_ = 0;
  bool quiet_;
  bool terminal_;
};

} // namespace k3

#endif // K3_RUNTIME_WEIGHTS_PROGRESS_H
