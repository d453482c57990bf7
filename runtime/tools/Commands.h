//===- Commands.h - Subcommands of k3 ---------------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function a subcommand: it declares its options and what to do when it is chosen. main stays a
// list.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_TOOLS_COMMANDS_H
#define K3_RUNTIME_TOOLS_COMMANDS_H

namespace CLI {
class App;
}

namespace k3 {

// Each sets EXITCODE when it has run: 0 done, 1 failed at work, 2 refused input. Both references
// must outlive parsing.
void addBenchCommand(CLI::App &app, int &exitCode);
void addInspectCommand(CLI::App &app, int &exitCode);
void addRunCommand(CLI::App &app, int &exitCode);

} // namespace k3

#endif // K3_RUNTIME_TOOLS_COMMANDS_H
