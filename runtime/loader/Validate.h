//===- Validate.h - Meaning of a plan ---------------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The structure of a flatbuffer says nothing about whether its numbers make sense. These checks do:
// every index has a target, every range lies inside what it is a range of, no arithmetic overflows.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_LOADER_VALIDATE_H
#define K3_RUNTIME_LOADER_VALIDATE_H

#include "runtime/schema/plan_generated.h"
#include "support/Format.h"
#include "support/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace k3 {

/// What is known of an expression for every allowed value of the symbols.
struct ExprRange {
  int64_t low = 0;
  int64_t high = 0;
  uint64_t symbols = 0; // bit i: depends on symbol i
  uint32_t depth = 0;   // of its tree: bounded, so that it may be walked recursively
};

/// Checks the meaning of PLAN, whose structure must have been verified. RANGES gets one entry an
/// expression.
Status validatePlan(const plan::Plan &plan, const std::string &path,
                    std::vector<ExprRange> &ranges);

/// What the checks share: the plan, the ranges of its expressions, and how a failure is worded.
struct PlanChecks {
  const plan::Plan &plan;
  const std::string &path;
  std::vector<ExprRange> &ranges;

  /// `PATH: section 'SECTION': MESSAGE; rebuild the plan with k3c`.
  template <typename... Args>
  Status refuse(const char *section, fmt::format_string<Args...> message, Args &&...args) const {
    return refuseText(section, fmt::format(message, std::forward<Args>(args)...));
  }
  Status refuseText(const char *section, const std::string &message) const;

  /// WHO's WHAT is an index that must be below COUNT.
  Status checkIndex(const char *section, std::string_view who, const char *what, uint64_t index,
                    uint64_t count) const {
    return index < count
               ? Status::ok()
               : refuse(section, "{}: its {} does not exist (got {}, expected less than {})", who,
                        what, index, count);
  }
  /// Names are printed and looked up: not empty, not huge, no control characters.
  Status checkName(const char *section, std::string_view who, std::string_view name) const;
  Status checkLocation(const char *section, std::string_view who, uint32_t location) const;
};

// One for each file Validate*.cpp, in the order in which they must run.
Status validateExprs(const PlanChecks &checks);
Status validateHead(const PlanChecks &checks);
Status validateKernels(const PlanChecks &checks);
Status validateMemory(const PlanChecks &checks, const plan::Program &program);
Status validateStates(const PlanChecks &checks, const plan::Program &program);
Status validateWeights(const PlanChecks &checks, const plan::Program &program);
Status validateEntries(const PlanChecks &checks, const plan::Program &program);

} // namespace k3

#endif // K3_RUNTIME_LOADER_VALIDATE_H
