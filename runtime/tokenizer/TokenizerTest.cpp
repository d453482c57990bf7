//===- TokenizerTest.cpp - Tests of the tokenizer -------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks ids against the golden ones of the example checkpoint, merging against a scan that follows
// the definition, and every way in which the files of a checkpoint can be broken.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/Tokenizer.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

using namespace k3;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

const std::string kTiny = K3_SOURCE_DIR "/examples/k3-tiny";
using Ids = std::vector<int32_t>;

const Tokenizer &tiny() {
  static const Result<Tokenizer> tokenizer = Tokenizer::load(kTiny);
  EXPECT_TRUE(tokenizer.isOk()) << tokenizer.status().message();
  return *tokenizer;
}

Ids encode(std::string_view text) {
  Result<Ids> ids = tiny().encode(text);
  EXPECT_TRUE(ids.isOk()) << ids.status().message();
  return ids.isOk() ? *ids : Ids{};
}

std::string decode(const Ids &ids, SpecialText special = SpecialText::Keep) {
  Result<std::string> text = tiny().decode(ids, special);
  EXPECT_TRUE(text.isOk()) << text.status().message();
  return text.isOk() ? *text : "";
}

TEST(Tokenizer, GoldenPromptsAndAnswers) {
  std::ifstream file(kTiny + "/golden.json");
  nlohmann::json golden = nlohmann::json::parse(file, nullptr, false);
  ASSERT_EQ(golden.size(), 6u);
  for (const nlohmann::json &entry : golden) {
    Ids prompt = entry["prompt_ids"], answer = entry["greedy_ids"];
    std::string text = entry["text"], question = entry["prompt"];
    ASSERT_EQ(prompt.front(), 496);
    ASSERT_EQ(answer.back(), 497);
    prompt.erase(prompt.begin());
    answer.pop_back();
    EXPECT_EQ(encode(question), prompt) << question;
    EXPECT_EQ(encode(text), answer) << text;
    EXPECT_EQ(decode(answer), text);
    Ids joined = prompt;
    joined.insert(joined.end(), answer.begin(), answer.end());
    EXPECT_EQ(encode(question + text), joined);
  }
}

TEST(Tokenizer, CountsOfTheExample) {
  EXPECT_EQ(tiny().rankCount(), 477u);
  EXPECT_EQ(tiny().addedCount(), 16u);
  EXPECT_EQ(encode(""), Ids{});
  EXPECT_EQ(encode(" Kimi L"), (Ids{475, 474}));
}

TEST(Tokenizer, PlainTextNeverBecomesAControlToken) {
  for (int32_t id = 496; id < 512; ++id) {
    EXPECT_TRUE(tiny().isSpecial(id));
    std::string content = decode({id});
    EXPECT_EQ(tiny().specialId(content), id);
    Ids ids = encode("a" + content + content + "\n");
    EXPECT_LT(*std::max_element(ids.begin(), ids.end()), 477) << content;
    EXPECT_EQ(decode(ids), "a" + content + content + "\n");
  }
  // [BOS] has no merges in the example: its letters one by one.
  EXPECT_EQ(encode("[BOS]"), (Ids{91, 66, 79, 83, 93}));
  EXPECT_EQ(tiny().specialId("BOS"), std::nullopt);
  EXPECT_FALSE(tiny().isSpecial(65));
  EXPECT_FALSE(tiny().isSpecial(490));
}

TEST(Tokenizer, DecodesBytesAndControlTokens) {
  EXPECT_EQ(decode({496, 72, 105, 497}), "[BOS]Hi[EOS]");
  EXPECT_EQ(decode({496, 72, 105, 497}, SpecialText::Skip), "Hi");
  EXPECT_EQ(decode({0xE4, 0xB8}), "\xE4\xB8");
  EXPECT_EQ(decode({0xFF}), "\xFF");
  std::string mixed = "Kimi K3 在 2026 年 😀\t\r\n\n [EOS] e\u0301 I'll";
  EXPECT_EQ(decode(encode(mixed)), mixed);
  for (int32_t id : {480, 512, -1})
    EXPECT_EQ(
        tiny().decode(Ids{72, id}).status().message(),
        "token ids: id at index 1 has no token (got " + std::to_string(id) +
            ", expected one of 477 ranks and 16 added tokens); use the tokenizer files of the "
            "checkpoint that gave the ids");
}

