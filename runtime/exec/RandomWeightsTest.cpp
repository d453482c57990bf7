//===- RandomWeightsTest.cpp - Tests of weights without a checkpoint ------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every form of recipe puts the elements of its random tensors where the loader would put those of
// a checkpoint; a weight made in ranges is the weight made whole.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/RandomWeights.h"
#include "runtime/exec/TestModel.h"
#include "runtime/weights/RandomValues.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace k3;
using plan::DType;

namespace {

constexpr uint64_t Seed = 11;

plan::PieceT piece(std::string source, uint64_t begin, uint64_t rows, uint64_t cols,
                   uint64_t srcStride, uint64_t dstBegin, uint64_t dstStride) {
  plan::PieceT result;
  result.source = std::move(source);
  result.src_begin = begin;
  result.rows = rows;
  result.cols = cols;
  result.src_row_stride = srcStride;
  result.dst_begin = dstBegin;
  result.dst_row_stride = dstStride;
  return result;
}

/// Element PLACE of a random BF16 tensor with rows of ROW.
uint16_t element(const std::string &name, uint64_t row, uint64_t place) {
  auto tensor = RandomTensor::create(Seed, name, row, DType::BF16);
  EXPECT_TRUE(tensor);
  uint16_t value = 0;
  tensor->fill(place, 1, reinterpret_cast<std::byte *>(&value));
  return value;
}

class RandomWeightsTest : public testing::Test {
protected:
  /// The weight of PIECES, made in ranges of STEP elements.
  std::vector<uint16_t> make(std::vector<plan::PieceT> pieces, uint64_t elements, uint64_t step) {
    plan::ProgramT program;
    auto buffer = std::make_unique<plan::BufferT>();
    buffer->size = elements * 2;
    buffer->dtype = DType::BF16;
    program.buffers.push_back(std::move(buffer));
    auto weight = std::make_unique<plan::WeightT>();
    weight->name = "w";
    for (plan::PieceT &source : pieces)
      weight->pieces.push_back(std::make_unique<plan::PieceT>(std::move(source)));
    program.weights.push_back(std::move(weight));
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(plan::Program::Pack(builder, &program));
    const auto &packed = *flatbuffers::GetRoot<plan::Program>(builder.GetBufferPointer());
    std::vector<uint16_t> values(elements, 0xEEEE);
    for (uint64_t first = 0; first < elements; first += step) {
      const Status made = makeRandomWeight(packed, *packed.weights()->Get(0), Seed, first,
                                           std::min(step, elements - first),
                                           reinterpret_cast<std::byte *>(values.data() + first));
      EXPECT_TRUE(made.isOk()) << made.message();
    }
    return values;
  }
};

TEST_F(RandomWeightsTest, PutsEveryFormOfRecipeInPlace) {
  // a: 3 x 5 as it is. b: rows 1 and 3 of 4 x 3, two apart, to rows of 4. c: 2 x 3 turned. d.1,
  // d.2: 1 x 2 each, 4 apart. Element 27 and what follows a row of b or d is left 0.
  std::vector<plan::PieceT> pieces;
  pieces.push_back(piece("a", 0, 3, 5, 5, 0, 5));
  pieces.push_back(piece("b", 3, 2, 3, 6, 15, 4));
  pieces.push_back(piece("c", 0, 2, 3, 3, 23, 2));
  pieces.back().transform = plan::PackTransform::Transpose;
  pieces.push_back(piece("d.{}", 0, 1, 2, 2, 30, 2));
  pieces.back().first = 1;
  pieces.back().count = 2;
  pieces.back().dst_index_stride = 4;
  std::vector<uint16_t> expected(37, 0);
  for (uint64_t i = 0; i < 15; ++i)
    expected[i] = element("a", 5, i);
  for (uint64_t r = 0; r < 2; ++r)
    for (uint64_t c = 0; c < 3; ++c) {
      expected[15 + r * 4 + c] = element("b", 3, 3 + r * 6 + c);
      expected[23 + c * 2 + r] = element("c", 3, r * 3 + c);
    }
  for (uint64_t i = 0; i < 2; ++i)
    for (uint64_t c = 0; c < 2; ++c)
      expected[30 + i * 4 + c] = element("d." + std::to_string(i + 1), 2, c);
  for (uint64_t step : {37, 1, 2, 7, 16})
    EXPECT_EQ(make(pieces, 37, step), expected) << "ranges of " << step;
}

TEST_F(RandomWeightsTest, FillsAnExecutorWithAnyNumberOfThreads) {
  PlanBuilder builder;
  buildTestModel(builder);
  auto executor = builder.executor();
  ASSERT_TRUE(executor) << executor.status().message();
  auto tensor = RandomTensor::create(Seed, "model.bias", 1, DType::F32);
  ASSERT_TRUE(tensor);
  float expected = 0, got = 0;
  tensor->fill(0, 1, reinterpret_cast<std::byte *>(&expected));
  for (unsigned threads : {1U, 3U}) {
    const uint32_t buffer = (*executor)->program().weights()->Get(0)->buffer();
    std::memset((*executor)->memory().address(buffer), 0xFF, 4);
    const Status filled = fillRandomWeights(**executor, Seed, threads, /*quiet=*/true);
    ASSERT_TRUE(filled.isOk()) << filled.message();
    std::memcpy(&got, (*executor)->memory().address(buffer), 4);
    EXPECT_EQ(got, expected);
  }
}

TEST(RandomWeights, SeedsAreReadWhole) {
  EXPECT_EQ(**parseRandomWeights("random:0"), 0u);
  EXPECT_EQ(**parseRandomWeights("random:18446744073709551615"), UINT64_MAX);
  EXPECT_FALSE(parseRandomWeights("folder/random:1")->has_value());
  for (const char *bad :
       {"random:", "random:x", "random:1 ", "random:-1", "random:18446744073709551616"}) {
    auto seed = parseRandomWeights(bad);
    ASSERT_FALSE(seed) << bad;
    EXPECT_EQ(seed.status().exitCode(), 2);
    EXPECT_EQ(seed.status().message(),
              "--weights: random weights need a seed (got \"" + std::string(bad) +
                  "\", expected random:SEED with a number of at most 64 bits)");
  }
}

} // namespace
