//===- SafetensorsTest.cpp - Tests of the file format -----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Good files in, every kind of bad file refused with the sentence that says what is wrong with it,
// and folders with shards that are missing, cut short or of another checkpoint.
//
//===----------------------------------------------------------------------===//

#include "runtime/weights/Safetensors.h"
#include "runtime/weights/Checkpoint.h"
#include "runtime/weights/SafetensorsWriter.h"
#include "runtime/weights/TestFiles.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace k3;
using testing::HasSubstr;

namespace {

/// Parses HEADER for a file whose data part has DATA bytes.
Result<std::vector<TensorInfo>> parse(const std::string &header, uint64_t data) {
  return parseSafetensorsHeader("f", header, 8 + header.size() + data);
}

TEST(SafetensorsHeader, ReadsTensorsInTheOrderOfTheirBytes) {
  const std::string header = R"({"__metadata__":{"format":"pt"},)"
                             R"("b":{"dtype":"BF16","shape":[2,3],"data_offsets":[4,16]},)"
                             R"("a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
                             R"("z":{"dtype":"U8","shape":[5,0],"data_offsets":[16,16]}}  )";
  auto tensors = parse(header, 16);
  ASSERT_TRUE(tensors) << tensors.status().message();
  ASSERT_EQ(tensors->size(), 3u);
  EXPECT_EQ((*tensors)[0].name, "a");
  EXPECT_EQ((*tensors)[0].begin, 8 + header.size());
  EXPECT_EQ((*tensors)[0].bytes, 4u);
  EXPECT_EQ((*tensors)[0].elements(), 1u);
  EXPECT_EQ((*tensors)[1].name, "b");
  EXPECT_EQ((*tensors)[1].type, ElementType::BF16);
  EXPECT_EQ((*tensors)[1].shape, (std::vector<uint64_t>{2, 3}));
  EXPECT_EQ((*tensors)[2].bytes, 0u);
}

struct BadHeader {
  const char *name, *header;
  uint64_t data;
  const char *message;
};

class SafetensorsBadHeader : public testing::TestWithParam<BadHeader> {};

TEST_P(SafetensorsBadHeader, IsRefused) {
  auto tensors = parse(GetParam().header, GetParam().data);
  ASSERT_FALSE(tensors);
  EXPECT_EQ(tensors.status().exitCode(), 2);
  EXPECT_THAT(tensors.status().message(), HasSubstr(GetParam().message));
}

const BadHeader BadHeaders[] = {
    {"NotJson", "{\"a\":", 0, "f: the header is not valid JSON (at byte 6 of it)"},
    {"Trailing", "{} x", 0, "f: the header is not valid JSON"},
    {"NotAnObject", "[1]", 0, "f: the header is not an object"},
    {"Number", "7", 0, "f: the header is not an object (got the number 7)"},
    {"TensorIsNumber", R"({"a":1})", 0, "f: tensor 'a': has the number 1"},
    {"Duplicate",
     R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
     1, "f: tensor 'a': appears twice"},
    {"DuplicateKey", R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1,
     "f: tensor 'a': has the key \"dtype\" twice"},
    {"UnknownKey", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":[1]}})", 1,
     "f: tensor 'a': has the unknown key \"x\""},
    {"UnknownType", R"({"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", 1,
     "f: tensor 'a': has an unknown element type (got \"F8_E4M3\""},
    {"NoShape", R"({"a":{"dtype":"U8","data_offsets":[0,1]}})", 1,
     "f: tensor 'a': lacks one of dtype, shape and data_offsets"},
    {"OneOffset", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0]}})", 1,
     "f: tensor 'a': has 1 data_offsets (expected 2)"},
    {"NegativeShape", R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", 1,
     "f: tensor 'a': has the number -1 at \"shape\""},
    {"FloatShape", R"({"a":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}})", 1,
     "f: tensor 'a': has the number 1.0 at \"shape\""},
    {"NestedShape", R"({"a":{"dtype":"U8","shape":[[1]],"data_offsets":[0,1]}})", 1,
     "f: tensor 'a': has a list at \"shape\""},
    {"ShapeIsString", R"({"a":{"dtype":"U8","shape":"1","data_offsets":[0,1]}})", 1,
     "f: tensor 'a': has the string \"1\" at \"shape\""},
    {"FallingOffsets", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}})", 1,
     "f: tensor 'a': its data_offsets fall (got 1 to 0)"},
    {"WrongSize", R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,20]}})", 20,
     "f: tensor 'a': F32 of shape [2, 3] does not fill its data_offsets (got 20 bytes, expected "
     "24)"},
    {"Overflow", R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0,
     "expected more than 2^64"},
    {"Overlap",
     R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
     6, "f: tensors 'a' and 'b' overlap by 2 bytes"},
    {"Hole",
     R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[3,4]}})",
     4, "f: 2 bytes before tensor 'b' belong to no tensor"},
    {"TrailingBytes", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 9,
     "f: 8 bytes at the end belong to no tensor"},
    // 8 length bytes, a header of 49 + 3 bytes, 16 of 32 data bytes.
    {"Truncated", R"({"a":{"dtype":"U8","shape":[32],"data_offsets":[0,32]}})", 16,
     "f: the file is truncated: tensor 'a' ends beyond it (got 79 bytes, expected 95)"},
};

