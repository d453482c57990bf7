//===- GenerationTest.cpp - Tests of sequences and answers ------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the test model through sessions: pieces, rows, slots, pages, padding, limits and dumps, with
// every value known beforehand.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/Generation.h"
#include "runtime/exec/Dump.h"
#include "runtime/exec/ModelFiles.h"
#include "runtime/exec/TestModel.h"
#include "runtime/weights/Safetensors.h"
#include "runtime/weights/TestFiles.h"

#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

using namespace k3;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class GenerationTest : public testing::Test {
protected:
  void open(const TestModelOptions &options = {}) {
    buildTestModel(builder_, options);
    auto executor = builder_.executor(1, /*poison=*/true);
    ASSERT_TRUE(executor) << executor.status().message();
    executor_ = std::move(*executor);
    auto session = Session::create(*executor_);
    ASSERT_TRUE(session) << session.status().message();
    session_ = std::move(*session);
  }
  /// What the test model answers: each id is the sum of all before it, mod 11.
  static std::vector<int32_t> expected(std::vector<int32_t> ids, size_t count) {
    std::vector<int32_t> answer;
    int32_t sum = std::accumulate(ids.begin(), ids.end(), 0);
    for (; answer.size() < count; sum += answer.back())
      answer.push_back(sum % 11);
    return answer;
  }
  static size_t argmax(std::span<const float> row) {
    return static_cast<size_t>(std::max_element(row.begin(), row.end()) - row.begin());
  }
  float stateOf(int32_t slot) const {
    float value;
    std::memcpy(&value,
                executor_->memory().address((*executor_->program().states())[0]->buffer()) +
                    4 * TestStateSize * static_cast<size_t>(slot),
                4);
    return value;
  }

  PlanBuilder builder_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<Session> session_;
};

TEST(PrefillPieces, CoverThePrompt) {
  EXPECT_THAT(prefillPieces(1, 16), ElementsAre(1));
  EXPECT_THAT(prefillPieces(16, 16), ElementsAre(16));
  EXPECT_THAT(prefillPieces(17, 16), ElementsAre(16, 1));
  EXPECT_THAT(prefillPieces(5, 1), ElementsAre(1, 1, 1, 1, 1));
  EXPECT_TRUE(prefillPieces(0, 4).empty());
}

TEST_F(GenerationTest, PiecesOfAnyLengthGiveTheSameAnswer) {
  open();
  const std::vector<int32_t> prompt = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3};
  for (uint64_t chunk : {0, 1, 2, 3, 7, 8}) {
    for (bool all : {false, true}) {
      GenerationRequest request;
      request.prompt = prompt;
      request.prefillChunk = chunk;
      request.maxNewTokens = 9;
      request.allLogits = all;
      GenerationObserver observer;
      auto sequence = session_->open();
      ASSERT_TRUE(sequence);
      auto result = generate(*session_, *sequence, request, observer);
      ASSERT_TRUE(result) << result.status().message();
      EXPECT_EQ(result->ids, expected(prompt, 9));
      EXPECT_FALSE(result->stopped);
      EXPECT_EQ(result->decodeSteps, 8u);
      EXPECT_EQ(sequence->length(), 18u); // the last id is not fed
      session_->close(*sequence);
    }
  }
}

TEST_F(GenerationTest, StopsAtAStopIdUnlessTold) {
  open();
  GenerationRequest request;
  request.prompt = {2, 3}; // 5, then 10, then 9, 7, ...
  request.maxNewTokens = 6;
  request.stopIds = {9};
  GenerationObserver observer;
  auto sequence = session_->open();
  auto result = generate(*session_, *sequence, request, observer);
  ASSERT_TRUE(result);
  EXPECT_THAT(result->ids, ElementsAre(5, 10, 9));
  EXPECT_TRUE(result->stopped);
  session_->close(*sequence);

  request.ignoreStop = true;
  sequence = session_->open();
  result = generate(*session_, *sequence, request, observer);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->ids, expected({2, 3}, 6));
  EXPECT_FALSE(result->stopped);
}

