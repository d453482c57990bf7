//===- CommandLine.h - What both tools ask of a command line -----*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CLI11 alone takes "-1" for an unsigned number, reads "010" as 8 and makes 0 of "". These checks
// are strict, and what is refused is one sentence in the form of all other messages.
//
//===----------------------------------------------------------------------===//

#ifndef K3_SUPPORT_COMMANDLINE_H
#define K3_SUPPORT_COMMANDLINE_H

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace k3 {

/// A whole number in decimal digits without leading zeros. KEYWORD, if there is one, is taken
/// instead of a number.
CLI::Validator wholeNumber(uint64_t least, uint64_t most, const std::string &keyword = "");

/// A number with or without point and exponent. What range it needs is said where it is used.
CLI::Validator decimalNumber();

/// One of NAMES.
CLI::Validator oneOf(std::vector<std::string> names);

/// The path of a file or folder, or a name: anything but nothing.
CLI::Validator notEmpty();

/// Parses, and runs the command that was chosen. A number means that the program ends with it: 0
/// after help and version, 1 when they cannot be printed, 2 after a wrong command line, whose one
/// sentence then stands on standard error after PREFIX, as all messages of the tool.
std::optional<int> parseArguments(CLI::App &app, int argc, const char *const *argv,
                                  const char *prefix);

} // namespace k3

#endif // K3_SUPPORT_COMMANDLINE_H
