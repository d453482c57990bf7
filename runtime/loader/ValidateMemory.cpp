//===- ValidateMemory.cpp - Arenas and buffers of a plan ------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every buffer lies in its arena and is as large as its shape can become. All later checks of
// commands lean on this.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/DTypes.h"
#include "runtime/loader/PlanFormat.h"
#include "runtime/loader/Validate.h"

#include <bit>

namespace k3 {

namespace {

constexpr uint32_t maxRank = 16;
constexpr uint64_t maxAlignment = uint64_t{1} << 30;

Status checkArenas(const PlanChecks &checks, const plan::Program &program) {
  const auto &arenas = *program.arenas();
  uint64_t total = 0;
  for (uint32_t i = 0; i < arenas.size(); ++i) {
    const plan::Arena &arena = *arenas[i];
    if (arena.cls() > plan::ArenaClass::MAX)
      return checks.refuse("arenas",
                           "rank {} arena {}: its class is unknown (got {}, expected at most {})",
                           program.rank(), i, static_cast<unsigned>(arena.cls()),
                           static_cast<unsigned>(plan::ArenaClass::MAX));
    if (!std::has_single_bit(arena.alignment()) || arena.alignment() < planAlignment ||
        arena.alignment() > maxAlignment)
      return checks.refuse("arenas",
                           "rank {} arena {}: its alignment is wrong (got {}, expected a power of "
                           "two from {} to {})",
                           program.rank(), i, arena.alignment(), planAlignment, maxAlignment);
    if (__builtin_add_overflow(total, arena.size(), &total) || total > INT64_MAX)
      return checks.refuse(
          "arenas",
          "rank {} arena {}: the sizes overflow (got {} bytes, expected {} at most in total)",
          program.rank(), i, arena.size(), INT64_MAX);
  }
  return Status::ok();
}

Status checkShape(const PlanChecks &checks, const std::string &who, const plan::Buffer &buffer) {
  const auto &shape = *buffer.shape();
  if (shape.size() > maxRank)
    return checks.refuse("buffers", "{}: has too many dimensions (got {}, expected at most {})",
                         who, shape.size(), maxRank);
  uint64_t bytes = dtypeBytes(buffer.dtype());
  for (uint32_t dim : shape) {
    K3_RETURN_IF_ERROR(checks.checkIndex("buffers", who, "expression", dim, checks.ranges.size()));
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(checks.ranges[dim].high), &bytes))
      return checks.refuse("buffers",
                           "{}: its shape overflows 64 bits at an extent of {} (got more than 2^64 "
                           "bytes, expected at most {})",
                           who, checks.ranges[dim].high, buffer.size());
  }
  if (bytes > buffer.size())
    return checks.refuse("buffers",
                         "{}: is smaller than its shape (got {} bytes, expected at least {})", who,
                         buffer.size(), bytes);
  return Status::ok();
}

Status checkBuffer(const PlanChecks &checks, const plan::Program &program, uint32_t index) {
  const plan::Buffer &buffer = *(*program.buffers())[index];
  std::string_view name = buffer.name()->string_view();
  K3_RETURN_IF_ERROR(
      checks.checkName("buffers", fmt::format("rank {} buffer {}", program.rank(), index), name));
  std::string who = fmt::format("rank {} buffer {} '{}'", program.rank(), index, name);
  K3_RETURN_IF_ERROR(
      checks.checkIndex("buffers", who, "arena", buffer.arena(), program.arenas()->size()));
  if (buffer.dtype() > plan::DType::MAX)
    return checks.refuse("buffers", "{}: its dtype is unknown (got {}, expected at most {})", who,
                         static_cast<unsigned>(buffer.dtype()),
                         static_cast<unsigned>(plan::DType::MAX));
  if (buffer.offset() % planAlignment)
    return checks.refuse("buffers",
                         "{}: its offset is not aligned (got {}, expected a multiple of {})", who,
                         buffer.offset(), planAlignment);
  uint64_t arena = (*program.arenas())[buffer.arena()]->size();
  if (buffer.offset() > arena || buffer.size() > arena - buffer.offset())
    return checks.refuse(
        "buffers", "{}: ends outside its arena (got {} bytes at offset {}, expected within {})",
        who, buffer.size(), buffer.offset(), arena);
  return checkShape(checks, who, buffer);
}

} // namespace

Status validateMemory(const PlanChecks &checks, const plan::Program &program) {
  K3_RETURN_IF_ERROR(checkArenas(checks, program));
  for (uint32_t i = 0; i < program.buffers()->size(); ++i)
    K3_RETURN_IF_ERROR(checkBuffer(checks, program, i));
  return Status::ok();
}

} // namespace k3