TEST_F(GenerationTest, OneStepFeedsSeveralSequences) {
  open();
  auto a = session_->open(), b = session_->open();
  ASSERT_TRUE(a && b);
  const std::vector<int32_t> first = {1, 2, 3, 4, 5}, second = {10};
  ASSERT_TRUE(session_->prefill(*a, first, LogitRows::Last));
  ASSERT_TRUE(session_->prefill(*b, second, LogitRows::Last));
  Sequence *both[] = {&*b, &*a}; // in this order, not in that of their slots
  const std::vector<int32_t> ids = {2, 6};
  auto logits = session_->decode(both, ids);
  ASSERT_TRUE(logits) << logits.status().message();
  ASSERT_EQ(logits->size(), 2 * TestVocabulary);
  EXPECT_EQ(argmax(logits->first(TestVocabulary)), 12u % 11);
  EXPECT_EQ(argmax(logits->last(TestVocabulary)), 21u % 11);
  EXPECT_EQ(a->length(), 6u);
  EXPECT_EQ(b->length(), 2u);
  EXPECT_EQ(stateOf(0), 21);
  EXPECT_EQ(stateOf(1), 12);
  EXPECT_EQ(session_->decode(both, second).status().message(),
            "decode: needs one id for each sequence and at least one (got 1 ids for 2 sequences)");
  EXPECT_EQ(session_->decode({}, {}).status().exitCode(), 2);
}

TEST_F(GenerationTest, TwoSequencesDoNotTouchEachOther) {
  open();
  auto a = session_->open(), b = session_->open();
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->slot(), 0);
  EXPECT_EQ(b->slot(), 1);
  EXPECT_THAT(session_->open().status().message(), HasSubstr("sequences: all 2 slots are taken"));
  const std::vector<int32_t> first = {1, 2, 3, 4, 5}, second = {10};
  ASSERT_TRUE(session_->prefill(*a, first, LogitRows::Last));
  ASSERT_TRUE(session_->prefill(*b, second, LogitRows::Last));
  EXPECT_THAT(a->pages(), ElementsAre(0, 1));
  EXPECT_THAT(b->pages(), ElementsAre(2));
  // Decode buckets are 2 and 4 with one sequence each: the padding rows change nothing.
  auto logits = session_->decode(*a, 6);
  ASSERT_TRUE(logits);
  ASSERT_EQ(logits->size(), TestVocabulary);
  EXPECT_EQ(argmax(*logits), 21u % 11);
  logits = session_->decode(*b, 2);
  ASSERT_TRUE(logits);
  EXPECT_EQ(argmax(*logits), 12u % 11);
  EXPECT_EQ(stateOf(0), 21);
  EXPECT_EQ(stateOf(1), 12);
  float cache[12];
  std::memcpy(cache, executor_->memory().address((*executor_->program().states())[1]->buffer()),
              sizeof(cache));
  EXPECT_THAT(cache, ElementsAre(1, 2, 3, 4, 5, 6, 0, 0, 10, 2, 0, 0));

  // A new sequence in the slot of a closed one begins at zero.
  session_->close(*a);
  EXPECT_THAT(session_->decode(*a, 1).status().message(), HasSubstr("sequence: is closed"));
  auto c = session_->open();
  ASSERT_TRUE(c);
  EXPECT_EQ(c->slot(), 0);
  EXPECT_EQ(stateOf(0), 0);
  EXPECT_EQ(stateOf(1), 12);
}

TEST_F(GenerationTest, RefusesWhatThePlanDoesNotTake) {
  open();
  GenerationObserver observer;
  auto sequence = session_->open();
  GenerationRequest request;
  const auto refusal = [&] {
    auto result = generate(*session_, *sequence, request, observer);
    EXPECT_FALSE(result);
    EXPECT_EQ(result.status().exitCode(), 2);
    return result.status().message();
  };
  EXPECT_THAT(refusal(), HasSubstr("prompt: has no tokens"));
  request.prompt = {1, 11};
  EXPECT_THAT(refusal(),
              HasSubstr("prompt: id 11 at position 1 is not in the vocabulary (expected 0 to 10)"));
  request.prompt = {-1};
  EXPECT_THAT(refusal(), HasSubstr("prompt: id -1 at position 0"));
  request.prompt.assign(21, 1);
  EXPECT_THAT(refusal(), HasSubstr("prompt: 21 tokens are too long for the plan (expected at most "
                                   "20); rebuild with --max-context 21"));
  request.prompt = {1};
  request.prefillChunk = 9;
  EXPECT_THAT(refusal(),
              HasSubstr("--prefill-chunk: too large for the plan (got 9, expected at most 8)"));
  request.prefillChunk = 0;
  request.sampling.temperature = -1;
  EXPECT_FALSE(refusal().empty());
  EXPECT_EQ(sequence->length(), 0u); // nothing was fed

  const std::vector<int32_t> six(6, 1);
  EXPECT_THAT(session_->prefill(*sequence, six, LogitRows::All).status().message(),
              HasSubstr("step: too many rows of logits (got 6, expected at most 5)"));
}

