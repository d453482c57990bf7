//===- Command.h - The command line of k3c -----------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses the command line, with the spellings that people know from other engines, and runs the dry
// run. Kept apart from the driver, because CLI11 throws and the MLIR half is built without
// exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_TOOLS_K3C_COMMAND_H
#define K3_COMPILER_TOOLS_K3C_COMMAND_H

#include "compiler/tools/k3c/Driver.h"

#include <optional>
#include <string>

namespace k3 {

struct CommandLine {
  /// Set when there is nothing to do: 0 after --help, 2 for a wrong command line (the message has
  /// been printed).
  std::optional<int> exitCode;
  CompileOptions options;
};

CommandLine parseCommandLine(int argc, const char *const *argv);

/// The report of `--dry-run`, as it goes to standard output.
Result<std::string> dryRun(const CompileOptions &options);

} // namespace k3

#endif // K3_COMPILER_TOOLS_K3C_COMMAND_H
