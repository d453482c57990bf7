//===- CommandLineTest.cpp - Tests of the command line -----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tool with one of each kind of option: what it takes, and the one sentence for what it does not.
//
//===----------------------------------------------------------------------===//

#include "support/CommandLine.h"

#include <gtest/gtest.h>

#include <cstdint>

using namespace k3;

namespace {

/// What the command lines of the tests set.
struct Values {
  uint64_t count = 7;
  std::string limit, kind, file;
  float heat = 0;
  std::vector<uint64_t> sizes;
  bool flag = false;
};

struct Outcome {
  std::optional<int> status;
  std::string error;
  Values values;
};

Outcome parse(std::vector<const char *> arguments) {
  Outcome outcome;
  Values &values = outcome.values;
  CLI::App app("A tool.", "tool");
  app.require_subcommand(1);
  app.add_subcommand("stop", "end");
  CLI::App *go = app.add_subcommand("go", "begin");
  go->add_option("FILE", values.file, "what to read")->required()->check(notEmpty());
  go->add_option("--count", values.count, "how many")->check(wholeNumber(1, UINT64_MAX));
  go->add_option("--limit", values.limit, "at most")->check(wholeNumber(2, 100, "auto"));
  go->add_option("--kind", values.kind, "which")->check(oneOf({"red", "green", "blue"}));
  go->add_option("--heat", values.heat, "how hot")->check(decimalNumber());
  go->add_option("--sizes", values.sizes, "each")->delimiter(',')->check(wholeNumber(1, 9));
  go->add_flag("--flag", values.flag, "or not");
  arguments.insert(arguments.begin(), "tool");
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  outcome.status = parseArguments(app, static_cast<int>(arguments.size()), arguments.data(), "oh");
  testing::internal::GetCapturedStdout();
  outcome.error = testing::internal::GetCapturedStderr();
  return outcome;
}

void expectRefusal(std::vector<const char *> arguments, const std::string &sentence) {
  const Outcome outcome = parse(std::move(arguments));
  EXPECT_EQ(outcome.status, 2) << sentence;
  EXPECT_EQ(outcome.error, "oh: " + sentence + "\n");
}

TEST(CommandLine, TakesWhatIsMeant) {
  const Outcome outcome = parse({"go", "a", "--count", "18446744073709551615", "--limit", "auto",
                                 "--kind", "green", "--heat", "1e-1", "--sizes", "3,9", "--flag"});
  EXPECT_EQ(outcome.status, std::nullopt);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.values.count, UINT64_MAX);
  EXPECT_EQ(outcome.values.limit, "auto");
  EXPECT_EQ(outcome.values.kind, "green");
  EXPECT_EQ(outcome.values.heat, 0.1f);
  EXPECT_EQ(outcome.values.sizes, (std::vector<uint64_t>{3, 9}));
  EXPECT_TRUE(outcome.values.flag);
}

TEST(CommandLine, RefusesNumbersThatAreNone) {
  for (const char *bad : {"", "-1", "+1", " 1", "1 ", "010", "0x10", "1e3", "1.5", "abc", "1,2"})
    expectRefusal({"go", "a", "--count", bad},
                  "--count: is not a whole number (got '" + std::string(bad) +
                      "', expected 1 to 18446744073709551615); see tool go --help");
  expectRefusal({"go", "a", "--count", "0"}, "--count: is out of range (got 0, expected 1 to "
                                             "18446744073709551615); see tool go --help");
  expectRefusal({"go", "a", "--count", "18446744073709551616"},
                "--count: is out of range (got 18446744073709551616, expected 1 to "
                "18446744073709551615); see tool go --help");
  expectRefusal({"go", "a", "--limit", "101"},
                "--limit: is out of range (got 101, expected 2 to 100); see tool go --help");
  expectRefusal({"go", "a", "--limit", "never"}, "--limit: is not a whole number (got 'never', "
                                                 "expected 2 to 100 or auto); see tool go --help");
  expectRefusal({"go", "a", "--sizes", "3,0"},
                "--sizes: is out of range (got 0, expected 1 to 9); see tool go --help");
  for (const char *bad : {"", "abc", "0x10", " 1", "1 ", "1e999"})
    expectRefusal({"go", "a", "--heat", bad}, "--heat: is not a number (got '" + std::string(bad) +
                                                  "', expected one like 0.7); see tool go --help");
}

TEST(CommandLine, RefusesTheRestInTheSameForm) {
  expectRefusal({"go", "a", "--kind", "tan"}, "--kind: is unknown (got 'tan', expected red, green "
                                              "or blue); see tool go --help");
  expectRefusal({"go", ""},
                "FILE: is empty (got '', expected a path or a name); see tool go --help");
  expectRefusal({"go"}, "FILE: is missing; see tool go --help");
  expectRefusal({"go", "a", "b"}, "'b': is no option or argument here; see tool go --help");
  expectRefusal({"go", "a", "--fast"},
                "'--fast': is no option or argument here; see tool go --help");
  expectRefusal({"go", "a", "--kind"}, "--kind: needs a value; see tool go --help");
  expectRefusal({"go", "a", "--kind", "red", "--kind", "red"},
                "--kind: is given more than once; see tool go --help");
  expectRefusal({"go", "a", "--flag=often"},
                "--flag: takes no such value (got 'often'); see tool go --help");
  expectRefusal({}, "command: is missing (expected stop or go); see tool --help");
  expectRefusal({"fly"}, "command: is unknown (got 'fly', expected stop or go); see tool --help");
}

TEST(CommandLine, HelpIsNoError) {
  EXPECT_EQ(parse({"--help"}).status, 0);
  EXPECT_EQ(parse({"go", "--help"}).status, 0);
  EXPECT_EQ(parse({"go", "--help"}).error, "");
}

} // namespace
