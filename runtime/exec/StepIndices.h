//===- StepIndices.h - Checks of the indices of a step ----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Holds the slots, offsets, positions and pages that a file gives a single entry against the
// limits of the plan. A session makes its own and needs no such check.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_EXEC_STEPINDICES_H
#define K3_RUNTIME_EXEC_STEPINDICES_H

#include "runtime/schema/plan_generated.h"
#include "support/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace k3 {

class StepIndices {
public:
  explicit StepIndices(int64_t tokens) : tokens_(tokens) {}

  /// VALUES of the input NAME, in ROWS rows; inputs that are no indices of a step are ignored.
  void set(std::string_view name, std::span<const int32_t> values, uint64_t rows);

  /// Refuses the first index that a kernel must not use. FILE is what the message names.
  Status check(const std::string &file, const plan::Limits &limits) const;

private:
  struct Input {
    bool given = false;
    std::span<const int32_t> values;
  };
  Status checkSlots(const std::string &file, int64_t slots) const;
  Status checkOffsets(const std::string &file) const;
  Status checkTokens(const std::string &file, int64_t context) const;
  Status checkPages(const std::string &file, const plan::Limits &limits) const;

  int64_t tokens_;
  uint64_t sequences_ = 0; // rows of the page table
  Input slots_, offsets_, tokenSeq_, tokenPos_, pages_;
};

} // namespace k3

#endif // K3_RUNTIME_EXEC_STEPINDICES_H
