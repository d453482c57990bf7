//===- BenchTest.cpp - Tests of benchmarks --------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The numbers of a list of timings are exact; the test model is measured and must answer alike in
// every run; table, JSON and picture show what they are given.
//
//===----------------------------------------------------------------------===//

#include "runtime/bench/ModelBench.h"
#include "runtime/bench/Plot.h"
#include "runtime/bench/Report.h"
#include "runtime/exec/TestModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace k3;
using testing::HasSubstr;

namespace {

TEST(Statistics, ReportWhatWasMeasured) {
  const std::vector<double> values = {5, 1, 4, 2, 3, 10};
  EXPECT_EQ(percentile(values, 0), 1);
  EXPECT_EQ(percentile(values, 0.5), 3);
  EXPECT_EQ(percentile(values, 0.51), 4);
  EXPECT_EQ(percentile(values, 0.99), 10);
  EXPECT_EQ(percentile(values, 1), 10);
  EXPECT_EQ(percentile(std::vector<double>{7}, 0.99), 7);
  const Spread spread = spreadOf(values);
  EXPECT_EQ(spread.median, 3);
  EXPECT_EQ(spread.least, 1);
  EXPECT_EQ(spread.most, 10);
}

TEST(Statistics, SecondsHaveAUnit) {
  EXPECT_EQ(formatSeconds(12.345), "12.3 s");
  EXPECT_EQ(formatSeconds(0.25), "250 ms");
  EXPECT_EQ(formatSeconds(0.00123), "1.23 ms");
  EXPECT_EQ(formatSeconds(0.0000456), "45.6 us");
  EXPECT_EQ(formatSeconds(0.00000012), "0.12 us");
}

class ModelBenchTest : public testing::Test {
protected:
  void SetUp() override {
    buildTestModel(builder_); // 2 sequences, steps of 8 tokens, a context of 20
    auto executor = builder_.executor();
    ASSERT_TRUE(executor) << executor.status().message();
    executor_ = std::move(*executor);
    auto session = Session::create(*executor_);
    ASSERT_TRUE(session) << session.status().message();
    session_ = std::move(*session);
  }

