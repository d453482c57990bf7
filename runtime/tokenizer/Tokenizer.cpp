//===- Tokenizer.cpp - Text to token ids and back -------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Joins the pre-tokeniser, the merge table and the added tokens. Encoding asks the merge table
// only, which is why no text can become a control token; decoding asks both.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/Tokenizer.h"

#include "support/File.h"
#include "support/Utf8.h"

using namespace k3;

/// The most bytes of a file that are read: far above any vocabulary, far below the memory of a
/// host.
static constexpr uint64_t MaxFileBytes = 64u << 20;

Tokenizer::Tokenizer(BytePairEncoder encoder, PreTokenizer preTokenizer, AddedTokens added)
    : encoder_(std::move(encoder)), preTokenizer_(std::move(preTokenizer)),
      added_(std::move(added)) {
  for (const auto &[id, token] : added_)
    idOfContent_.emplace(token.content, id);
}

Result<Tokenizer> Tokenizer::load(const std::string &dir) {
  std::string configPath = dir + "/tokenizer_config.json", modelPath = dir + "/tiktoken.model";
  K3_ASSIGN_OR_RETURN(std::string config, readFile(configPath, MaxFileBytes));
  K3_ASSIGN_OR_RETURN(AddedTokens added, parseTokenizerConfig(configPath, config));
  K3_ASSIGN_OR_RETURN(std::string model, readFile(modelPath, MaxFileBytes));
  K3_ASSIGN_OR_RETURN(BytePairEncoder encoder, parseTiktokenModel(modelPath, model, added));
  K3_ASSIGN_OR_RETURN(PreTokenizer preTokenizer, PreTokenizer::create());
  return Tokenizer(std::move(encoder), std::move(preTokenizer), std::move(added));
}

Result<std::vector<int32_t>> Tokenizer::encode(std::string_view text) const {
  if (std::optional<size_t> bad = findInvalidUtf8(text)) {
    constexpr char kHex[] = "0123456789abcdef";
    uint8_t byte = static_cast<uint8_t>(text[*bad]);
    return Status::refused("text: is not UTF-8 at byte " + std::to_string(*bad) + " of " +
                           std::to_string(text.size()) + " (got 0x" + kHex[byte >> 4] +
                           kHex[byte & 15] +
                           ", expected a whole UTF-8 character); convert the text to UTF-8");
  }
  K3_ASSIGN_OR_RETURN(std::vector<std::string_view> pieces, preTokenizer_.split(text));
  std::vector<int32_t> ids;
  ids.reserve(pieces.size());
  BytePairEncoder::Scratch scratch;
  for (std::string_view piece : pieces)
    encoder_.encode(piece, scratch, ids);
  return ids;
}

Result<std::string> Tokenizer::decode(std::span<const int32_t> ids, SpecialText special) const {
  std::string bytes;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (std::optional<std::string_view> text = encoder_.bytesOf(ids[i])) {
      bytes += *text;
      continue;
    }
    auto added = added_.find(ids[i]);
    if (added == added_.end())
      return Status::refused(
          "token ids: id at index " + std::to_string(i) + " has no token (got " +
          std::to_string(ids[i]) + ", expected one of " + std::to_string(rankCount()) +
          " ranks and " + std::to_string(addedCount()) +
          " added tokens); use the tokenizer files of the checkpoint that gave the ids");
    if (!added->second.special || special == SpecialText::Keep)
      bytes += added->second.content;
  }
  return bytes;
}

std::optional<int32_t> Tokenizer::specialId(std::string_view content) const {
  auto it = idOfContent_.find(content);
  if (it == idOfContent_.end())
    return std::nullopt;
  return it->second;
}

bool Tokenizer::isSpecial(int32_t id) const {
  auto it = added_.find(id);
  return it != added_.end() && it->second.special;
}
