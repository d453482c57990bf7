//===- Session.cpp - Sequences on a model's plan ----------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything a step could trip over (ids, context, pages) is checked before the step, so that a
// refused one leaves the sequence as it was.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/Session.h"

#include <algorithm>
#include <fmt/format.h>

using namespace k3;

Session::Session(Executor &executor)
    : executor_(&executor), slots_(static_cast<uint32_t>(std::min<uint64_t>(
                                executor.plan().limits()->max_seqs(), INT32_MAX))),
      pages_(static_cast<uint32_t>(
          std::min<uint64_t>(executor.plan().limits()->cache_pages(), INT32_MAX))) {}

Result<std::unique_ptr<Session>> Session::create(Executor &executor) {
  std::unique_ptr<Session> session(new Session(executor));
  const plan::Program &program = executor.program();
  for (uint32_t i = 0; i < program.entries()->size(); ++i) {
    const plan::EntryKind kind = program.entries()->Get(i)->kind();
    if (kind == plan::EntryKind::Generic)
      continue;
    K3_ASSIGN_OR_RETURN(ModelEntry entry, ModelEntry::bind(executor, i));
    if (kind == plan::EntryKind::Prefill)
      session->prefill_ = std::move(entry);
    else
      session->decodes_.push_back(std::move(entry));
  }
  std::ranges::sort(session->decodes_, {}, &ModelEntry::bucket);
  if (!session->prefill_)
    return Status::refused(
        "plan: has no prefill entry, so it answers no prompt; run one of its entries with --entry");
  for (const plan::State *state : *program.states()) {
    session->paged_ |= state->kind() == plan::StateKind::LatentCache;
    const uint64_t count = state->kind() == plan::StateKind::LatentCache ? session->pages_.size()
                                                                         : session->slots_.size();
    const uint64_t size = program.buffers()->Get(state->buffer())->size();
    if (state->slot_bytes() == 0 || size / state->slot_bytes() < count) {
      return Status::refused(fmt::format("state '{}': its pool is smaller than the limits of the "
                                         "plan (got {} bytes, expected {} x {}); compile "
                                         "the plan again",
                                         state->name()->str(), size, count, state->slot_bytes()));
    }
  }
  if (session->paged_ && session->limits().page_tokens() == 0)
    return Status::refused(
        "limits: page_tokens is 0 but the plan has a cache; compile the plan again");
  return session;
}

Status Session::zeroSlot(uint32_t slot) {
  for (const plan::State *state : *executor_->program().states()) {
    if (state->kind() != plan::StateKind::LatentCache)
      K3_RETURN_IF_ERROR(
          executor_->zero(state->buffer(), slot * state->slot_bytes(), state->slot_bytes()));
  }
  return Status::ok();
}

Result<Sequence> Session::open() {
  std::optional<Handle> slot = slots_.acquire();
  if (!slot)
    return Status::failed(fmt::format(
        "sequences: all {} slots are taken; rebuild with a larger --max-seqs", slots_.size()));
  if (Status zeroed = zeroSlot(slot->index); !zeroed) {
    slots_.release(*slot);
    return zeroed;
  }
  Sequence sequence;
  sequence.slot_ = *slot;
  return sequence;
}

void Session::close(Sequence &sequence) {
  for (Handle page : sequence.pages_)
    pages_.release(page);
  slots_.release(sequence.slot_);
  sequence = Sequence();
}

Status Session::checkIds(const Sequence &sequence, std::span<const int32_t> ids) const {
  if (!slots_.isCurrent(sequence.slot_))
    return Status::failed("sequence: is closed, its slot may belong to another one");
  if (sequence.failed_)
    return Status::failed(
        "sequence: a step of it failed, its state is incomplete; begin a new one");
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || static_cast<uint64_t>(ids[i]) >= vocabulary())
      return Status::refused(
          fmt::format("prompt: id {} at position {} is not in the vocabulary (expected 0 to {})",
                      ids[i], sequence.length_ + i, vocabulary() - 1));
  }
  return Status::ok();
}

Status Session::reserve(Sequence &sequence, uint64_t length) {
  if (length > limits().max_context())
    return Status::failed(fmt::format("context: {} tokens are too long for the plan (expected at "
                                      "most {}); rebuild with --max-context {}",
                                      length, limits().max_context(), length));
  if (!paged_)
    return Status::ok();
  const uint64_t needed = (length + limits().page_tokens() - 1) / limits().page_tokens();
  while (sequence.pages_.size() < needed) {
    std::optional<Handle> page = pages_.acquire();
    if (!page)
      return Status::failed(fmt::format(
          "cache: all {} pages are taken; rebuild with a larger --max-context or --max-seqs",
          pages_.size()));
    sequence.pages_.push_back(*page);
    sequence.pageIds_.push_back(static_cast<int32_t>(page->index));
  }
  return Status::ok();
}

Result<std::span<const float>> Session::step(ModelEntry &entry,
                                             std::span<Sequence *const> sequences,
                                             std::span<const int32_t> ids, LogitRows rows,
                                             TapSink *sink) {
  const size_t each = ids.size() / sequences.size();
  parts_.clear();
  for (size_t i = 0; i < sequences.size(); ++i) {
    Sequence &sequence = *sequences[i];
    const std::span<const int32_t> own = ids.subspan(i * each, each);
    K3_RETURN_IF_ERROR(checkIds(sequence, own));
    K3_RETURN_IF_ERROR(reserve(sequence, sequence.length_ + each));
    parts_.push_back(
        {own, sequence.slot(), static_cast<int64_t>(sequence.length_), sequence.pageIds_, rows});
  }
  Result<std::span<const float>> logits = entry.run(parts_, sink);
  for (Sequence *sequence : sequences) {
    if (logits)
      sequence->length_ += each;
    else if (logits.status().code() == Code::Failed)
      sequence->failed_ = true;
  }
  return logits;
}

Result<std::span<const float>> Session::prefill(Sequence &sequence, std::span<const int32_t> ids,
                                                LogitRows rows, TapSink *sink) {
  if (ids.empty() || ids.size() > limits().max_tokens())
    return Status::refused(fmt::format("prefill: a piece has {} tokens (expected 1 to {}); use a "
                                       "smaller --prefill-chunk or rebuild with a larger "
                                       "--max-tokens",
                                       ids.size(), limits().max_tokens()));
  Sequence *one = &sequence;
  return step(*prefill_, {&one, 1}, ids, rows, sink);
}

Result<std::span<const float>> Session::decode(Sequence &sequence, int32_t id, TapSink *sink) {
  Sequence *one = &sequence;
  return decode({&one, 1}, {&id, 1}, sink);
}

Result<std::span<const float>> Session::decode(std::span<Sequence *const> sequences,
                                               std::span<const int32_t> ids, TapSink *sink) {
  if (sequences.empty() || sequences.size() != ids.size())
    return Status::refused(fmt::format(
        "decode: needs one id for each sequence and at least one (got {} ids for {} sequences)",
        ids.size(), sequences.size()));
  for (ModelEntry &entry : decodes_)
    if (entry.bucket() >= sequences.size())
      return step(entry, sequences, ids, LogitRows::Last, sink);
  return step(*prefill_, sequences, ids, LogitRows::Last, sink);
}