  PlanBuilder builder_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<Session> session_;
};

TEST_F(ModelBenchTest, MeasuresEveryCase) {
  ModelBenchOptions options;
  options.newTokens = 5;
  options.repeats = 3;
  for (const auto &[batch, context] : {std::pair<uint64_t, uint64_t>{1, 1}, {2, 12}, {1, 9}}) {
    auto result = benchModel(*session_, batch, context, options);
    ASSERT_TRUE(result) << result.status().message();
    EXPECT_EQ(result->batch, batch);
    EXPECT_EQ(result->context, context);
    EXPECT_EQ(result->steps, 12u); // the first new token comes from the prompt
    EXPECT_GT(result->firstToken.least, 0);
    EXPECT_LE(result->firstToken.median, result->firstToken.most);
    EXPECT_GT(result->token50, 0);
    EXPECT_LE(result->token50, result->token99);
    EXPECT_LE(result->rate.least, result->rate.median);
    EXPECT_NEAR(result->prefillRate.most * result->firstToken.least,
                static_cast<double>(batch * context), 1e-6);
    EXPECT_EQ(result->hostPerStep, 0); // no GPU
  }
  // All slots were given back.
  auto first = session_->open(), second = session_->open();
  EXPECT_TRUE(first && second);
}

TEST(ModelBench, OtherIdsAreAnError) {
  // Decode steps overwrite the bias of the model (a weight) with about 3, so only the first run has a
  // prefill with a bias of 0.
  PlanBuilder builder;
  buildTestModel(builder);
  plan::FillT fill;
  fill.dst = builder.program().weights.front()->buffer;
  fill.bytes = builder.constant(4);
  fill.value = 0x40;
  for (auto &entry : builder.program().entries)
    if (entry->kind == plan::EntryKind::Decode)
      PlanBuilder::command(*entry, fill);
  auto executor = builder.executor();
  ASSERT_TRUE(executor) << executor.status().message();
  auto session = Session::create(**executor);
  ASSERT_TRUE(session) << session.status().message();
  ModelBenchOptions options;
  options.newTokens = 3;
  auto result = benchModel(**session, 2, 4, options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.status().exitCode(), 1);
  EXPECT_THAT(
      result.status().message(),
      testing::MatchesRegex("batch 2, context 4: the same prompts gave other ids in run 2 .got "
                            "[0-9]+, expected [0-9]+ as token 1.; the results cannot be "
                            "trusted, report this with the plan"));
  auto first = (*session)->open(), second = (*session)->open();
  EXPECT_TRUE(first && second) << "a run that failed keeps no slot";
}

TEST_F(ModelBenchTest, RefusesWhatThePlanCannotRun) {
  const auto refusal = [&](const ModelBenchOptions &options) {
    const Status status = checkModelBench(session_->limits(), options);
    EXPECT_EQ(status.exitCode(), 2);
    return status.message();
  };
  ModelBenchOptions good;
  good.contexts = {15};
  good.newTokens = 6;
  EXPECT_TRUE(checkModelBench(session_->limits(), good).isOk());
  ModelBenchOptions bad = good;
  bad.batches = {1, 3};
  EXPECT_EQ(refusal(bad),
            "--batch: the plan takes 1 to 2 sequences (got 3); rebuild with --max-seqs 3");
  bad.batches = {0};
  EXPECT_EQ(refusal(bad),
            "--batch: the plan takes 1 to 2 sequences (got 0); rebuild with --max-seqs 1");
  bad = good;
  bad.contexts = {15, 16};
  EXPECT_EQ(refusal(bad),
            "--context: 16 tokens and 6 new ones do not fit the plan (got 21, expected 1 to "
            "20); rebuild with a larger --max-context or use fewer --new-tokens");
  bad.contexts = {UINT64_MAX};
  EXPECT_THAT(refusal(bad), HasSubstr("do not fit the plan"));
  bad = good;
  bad.newTokens = 1;
  EXPECT_EQ(refusal(bad),
            "k3 bench: needs at least 2 new tokens and 1 repeat (got --new-tokens 1, --repeats 5)");
  bad = good;
  bad.prefillChunk = 9;
  EXPECT_EQ(refusal(bad),
            "--prefill-chunk: too large for the plan (got 9, expected at most 8); rebuild "
            "with --max-tokens 9");
}

std::vector<ModelBenchCase> twoCases() {
  ModelBenchCase one;
  one.batch = 2;
  one.context = 128;
  one.firstToken = {0.02, 0.01, 0.04};
  one.prefillRate = {12800, 6400, 25600};
  one.token50 = 0.002;
  one.token99 = 0.004;
  one.rate = {500, 400, 1000};
  one.steps = 93;
  ModelBenchCase other = one;
  other.context = 1024;
  other.token50 = 0.003;
  other.hostPerStep = 0.00003;
  return {one, other};
}

TEST(Report, TableHasOneLineACase) {
  EXPECT_EQ(modelTable(twoCases()), "batch  context  first token     (least to most)   token p50   "
                                    "     p99    tokens/s     (least to most)\n"
                                    "    2      128      20.0 ms  10.0 ms to 40.0 ms     2.00 ms   "
                                    " 4.00 ms       500.0     400.0 to 1000.0\n"
                                    "    2     1024      20.0 ms  10.0 ms to 40.0 ms     3.00 ms   "
                                    " 4.00 ms       500.0     400.0 to 1000.0\n");
}

TEST(Report, JsonHasEveryNumber) {
  using Json = nlohmann::json;
  BenchSubject subject;
  subject.plan = "m.k3plan";
  subject.target = "cpu";
  subject.threads = 2;
  subject.planBytes = 1000;
  ModelBenchOptions options;
  const std::vector<ModelBenchCase> cases = twoCases();
  const Json json = modelJson(subject, options, cases);
  EXPECT_EQ(json["plan"], "m.k3plan");
  EXPECT_EQ(json["threads"], 2);
  EXPECT_EQ(json["plan_bytes"], 1000);
  EXPECT_EQ(json["new_tokens"], 32);
  ASSERT_EQ(json["cases"].size(), 2u);
  EXPECT_EQ(
      json["cases"][0],
      Json({{"batch", 2},
            {"context", 128},
            {"first_token_s", {{"median", 0.02}, {"least", 0.01}, {"most", 0.04}}},
            {"prefill_tokens_per_s", {{"median", 12800.0}, {"least", 6400.0}, {"most", 25600.0}}},
            {"token_s", {{"p50", 0.002}, {"p99", 0.004}, {"steps", 93}}},
            {"tokens_per_s", {{"median", 500.0}, {"least", 400.0}, {"most", 1000.0}}},
            {"host_s_per_step", nullptr}}));
  EXPECT_EQ(json["cases"][1]["host_s_per_step"], 0.00003);
  subject.threads = 0;
  EXPECT_EQ(subjectJson(subject)["threads"], nullptr);
}

TEST(Plot, DrawsEachCaseAtItsPlace) {
  const std::string svg = plotModel("a < b & c", twoCases());
  EXPECT_TRUE(svg.starts_with("<svg xmlns="));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr(">a &lt; b &amp; c</text>"));
  EXPECT_THAT(svg, HasSubstr(">batch 2</text>"));
  // The time axis ends at 5 ms: 2 ms stands at 2/5 of 220 above 272, 3 ms at 3/5; 4 ms is the
  // whisker.
  EXPECT_THAT(svg, HasSubstr(">5.00 ms</text>"));
  EXPECT_THAT(svg, HasSubstr("<circle cx=\"149.0\" cy=\"184.0\""));
  EXPECT_THAT(svg, HasSubstr("<circle cx=\"319.0\" cy=\"140.0\""));
  EXPECT_THAT(svg, HasSubstr("<line x1=\"149.0\" y1=\"184.0\" x2=\"149.0\" y2=\"96.0\""));
  EXPECT_THAT(svg, HasSubstr("<line x1=\"149.0\" y1=\"184.0\" x2=\"319.0\" y2=\"140.0\""));
  // The second panel ends at 1000 tokens a second.
  EXPECT_THAT(svg, HasSubstr("<circle cx=\"573.0\" cy=\"162.0\""));
}

} // namespace
