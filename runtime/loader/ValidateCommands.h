//===- ValidateCommands.h - Commands of an entry ----------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One command at a time, with what it needs to know of its entry. Messages are put together only
// when something is wrong: a large plan has hundreds of thousands of arguments.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_LOADER_VALIDATECOMMANDS_H
#define K3_RUNTIME_LOADER_VALIDATECOMMANDS_H

#include "runtime/loader/Validate.h"

namespace k3 {

struct CommandChecks {
  const PlanChecks &checks;
  const plan::Program &program;
  const std::string &entry;
  uint64_t symbols; // bit i: the entry is given symbol i
  uint32_t index;

  template <typename... Args>
  Status refuse(fmt::format_string<Args...> message, Args &&...args) const {
    return checks.refuse("commands", "{} command {}: {}", entry, index,
                         fmt::format(message, std::forward<Args>(args)...));
  }
};

Status validateCommand(const CommandChecks &checks, const plan::Command &command);

} // namespace k3

#endif // K3_RUNTIME_LOADER_VALIDATECOMMANDS_H
