//===- PreTokenizerTest.cpp - Tests of the cuts ---------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every expected split below was written by hand from the rules of the reference, rule by rule: a
// table that comes from running the pattern would only repeat its mistakes.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/PreTokenizer.h"

#include <gtest/gtest.h>
#include <string>

using namespace k3;
using namespace std::string_literals;

namespace {

using Pieces = std::vector<std::string>;

Pieces split(std::string_view text) {
  static const Result<PreTokenizer> preTokenizer = PreTokenizer::create();
  EXPECT_TRUE(preTokenizer.isOk()) << preTokenizer.status().message();
  Result<std::vector<std::string_view>> pieces = preTokenizer->split(text);
  EXPECT_TRUE(pieces.isOk()) << pieces.status().message();
  return pieces.isOk() ? Pieces(pieces->begin(), pieces->end()) : Pieces{};
}

TEST(PreTokenizer, RunsOfHanAreTheScriptOnly) {
  EXPECT_EQ(split("你好〇世界々"), (Pieces{"你好〇世界々"}));
  // These marks have Han among their script extensions, not as their script; ㈠ is a number.
  EXPECT_EQ(split("中、文「字」・㈠"), (Pieces{"中", "、", "文", "「", "字", "」・", "㈠"}));
  EXPECT_EQ(split("漢字kanji漢字"), (Pieces{"漢字", "kanji", "漢字"}));
  EXPECT_EQ(split("Kimi中"), (Pieces{"Kimi", "中"}));
  // Of the Han characters ⺀ is a symbol, which before a letter would else be taken into its word.
  EXPECT_EQ(split("⺀a"), (Pieces{"⺀", "a"}));
  EXPECT_EQ(split("!中"), (Pieces{"!", "中"}));
  EXPECT_EQ(split(" 中文"), (Pieces{" ", "中文"}));
  EXPECT_EQ(split("𠀀𪜀x"), (Pieces{"𠀀𪜀", "x"}));
  // A letter and a mark with Han among their script extensions stay in words.
  EXPECT_EQ(split("a〼b\u302Ac"), (Pieces{"a〼b\u302Ac"}));
  // The prolonged sound mark and kana are letters, but no Han.
  EXPECT_EQ(split("アー中ひ"), (Pieces{"アー", "中", "ひ"}));
}

TEST(PreTokenizer, WordsByCase) {
  EXPECT_EQ(split("HelloWorld"), (Pieces{"Hello", "World"}));
  EXPECT_EQ(split("HTMLParser"), (Pieces{"HTMLParser"}));
  EXPECT_EQ(split("iPhone"), (Pieces{"i", "Phone"}));
  EXPECT_EQ(split("ABC def"), (Pieces{"ABC", " def"}));
  EXPECT_EQ(split("Éclairǅungla"), (Pieces{"Éclair", "ǅungla"}));
  EXPECT_EQ(split("한국어 ภาษาไทย"), (Pieces{"한국어", " ภาษาไทย"}));
  EXPECT_EQ(split("a.b(c)"), (Pieces{"a", ".b", "(c", ")"}));
  EXPECT_EQ(split("👍ok 👍🏽 ok"), (Pieces{"👍ok", " 👍🏽", " ok"}));
  EXPECT_EQ(split("a\0b"s), (Pieces{"a", "\0b"s}));
}

TEST(PreTokenizer, CombiningMarksAreLetters) {
  EXPECT_EQ(split("e\u0301tude"), (Pieces{"e\u0301tude"}));
  EXPECT_EQ(split("E\u0301TUDE"), (Pieces{"E\u0301", "TUDE"}));
  EXPECT_EQ(split("!\u0301a"), (Pieces{"!\u0301a"}));
  // A mark alone ends the first kind of word, so capitals behind it begin another.
  EXPECT_EQ(split("\u0301ABC"), (Pieces{"\u0301", "ABC"}));
  EXPECT_EQ(split("中\u0301文"), (Pieces{"中", "\u0301", "文"}));
  EXPECT_EQ(split("1\u20DD2"), (Pieces{"1", "\u20DD", "2"}));
}

TEST(PreTokenizer, ContractionsInAnyCase) {
  EXPECT_EQ(split("I've don't DON'T We'Re it's"),
            (Pieces{"I've", " don't", " DON'T", " We'Re", " it's"}));
  EXPECT_EQ(split("he'll HE'LL I'm I'D"), (Pieces{"he'll", " HE'LL", " I'm", " I'D"}));
  EXPECT_EQ(split("it's's"), (Pieces{"it's", "'s"}));
  EXPECT_EQ(split("a'sb"), (Pieces{"a's", "b"}));
  EXPECT_EQ(split("y'all dogs'"), (Pieces{"y", "'all", " dogs", "'"}));
  EXPECT_EQ(split("can’t"), (Pieces{"can", "’t"}));
  EXPECT_EQ(split("3's 中's"), (Pieces{"3", "'s", " ", "中", "'s"}));
  // Unicode folds the long s to s.
  EXPECT_EQ(split("it'ſa"), (Pieces{"it'ſ", "a"}));
}

TEST(PreTokenizer, NumbersInThrees) {
  EXPECT_EQ(split("1234567"), (Pieces{"123", "456", "7"}));
  EXPECT_EQ(split("a1b22"), (Pieces{"a", "1", "b", "22"}));
  EXPECT_EQ(split(" 42"), (Pieces{" ", "42"}));
  EXPECT_EQ(split("½²Ⅷ٣"), (Pieces{"½²Ⅷ", "٣"}));
  EXPECT_EQ(split("3.14"), (Pieces{"3", ".", "14"}));
}

TEST(PreTokenizer, PunctuationTakesOneSpaceBeforeAndLineEndsAfter) {
  EXPECT_EQ(split("Hello, world!\n\nYes"), (Pieces{"Hello", ",", " world", "!\n\n", "Yes"}));
  EXPECT_EQ(split("  ...x"), (Pieces{" ", " ...", "x"}));
  EXPECT_EQ(split("##Title"), (Pieces{"##", "Title"}));
  EXPECT_EQ(split("}\r\n }"), (Pieces{"}\r\n", " }"}));
  EXPECT_EQ(split("[BOS]<|im_end|>"), (Pieces{"[BOS", "]<|", "im", "_end", "|>"}));
}

TEST(PreTokenizer, WhiteSpaceLeavesItsLastCharacterToTheWordBehind) {
  EXPECT_EQ(split("a  b   c"), (Pieces{"a", " ", " b", "  ", " c"}));
  EXPECT_EQ(split("a  "), (Pieces{"a", "  "}));
  EXPECT_EQ(split("\t\tx"), (Pieces{"\t", "\tx"}));
  EXPECT_EQ(split("a \n b"), (Pieces{"a", " \n", " b"}));
  EXPECT_EQ(split("  \r\n\r\n  x"), (Pieces{"  \r\n\r\n", " ", " x"}));
  EXPECT_EQ(split("\n\n\n"), (Pieces{"\n\n\n"}));
  EXPECT_EQ(split("x\n  "), (Pieces{"x", "\n", "  "}));
  EXPECT_EQ(split("a\u00A0b\u2028\u2028c"), (Pieces{"a", "\u00A0b", "\u2028", "\u2028c"}));
  EXPECT_EQ(split("\u3000中"), (Pieces{"\u3000", "中"}));
  // Only \r and \n end lines; U+0085 and U+000B are plain white space.
  EXPECT_EQ(split("a\v\u0085b"), (Pieces{"a", "\v", "\u0085b"}));
  // Neither the Mongolian vowel separator nor U+001C has the property White_Space.
  EXPECT_EQ(split("a \u180E! \x1C!"), (Pieces{"a", " \u180E!", " \x1C!"}));
}

TEST(PreTokenizer, Mixed) {
  EXPECT_EQ(split("Kimi K3在2026年发布!"),
            (Pieces{"Kimi", " K", "3", "在", "202", "6", "年发布", "!"}));
  EXPECT_EQ(split("for (int i = 0; i < 10; ++i)\n    x += \"é中\";\n"),
            (Pieces{"for", " (",  "int", " i",  " =",  " ",  "0",   ";",   " i", " <", " ",    "10",
                    ";",   " ++", "i",   ")\n", "   ", " x", " +=", " \"", "é",  "中", "\";\n"}));
  EXPECT_EQ(split(""), Pieces{});
}

TEST(CutLongText, ShortTextIsOneSection) {
  EXPECT_TRUE(cutLongText("").empty());
  EXPECT_EQ(cutLongText(std::string(25000, 'a')).size(), 1u);
  EXPECT_EQ(cutLongText("a b").front(), "a b");
}

/// Lengths in bytes of the sections of TEXT.
std::vector<size_t> sectionSizes(const std::string &text) {
  std::vector<size_t> sizes;
  for (std::string_view section : cutLongText(text))
    sizes.push_back(section.size());
  return sizes;
}

std::string repeat(std::string_view part, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += part;
  return text;
}

TEST(CutLongText, CutsLongRuns) {
  using Sizes = std::vector<size_t>;
  EXPECT_EQ(sectionSizes(std::string(25001, 'a')), (Sizes{25000, 1}));
  EXPECT_EQ(sectionSizes(std::string(24999, 'a') + std::string(25001, ' ') + "b"),
            (Sizes{49999, 2}));
  EXPECT_EQ(sectionSizes(std::string(60000, ' ')), (Sizes{25000, 25000, 10000}));
  // Characters count, not bytes; the separators U+001C to U+001F count as space.
  EXPECT_EQ(sectionSizes(repeat("é", 25001)), (Sizes{50000, 2}));
  EXPECT_EQ(sectionSizes(repeat(" \x1C", 12501)), (Sizes{25000, 2}));
  EXPECT_EQ(sectionSizes(repeat("a ", 30000)), (Sizes{60000}));
}

TEST(CutLongText, CutsBlocks) {
  using Sizes = std::vector<size_t>;
  EXPECT_EQ(sectionSizes(repeat("a ", 200001)), (Sizes{400000, 2}));
  // A block ends its run: the next one counts from zero.
  EXPECT_EQ(sectionSizes(repeat("a ", 199990) + std::string(25020, 'x')), (Sizes{400000, 25000}));
  EXPECT_EQ(sectionSizes(std::string(800001, ' ')).size(), 33u);
}

TEST(PreTokenizer, AppliesThePatternToEachSectionAlone) {
  // Across a border a run of white space does not see the word behind it.
  Pieces pieces = split(std::string(25001, ' ') + "b");
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].size(), 25000u);
  EXPECT_EQ(pieces[1], " b");
  pieces = split(std::string(800001, ' '));
  EXPECT_EQ(pieces.size(), 33u);
  EXPECT_EQ(pieces.back(), " ");
}

} // namespace
