//===- RunTest.cpp - Tests of k3 run by its command line --------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the plan of the test model and its checkpoint to disk and runs the real binary on them:
// what comes out on standard output, what on standard error, and with which exit status.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/TestModel.h"
#include "runtime/loader/PlanWriter.h"
#include "runtime/weights/Safetensors.h"
#include "runtime/weights/TestFiles.h"
#include "support/File.h"

#include <array>
#include <cstdio>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

using namespace k3;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace {

struct Outcome {
  int exitCode;
  std::string out, err;
};

class RunTest : public testing::Test {
protected:
  void SetUp() override {
    PlanBuilder builder;
    buildTestModel(builder);
    plan::PlanT &plan = builder.plan;
    plan.producer->version = "test";
    plan.producer->llvm_version = "none";
    plan.model->name = "test_model";
    plan.target->name = "cpu";
    plan.target->triple = "x86_64-unknown-linux-gnu";
    auto image = std::make_unique<plan::ImageT>();
    image->kind = plan::ImageKind::CpuSharedObject;
    plan.images.push_back(std::move(image));
    auto code = readFile(K3_TEST_MODEL_IMAGE);
    ASSERT_TRUE(code) << code.status().message();
    const SegmentBytes segments[] = {{"cpu", *code}};
    auto bytes = writePlan(plan, segments);
    ASSERT_TRUE(bytes) << bytes.status().message();
    folder_.write("m.k3plan", *bytes);
    std::filesystem::create_directory(folder_.path("w"));
    folder_.write(
        "w/model.safetensors",
        safetensorsBytes({{"model.bias", "BF16", {1, 1}, bytesOf<uint16_t>({0x3F80})}})); // 1.0
    folder_.write("w/config.json", R"({"bos_token_id":2,"eos_token_id":3})");
  }

  Outcome run(const std::string &arguments, const std::string &environment = "K3_POISON=1") {
    const std::string command = "cd " + folder_.path("") + " && " + environment +
                                " " K3_BINARY " run " + arguments + " >out 2>err";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, *readFile(folder_.path("out")),
            *readFile(folder_.path("err"))};
  }

  TestFolder folder_;
};

TEST_F(RunTest, PrintsTheIdsAndNothingElse) {
  // Each id counts one more than itself: 1 + 2 + 2 = 5, then 5 + 6 = 11 → 0, 12 → 1, 14 → 3, the
  // stop id.
  for (const char *chunk : {"", " --prefill-chunk 1", " --prefill-chunk 8"}) {
    const Outcome result =
        run("m.k3plan --weights w --prompt-ids 1,2 --print-ids" + std::string(chunk));
    EXPECT_EQ(result.exitCode, 0) << result.err;
    EXPECT_EQ(result.out, "5,0,1,3\n");
    EXPECT_THAT(result.err, HasSubstr("memory budget"));
    EXPECT_THAT(result.err, HasSubstr("weights:"));
    EXPECT_THAT(result.err, HasSubstr("prefill: 2 tokens"));
    EXPECT_THAT(result.err, HasSubstr("decode: 3 tokens"));
    EXPECT_THAT(result.err, HasSubstr("peak memory:"));
  }
  // Without a tokenizer --prompt-ids prints ids; the count and the stop id are obeyed.
  EXPECT_EQ(run("m.k3plan --weights w --prompt-ids 1,2 --max-new-tokens 2").out, "5,0\n");
  EXPECT_EQ(
      run("m.k3plan --weights w --prompt-ids 1,2 --max-new-tokens 5 --ignore-eos --threads 3").out,
      "5,0,1,3,7\n");
}

TEST_F(RunTest, DumpsLogitsAndStates) {
  const Outcome result = run("m.k3plan --weights w --prompt-ids 1,2 --dump d.safetensors");
  ASSERT_EQ(result.exitCode, 0) << result.err;
  auto file = SafetensorsFile::open(folder_.path("d.safetensors"));
  ASSERT_TRUE(file) << file.status().message();
  std::vector<std::string> tensors;
  for (const TensorInfo &tensor : file->tensors())
    tensors.push_back(tensor.name + " " + shapeString(tensor.shape));
  EXPECT_THAT(tensors, testing::UnorderedElementsAre(
                           "ids [6]", "logits [5, 11]", "layers.0.h [5, 2]",
                           "layers.0.kda_state [1, 3, 2]", "layers.1.latent_cache [5, 1]"));
}

