//===- PreTokenizer.cpp - Cutting text into pieces for BPE ----------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pattern of the Kimi tokenizers in PCRE2's dialect, and the cutting of very long text before
// it. Each alternative is a line below; where PCRE2's classes differ from the reference's, the
// comment says how.
//
//===----------------------------------------------------------------------===//

#define PCRE2_CODE_UNIT_WIDTH 8
#include "runtime/tokenizer/PreTokenizer.h"

#include "support/Utf8.h"

#include <pcre2.h>
#include <string>

using namespace k3;

namespace {

// Han is the script (`sc`): PCRE2's plain \p{Han} means script extensions and would take marks such
// as 、「・ too. White space is the Unicode property: with UCP, PCRE2's \s has U+180E in addition.
#define K3_WS "\\p{White_Space}"
#define K3_NOT_HAN "(?!\\p{sc:Han})"
#define K3_UPPER "(?:" K3_NOT_HAN "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}])"
#define K3_LOWER "(?:" K3_NOT_HAN "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}])"
#define K3_PREFIX "[^\\r\\n\\p{L}\\p{N}]?"
#define K3_CONTRACTION "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"

constexpr char kPattern[] =
    // A run of Han, which no other alternative may hold as a letter.
    "\\p{sc:Han}+"
    // A word that ends in small letters; letters without case, and marks, belong to both classes.
    "|" K3_PREFIX K3_UPPER "*" K3_LOWER "+" K3_CONTRACTION
    // A word of capitals.
    "|" K3_PREFIX K3_UPPER "+" K3_LOWER "*" K3_CONTRACTION
    // Numbers in threes, from the left.
    "|\\p{N}{1,3}"
    // Punctuation and symbols with one space before and line ends after.
    "| ?[^" K3_WS "\\p{L}\\p{N}]+[\\r\\n]*"
    // Line ends with the white space before them.
    "|" K3_WS "*[\\r\\n]+"
    // Other white space; the last character is left to the word behind it.
    "|" K3_WS "+(?!"
    "[^" K3_WS "])"
    "|" K3_WS "+";

#undef K3_WS
#undef K3_NOT_HAN
#undef K3_UPPER
#undef K3_LOWER
#undef K3_PREFIX
#undef K3_CONTRACTION

/// What Python's str.isspace accepts: the separators U+001C to U+001F are space here but not in the
/// pattern.
bool isPythonSpace(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

std::string describePcre2(int code) {
  PCRE2_UCHAR8 text[160];
  if (pcre2_get_error_message(code, text, sizeof text) < 0)
    return "error " + std::to_string(code);
  return reinterpret_cast<const char *>(text);
}

struct MatchDataDeleter {
  void operator()(pcre2_match_data *data) const { pcre2_match_data_free(data); }
};
using MatchData = std::unique_ptr<pcre2_match_data, MatchDataDeleter>;

} // namespace

struct PreTokenizer::Pattern {
  pcre2_code *code = nullptr;
  ~Pattern() { pcre2_code_free(code); }
};

std::vector<std::string_view> k3::cutLongText(std::string_view text) {
  // No run and no block can be too long in so few bytes.
  if (text.size() <= kMaxRunChars)
    return text.empty() ? std::vector<std::string_view>{} : std::vector<std::string_view>{text};
  std::vector<std::string_view> sections;
  size_t start = 0, blockChars = 0, runChars = 0;
  bool runIsSpace = false;
  for (size_t offset = 0; offset < text.size();) {
    CodePoint point = codePointAt(text, offset);
    bool isSpace = isPythonSpace(point.value);
    bool blockFull = blockChars == kMaxBlockChars;
    if (blockFull || (isSpace == runIsSpace && runChars == kMaxRunChars)) {
      sections.push_back(text.substr(start, offset - start));
      start = offset;
      runChars = 0;
      if (blockFull)
        blockChars = 0;
    } else if (isSpace != runIsSpace) {
      runChars = 0;
    }
    runIsSpace = isSpace;
    ++runChars;
    ++blockChars;
    offset += point.length;
  }
  sections.push_back(text.substr(start));
  return sections;
}

Result<PreTokenizer> PreTokenizer::create() {
  auto pattern = std::make_shared<Pattern>();
  int code = 0;
  PCRE2_SIZE offset = 0;
  pattern->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR8>(kPattern), PCRE2_ZERO_TERMINATED,
                                PCRE2_UTF | PCRE2_UCP, &code, &offset, nullptr);
  if (!pattern->code)
    return Status::failed(
        "pre-tokeniser: this PCRE2 library does not accept the pattern (" + describePcre2(code) +
        " at " + std::to_string(offset) +
        ", expected PCRE2 10.40 or later with Unicode); install a newer libpcre2-8");
  return PreTokenizer(std::move(pattern));
}

/// Appends the pieces of SECTION, matched on its own: nothing looks across its end.
static Status splitSection(const pcre2_code *code, pcre2_match_data *data, std::string_view section,
                           std::vector<std::string_view> &pieces) {
  auto *subject = reinterpret_cast<PCRE2_SPTR8>(section.data());
  for (size_t offset = 0; offset < section.size();) {
    // The text was checked as a whole; PCRE2 would check the rest again at every piece.
    int matched = pcre2_match(code, subject, section.size(), offset,
                              PCRE2_ANCHORED | PCRE2_NO_UTF_CHECK, data, nullptr);
    const PCRE2_SIZE *range = pcre2_get_ovector_pointer(data);
    if (matched < 0 || range[1] <= offset)
      return Status::failed("pre-tokeniser: the pattern stopped at byte " + std::to_string(offset) +
                            " of a section of " + std::to_string(section.size()) + " bytes (" +
                            (matched < 0 ? describePcre2(matched) : std::string("an empty match")) +
                            ", expected a piece everywhere); split the text there");
    pieces.push_back(section.substr(offset, range[1] - offset));
    offset = range[1];
  }
  return Status::ok();
}

Result<std::vector<std::string_view>> PreTokenizer::split(std::string_view text) const {
  MatchData data(pcre2_match_data_create_from_pattern(pattern_->code, nullptr));
  if (!data)
    return Status::failed("pre-tokeniser: out of memory for " + std::to_string(text.size()) +
                          " bytes of text; free some memory and try again");
  std::vector<std::string_view> pieces;
  pieces.reserve(text.size() / 4);
  for (std::string_view section : cutLongText(text))
    K3_RETURN_IF_ERROR(splitSection(pattern_->code, data.get(), section, pieces));
  return pieces;
}