TEST_F(GenerationTest, TheEndOfTheContextEndsTheAnswer) {
  open();
  GenerationRequest request;
  request.prompt.assign(18, 1);
  request.maxNewTokens = 10;
  class Count : public GenerationObserver {
  public:
    Status token(int32_t, bool) override {
      ++tokens;
      return Status::ok();
    }
    int tokens = 0;
  } observer;
  auto sequence = session_->open();
  auto result = generate(*session_, *sequence, request, observer);
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_TRUE(result->contextFull);
  EXPECT_FALSE(result->stopped);
  EXPECT_EQ(sequence->length(), 20u);
  EXPECT_EQ(observer.tokens, 3); // at 18, 19 and 20 tokens
}

TEST_F(GenerationTest, RunsOutOfPagesWithAMessage) {
  TestModelOptions options;
  options.cachePages = 2;
  open(options);
  auto sequence = session_->open();
  const std::vector<int32_t> eight(8, 1);
  ASSERT_TRUE(session_->prefill(*sequence, eight, LogitRows::Last));
  EXPECT_THAT(session_->decode(*sequence, 1).status().message(),
              HasSubstr("cache: all 2 pages are taken"));
}

TEST_F(GenerationTest, DecodesThroughPrefillWithoutADecodeEntry) {
  TestModelOptions options;
  options.buckets = {};
  open(options);
  GenerationRequest request;
  request.prompt = {4, 4};
  request.maxNewTokens = 5;
  GenerationObserver observer;
  auto sequence = session_->open();
  auto result = generate(*session_, *sequence, request, observer);
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->ids, expected({4, 4}, 5));
}

TEST_F(GenerationTest, ANonFiniteLogitEndsTheRequestWithItsPosition) {
  open();
  GenerationRequest request;
  request.prompt = {1, 2, 3};
  class Breaker : public GenerationObserver {
  public:
    void endStep(std::span<const float> logits) override {
      if (++steps == 3)
        const_cast<float *>(logits.data())[4] = std::nanf("");
    }
    int steps = 0;
  } observer;
  auto sequence = session_->open();
  auto result = generate(*session_, *sequence, request, observer);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.status().exitCode(), 1);
  EXPECT_THAT(result.status().message(), HasSubstr("position 4"));
}

class Dumping : public GenerationObserver {
public:
  void beginStep(uint64_t tokens) override { recorder.beginStep(tokens); }
  void endStep(std::span<const float> logits) override { recorder.addLogits(logits); }
  TapSink *taps() override { return &recorder; }
  DumpRecorder recorder;
};

std::vector<float> floats(const SafetensorsFile &file, const char *name,
                          std::vector<uint64_t> shape) {
  const TensorInfo *tensor = file.find(name);
  if (!tensor || tensor->shape != shape) {
    ADD_FAILURE() << name << " is missing or has another shape: "
                  << (tensor ? shapeString(tensor->shape) : "");
    return {};
  }
  std::vector<float> values(tensor->elements());
  EXPECT_TRUE(file.read(*tensor, 0, values.data(), tensor->bytes));
  return values;
}