TEST_F(RunTest, RunsOneEntryAlone) {
  const auto ints = [](const char *name, std::vector<uint64_t> shape, std::vector<int32_t> values) {
    return TestTensor{name, "I32", std::move(shape), bytesOf(values)};
  };
  folder_.write("in",
                safetensorsBytes({ints("ids", {2}, {4, 5}),
                                  ints("token_seq", {2}, {0, 0}),
                                  ints("token_pos", {2}, {0, 1}),
                                  ints("seq_offsets", {2}, {0, 2}),
                                  ints("seq_slots", {1}, {1}),
                                  ints("seq_context", {1}, {0}),
                                  ints("page_table", {1, 5}, {3, 0, 0, 0, 0}),
                                  ints("logit_rows", {1}, {1}),
                                  {"layers.0.kda_state",
                                   "F32",
                                   {2, 1, 2, 3},
                                   bytesOf<float>({100, 0, 0, 0, 0, 0, 200, 0, 0, 0, 0, 0})}}));
  const Outcome result =
      run("m.k3plan --weights w --entry prefill --inputs in --dump out.safetensors");
  ASSERT_EQ(result.exitCode, 0) << result.err;
  EXPECT_THAT(result.out, IsEmpty());
  auto file = SafetensorsFile::open(folder_.path("out.safetensors"));
  ASSERT_TRUE(file) << file.status().message();
  std::array<float, 12> state{};
  const TensorInfo *tensor = file->find("layers.0.kda_state");
  ASSERT_NE(tensor, nullptr);
  ASSERT_TRUE(file->read(*tensor, 0, state.data(), sizeof(state)));
  EXPECT_EQ(state[0], 100);
  EXPECT_EQ(state[6], 211);
  EXPECT_EQ(state[8], 411);
}

TEST_F(RunTest, ExitStatusSaysWhoseFaultItIs) {
  const struct {
    const char *arguments;
    int exitCode;
    const char *message;
  } cases[] = {
      {"", 2, "error: PLAN: is missing; see k3 run --help\n"},
      {"m.k3plan --threads 0x2", 2,
       "error: --threads: is not a whole number (got '0x2', expected "},
      {"m.k3plan --temperature hot", 2,
       "error: --temperature: is not a number (got 'hot', expected"},
      {"m.k3plan --dump ''", 2, "error: --dump: is empty (got '', expected a path or a name)"},
      {"m.k3plan --no-such-flag", 2, "no-such-flag"},
      {"m.k3plan --weights w", 2, "needs exactly one of --prompt, --prompt-ids and --entry"},
      {"m.k3plan --weights w --prompt a --prompt-ids 1", 2, "needs exactly one of"},
      {"m.k3plan --weights w --prompt a", 2, "--prompt: there is no tokenizer in w"},
      {"m.k3plan --prompt-ids 1", 2,
       "m.k3plan: needs weights; give the checkpoint folder with --weights"},
      {"m.k3plan --weights w --prompt-ids 1,x", 2,
       "--prompt-ids: id number 2 is not a token id (got \"x\""},
      {"m.k3plan --weights w --prompt-ids ''", 2,
       "--prompt-ids: id number 1 is not a token id (got \"\""},
      {"m.k3plan --weights w --prompt-ids 99", 2,
       "prompt: id 99 at position 0 is not in the vocabulary (expected 0 to 10)"},
      {"m.k3plan --weights w --prompt-ids 1 --prefill-chunk 9", 2,
       "--prefill-chunk: too large for the plan (got 9, expected at most 8)"},
      {"m.k3plan --weights w --prompt-ids 1 --prefill-chunk 0", 2, "--prefill-chunk"},
      {"m.k3plan --weights w --prompt-ids 1 --max-new-tokens -1", 2, "--max-new-tokens"},
      {"m.k3plan --weights w --prompt-ids 1 --top-p 2", 2, "top"},
      {"m.k3plan --weights w --prompt-ids 1 --memory 1000", 1,
       "memory: the plan does not fit (got 1000 bytes by --memory"},
      {"m.k3plan --weights w --prompt-ids 1 --ignore-eos", 0,
       "context: all 20 tokens of the plan are used, so the answer ends here"},
      {"m.k3plan --weights w --prompt-ids 1 --dump /no/such/folder/d", 1,
       "/no/such/folder/d: cannot be created (No such file or directory)"},
      {"m.k3plan --weights none --prompt-ids 1", 2,
       "none: cannot be opened as a checkpoint folder"},
      {"none.k3plan --prompt-ids 1", 2, "none.k3plan"},
      {"m.k3plan --weights w --entry prefill", 2, "--entry: needs --inputs and --dump"},
      {"m.k3plan --weights w --prompt-ids 1 --inputs in", 2, "--inputs: goes with --entry only"},
  };
  for (const auto &expected : cases) {
    const Outcome result = run(expected.arguments);
    EXPECT_EQ(result.exitCode, expected.exitCode) << expected.arguments << ": " << result.err;
    EXPECT_THAT(result.err, HasSubstr(expected.message)) << expected.arguments;
    EXPECT_TRUE(expected.exitCode != 2 || result.out.empty()) << expected.arguments;
  }
  EXPECT_EQ(run("m.k3plan --weights w --prompt-ids 1", "K3_THREADS=none").exitCode, 2);
}

