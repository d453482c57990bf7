//===- VocabularyFiles.h - Reading a checkpoint's tokenizer files -*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads `tiktoken.model` (a base64 token and its rank a line) and the added tokens of
// `tokenizer_config.json`. Both come from outside, so everything that would change ids unnoticed is
// refused here, with its place.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_TOKENIZER_VOCABULARYFILES_H
#define K3_RUNTIME_TOKENIZER_VOCABULARYFILES_H

#include "runtime/tokenizer/BytePairEncoder.h"
#include "support/Status.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace k3 {

/// A token that is no piece of text but a mark, such as [BOS].
struct AddedToken {
  std::string content;
  /// Marked `special`: a control token, which `SpecialText::Skip` leaves out.
  bool special = true;
};

/// Added tokens by id.
using AddedTokens = std::map<int32_t, AddedToken>;

/// The bytes that TEXT encodes in base64 (the standard alphabet, padded); nothing if it is not
/// base64.
std::optional<std::string> decodeBase64(std::string_view text);

/// Parses the text of a `tokenizer_config.json`; PATH is for messages.
Result<AddedTokens> parseTokenizerConfig(const std::string &path, std::string_view text);

/// Parses the text of a `tiktoken.model`; PATH is for messages. Every id up to the largest rank
/// must belong to a line or to one of ADDED, so that a lost line is noticed.
Result<BytePairEncoder> parseTiktokenModel(const std::string &path, std::string_view text,
                                           const AddedTokens &added);

} // namespace k3

#endif // K3_RUNTIME_TOKENIZER_VOCABULARYFILES_H
