//===- Format.cpp - Numbers for people ------------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The units and the number of digits are chosen so that a column of values has about one width.
//
//===----------------------------------------------------------------------===//

#include "support/Format.h"

#include "support/Utf8.h"

#include <array>
#include <cmath>

namespace k3 {

std::string formatBytes(uint64_t bytes) {
  static constexpr std::array<const char *, 7> units = {"B",   "KiB", "MiB", "GiB",
                                                        "TiB", "PiB", "EiB"};
  if (bytes < 1024)
    return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  // 1023.995 would be printed as 1024.00: such a value takes the next unit.
  while (value >= 1023.995 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.2f} {}", value, units[unit]);
}

std::string formatRate(double bytesPerSecond) {
  static constexpr std::array<const char *, 5> units = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
  double value = std::isfinite(bytesPerSecond) && bytesPerSecond > 0 ? bytesPerSecond : 0;
  size_t unit = 0;
  while (value >= 999.95 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string formatDuration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0)
    return "?";
  if (seconds < 0.9995)
    return fmt::format("{:.0f} ms", seconds * 1000);
  if (seconds < 59.95)
    return fmt::format("{:.1f} s", seconds);
  // Beyond this a count of hours says nothing, and the conversion to an integer would overflow.
  if (seconds > 1e9)
    return "> 30 years";
  uint64_t whole = static_cast<uint64_t>(std::llround(seconds));
  if (whole < 3600)
    return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string formatCount(uint64_t count) {
  std::string digits = std::to_string(count);
  for (size_t at = digits.size(); at > 3; at -= 3)
    digits.insert(at - 3, 1, ',');
  return digits;
}

std::string printable(std::string_view text) {
  constexpr size_t longest = 8192;
  std::string result;
  while (!text.empty() && result.size() < longest) {
    const size_t good = findInvalidUtf8(text.substr(0, 4)).value_or(1);
    const CodePoint next = good ? codePointAt(text, 0) : CodePoint{0, 1};
    // The two rows of control characters, and the one that stands alone.
    const bool control = next.value < 0x20 || (next.value >= 0x7F && next.value < 0xA0);
    for (char byte : text.substr(0, next.length))
      result +=
          control ? fmt::format("\\x{:02x}", static_cast<uint8_t>(byte)) : std::string(1, byte);
    text.remove_prefix(next.length);
  }
  return text.empty() ? result : result + "...";
}

} // namespace k3
