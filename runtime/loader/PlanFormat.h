//===- PlanFormat.h - First 64 bytes of a plan ------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The frame of a .k3plan: a header of 64 bytes, the flatbuffer, then segments on 4 KiB borders with
// zeros between them. Writer and reader share these definitions, so that every byte of a file is
// spoken for.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_LOADER_PLANFORMAT_H
#define K3_RUNTIME_LOADER_PLANFORMAT_H

#include <bit>
#include <cstddef>
#include <cstdint>

namespace k3 {

/// A reader of major M takes every minor of M: a newer minor only adds fields it may ignore.
/// Another major is refused.
inline constexpr uint32_t planFormatMajor = 1;
inline constexpr uint32_t planFormatMinor = 0;

/// The 0x1a stops a terminal that prints the file, and the newline shows a transfer that rewrites
/// line ends.
inline constexpr char planMagic[8] = {'K', '3', 'P', 'L', 'A', 'N', '\x1a', '\n'};

inline constexpr uint64_t planSegmentAlignment = 4096;
/// Buffers lie on such borders in their arenas, and the flatbuffer in memory.
inline constexpr uint64_t planAlignment = 64;

/// Little-endian, as the flatbuffer is. Magic and version stay where they are in every format to
/// come.
struct PlanHeader {
  char magic[8];
  uint32_t formatMajor;
  uint32_t formatMinor;
  uint64_t fileSize;
  uint64_t flatbufferOffset;
  uint64_t flatbufferSize;
  uint64_t flatbufferHash; // XXH3-64
  uint64_t reserved;       // zero
  uint64_t headerHash;     // XXH3-64 of the bytes before it
};
static_assert(sizeof(PlanHeader) == 64 && offsetof(PlanHeader, headerHash) == 56);
static_assert(std::endian::native == std::endian::little, "plans are read in place");

inline constexpr uint64_t alignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

} // namespace k3

#endif // K3_RUNTIME_LOADER_PLANFORMAT_H
