//===- Progress.cpp - A progress line on standard error ---------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Standard output belongs to the generated text, so everything here goes to standard error.
//
//===----------------------------------------------------------------------===//

#include "runtime/weights/Progress.h"

#include "support/Format.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

using namespace k3;

Progress::Progress(std::string label, uint64_t total, bool quiet)
    : label_(std::move(label)), total_(total), start_(std::chrono::steady_clock::now()),
      quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::tick() {
  const double now = seconds();
  if (quiet_ || now - lastLine_ < (terminal_ ? 0.1 : 2.0))
    return;
  lastLine_ = now;
  const uint64_t done = done_.load(std::memory_order_relaxed);
  const double share = total_ ? static_cast<double>(done) / static_cast<double>(total_) : 1.0;
  const double rate = static_cast<double>(done) / std::max(now, 1e-9);
  const std::string left =
      done ? fmt::format("{:.0f} s left",
                         static_cast<double>(total_ - std::min(done, total_)) / std::max(rate, 1.0))
           : "starting";
  std::string line = fmt::format("{}: {:3.0f} % of {}, {}, {}", label_, 100 * share,
                                 formatBytes(total_), formatRate(rate), left);
  if (terminal_) {
    const int filled = static_cast<int>(30 * std::min(share, 1.0));
    line = fmt::format("\r[{:#<{}}{:.<{}}] {}\x1b[K", "", filled, "", 30 - filled, line);
  } else {
    line += '\n';
  }
  std::fputs(line.c_str(), stderr);
}

void Progress::finish() {
  if (quiet_)
    return;
  const double now = seconds();
  const uint64_t done = done_.load(std::memory_order_relaxed);
  std::fputs(fmt::format("{}{}: {} in {:.2f} s, {}\n", terminal_ ? "\r\x1b[K" : "", label_,
                         formatBytes(done), now,
                         formatRate(static_cast<double>(done) / std::max(now, 1e-9)))
                 .c_str(),
             stderr);
}