INSTANTIATE_TEST_SUITE_P(All, SafetensorsBadHeader, testing::ValuesIn(BadHeaders),
                         [](const testing::TestParamInfo<BadHeader> &info) {
                           return std::string(info.param.name);
                         });

TEST(SafetensorsFile, ReadsBackWhatWasWritten) {
  TestFolder folder;
  SafetensorsWriter writer;
  writer.add("values", {2, 2}, std::vector<float>{1.5f, -2, 0, 1e30f});
  writer.add("a \"quoted\" name", {3}, std::vector<int32_t>{7, -8, 9});
  writer.add("empty", {0, 4}, std::vector<float>{});
  ASSERT_TRUE(writer.write(folder.path("f.safetensors")));
  auto file = SafetensorsFile::open(folder.path("f.safetensors"));
  ASSERT_TRUE(file) << file.status().message();
  ASSERT_EQ(file->tensors().size(), 3u);
  const TensorInfo *ints = file->find("a \"quoted\" name");
  ASSERT_NE(ints, nullptr);
  EXPECT_EQ(ints->type, ElementType::I32);
  int32_t last = 0;
  ASSERT_TRUE(file->read(*ints, 8, &last, 4));
  EXPECT_EQ(last, 9);
  EXPECT_FALSE(file->read(*ints, 9, &last, 4));
  const TensorInfo *values = file->find("values");
  ASSERT_NE(values, nullptr);
  EXPECT_EQ(values->shape, (std::vector<uint64_t>{2, 2}));
  float read[4];
  ASSERT_TRUE(file->read(*values, 0, read, sizeof(read)));
  EXPECT_EQ(read[1], -2);
  EXPECT_EQ(read[3], 1e30f);
  EXPECT_EQ(file->find("value"), nullptr);
}

TEST(SafetensorsFile, WritesNoNameTwiceAndReplacesNoLink) {
  TestFolder folder;
  SafetensorsWriter writer;
  writer.add("x", {1}, std::vector<float>{1});
  folder.write("old", "");
  std::filesystem::create_symlink("old", folder.path("link"));
  ASSERT_TRUE(writer.write(folder.path("link")));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
  EXPECT_TRUE(SafetensorsFile::open(folder.path("old")));
  writer.add("y", {1}, std::vector<float>{1});
  writer.add("x", {1}, std::vector<int32_t>{1});
  const Status status = writer.write(folder.path("f"));
  EXPECT_EQ(status.code(), Code::Refused);
  EXPECT_EQ(status.message(), folder.path("f") +
                                  ": two tensors are called 'x' (expected unique names); rename "
                                  "an output, a tap or a state of the plan");
  EXPECT_FALSE(std::filesystem::exists(folder.path("f")));
}

TEST(SafetensorsFile, RefusesBadLengths) {
  TestFolder folder;
  folder.write("short", "1234567");
  EXPECT_THAT(SafetensorsFile::open(folder.path("short")).status().message(),
              HasSubstr("too short for a safetensors file (got 7 bytes"));
  folder.write("long", std::string("\x05\0\0\0\0\0\0\0{}", 10));
  EXPECT_THAT(
      SafetensorsFile::open(folder.path("long")).status().message(),
      HasSubstr(
          "the header does not fit in the file (got a length of 5 bytes, expected at most 2)"));
  folder.write("huge", std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10));
  EXPECT_THAT(SafetensorsFile::open(folder.path("huge")).status().message(),
              HasSubstr("got a length of 18446744073709551615 bytes"));
  EXPECT_EQ(SafetensorsFile::open(folder.path("none")).status().exitCode(), 2);
}