TEST_F(RunTest, AnOutputThatCannotBeWrittenIsOneSentence) {
  const std::string request = "m.k3plan --weights w --prompt-ids 1 --ignore-eos --print-ids";
  // Before the weights are loaded, and so before anything is answered.
  Outcome result = run(request + " --dump .");
  EXPECT_EQ(result.exitCode, 1);
  EXPECT_EQ(result.err,
            "error: .: is a folder (expected the file to write); give the name of a file\n");
  EXPECT_THAT(result.out, IsEmpty());
  const std::string command =
      "cd " + folder_.path("") +
      " && rm -f pipe && mkfifo pipe && exec 3<>pipe 4>pipe 3<&- && " K3_BINARY " run " + request;
  const std::pair<const char *, const char *> streams[] = {
      {" 2>err >&-", "Bad file descriptor"},
      {" 2>err >/dev/full", "No space left on device"},
      // A pipe whose only reader is gone.
      {" 2>err >&4", "Broken pipe"}};
  for (const auto &[redirect, reason] : streams) {
    const int status = std::system(("bash -c '" + command + redirect + "'").c_str());
    EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 1) << reason;
    EXPECT_THAT(*readFile(folder_.path("err")),
                HasSubstr("\nerror: standard output: cannot be written (" + std::string(reason) +
                          "); check where it goes\n"));
  }
}

TEST_F(RunTest, RefusesARequestBeforeItLoadsAnything) {
  folder_.write("w/model.safetensors", "damaged");
  const std::pair<const char *, const char *> cases[] = {
      {"--prompt-ids 11", "prompt: id 11 at position 0 is not in the vocabulary"},
      {"--prompt-ids 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
       "prompt: 21 tokens are too long for the plan (expected at most 20)"},
      {"--prompt-ids 1 --prefill-chunk 9", "--prefill-chunk: too large for the plan"},
      {"--prompt-ids 1 --temperature -1", "temperature: is out of range"}};
  for (const auto &[arguments, message] : cases) {
    const Outcome result = run(std::string("m.k3plan --weights w ") + arguments);
    EXPECT_EQ(result.exitCode, 2) << arguments;
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_THAT(result.err, Not(HasSubstr("memory budget")));
  }
  EXPECT_THAT(run("m.k3plan --weights w --prompt-ids 1").err, HasSubstr("too short"));
}

TEST_F(RunTest, ADumpIsCountedUpToTheContextOfThePlan) {
  const auto budgetOfDump = [&](const std::string &tokens) {
    const std::string err =
        run("m.k3plan --weights w --prompt-ids 1 --dump d --max-new-tokens " + tokens).err;
    const size_t at = err.find("  dump ");
    return at == std::string::npos ? err : err.substr(at, err.find('\n', at) - at);
  };
  EXPECT_THAT(budgetOfDump("19"), HasSubstr(" B "));
  EXPECT_EQ(budgetOfDump("18446744073709551615"), budgetOfDump("19"));
  EXPECT_NE(budgetOfDump("18"), budgetOfDump("19"));
}

#ifndef __SANITIZE_ADDRESS__ // which needs terabytes of addresses
TEST_F(RunTest, EndsWithASentenceWhereMemoryIsShort) {
  unsigned failures = 0;
  Outcome result{1, "", ""};
  for (int megabytes = 8; megabytes < 256 && result.exitCode != 0; megabytes += 2) {
    const std::string limit = "ulimit -v " + std::to_string(megabytes << 10) + ";";
    if (std::system((limit + K3_BINARY " --version >/dev/null 2>&1").c_str()) != 0)
      continue; // not even the program itself fits
    result = run("m.k3plan --weights w --prompt-ids 1 --threads 2", limit);
    EXPECT_TRUE(result.exitCode == 0 || result.exitCode == 1) << megabytes << ": " << result.err;
    EXPECT_THAT(result.err, HasSubstr(result.exitCode ? "error: " : "generated: "));
    failures += result.exitCode == 1;
  }
  EXPECT_EQ(result.exitCode, 0);
  EXPECT_GT(failures, 2u);
}
#endif

TEST_F(RunTest, ACheckpointOfAnotherModelIsRefused) {
  folder_.write("w/model.safetensors",
                safetensorsBytes({{"model.bias", "BF16", {1, 2}, bytesOf<uint16_t>({0, 0})},
                                  {"model.more", "U8", {1}, "x"}}));
  const Outcome result = run("m.k3plan --weights w --prompt-ids 1");
  EXPECT_EQ(result.exitCode, 2);
  EXPECT_THAT(result.err, HasSubstr("1 tensors are not used by the plan (model.more)"));
  EXPECT_THAT(result.out, IsEmpty());
}

} // namespace
