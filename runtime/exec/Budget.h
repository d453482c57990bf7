//===- Budget.h - Memory before anything is loaded --------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds up what a run will take, line by line, from the plan alone, so that a run that cannot fit is
// refused before a byte of weights is read.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_EXEC_BUDGET_H
#define K3_RUNTIME_EXEC_BUDGET_H

#include "runtime/schema/plan_generated.h"
#include "support/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace k3 {

struct BudgetLine {
  std::string what;
  uint64_t bytes;
};

class Budget {
public:
  /// One line for each class of arena of PROGRAM.
  explicit Budget(const plan::Program &program);
  /// Adds a line; one of no bytes is left out.
  void add(std::string what, uint64_t bytes);

  const std::vector<BudgetLine> &lines() const { return lines_; }
  uint64_t total() const;
  /// A table for people, one line each, with the sum.
  std::string table() const;
  /// Fails, saying by how much, when the sum is more than LIMIT.
  Status check(std::optional<uint64_t> limit) const;

private:
  std::vector<BudgetLine> lines_;
};

/// What the process itself takes beside the lines above it: code, libraries, stacks, the tokenizer.
inline constexpr uint64_t ReserveBytes = 32u << 20;

} // namespace k3

#endif // K3_RUNTIME_EXEC_BUDGET_H
