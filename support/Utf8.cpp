//===- Utf8.cpp - Walking and checking UTF-8 ------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One table of well-formed sequences (Unicode, table 3-7) serves the check, the walk and the
// streaming cut: written once, so that the three can never disagree about where a character ends.
//
//===----------------------------------------------------------------------===//

#include "support/Utf8.h"

#include <cstdint>

using namespace k3;

namespace {

/// How a first byte goes on: length of the character (0: starts none) and the range of its second
/// byte. Later bytes are always 0x80 to 0xBF.
struct Lead {
  size_t length;
  uint8_t secondLow, secondHigh;
};

Lead leadOf(uint8_t byte) {
  if (byte < 0x80)
    return {1, 0, 0};
  if (byte < 0xC2)
    return {0, 0, 0};
  if (byte < 0xE0)
    return {2, 0x80, 0xBF};
  if (byte < 0xF0)
    return {3, uint8_t(byte == 0xE0 ? 0xA0 : 0x80), uint8_t(byte == 0xED ? 0x9F : 0xBF)};
  if (byte < 0xF5)
    return {4, uint8_t(byte == 0xF0 ? 0x90 : 0x80), uint8_t(byte == 0xF4 ? 0x8F : 0xBF)};
  return {0, 0, 0};
}

/// How many bytes at OFFSET fit the character that starts there; all of it if the result is its
/// length.
size_t matchingBytes(std::string_view text, size_t offset, const Lead &lead) {
  if (lead.length < 2)
    return lead.length;
  size_t count = 1;
  while (count < lead.length && offset + count < text.size()) {
    uint8_t byte = static_cast<uint8_t>(text[offset + count]);
    uint8_t low = count == 1 ? lead.secondLow : 0x80, high = count == 1 ? lead.secondHigh : 0xBF;
    if (byte < low || byte > high)
      break;
    ++count;
  }
  return count;
}

} // namespace

std::optional<size_t> k3::findInvalidUtf8(std::string_view text) {
  for (size_t offset = 0; offset < text.size();) {
    Lead lead = leadOf(static_cast<uint8_t>(text[offset]));
    if (lead.length == 0 || matchingBytes(text, offset, lead) != lead.length)
      return offset;
    offset += lead.length;
  }
  return std::nullopt;
}

CodePoint k3::codePointAt(std::string_view text, size_t offset) {
  uint8_t first = static_cast<uint8_t>(text[offset]);
  size_t length = leadOf(first).length;
  if (length == 1)
    return {first, 1};
  char32_t value = first & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; ++i)
    value = value << 6 | (static_cast<uint8_t>(text[offset + i]) & 0x3F);
  return {value, length};
}

size_t k3::completeUtf8Prefix(std::string_view bytes) {
  // A character has at most four bytes, so an unfinished one starts among the last three.
  for (size_t back = 1; back <= 3 && back <= bytes.size(); ++back) {
    size_t offset = bytes.size() - back;
    Lead lead = leadOf(static_cast<uint8_t>(bytes[offset]));
    if (lead.length > back && matchingBytes(bytes, offset, lead) == back)
      return offset;
  }
  return bytes.size();
}
