//===- ArenaNames.h - What arenas are called --------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The word for each arena class, the same in budgets, messages and k3 inspect.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_LOADER_ARENANAMES_H
#define K3_RUNTIME_LOADER_ARENANAMES_H

#include "runtime/schema/plan_generated.h"

#include <string_view>

namespace k3 {

/// "weights", "state", ...; "unknown" for a value outside the enumeration, which a validated plan
/// does not hold.
constexpr std::string_view arenaClassName(plan::ArenaClass cls) {
  switch (cls) {
  case plan::ArenaClass::Weights:
    return "weights";
  case plan::ArenaClass::State:
    return "state";
  case plan::ArenaClass::Cache:
    return "cache";
  case plan::ArenaClass::Scratch:
    return "scratch";
  case plan::ArenaClass::Io:
    return "io";
  case plan::ArenaClass::Peer:
    return "peer";
  }
  return "unknown";
}

} // namespace k3

#endif // K3_RUNTIME_LOADER_ARENANAMES_H
