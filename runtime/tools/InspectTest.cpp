//===- InspectTest.cpp - Tests of k3 inspect ------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text and the JSON of the test plan, and the exit status of the command line.
//
//===----------------------------------------------------------------------===//

#include "runtime/tools/Inspect.h"

#include "runtime/loader/HostCpu.h"
#include "runtime/loader/TestPlan.h"
#include "runtime/tools/Commands.h"
#include "support/File.h"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

namespace k3 {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

LoadedPlan load(TestPlan &test) {
  Result<LoadedPlan> loaded = parsePlan(test.bytes(), "t.k3plan");
  EXPECT_TRUE(loaded.isOk()) << loaded.status().message();
  return std::move(*loaded);
}

TEST(Inspect, json) {
  TestPlan test = makeTestPlan();
  LoadedPlan plan = load(test);
  Json json = Json::parse(inspectJson(plan));
  EXPECT_EQ(json["producer"], Json({{"version", "0.1.0"},
                                    {"flags", {"--target cpu", "--dtype f32"}},
                                    {"llvm_version", "22.1.8"},
                                    {"nvrtc_version", nullptr}}));
  EXPECT_EQ(json["target"]["name"], "cpu");
  EXPECT_EQ(json["target"]["features"], Json({"sse", "sse2"}));
  EXPECT_EQ(json["target"]["runs_here"], hostArchitecture() == "x86_64");
  EXPECT_EQ(json["ranks"], 1);
  EXPECT_EQ(json["limits"], Json({{"max_tokens", 8},
                                  {"max_seqs", 2},
                                  {"max_context", 8},
                                  {"max_logit_rows", 8},
                                  {"page_tokens", 4},
                                  {"cache_pages", 4}}));
  EXPECT_EQ(json["symbols"][0], Json({{"name", "T"}, {"upper_bound", 8}}));
  EXPECT_EQ(json["memory"], Json::array({{{"rank", 0},
                                          {"weights", 192},
                                          {"state", 320},
                                          {"cache", 128},
                                          {"scratch", 256},
                                          {"io", 192},
                                          {"peer", 0},
                                          {"total", 1088}}}));
  ASSERT_EQ(json["entries"].size(), 2u);
  EXPECT_EQ(json["entries"][0]["name"], "prefill");
  EXPECT_EQ(json["entries"][0]["bucket"], nullptr);
  EXPECT_EQ(json["entries"][0]["symbols"], Json({"T", "S"}));
  EXPECT_EQ(
      json["entries"][0]["outputs"],
      Json::array({{{"name", "logits"}, {"dtype", "F32"}, {"shape", Json::array({"T", 4})}}}));
  EXPECT_EQ(json["entries"][0]["commands"], Json({{"launch", 1},
                                                  {"copy", 1},
                                                  {"fill", 1},
                                                  {"collective", 1},
                                                  {"record", 1},
                                                  {"wait", 1},
                                                  {"host_call", 1}}));
  EXPECT_EQ(json["entries"][1]["bucket"], 1);
  ASSERT_EQ(json["kernels"].size(), 2u);
  EXPECT_EQ(json["kernels"][0]["name"], "k3_embed_h4_f32");
  EXPECT_EQ(json["kernels"][0]["params"], Json({"Buffer", "Buffer", "Buffer", "Scalar"}));
  EXPECT_EQ(json["kernels"][0]["launches"], 1);
  EXPECT_EQ(json["weights"][0]["name"], "layers.0.w");
  EXPECT_EQ(json["weights"][0]["bytes"], 128);
  EXPECT_EQ(json["weights"][0]["pieces"], 2);
  EXPECT_EQ(json["states"][2]["kind"], "LatentCache");
  EXPECT_EQ(json["segments"][1]["size"], 6);
}

TEST(Inspect, table) {
  TestPlan test = makeTestPlan();
  LoadedPlan plan = load(test);
  std::string text = inspectTable(plan);
  for (const char *line :
       {"t.k3plan: plan of format 1.0, ", "  made by   k3c 0.1.0, LLVM 22.1.8\n",
        "  flags     --target cpu --dtype f32\n",
        "  model     kimi_k3: 2 layers (1 KDA, 1 MLA), 1,234 parameters, vocabulary 4, hidden size "
        "4\n",
        "  target    cpu, x86_64-unknown-linux-gnu, sse sse2\n",
        "  ranks     1 (tp 1, ep 1, pp 1)\n",
        "  limits    8 tokens a step, 2 sequences, context 8, 8 rows of logits, 4 pages of 4 "
        "tokens\n",
        "  memory    1.06 KiB, weights 192 B, state 320 B, cache 128 B, scratch 256 B, io 192 B\n",
        "  weights   2 from 3 pieces, 192 B\n", "k3_embed_h4_f32"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(Inspect, invalidUtf8InANameIsStillJson) {
  TestPlan test = makeTestPlan();
  test.plan.kernels[0]->name = "k3_\xff";
  LoadedPlan plan = load(test);
  EXPECT_EQ(Json::parse(inspectJson(plan))["kernels"][0]["name"], "k3_\xef\xbf\xbd");
}

TEST(Inspect, expressions) {
  TestPlan test = makeTestPlan();
  uint32_t sum = test.expr(plan::ExprOp::Add, 0, 4);
  uint32_t div = test.expr(plan::ExprOp::CeilDiv, sum, 4);
  uint32_t most = test.expr(plan::ExprOp::Min, div, 2);
  uint32_t huge = test.constant(0);
  for (int i = 0; i < 100; ++i)
    huge = test.expr(plan::ExprOp::Add, huge, huge);
  LoadedPlan plan = load(test);
  EXPECT_EQ(exprText(plan.plan(), most), "min(ceildiv((T + 4), 4), 1)");
  std::string text = exprText(plan.plan(), huge);
  EXPECT_EQ(text.size(), 203u);
  EXPECT_EQ(text.substr(200), "...");
}

int runCommand(std::vector<std::string> args) {
  CLI::App app("k3");
  int exitCode = -1;
  addInspectCommand(app, exitCode);
  std::reverse(args.begin(), args.end());
  app.parse(args);
  return exitCode;
}

TEST(Inspect, exitStatus) {
  std::string path = testing::TempDir() + "/k3-inspect-" + std::to_string(::getpid());
  TestPlan test = makeTestPlan();
  std::string bytes = test.bytes();
  ASSERT_TRUE(writeFileAtomic(path, bytes).isOk());
  testing::internal::CaptureStdout();
  EXPECT_EQ(runCommand({"inspect", path, "--json"}), 0);
  EXPECT_EQ(Json::parse(testing::internal::GetCapturedStdout())["file"], path);
  bytes[100] = static_cast<char>(bytes[100] ^ 1);
  ASSERT_TRUE(writeFileAtomic(path, bytes).isOk());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(runCommand({"inspect", path}), 2);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("error: " + path + ": section 'flatbuffer': is damaged"));
  ::unlink(path.c_str());
  EXPECT_THROW(runCommand({"inspect"}), CLI::ParseError);
}

} // namespace
} // namespace k3
