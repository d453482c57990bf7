//===- Utf8.h - Walking and checking UTF-8 ----------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What tokenizer and messages need to know of UTF-8: where text stops being valid, where a character ends,
// and how much of a growing byte string can be printed without splitting a character.
//
//===----------------------------------------------------------------------===//

#ifndef K3_SUPPORT_UTF8_H
#define K3_SUPPORT_UTF8_H

#include <cstddef>
#include <optional>
#include <string_view>

namespace k3 {

/// The offset of the first byte of TEXT that starts no well-formed character: overlong forms,
/// surrogates and values above U+10FFFF count as ill-formed. Nothing if TEXT is valid.
std::optional<size_t> findInvalidUtf8(std::string_view text);

/// The code point at OFFSET of TEXT, valid UTF-8, and the number of its bytes.
struct CodePoint {
  char32_t value;
  size_t length;
};
CodePoint codePointAt(std::string_view text, size_t offset);

/// How many bytes of BYTES to print now: all but a character at the end that later bytes may
/// complete. Bytes that can never become a character are not held back.
size_t completeUtf8Prefix(std::string_view bytes);

} // namespace k3

#endif // K3_SUPPORT_UTF8_H
