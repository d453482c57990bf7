//===- Tokenizer.h - Text to token ids and back -----------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tokenizer of a checkpoint: byte-level BPE over `tiktoken.model`, behind the official
// pre-tokeniser, with the control tokens of `tokenizer_config.json`. Plain text never becomes a
// control token.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_TOKENIZER_TOKENIZER_H
#define K3_RUNTIME_TOKENIZER_TOKENIZER_H

#include "runtime/tokenizer/BytePairEncoder.h"
#include "runtime/tokenizer/PreTokenizer.h"
#include "runtime/tokenizer/VocabularyFiles.h"
#include "support/Status.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace k3 {

/// What `decode` does with control tokens such as [EOS].
enum class SpecialText { Keep, Skip };

/// Immutable after `load`: one object serves any number of threads.
class Tokenizer {
public:
  /// Reads `tiktoken.model` and `tokenizer_config.json` in the folder DIR. Anything malformed in
  /// either is refused with the file, the line and what was expected there.
  static Result<Tokenizer> load(const std::string &dir);

  /// The ids of TEXT, which must be UTF-8: invalid text is refused with the offset of its first bad
  /// byte. No [BOS] is added, and text that spells a control token gives the ids of its letters.
  Result<std::vector<int32_t>> encode(std::string_view text) const;

  /// The bytes that IDS stand for. They need not be valid UTF-8: one character may be spread over
  /// several tokens (see `completeUtf8Prefix` for printing them as they come). An id without a
  /// token is refused.
  Result<std::string> decode(std::span<const int32_t> ids,
                             SpecialText special = SpecialText::Keep) const;

  /// The id of the control token spelled CONTENT, for example "[BOS]".
  std::optional<int32_t> specialId(std::string_view content) const;
  bool isSpecial(int32_t id) const;

  /// Number of ranks of `tiktoken.model`, and of added tokens of `tokenizer_config.json`.
  size_t rankCount() const { return encoder_.size(); }
  size_t addedCount() const { return added_.size(); }

private:
  Tokenizer(BytePairEncoder encoder, PreTokenizer preTokenizer, AddedTokens added);

  BytePairEncoder encoder_;
  PreTokenizer preTokenizer_;
  AddedTokens added_;
  std::map<std::string, int32_t, std::less<>> idOfContent_;
};

} // namespace k3

#endif // K3_RUNTIME_TOKENIZER_TOKENIZER_H
