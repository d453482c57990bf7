//===- Budget.cpp - Memory before anything is loaded ------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sizes are the hard sizes of the plan: pools are counted whole, whether a run will fill them
// or not.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/Budget.h"

#include "runtime/exec/Memory.h"
#include "runtime/loader/ArenaNames.h"
#include "support/Format.h"

#include <algorithm>
#include <fmt/format.h>

using namespace k3;

Budget::Budget(const plan::Program &program) {
  for (plan::ArenaClass cls : plan::EnumValuesArenaClass()) {
    uint64_t bytes = 0;
    for (const plan::Arena *arena : *program.arenas())
      bytes += arena->cls() == cls ? arena->size() : 0;
    if (bytes || (cls != plan::ArenaClass::Peer))
      lines_.push_back({std::string(arenaClassName(cls)), bytes});
  }
}

void Budget::add(std::string what, uint64_t bytes) {
  if (bytes)
    lines_.push_back({std::move(what), bytes});
}

uint64_t Budget::total() const {
  uint64_t sum = 0;
  for (const BudgetLine &line : lines_) {
    // Saturate: a sum beyond 2^64 fits nowhere either.
    if (__builtin_add_overflow(sum, line.bytes, &sum))
      return UINT64_MAX;
  }
  return sum;
}

std::string Budget::table() const {
  std::string text = "memory budget\n";
  for (const BudgetLine &line : lines_)
    text +=
        fmt::format("  {:<20} {:>16} B  {:>12}\n", line.what, line.bytes, formatBytes(line.bytes));
  text += fmt::format("  {:<20} {:>16} B  {:>12}\n", "sum", total(), formatBytes(total()));
  return text;
}

Status Budget::check(std::optional<uint64_t> limit) const {
  if (!limit || total() <= *limit)
    return Status::ok();
  return Status::failed(fmt::format("memory: the plan does not fit (got {} bytes by --memory, "
                                    "expected at least {}: {} more); compile it with a "
                                    "smaller --max-context, --max-seqs or --max-tokens",
                                    *limit, total(), total() - *limit));
}