TEST(Checkpoint, OneFileAlone) {
  TestFolder folder;
  EXPECT_THAT(Checkpoint::open(folder.path("")).status().message(),
              HasSubstr("has no model.safetensors.index.json and 0 safetensors files"));
  folder.write("x.safetensors", safetensorsBytes({{"a", "U8", {2}, "xy"}}));
  auto checkpoint = Checkpoint::open(folder.path(""));
  ASSERT_TRUE(checkpoint) << checkpoint.status().message();
  const TensorPlace *place = checkpoint->find("a");
  ASSERT_NE(place, nullptr);
  char bytes[2];
  ASSERT_TRUE(checkpoint->read(*place, 0, bytes, 2));
  EXPECT_EQ(std::string(bytes, 2), "xy");
  folder.write("y.safetensors", safetensorsBytes({{"b", "U8", {2}, "xy"}}));
  EXPECT_THAT(Checkpoint::open(folder.path("")).status().message(),
              HasSubstr("and 2 safetensors files (expected an index, or exactly one file)"));
}

TEST(Checkpoint, IndexAndShardsMustAgree) {
  TestFolder folder;
  const std::string first = safetensorsBytes(
      {{"model.layers.7.a", "U8", {2}, "xy"}, {"model.layers.7.b", "U8", {1}, "z"}});
  const std::string second = safetensorsBytes({{"vision_tower.c", "U8", {1}, "c"}});
  const std::string index =
      R"({"metadata":{"total_size":4},"weight_map":{"model.layers.7.a":"1.safetensors",)"
      R"("model.layers.7.b":"1.safetensors","vision_tower.c":"2.safetensors"}})";
  folder.write("model.safetensors.index.json", index);
  folder.write("1.safetensors", first);
  folder.write("2.safetensors", second);
  ASSERT_TRUE(Checkpoint::open(folder.path("")));

  // A shard of vision alone may be missing when the caller says so; another one may not, and its
  // layer is named.
  folder.remove("2.safetensors");
  EXPECT_THAT(Checkpoint::open(folder.path("")).status().message(),
              HasSubstr("2.safetensors: the shard is missing (the index places 1 tensors in it)"));
  auto vision = [](std::string_view name) { return name.starts_with("vision_tower."); };
  auto text = Checkpoint::open(folder.path(""), vision);
  ASSERT_TRUE(text) << text.status().message();
  EXPECT_EQ(text->find("vision_tower.c"), nullptr);
  folder.write("2.safetensors", second);
  folder.remove("1.safetensors");
  EXPECT_THAT(Checkpoint::open(folder.path(""), vision).status().message(),
              HasSubstr("1.safetensors: the shard is missing (the index places 2 tensors in it, "
                        "all of layer 7)"));

  folder.write("1.safetensors", safetensorsBytes({{"model.layers.7.a", "U8", {2}, "xy"}}));
  EXPECT_THAT(
      Checkpoint::open(folder.path("")).status().message(),
      HasSubstr("lacks 1 of the 2 tensors that the index places in it, first 'model.layers.7.b'"));
  folder.write("1.safetensors", safetensorsBytes({{"model.layers.7.a", "U8", {2}, "xy"},
                                                  {"model.layers.7.b", "U8", {1}, "z"},
                                                  {"more", "U8", {1}, "z"}}));
  EXPECT_THAT(Checkpoint::open(folder.path("")).status().message(),
              HasSubstr("holds 1 tensors that the index does not place in it, first 'more'"));
  folder.write("1.safetensors", first.substr(0, first.size() - 1));
  EXPECT_THAT(Checkpoint::open(folder.path("")).status().message(),
              HasSubstr("(got " + std::to_string(first.size() - 1) + " bytes, expected " +
                        std::to_string(first.size()) + ")"));
}

TEST(Checkpoint, RefusesBadIndexes) {
  TestFolder folder;
  const std::pair<const char *, const char *> bad[] = {
      {"", "is not valid JSON"},
      {"[]", "is not an object"},
      {"{}", "has no object weight_map"},
      {R"({"weight_map":{"a":1}})", "tensor 'a' is not placed in a file by name"},
      {R"({"weight_map":{"a":{}}})", "tensor 'a' is not placed in a file by name"},
      {R"({"weight_map":{"a":"../x"}})",
       "tensor 'a' is placed in \"../x\", which is not a plain file name"},
      {R"({"weight_map":{"a":".."}})", "is not a plain file name"},
      {R"({"weight_map":{"a":"x","a":"y"}})", "tensor 'a' appears twice"},
      {R"({"weight_map":{},"weight_map":{}})", "weight_map appears twice"},
  };
  for (const auto &[text, message] : bad) {
    folder.write("model.safetensors.index.json", text);
    auto checkpoint = Checkpoint::open(folder.path(""));
    ASSERT_FALSE(checkpoint) << text;
    EXPECT_EQ(checkpoint.status().exitCode(), 2) << text;
    EXPECT_THAT(checkpoint.status().message(), HasSubstr(message)) << text;
  }
}

} // namespace
