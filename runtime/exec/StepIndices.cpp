//===- StepIndices.cpp - Checks of the indices of a step --------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An entry may have any subset of the inputs, so each check uses those that are there. Rows of the
// page table beyond what a live sequence needs are padding and may hold anything.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/StepIndices.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <vector>

using namespace k3;

void StepIndices::set(std::string_view name, std::span<const int32_t> values, uint64_t rows) {
  const struct {
    std::string_view name;
    Input &input;
  } inputs[] = {{"seq_slots", slots_},
                {"seq_offsets", offsets_},
                {"token_seq", tokenSeq_},
                {"token_pos", tokenPos_},
                {"page_table", pages_}};
  for (const auto &known : inputs) {
    if (known.name == name)
      known.input = {true, values};
  }
  if (name == "page_table")
    sequences_ = rows;
}

Status StepIndices::check(const std::string &file, const plan::Limits &limits) const {
  K3_RETURN_IF_ERROR(checkSlots(file, static_cast<int64_t>(limits.max_seqs())));
  K3_RETURN_IF_ERROR(checkOffsets(file));
  K3_RETURN_IF_ERROR(checkTokens(file, static_cast<int64_t>(limits.max_context())));
  return checkPages(file, limits);
}

Status StepIndices::checkSlots(const std::string &file, int64_t slots) const {
  std::set<int32_t> seen;
  for (size_t i = 0; i < slots_.values.size(); ++i) {
    const int32_t slot = slots_.values[i];
    if (slot < -1 || slot >= slots)
      return Status::refused(fmt::format("{}: tensor 'seq_slots': slot {} of sequence {} does not "
                                         "exist (got {}, expected -1 to {})",
                                         file, slot, i, slot, slots - 1));
    if (slot >= 0 && !seen.insert(slot).second)
      return Status::refused(fmt::format("{}: tensor 'seq_slots': sequence {} has the slot of "
                                         "another (got {}, expected one of its own)",
                                         file, i, slot));
  }
  return Status::ok();
}

Status StepIndices::checkOffsets(const std::string &file) const {
  int64_t before = 0;
  for (size_t i = 0; i < offsets_.values.size(); ++i) {
    const int64_t offset = offsets_.values[i];
    if (i == 0 ? offset != 0 : offset < before)
      return Status::refused(fmt::format("{}: tensor 'seq_offsets': offset {} is out of order (got "
                                         "{}, expected {})",
                                         file, i, offset,
                                         i == 0 ? "0" : fmt::format("at least {}", before)));
    before = offset;
  }
  if (offsets_.given && before != tokens_)
    return Status::refused(fmt::format("{}: tensor 'seq_offsets' does not end at the number of "
                                       "tokens (got {}, expected {})",
                                       file, before, tokens_));
  return Status::ok();
}

Status StepIndices::checkTokens(const std::string &file, int64_t context) const {
  const std::span<const int32_t> offsets = offsets_.values;
  const auto sequences = static_cast<int64_t>(offsets_.given ? offsets.size() - 1
                                              : slots_.given ? slots_.values.size()
                                                             : INT32_MAX);
  for (size_t t = 0; t < tokenSeq_.values.size(); ++t) {
    const int32_t sequence = tokenSeq_.values[t];
    if (sequence < 0 || sequence >= sequences)
      return Status::refused(fmt::format("{}: tensor 'token_seq': sequence {} of token {} does not "
                                         "exist (got {}, expected 0 to {})",
                                         file, sequence, t, sequence, sequences - 1));
    const auto token = static_cast<int64_t>(t);
    const auto index = static_cast<size_t>(sequence);
    if (offsets_.given && (token < offsets[index] || token >= offsets[index + 1]))
      return Status::refused(fmt::format("{}: tensor 'token_seq': token {} is not one of sequence "
                                         "{} (got {}, expected {} to {} by 'seq_offsets')",
                                         file, t, sequence, t, offsets[index],
                                         offsets[index + 1] - 1));
  }
  for (size_t t = 0; t < tokenPos_.values.size(); ++t) {
    const int32_t position = tokenPos_.values[t];
    if (position < 0 || position >= context)
      return Status::refused(fmt::format("{}: tensor 'token_pos': position of token {} is beyond "
                                         "the context (got {}, expected 0 to {})",
                                         file, t, position, context - 1));
  }
  return Status::ok();
}

Status StepIndices::checkPages(const std::string &file, const plan::Limits &limits) const {
  if (!pages_.given || !sequences_ || !limits.page_tokens())
    return Status::ok();
  const size_t row = pages_.values.size() / sequences_;
  std::vector<uint64_t> context(sequences_); // tokens that each sequence reads or writes
  for (size_t t = 0; t < tokenPos_.values.size(); ++t) {
    const size_t sequence = tokenSeq_.given ? static_cast<size_t>(tokenSeq_.values[t]) : t;
    if (sequence < sequences_)
      context[sequence] =
          std::max(context[sequence], static_cast<uint64_t>(tokenPos_.values[t]) + 1);
  }
  const auto pages = static_cast<int64_t>(limits.cache_pages());
  std::set<int32_t> seen;
  for (size_t s = 0; s < sequences_; ++s) {
    if (s < slots_.values.size() && slots_.values[s] < 0)
      continue;
    const size_t need = (context[s] + limits.page_tokens() - 1) / limits.page_tokens();
    for (size_t i = 0; i < std::min(need, row); ++i) {
      const int32_t page = pages_.values[s * row + i];
      if (page < 0 || page >= pages)
        return Status::refused(fmt::format("{}: tensor 'page_table': page {} of sequence {} does "
                                           "not exist (got {}, expected 0 to {})",
                                           file, i, s, page, pages - 1));
      if (!seen.insert(page).second)
        return Status::refused(fmt::format("{}: tensor 'page_table': page {} of sequence {} is "
                                           "used twice (got {}, expected one of its own)",
                                           file, i, s, page));
    }
  }
  return Status::ok();
}
