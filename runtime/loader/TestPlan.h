//===- TestPlan.h - A small complete plan -----------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan with one of everything the schema has, as plain structs that a test changes in one place.
// Loader, executor and tools test with it; it is in no program.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_LOADER_TESTPLAN_H
#define K3_RUNTIME_LOADER_TESTPLAN_H

#include "runtime/schema/plan_generated.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace k3 {

/// The structs of a plan and the bytes of its segments, by name.
struct TestPlan {
  plan::PlanT plan;
  std::vector<std::pair<std::string, std::string>> segments;

  /// The file; its header, hashes and offsets are right whatever the plan says.
  std::string bytes();

  // Each appends one node or row and returns its index.
  uint32_t constant(int64_t value);
  uint32_t symbol(uint32_t index);
  uint32_t expr(plan::ExprOp op, uint32_t lhs, uint32_t rhs);

  plan::ProgramT &program() { return *plan.programs[0]; }
  plan::EntryT &entry(size_t index) { return *program().entries[index]; }
  /// Command INDEX of the first entry.
  plan::CommandT &command(size_t index) { return *entry(0).commands[index]; }
};

// Places in the plan of `makeTestPlan`, for tests that change them.
enum TestBuffer : uint32_t {
  BufferIds,
  BufferLogits,
  BufferScratch,
  BufferWeight,
  BufferBias,
  BufferState,
  BufferConv,
  BufferCache
};
enum TestCommand : uint32_t {
  CommandFill,
  CommandLaunch,
  CommandRecord,
  CommandWait,
  CommandCopy,
  CommandCollective,
  CommandHostCall
};

/// One rank, symbols T (up to 8) and S (up to 2), an arena of each class, eight buffers, three
/// states, two weights, a prefill entry with every kind of command and a decode entry for one row.
/// Passes all checks of the loader.
TestPlan makeTestPlan();

} // namespace k3

#endif // K3_RUNTIME_LOADER_TESTPLAN_H
