//===- Utf8Test.cpp - Tests of walking and checking UTF-8 --------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every way a sequence of bytes can fail to be a character, and what may still become one.
//
//===----------------------------------------------------------------------===//

#include "support/Utf8.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

using namespace k3;
using namespace std::string_literals;

namespace {

TEST(Utf8, FindsTheFirstInvalidByte) {
  EXPECT_EQ(findInvalidUtf8("aé中😀\U0010FFFF\0"s), std::nullopt);
  EXPECT_EQ(findInvalidUtf8("ab\xFFz"), 2u);
  EXPECT_EQ(findInvalidUtf8("\x80"), 0u);
  EXPECT_EQ(findInvalidUtf8("a\xC0\x80"), 1u);        // overlong NUL
  EXPECT_EQ(findInvalidUtf8("\xE0\x9F\xBF"), 0u);     // overlong
  EXPECT_EQ(findInvalidUtf8("é\xED\xA0\x80"), 2u);    // surrogate
  EXPECT_EQ(findInvalidUtf8("\xF4\x90\x80\x80"), 0u); // above U+10FFFF
  EXPECT_EQ(findInvalidUtf8("\xF0\x8F\xBF\xBF"), 0u); // overlong
  EXPECT_EQ(findInvalidUtf8("ab\xE4\xB8"), 2u);       // cut off
  EXPECT_EQ(findInvalidUtf8("\xF5\x80\x80\x80"), 0u);
}

TEST(Utf8, CodePoints) {
  EXPECT_EQ(codePointAt("aé", 0).value, U'a');
  EXPECT_EQ(codePointAt("aé", 1).value, U'é');
  EXPECT_EQ(codePointAt("中", 0).value, U'中');
  EXPECT_EQ(codePointAt("😀", 0).value, U'😀');
  EXPECT_EQ(codePointAt("😀", 0).length, 4u);
}

TEST(Utf8, HoldsBackOnlyWhatCanBecomeACharacter) {
  EXPECT_EQ(completeUtf8Prefix(""), 0u);
  EXPECT_EQ(completeUtf8Prefix("aé中😀"), 10u);
  EXPECT_EQ(completeUtf8Prefix("a\xE4"), 1u);
  EXPECT_EQ(completeUtf8Prefix("a\xE4\xB8"), 1u);
  EXPECT_EQ(completeUtf8Prefix("a\xF0\x9F\x98"), 1u);
  EXPECT_EQ(completeUtf8Prefix("\xF0"), 0u);
  EXPECT_EQ(completeUtf8Prefix("a\xFF"), 2u);
  EXPECT_EQ(completeUtf8Prefix("a\x80\x80"), 3u);
  EXPECT_EQ(completeUtf8Prefix("a\xED\xA0"), 3u); // a surrogate never becomes valid
}

} // namespace