TEST(Tokenizer, RefusesTextThatIsNotUtf8) {
  Result<Ids> ids = tiny().encode("Hello \xFF!");
  ASSERT_FALSE(ids.isOk());
  EXPECT_EQ(ids.status().code(), Code::Refused);
  EXPECT_EQ(ids.status().message(), "text: is not UTF-8 at byte 6 of 8 (got 0xff, expected a whole "
                                    "UTF-8 character); convert the text to UTF-8");
}

TEST(Tokenizer, LongTextTakesLinearTime) {
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(encode(std::string(800001, ' ')), Ids(800001, 32));
  EXPECT_EQ(encode(std::string(800001, 'q')), Ids(800001, 113));
  // Minutes if anything here were quadratic, well below a second as it is.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

BytePairEncoder makeEncoder(const std::vector<std::string> &merged) {
  size_t bytes = 256;
  for (const std::string &token : merged)
    bytes += token.size();
  BytePairEncoder encoder(bytes);
  for (int byte = 0; byte < 256; ++byte)
    EXPECT_TRUE(encoder.add(std::string(1, static_cast<char>(byte)), byte));
  int32_t rank = 256;
  for (const std::string &token : merged)
    EXPECT_TRUE(encoder.add(token, rank++)) << token;
  return encoder;
}

Ids encodePiece(const BytePairEncoder &encoder, std::string_view piece) {
  BytePairEncoder::Scratch scratch;
  Ids ids;
  encoder.encode(piece, scratch, ids);
  return ids;
}

TEST(BytePairEncoder, MergesTheLowestRankFirstAndTheLeftmostOfEqualOnes) {
  BytePairEncoder encoder = makeEncoder({"bc", "ab", "abc", "aa"});
  EXPECT_EQ(encodePiece(encoder, "abcd"), (Ids{258, 'd'}));
  EXPECT_EQ(encodePiece(encoder, "xab"), (Ids{'x', 257}));
  EXPECT_EQ(encodePiece(encoder, "aaa"), (Ids{259, 'a'}));
  EXPECT_EQ(encodePiece(encoder, "aaab"), (Ids{259, 257}));
}

TEST(BytePairEncoder, APieceThatIsATokenStaysWholeEvenIfNoMergeBuildsIt) {
  BytePairEncoder encoder = makeEncoder({"xyz"});
  EXPECT_EQ(encodePiece(encoder, "xyz"), (Ids{256}));
  EXPECT_EQ(encodePiece(encoder, "xyzx"), (Ids{'x', 'y', 'z', 'x'}));
}

/// The definition: look at every adjacent pair, merge the lowest rank, the leftmost of equal ones,
/// again.
Ids encodeByScanning(const BytePairEncoder &encoder, const std::string &piece) {
  if (auto whole = encoder.find(piece))
    return {*whole};
  std::vector<std::string> parts;
  for (char c : piece)
    parts.emplace_back(1, c);
  while (true) {
    std::optional<int32_t> best;
    size_t at = 0;
    for (size_t i = 0; i + 1 < parts.size(); ++i)
      if (auto rank = encoder.find(parts[i] + parts[i + 1]); rank && (!best || *rank < *best))
        best = rank, at = i;
    if (!best)
      break;
    parts[at] += parts[at + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  Ids ids;
  for (const std::string &part : parts)
    ids.push_back(*encoder.find(part));
  return ids;
}

TEST(BytePairEncoder, AgreesWithTheDefinitionOnRandomVocabularies) {
  std::mt19937 random(3);
  auto randomText = [&](size_t longest) {
    std::string text(1 + random() % longest, ' ');
    for (char &c : text)
      c = static_cast<char>('a' + random() % 3);
    return text;
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> merged;
    for (int i = 0; i < 25; ++i)
      if (std::string token = randomText(5);
          token.size() > 1 && std::find(merged.begin(), merged.end(), token) == merged.end())
        merged.push_back(token);
    BytePairEncoder encoder = makeEncoder(merged);
    for (int i = 0; i < 20; ++i) {
      std::string piece = randomText(30);
      ASSERT_EQ(encodePiece(encoder, piece), encodeByScanning(encoder, piece)) << piece;
    }
  }
}

TEST(BytePairEncoder, OneLongPieceTakesNearLinearTime) {
  std::vector<std::string> merged;
  for (size_t length = 2; length <= 128; length *= 2)
    merged.push_back(std::string(length, 'a'));
  BytePairEncoder encoder = makeEncoder(merged);
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(encodePiece(encoder, std::string(400000, 'a')), Ids(3125, 262));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(BytePairEncoder, RefusesTheSameBytesOrRankTwice) {
  BytePairEncoder encoder(16);
  EXPECT_TRUE(encoder.add("ab", 3));
  EXPECT_FALSE(encoder.add("ab", 4));
  EXPECT_FALSE(encoder.add("cd", 3));
  EXPECT_FALSE(encoder.add("", 5));
  EXPECT_EQ(encoder.size(), 1u);
  EXPECT_EQ(encoder.bytesOf(0), std::nullopt);
  EXPECT_EQ(encoder.bytesOf(3), "ab");
}

TEST(Base64, DecodesAndRefuses) {
  EXPECT_EQ(decodeBase64(""), "");
  EXPECT_EQ(decodeBase64("Zg=="), "f");
  EXPECT_EQ(decodeBase64("Zm8="), "fo");
  EXPECT_EQ(decodeBase64("Zm9v"), "foo");
  EXPECT_EQ(decodeBase64("Zm9vYmFy"), "foobar");
  EXPECT_EQ(decodeBase64("+/8="), "\xFB\xFF");
  for (const char *bad : {"Z", "Zg", "Zg=", "Zg===", "====", "=g==", "Z=g=", "Zm9-",
                          "Zh==", "Zm9=", "Zg==Zg==", " Zg=", "Zm\n="})
    EXPECT_EQ(decodeBase64(bad), std::nullopt) << bad;
}

/// The text of a valid `tiktoken.model` line by line, to break.
std::vector<std::string> tinyLines() {
  std::ifstream file(kTiny + "/tiktoken.model");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  return lines;
}

std::string join(const std::vector<std::string> &lines) {
  std::string text;
  for (const std::string &line : lines)
    text += line + "\n";
  return text;
}

std::string modelError(const std::string &text, const AddedTokens &added = {}) {
  Result<BytePairEncoder> encoder = parseTiktokenModel("d/tiktoken.model", text, added);
  EXPECT_FALSE(encoder.isOk());
  EXPECT_EQ(encoder.status().code(), Code::Refused);
  return encoder.status().message();
}

TEST(TiktokenModel, RefusesBrokenLinesWithTheirNumber) {
  auto with = [](size_t line, const std::string &text) {
    std::vector<std::string> lines = tinyLines();
    lines[line - 1] = text;
    return modelError(join(lines));
  };
  EXPECT_EQ(with(12, "C*== 11"),
            "d/tiktoken.model:12: token is not base64 (got 'C*==', expected padded "
            "base64); fetch the file again");
  EXPECT_EQ(with(12, "Cw==11"),
            "d/tiktoken.model:12: line is no token and rank (got 'Cw==11', expected "
            "'base64 rank'); fetch the file again");
  EXPECT_THAT(with(12, ""), StartsWith("d/tiktoken.model:12: line is no token and rank (got ''"));
  EXPECT_THAT(with(12, " 11"), StartsWith("d/tiktoken.model:12: token is not base64 (got ''"));
  EXPECT_EQ(with(12, "Cw== 10"),
            "d/tiktoken.model:12: rank 10 stands twice (got it for '\\x0b' and for "
            "'\\x0a', expected it once); fetch the file again");
  EXPECT_EQ(with(12, "Cg== 11"),
            "d/tiktoken.model:12: token '\\x0a' stands twice (got ranks 10 and 11, "
            "expected one); fetch the file again");
  for (std::string rank :
       {"", "x", "-1", "+11", "11 ", "11\r", "0x0b", "1.0", "477", "99999999999999999999"})
    EXPECT_THAT(with(12, "Cw== " + rank),
                StartsWith("d/tiktoken.model:12: rank is out of range (got '" +
                           (rank == "11\r" ? "11\\x0d" : rank) + "', expected a number below 477"))
        << rank;
}

TEST(TiktokenModel, NoticesWhatIsMissing) {
  EXPECT_THAT(modelError(""), HasSubstr("no token for the single byte '\\x00' (got 0 tokens"));
  std::vector<std::string> lines = tinyLines();
  lines.erase(lines.begin() + 65);
  // The last rank is then too large for so many lines, which a file whose last line is lost does
  // not show.
  EXPECT_THAT(modelError(join(lines)),
              StartsWith("d/tiktoken.model:476: rank is out of range (got '476'"));
  lines.pop_back();
  lines.push_back("IEw=");
  EXPECT_THAT(modelError(join(lines)),
              StartsWith("d/tiktoken.model:476: line is no token and rank"));
  lines.pop_back();
  lines.insert(lines.begin(), "enp6eg== 65");
  EXPECT_THAT(modelError(join(lines)),
              HasSubstr("no token for the single byte 'A' (got 476 tokens"));
  // Added tokens may fill a gap of the ranks, and only they.
  lines = tinyLines();
  lines.erase(lines.begin() + 300);
  EXPECT_TRUE(parseTiktokenModel("m", join(lines), {{300, {"[X]"}}}).isOk());
  EXPECT_THAT(
      modelError(join(lines), {{301, {"[X]"}}}),
      StartsWith("d/tiktoken.model:301: rank 301 is also an added token (got '[X]' for it in"));
  EXPECT_THAT(modelError(join(lines), {{490, {"[X]"}}}),
              StartsWith("d/tiktoken.model: no token for rank 300 (got ranks up to 476"));
}

TEST(TiktokenModel, EveryCutIsRefusedOrLosesWholeLines) {
  std::string text = join(tinyLines());
  size_t accepted = 0;
  for (size_t size = 0; size < text.size(); ++size) {
    Result<BytePairEncoder> encoder = parseTiktokenModel("m", text.substr(0, size), {});
    if (!encoder.isOk())
      continue;
    ++accepted;
    EXPECT_TRUE(text[size] == '\n' || text[size - 1] == '\n') << size;
  }
  // At both sides of the line ends behind the 256 bytes.
  EXPECT_EQ(accepted, 2u * (477 - 256) + 1);
}

std::string configError(const std::string &text) {
  Result<AddedTokens> added = parseTokenizerConfig("c.json", text);
  EXPECT_FALSE(added.isOk()) << text;
  EXPECT_EQ(added.status().code(), Code::Refused);
  return added.status().message();
}

std::string decoderError(const std::string &decoder) {
  return configError("{\"added_tokens_decoder\": " + decoder + "}");
}

TEST(TokenizerConfig, ReadsAddedTokens) {
  Result<AddedTokens> added = parseTokenizerConfig(
      "c.json", R"({"x": [{}], "added_tokens_decoder": {"7": {"content": "[A]", "special": false},
                    "300": {"content": "<|é|>"}}})");
  ASSERT_TRUE(added.isOk()) << added.status().message();
  ASSERT_EQ(added->size(), 2u);
  EXPECT_EQ(added->at(7).content, "[A]");
  EXPECT_FALSE(added->at(7).special);
  EXPECT_EQ(added->at(300).content, "<|é|>");
  EXPECT_TRUE(added->at(300).special);
}

TEST(TokenizerConfig, RefusesWhatIsNotJsonWithTheLine) {
  EXPECT_EQ(
      configError("{\n \"a\": 1,\n \"b\": trx\n}"),
      "c.json:3: not JSON (got ' \"b\": trx', wrong from its last byte, expected one complete JSON "
      "value); fetch the file again");
  EXPECT_EQ(configError("{\n\"a\": 1,\n"),
            "c.json:3: not JSON (got the end of the file, expected one "
            "complete JSON value); fetch the file again");
  EXPECT_THAT(configError(""), StartsWith("c.json:1: not JSON (got the end of the file, "));
  EXPECT_THAT(configError("{} x"), StartsWith("c.json:1: not JSON (got '{} x', wrong from"));
  EXPECT_THAT(configError("{\"a\": \"\xFF\"}"),
              StartsWith("c.json:1: not JSON (got '{\"a\": \"\\xff', "));
  EXPECT_THAT(configError("{\n\n" + std::string(100, ' ') + "x}"),
              StartsWith("c.json:3: not JSON (got '" + std::string(39, ' ') + "x', "));
  EXPECT_EQ(configError("{\"a\": {\"b\": 1, \"b\": 2}}"),
            "c.json: key 'b' stands twice in one object (expected once); remove one of the two");
}

TEST(TokenizerConfig, RefusesWhatIsNoTableOfTokens) {
  EXPECT_THAT(configError("[]"), HasSubstr("has no added_tokens_decoder (got array"));
  EXPECT_THAT(configError("{}"),
              HasSubstr("has no added_tokens_decoder (got an object without it"));
  EXPECT_THAT(decoderError("[1]"), HasSubstr("added_tokens_decoder: is no object (got array"));
  for (const char *key : {"x", "-1", "", "1.5", " 1", "2147483648"})
    EXPECT_THAT(decoderError(std::string("{\"") + key + "\": {\"content\": \"a\"}}"),
                HasSubstr(std::string("key is no token id (got '") + key +
                          "', expected a number from 0 to 2147483647"));
  EXPECT_THAT(decoderError(R"({"5": "a"})"),
              HasSubstr("added_tokens_decoder.5: is no object (got string"));
  EXPECT_THAT(decoderError(R"({"5": {}})"),
              HasSubstr("added_tokens_decoder.5.content: is no text (got nothing"));
  EXPECT_THAT(decoderError(R"({"5": {"content": 3}})"),
              HasSubstr(".5.content: is no text (got number"));
  EXPECT_THAT(decoderError(R"({"5": {"content": ""}})"),
              HasSubstr(".5.content: is no text (got an empty string"));
  EXPECT_THAT(decoderError(R"({"5": {"content": "a", "special": 1}})"),
              HasSubstr(".5.special: is no truth value (got number"));
  EXPECT_THAT(decoderError(R"({"5": {"content": "a"}, "6": {"content": "a"}})"),
              HasSubstr("'a' has two ids (got 6 and 5, expected one)"));
  EXPECT_THAT(decoderError(R"({"5": {"content": "a"}, "05": {"content": "b"}})"),
              HasSubstr("id 5 is spelled in two ways"));
}

TEST(TokenizerLoad, RefusesAFolderWithoutTheFiles) {
  namespace fs = std::filesystem;
  fs::path dir = fs::temp_directory_path() / ("k3-tokenizer-test-" + std::to_string(::getpid()));
  fs::create_directories(dir);
  auto error = [&] { return Tokenizer::load(dir.string()).status().message(); };
  EXPECT_EQ(
      error(),
      dir.string() +
          "/tokenizer_config.json: cannot be opened (No such file or directory); check the path");
  fs::copy_file(kTiny + "/tokenizer_config.json", dir / "tokenizer_config.json");
  EXPECT_THAT(error(), StartsWith(dir.string() + "/tiktoken.model: cannot be opened"));
  std::ofstream(dir / "tiktoken.model").flush();
  EXPECT_THAT(error(), StartsWith(dir.string() + "/tiktoken.model: no token for the single byte"));
  fs::remove(dir / "tiktoken.model");
  fs::create_directory(dir / "tiktoken.model");
  EXPECT_THAT(error(), StartsWith(dir.string() + "/tiktoken.model: is not a file (got a folder"));
  fs::remove(dir / "tiktoken.model");
  ASSERT_EQ(::mkfifo((dir / "tiktoken.model").c_str(), 0600), 0);
  EXPECT_THAT(error(), StartsWith(dir.string() + "/tiktoken.model: is not a regular file"));
  fs::remove_all(dir);
}

} // namespace
