//===- JsonTest.cpp - Tests of JSON with positions ---------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Positions to the column, every number kind, and every way in which a text can be refused. The
// tests of limits use small limits, so that they stay fast.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/Json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace k3;
using namespace k3::json;
using testing::HasSubstr;

namespace {

std::string refusal(std::string_view text, Limits limits = {}) {
  Result<Document> document = Document::parse(text, "c.json", limits);
  EXPECT_FALSE(document.isOk()) << text;
  return document.isOk() ? "" : document.status().message();
}

Document parsed(std::string_view text) {
  Result<Document> document = Document::parse(text, "c.json");
  EXPECT_TRUE(document.isOk()) << document.status().message();
  return std::move(*document);
}

void expectAt(const Document &document, const Node &node, unsigned line, unsigned column,
              const std::string &path) {
  EXPECT_EQ(node.location.line, line) << path;
  EXPECT_EQ(node.location.column, column) << path;
  EXPECT_EQ(node.path(), path);
}

TEST(Json, PositionsOfEveryKind) {
  Document document =
      parsed("{\n  \"a\" : 12,\n  \"b\": [true, null,\n   \"x\\ny\", {\"c\":-1.5}]\n}\n");
  const Node &root = document.root();
  expectAt(document, root, 1, 1, "");
  const Node &a = *root.find("a");
  expectAt(document, a, 2, 9, "a");
  EXPECT_EQ(a.keyLocation.line, 2u);
  EXPECT_EQ(a.keyLocation.column, 3u);
  const Node &b = *root.find("b");
  expectAt(document, b, 3, 8, "b");
  expectAt(document, *b.children[0], 3, 9, "b[0]");
  expectAt(document, *b.children[1], 3, 15, "b[1]");
  expectAt(document, *b.children[2], 4, 4, "b[2]");
  expectAt(document, *b.children[3], 4, 12, "b[3]");
  expectAt(document, *b.children[3]->find("c"), 4, 17, "b[3].c");
  EXPECT_EQ(document.where(*b.children[3]->find("c")), "c.json:4:17: b[3].c");
  EXPECT_EQ(document.where(root), "c.json:1:1");
}

TEST(Json, NumbersKeepTheirKind) {
  Document document =
      parsed("[1, -9223372036854775808, 9223372036854775808, 1.0, 1e3, 9223372036854775807]");
  const auto &items = document.root().children;
  EXPECT_EQ(items[0]->kind, Kind::Integer);
  EXPECT_EQ(items[1]->kind, Kind::Integer);
  EXPECT_EQ(items[1]->integer, INT64_MIN);
  EXPECT_EQ(items[2]->kind, Kind::Unsigned);
  EXPECT_EQ(items[2]->unsignedInteger, uint64_t(1) << 63);
  EXPECT_EQ(items[3]->kind, Kind::Float);
  EXPECT_EQ(items[4]->number, 1000.0);
  EXPECT_EQ(items[5]->integer, INT64_MAX);
}

TEST(Json, DescribesValues) {
  Document document = parsed(R"([null, true, 3, 18446744073709551615, 0.5, "a\"b", [1, 2], {}])");
  std::vector<std::string> shown;
  for (const Node *node : document.root().children)
    shown.push_back(node->describe());
  EXPECT_THAT(shown, testing::ElementsAre("null", "true", "3", "18446744073709551615", "0.5",
                                          "the string \"a\\\"b\"", "an array of 2", "an object"));
}

TEST(Json, ByteOrderMarkIsSkippedAndNotCounted) {
  Document document = parsed("\xEF\xBB\xBF{\"a\": 1}");
  expectAt(document, *document.root().find("a"), 1, 7, "a");
}

TEST(Json, EmptyTexts) {
  EXPECT_EQ(refusal(""), "c.json: the file is empty (got 0 bytes, expected a JSON object)");
  EXPECT_THAT(refusal("\xEF\xBB\xBF"), HasSubstr("the file is empty"));
  EXPECT_THAT(refusal(" \n\t "), HasSubstr("the file is empty"));
}

TEST(Json, DuplicateKeys) {
  EXPECT_EQ(refusal(R"({"model_type":"kimi_linear","hidden_size":8,"hidden_size":16})"),
            "c.json:1:45: hidden_size: duplicate key 'hidden_size' (got 8 and then 16, expected "
            "one value); keep one of "
            "them");
  EXPECT_THAT(refusal("{\"a\": {\"b\": 1,\n \"b\": {}}}"),
              HasSubstr("c.json:2:2: a.b: duplicate key 'b' (got 1 and then an object"));
  // The same key in different objects is no duplicate.
  parsed(R"([{"a": 1}, {"a": 1}])");
}

TEST(Json, SyntaxErrorsHaveAPosition) {
  EXPECT_EQ(refusal("{\"a\": 1,}"), "c.json:1:9: not valid JSON: syntax error while parsing object "
                                    "key - unexpected '}'; expected string "
                                    "literal");
  EXPECT_THAT(refusal("{\"a\": 1}\n x"), HasSubstr("c.json:2:2: not valid JSON"));
  EXPECT_THAT(refusal("{\"a\": 1} {}"), HasSubstr("expected end of input"));
  EXPECT_THAT(refusal("[1, 2"), HasSubstr("c.json:1:6: not valid JSON"));
  EXPECT_THAT(refusal("[\"\xff\"]"), HasSubstr("ill-formed UTF-8 byte"));
  EXPECT_THAT(refusal("[1e999]"), HasSubstr("c.json:1:6: not valid JSON: number overflow"));
  EXPECT_EQ(refusal("[" + std::string(1000, '9') + "]"),
            "c.json:1:1001: not valid JSON: number overflow parsing '" + std::string(95, '9') +
                "...");
  EXPECT_EQ(refusal("[-I]"), "c.json:1:3: not valid JSON: syntax error while parsing value - "
                             "invalid number; expected digit after '-'");
  EXPECT_THAT(refusal("[01]"), HasSubstr("c.json:1:3: not valid JSON"));
  EXPECT_THAT(refusal("// no\n1"), HasSubstr("c.json:1:1"));
}

TEST(Json, Limits) {
  EXPECT_EQ(refusal("[[[1]]]", {100, 2}),
            "c.json:1:3: nested too deeply (got 3 levels, at most 2)");
  EXPECT_EQ(refusal("[1, 2]", {5, 2}), "c.json: the file is too large (got 6 bytes, at most 5)");
  EXPECT_THAT(refusal(std::string(100000, '[')),
              HasSubstr("nested too deeply (got 65 levels, at most 64)"));
}

} // namespace
