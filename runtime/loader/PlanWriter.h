//===- PlanWriter.h - Lays out a plan file ----------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns a plan, as plain structs, and its segments into the bytes of a .k3plan. The same input
// gives the same bytes, and what comes out has passed the checks of the loader.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_LOADER_PLANWRITER_H
#define K3_RUNTIME_LOADER_PLANWRITER_H

#include "runtime/schema/plan_generated.h"
#include "support/Status.h"

#include <span>
#include <string>
#include <string_view>

namespace k3 {

struct SegmentBytes {
  std::string name;
  std::string_view bytes; // at least one
};

/// The bytes of the file. PLAN's format version and segment table are set here; all its pointers
/// must be set. Refuses a plan that the loader would refuse, in the loader's words; NAME is what
/// messages call it.
Result<std::string> writePlan(plan::PlanT &plan, std::span<const SegmentBytes> segments,
                              const std::string &name = "plan");

/// The same without the loader's checks; tests use it to make files that are wrong in one place.
Result<std::string> writeUncheckedPlan(plan::PlanT &plan, std::span<const SegmentBytes> segments);

} // namespace k3

#endif // K3_RUNTIME_LOADER_PLANWRITER_H
