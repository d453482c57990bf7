//===- k3.cpp - The k3 binary ---------------------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses the command line and calls one subcommand. It links neither LLVM nor CUDA: whatever a plan
// needs is inside the plan.
//
//===----------------------------------------------------------------------===//

#include "runtime/tools/Commands.h"
#include "support/CommandLine.h"
#include "support/StandardStreams.h"

int main(int argc, char **argv) {
  k3::guardStandardStreams();
  CLI::App app("Runs plans that k3c has compiled.", "k3");
  app.set_version_flag("--version", "k3 " K3_VERSION);
  app.require_subcommand(1);
  int exitCode = 0;
  k3::addRunCommand(app, exitCode);
  k3::addBenchCommand(app, exitCode);
  k3::addInspectCommand(app, exitCode);
  if (std::optional<int> status = k3::parseArguments(app, argc, argv, "error"))
    return *status;
  return exitCode;
}
