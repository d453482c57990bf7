//===- WeightLoaderTest.cpp - Tests of packing recipes ----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads small checkpoints by every form of recipe and compares each element of the weight; and
// refuses checkpoints that do not go with a plan, by the name of the tensor.
//
//===----------------------------------------------------------------------===//

#include "runtime/weights/WeightLoader.h"
#include "runtime/loader/DTypes.h"
#include "runtime/weights/PieceCopy.h"
#include "runtime/weights/TestFiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace k3;
using testing::HasSubstr;
using testing::Not;

namespace {

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

/// A program of weights alone, and the folder of its checkpoint.
class WeightTest : public testing::Test {
protected:
  void addWeight(const std::string &name, plan::DType type, uint64_t elements,
                 std::vector<plan::PieceT> pieces) {
    auto buffer = std::make_unique<plan::BufferT>();
    buffer->name = name;
    buffer->size = elements * dtypeBytes(type);
    buffer->dtype = type;
    auto weight = std::make_unique<plan::WeightT>();
    weight->name = name;
    weight->buffer = static_cast<uint32_t>(program_.buffers.size());
    for (plan::PieceT &source : pieces)
      weight->pieces.push_back(std::make_unique<plan::PieceT>(std::move(source)));
    memory_.emplace_back(buffer->size, std::byte{0xEE});
    program_.buffers.push_back(std::move(buffer));
    program_.weights.push_back(std::move(weight));
  }
  void addTensor(TestTensor tensor) { tensors_.push_back(std::move(tensor)); }

  Result<WeightLoadReport> load(WeightLoadOptions options = {}) {
    options.quiet = true;
    folder_.write("m.safetensors", safetensorsBytes(tensors_));
    auto checkpoint = Checkpoint::open(folder_.path(""));
    if (!checkpoint)
      return checkpoint.status();
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(plan::Program::Pack(builder, &program_));
    std::vector<std::byte *> addresses;
    for (std::vector<std::byte> &bytes : memory_)
      addresses.push_back(bytes.data());
    return loadWeights(*flatbuffers::GetRoot<plan::Program>(builder.GetBufferPointer()),
                       *checkpoint, addresses, options);
  }
  std::string refusal() {
    auto report = load();
    EXPECT_FALSE(report);
    EXPECT_EQ(report.status().exitCode(), 2);
    return report.status().message();
  }
  template <typename T> std::vector<T> weight(size_t index) const {
    std::vector<T> values(memory_[index].size() / sizeof(T));
    std::memcpy(values.data(), memory_[index].data(), memory_[index].size());
    return values;
  }

