//===- k3c.cpp - The compiler's main -----------------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Command line, dry run or compilation, exit status. Everything else is in the libraries.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/k3c/Command.h"
#include "support/Format.h"
#include "support/StandardStreams.h"

#include <cstdio>

namespace {

int finish(const k3::Status &status) {
  if (!status.isOk())
    std::fprintf(stderr, "k3c: %s\n", k3::printable(status.message()).c_str());
  return status.exitCode();
}

} // namespace

int main(int argc, char **argv) {
  k3::guardStandardStreams();
  k3::CommandLine command = k3::parseCommandLine(argc, argv);
  if (command.exitCode)
    return *command.exitCode;
  if (!command.options.dryRun)
    return finish(k3::compile(command.options));
  k3::Result<std::string> report = k3::dryRun(command.options);
  if (!report.isOk())
    return finish(report.status());
  return finish(k3::writeStandardOutput(*report));
}
