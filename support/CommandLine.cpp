//===- CommandLine.cpp - What both tools ask of a command line ---*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A validator gives an empty string for a good value and otherwise what is wrong with it; CLI11
// puts the name of the option in front.
//
//===----------------------------------------------------------------------===//

#include "support/CommandLine.h"

#include "support/Format.h"
#include "support/StandardStreams.h"

#include <charconv>
#include <cstdio>
#include <string_view>

namespace k3 {

namespace {

std::string inQuotes(std::string_view value) { return std::string("'").append(value) + "'"; }

bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// `a, b or c`.
std::string listed(const std::vector<std::string> &names) {
  std::string result;
  for (size_t i = 0; i < names.size(); ++i)
    result += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return result;
}

/// COMMAND and the subcommands below it that were chosen, as one types them.
std::string commandName(const CLI::App &app) {
  std::string name = app.get_name();
  for (const CLI::App *chosen : app.get_subcommands())
    name += " " + commandName(*chosen);
  return name;
}

/// The sentence for ERROR, which CLI11 words by its own rules. What it has no better words for
/// stays as it is.
std::string reword(const CLI::App &app, const CLI::ParseError &error) {
  const std::string what = error.what();
  const std::string name = what.substr(0, what.find(": "));
  const bool mismatch = dynamic_cast<const CLI::ArgumentMismatch *>(&error);
  if (dynamic_cast<const CLI::ExtrasError *>(&error))
    return inQuotes(what.substr(what.find(": ") + 2)) + ": is no option or argument here";
  if (what == "A subcommand is required") {
    std::vector<std::string> commands;
    for (const CLI::App *command : app.get_subcommands({}))
      commands.push_back(command->get_name());
    const std::vector<std::string> rest = app.remaining();
    return "command: is " +
           (rest.empty() ? "missing (" : "unknown (got " + inQuotes(rest[0]) + ", ") + "expected " +
           listed(commands) + ")";
  }
  if (constexpr std::string_view end = " is required"; endsWith(what, end))
    return what.substr(0, what.size() - end.size()) + ": is missing";
  if (mismatch && endsWith(what, " missing"))
    return name + ": needs a value";
  if (mismatch && what.find("At Most 1 ") != std::string::npos)
    return name + ": is given more than once";
  if (size_t at = what.find(" = ");
      dynamic_cast<const CLI::ConversionError *>(&error) && at != what.npos) {
    size_t begin = what.find(": ") + 2;
    return what.substr(begin, at - begin) + ": takes no such value (got " +
           inQuotes(what.substr(at + 3)) + ")";
  }
  return what;
}

} // namespace

CLI::Validator wholeNumber(uint64_t least, uint64_t most, const std::string &keyword) {
  const std::string range = std::to_string(least) + " to " + std::to_string(most);
  auto check = [=](std::string &value) -> std::string {
    if (!keyword.empty() && value == keyword)
      return "";
    uint64_t number = 0;
    const char *end = value.data() + value.size();
    auto [stop, error] = std::from_chars(value.data(), end, number);
    // CLI11 would take a leading zero for octal.
    const bool octal = value.size() > 1 && value[0] == '0';
    if (stop != end || error == std::errc::invalid_argument || octal)
      return "is not a whole number (got " + inQuotes(value) + ", expected " + range +
             (keyword.empty() ? ")" : " or " + keyword + ")");
    if (error != std::errc() || number < least || number > most)
      return "is out of range (got " + value + ", expected " + range + ")";
    return "";
  };
  return CLI::Validator(check, (keyword.empty() ? "" : keyword + " or ") + range);
}

CLI::Validator decimalNumber() {
  return CLI::Validator(
      [](std::string &value) -> std::string {
        double number = 0;
        const char *end = value.data() + value.size();
        auto [stop, error] = std::from_chars(value.data(), end, number);
        if (error == std::errc() && stop == end)
          return "";
        return "is not a number (got " + inQuotes(value) + ", expected one like 0.7)";
      },
      "");
}

CLI::Validator oneOf(std::vector<std::string> names) {
  std::string shown;
  for (const std::string &name : names)
    shown += (shown.empty() ? "{" : ",") + name;
  return CLI::Validator(
      [names = std::move(names)](std::string &value) -> std::string {
        for (const std::string &name : names)
          if (value == name)
            return "";
        return "is unknown (got " + inQuotes(value) + ", expected " + listed(names) + ")";
      },
      shown + "}");
}

CLI::Validator notEmpty() {
  return CLI::Validator(
      [](std::string &value) -> std::string {
        return value.empty() ? "is empty (got '', expected a path or a name)" : "";
      },
      "");
}

std::optional<int> parseArguments(CLI::App &app, int argc, const char *const *argv,
                                  const char *prefix) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0) {
      app.exit(error);
      const Status printed = writeStandardOutput("");
      if (!printed)
        std::fprintf(stderr, "%s: %s\n", prefix, printed.message().c_str());
      return printed.exitCode();
    }
    const std::string command = commandName(app);
    std::fprintf(stderr, "%s: %s; see %s --help\n", prefix, printable(reword(app, error)).c_str(),
                 command.c_str());
    return 2;
  }
}

} // namespace k3