  plan::ProgramT program_;
  std::vector<std::vector<std::byte>> memory_;
  std::vector<TestTensor> tensors_;
  TestFolder folder_;
};

TEST_F(WeightTest, PacksTwoTensorsAndWidens) {
  // Rows of a (2 x 3) and b (1 x 3) one below the other; BF16 0x3F80 is 1.0.
  addTensor(
      {"a", "BF16", {2, 3}, bytesOf<uint16_t>({0x3F80, 0x4000, 0x4040, 0xBF80, 0x0001, 0x7F7F})});
  addTensor({"b", "F32", {3}, bytesOf<float>({10, 11, 12})});
  addWeight("w", plan::DType::F32, 9, {piece("a", 0, 2, 3, 3, 0, 3), piece("b", 0, 1, 3, 3, 6, 3)});
  auto report = load();
  ASSERT_TRUE(report) << report.status().message();
  EXPECT_EQ(report->tensors, 2u);
  EXPECT_EQ(report->bytesRead, 24u);
  EXPECT_EQ(weight<uint32_t>(0),
            (std::vector<uint32_t>{0x3F800000, 0x40000000, 0x40400000, 0xBF800000, 0x00010000,
                                   0x7F7F0000, 0x41200000, 0x41300000, 0x41400000}));
}

TEST_F(WeightTest, CopiesRectanglesAndKeepsTheRest) {
  // Columns 1..2 of a 3 x 4 matrix go to columns 2..3 of rows of 5; what no piece covers is left
  // alone.
  addTensor(
      {"a", "U8", {3, 4}, std::string("\x00\x01\x02\x03\x10\x11\x12\x13\x20\x21\x22\x23", 12)});
  addWeight("w", plan::DType::U8, 15, {piece("a", 1, 3, 2, 4, 2, 5)});
  WeightLoadOptions options;
  options.wholeModel = false; // column 3 of the last row is left over
  ASSERT_TRUE(load(options));
  EXPECT_EQ(weight<uint8_t>(0),
            (std::vector<uint8_t>{0xEE, 0xEE, 0x01, 0x02, 0xEE, 0xEE, 0xEE, 0x11, 0x12, 0xEE, 0xEE,
                                  0xEE, 0x21, 0x22, 0xEE}));
}

TEST_F(WeightTest, Transposes) {
  std::vector<uint16_t> source(35 * 33), expected(33 * 35);
  for (uint32_t row = 0; row < 35; ++row) {
    for (uint32_t col = 0; col < 33; ++col)
      expected[col * 35 + row] = source[row * 33 + col] = static_cast<uint16_t>(row * 100 + col);
  }
  addTensor({"a", "BF16", {35, 1, 33}, bytesOf(source)}); // a middle axis of 1 is dropped
  plan::PieceT transposed = piece("a", 0, 35, 33, 33, 0, 35);
  transposed.transform = plan::PackTransform::Transpose;
  addWeight("w", plan::DType::BF16, 35 * 33, {transposed});
  // A staging buffer of 5 rows, and one of less than a row, give the same result.
  for (uint64_t staging : {8u << 20, 5u * 66, 40u}) {
    WeightLoadOptions options;
    options.stagingBytes = staging;
    std::fill(memory_[0].begin(), memory_[0].end(), std::byte{});
    ASSERT_TRUE(load(options));
    EXPECT_EQ(weight<uint16_t>(0), expected) << staging;
  }
}

TEST_F(WeightTest, FillsARangeOfIndices) {
  // Experts 5, 6, 7 of 3 x 2 bytes each, rows of all experts interleaved: row r of expert e begins
  // at 6 r + 2 (e - 5).
  for (int expert = 5; expert < 8; ++expert) {
    std::string bytes;
    for (int i = 0; i < 6; ++i)
      bytes += static_cast<char>(expert * 16 + i);
    addTensor({"experts." + std::to_string(expert) + ".w", "U8", {3, 2}, bytes});
  }
  plan::PieceT range = piece("experts.{}.w", 0, 3, 2, 2, 0, 6);
  range.first = 5;
  range.count = 3;
  range.dst_index_stride = 2;
  addWeight("w", plan::DType::U8, 18, {range});
  auto report = load();
  ASSERT_TRUE(report) << report.status().message();
  EXPECT_EQ(report->tensors, 3u);
  EXPECT_EQ(weight<uint8_t>(0),
            (std::vector<uint8_t>{0x50, 0x51, 0x60, 0x61, 0x70, 0x71, 0x52, 0x53, 0x62, 0x63, 0x72,
                                  0x73, 0x54, 0x55, 0x64, 0x65, 0x74, 0x75}));
}

TEST_F(WeightTest, LargePiecesAreCutAndMeetAgain) {
  // More than one task (32 MiB each) and rows with a gap that is too large to be read along.
  const uint64_t rows = 5, stride = 4u << 20, cols = 3u << 20;
  std::vector<uint32_t> source(rows * stride);
  for (uint64_t i = 0; i < source.size(); ++i)
    source[i] = static_cast<uint32_t>(i * 2654435761u);
  addTensor({"a", "I32", {rows, stride}, bytesOf(source)});
  addWeight("w", plan::DType::I32, rows * cols, {piece("a", 0, rows, cols, stride, 0, cols)});
  WeightLoadOptions options;
  options.wholeModel = false;
  options.stagingBytes = 1 << 20;
  ASSERT_TRUE(load(options));
  const std::vector<uint32_t> got = weight<uint32_t>(0);
  for (uint64_t row = 0; row < rows; ++row)
    ASSERT_TRUE(std::equal(got.begin() + row * cols, got.begin() + (row + 1) * cols,
                           source.begin() + row * stride))
        << row;
}

TEST_F(WeightTest, PaddedVectorsMayBeLonger) {
  addTensor({"A_log", "F32", {1, 1, 4, 1}, bytesOf<float>({1, 2, 3, 4})});
  addWeight("w", plan::DType::F32, 3, {piece("A_log", 0, 1, 3, 3, 0, 3)});
  ASSERT_TRUE(load());
  EXPECT_EQ(weight<float>(0), (std::vector<float>{1, 2, 3}));
}

TEST_F(WeightTest, RefusesOtherElementTypes) {
  addTensor({"a", "F32", {2}, bytesOf<float>({1, 2})});
  addWeight("w", plan::DType::BF16, 2, {piece("a", 0, 1, 2, 2, 0, 2)});
  EXPECT_THAT(refusal(), HasSubstr("weight 'w': tensor 'a' has another element type than the plan "
                                   "(got F32, expected BF16)"));
}

TEST_F(WeightTest, RefusesOtherShapes) {
  addTensor({"a", "U8", {2, 3}, "abcdef"});
  addWeight("w", plan::DType::U8, 6, {piece("a", 0, 3, 2, 2, 0, 2)});
  EXPECT_THAT(refusal(), HasSubstr("weight 'w': tensor 'a' has shape [2, 3], which the plan was "
                                   "not compiled for (it reads 3 x 2 elements, rows "
                                   "2 apart, beginning at element 0)"));
}

TEST_F(WeightTest, RefusesShorterAndLongerMatrices) {
  addTensor({"a", "U8", {2, 3}, "abcdef"});
  addWeight("w", plan::DType::U8, 9, {piece("a", 0, 3, 3, 3, 0, 3)});
  EXPECT_THAT(refusal(), HasSubstr("tensor 'a' has shape [2, 3]"));
  tensors_.clear();
  addTensor({"a", "U8", {4, 3}, "abcdefghijkl"});
  EXPECT_THAT(refusal(), HasSubstr("tensor 'a' has shape [4, 3], which is larger than the plan was "
                                   "compiled for (got 12 elements, expected 9)"));
}

TEST_F(WeightTest, ListsMissingTensors) {
  plan::PieceT range = piece("e.{}", 0, 1, 1, 1, 0, 1);
  range.count = 7;
  range.dst_index_stride = 1;
  addWeight("w", plan::DType::U8, 7, {range});
  addTensor({"e.3", "U8", {1}, "x"});
  EXPECT_THAT(
      refusal(),
      HasSubstr("6 tensors are missing that the plan reads (e.0, e.1, e.2, e.4, e.5, ...)"));
}

TEST_F(WeightTest, RefusesUnusedTextTensorsAndCountsVision) {
  addTensor({"a", "U8", {1}, "x"});
  addTensor({"vision_tower.b", "U8", {3}, "xyz"});
  addTensor({"mm_projector.c", "U8", {1}, "x"});
  addTensor({"language_model.model.layers.0.self_attention_res_norm.weight", "U8", {1}, "x"});
  addWeight("w", plan::DType::U8, 1, {piece("a", 0, 1, 1, 1, 0, 1)});
  auto report = load();
  ASSERT_TRUE(report) << report.status().message();
  ASSERT_EQ(report->skipped.size(), 2u);
  EXPECT_EQ(report->skipped[0].count, 2u);
  EXPECT_EQ(report->skipped[0].bytes, 4u);
  EXPECT_EQ(report->skipped[1].count, 1u);
  addTensor({"language_model.model.layers.1.self_attention_res_norm.weight", "U8", {1}, "x"});
  EXPECT_THAT(refusal(),
              HasSubstr("1 tensors are not used by the plan "
                        "(language_model.model.layers.1.self_attention_res_norm.weight)"));
}

TEST_F(WeightTest, RefusesNaNScales) {
  addTensor({"e.weight_packed", "U8", {2}, "\xff\xff"}); // codes may be anything
  addTensor({"e.weight_scale", "U8", {2, 2}, "\x7f\x80\xff\x01"});
  addWeight("codes", plan::DType::U8, 2, {piece("e.weight_packed", 0, 1, 2, 2, 0, 2)});
  addWeight("scales", plan::DType::U8, 4, {piece("e.weight_scale", 0, 2, 2, 2, 0, 2)});
  EXPECT_THAT(refusal(),
              HasSubstr("tensor 'e.weight_scale': scale byte 2 is 255, which stands for NaN"));
}

TEST(PieceCopy, ConversionsThatKeepEveryValue) {
  EXPECT_TRUE(isExactConversion(ElementType::BF16, plan::DType::F32));
  EXPECT_TRUE(isExactConversion(ElementType::U8, plan::DType::U8));
  EXPECT_FALSE(isExactConversion(ElementType::F32, plan::DType::BF16));
  EXPECT_FALSE(isExactConversion(ElementType::F16, plan::DType::F32));
  EXPECT_FALSE(isExactConversion(ElementType::I32, plan::DType::F32));
}

} // namespace
