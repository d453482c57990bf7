//===- Format.h - Numbers for people ----------------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes, rates, times and counts as people read them, for tables, progress lines and messages.
// Pulls in fmt, which is used header-only so that no library is linked for it.
//
//===----------------------------------------------------------------------===//

#ifndef K3_SUPPORT_FORMAT_H
#define K3_SUPPORT_FORMAT_H

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace k3 {

/// Binary units with three digits or more: "0 B", "512 B", "4.00 KiB", "1.42 TiB".
std::string formatBytes(uint64_t bytes);

/// Decimal units, as bandwidths are quoted: "6.2 GB/s".
std::string formatRate(double bytesPerSecond);

/// "12.3 s", "4 min 05 s", "2 h 07 min"; "850 ms" below one second.
std::string formatDuration(double seconds);

/// Groups of three digits: "2,779,931,834,976".
std::string formatCount(uint64_t count);

/// TEXT for a line on a terminal or a field of a report: control characters and bytes that are not
/// UTF-8 are spelled `\x1b`, and after 8 KiB it ends in `...`. Names in files may hold anything.
std::string printable(std::string_view text);

} // namespace k3

#endif // K3_SUPPORT_FORMAT_H