TEST_F(GenerationTest, DumpsEveryPosition) {
  open();
  // Another sequence first, so that the pages and the slot of the dumped one are not the first
  // ones.
  auto other = session_->open();
  const std::vector<int32_t> filler(8, 2);
  ASSERT_TRUE(session_->prefill(*other, filler, LogitRows::Last));

  GenerationRequest request;
  request.prompt = {1, 2, 3, 4, 5, 6, 7};
  request.maxNewTokens = 4;
  request.allLogits = true;
  Dumping observer;
  auto sequence = session_->open();
  auto result = generate(*session_, *sequence, request, observer);
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_THAT(sequence->pages(), ElementsAre(2, 3, 4));
  std::vector<int32_t> ids = request.prompt;
  ids.insert(ids.end(), result->ids.begin(), result->ids.end());
  TestFolder folder;
  ASSERT_TRUE(observer.recorder.write(folder.path("d"), *session_, *sequence, ids));

  auto file = SafetensorsFile::open(folder.path("d"));
  ASSERT_TRUE(file) << file.status().message();
  EXPECT_EQ(file->tensors().size(), 5u);
  const TensorInfo *idTensor = file->find("ids");
  ASSERT_NE(idTensor, nullptr);
  EXPECT_EQ(idTensor->type, ElementType::I32);
  EXPECT_EQ(idTensor->shape, (std::vector<uint64_t>{11}));
  const std::vector<float> logits = floats(*file, "logits", {10, 11}),
                           h = floats(*file, "layers.0.h", {10, 2});
  const std::vector<float> cache = floats(*file, "layers.1.latent_cache", {10, 1}),
                           state = floats(*file, "layers.0.kda_state", {1, 3, 2});
  ASSERT_EQ(logits.size(), 110u);
  int32_t sum = 0;
  for (size_t position = 0; position < 10; ++position) {
    sum += ids[position];
    EXPECT_EQ(cache[position], ids[position]);
    EXPECT_EQ(h[2 * position], sum);
    EXPECT_EQ(h[2 * position + 1], position);
    EXPECT_EQ(argmax(std::span(logits).subspan(11 * position, 11)), static_cast<size_t>(sum % 11));
  }
  // The plan keeps the state value-first, the dump is key-first.
  const float s = static_cast<float>(sum);
  EXPECT_THAT(state, ElementsAre(s, s + 300, s + 100, s + 400, s + 200, s + 500));
}

TEST(PromptIds, ComeFromBothFilesAndThenFromThePlan) {
  flatbuffers::FlatBufferBuilder builder;
  plan::ModelT source;
  source.bos_token_id = 90;
  source.eos_token_ids = {91, 92};
  builder.Finish(plan::Model::Pack(builder, &source));
  const plan::Model &model = *flatbuffers::GetRoot<plan::Model>(builder.GetBufferPointer());
  TestFolder folder;
  auto ids = readPromptIds(folder.path(""), model);
  ASSERT_TRUE(ids);
  EXPECT_EQ(ids->bos, std::optional<int64_t>(90));
  EXPECT_THAT(ids->stop, ElementsAre(91, 92));

  folder.write(
      "config.json",
      R"({"bos_token_id":null,"eos_token_id":7,"text_config":{"bos_token_id":5,"eos_token_id":[8,7]}})");
  folder.write("generation_config.json", R"({"eos_token_id":[3]})");
  ids = readPromptIds(folder.path(""), model);
  ASSERT_TRUE(ids) << ids.status().message();
  EXPECT_EQ(ids->bos, std::optional<int64_t>(5));
  EXPECT_THAT(ids->stop, ElementsAre(3, 7, 8));

  folder.write("config.json", R"({"eos_token_id":"7"})");
  EXPECT_THAT(
      readPromptIds(folder.path(""), model).status().message(),
      HasSubstr("config.json: eos_token_id is not a token id or a list of them (got \"7\")"));
  folder.write("config.json", "{");
  EXPECT_THAT(readPromptIds(folder.path(""), model).status().message(),
              HasSubstr("config.json: is not a JSON object"));
  for (const char *key : {R"({"eos_token_id":)", R"({"text_config":)"}) {
    folder.write("config.json", key + std::string(200000, '[') + std::string(200000, ']') + "}");
    EXPECT_THAT(readPromptIds(folder.path(""), model).status().message(),
                HasSubstr("config.json: is nested too deeply (got more than 64 levels"));
  }
  // Missing is one thing, and not to be read another.
  std::filesystem::remove(folder.path("config.json"));
  std::filesystem::create_symlink("config.json", folder.path("config.json"));
  EXPECT_THAT(readPromptIds(folder.path(""), model).status().message(),
              HasSubstr("config.json: cannot be opened (Too many levels of symbolic links)"));
  std::filesystem::remove(folder.path("config.json"));
  folder.write("config.json", R"({"eos_token_id":[[7]]})");
  EXPECT_THAT(readPromptIds(folder.path(""), model).status().message(),
              HasSubstr("eos_token_id is not a token id or a list of them (got [7])"));
}

} // namespace
