//===- Session.h - Sequences on a model's plan ------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Owns the state slots and cache pages of a plan and lends them to sequences. A sequence is fed in
// pieces or token by token; its recurrent state and its cache always stand for the same number of
// tokens.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_EXEC_SESSION_H
#define K3_RUNTIME_EXEC_SESSION_H

#include "runtime/exec/Executor.h"
#include "runtime/exec/HandlePool.h"
#include "runtime/exec/ModelEntry.h"
#include "support/Status.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace k3 {

/// What one sequence holds of a session. Made by Session::open, given back by Session::close.
class Sequence {
public:
  uint64_t length() const { return length_; }
  int32_t slot() const { return static_cast<int32_t>(slot_.index); }
  std::span<const int32_t> pages() const { return pageIds_; }

private:
  friend class Session;
  Handle slot_;
  std::vector<Handle> pages_;
  std::vector<int32_t> pageIds_;
  uint64_t length_ = 0;
  bool failed_ = false; // a step failed half-way: state and cache no longer agree
};

class Session {
public:
  /// A session on an executor whose plan has a prefill entry. The executor must outlive it.
  static Result<std::unique_ptr<Session>> create(Executor &executor);

  const plan::Limits &limits() const { return *executor_->plan().limits(); }
  uint64_t vocabulary() const { return prefill_->vocabulary(); }
  Executor &executor() const { return *executor_; }

  /// Takes a slot, zeroed, for a new sequence.
  Result<Sequence> open();
  void close(Sequence &sequence);

  /// Feeds one piece through the prefill entry and returns the logits of its last token, or of all
  /// of its tokens.
  Result<std::span<const float>> prefill(Sequence &sequence, std::span<const int32_t> ids,
                                         LogitRows rows, TapSink *sink = nullptr);
  /// Feeds one token through the smallest decode entry, or the prefill entry when the plan has
  /// none.
  Result<std::span<const float>> decode(Sequence &sequence, int32_t id, TapSink *sink = nullptr);
  /// Feeds one token to each of SEQUENCES, all different, in one step: IDS has as many. The logits
  /// are row by row in their order. Through the smallest decode entry that takes them all, or the
  /// prefill entry.
  Result<std::span<const float>> decode(std::span<Sequence *const> sequences,
                                        std::span<const int32_t> ids, TapSink *sink = nullptr);

private:
  explicit Session(Executor &executor);
  Status checkIds(const Sequence &sequence, std::span<const int32_t> ids) const;
  Status reserve(Sequence &sequence, uint64_t length);
  Status zeroSlot(uint32_t slot);
  /// IDS are those of all sequences, as many of each.
  Result<std::span<const float>> step(ModelEntry &entry, std::span<Sequence *const> sequences,
                                      std::span<const int32_t> ids, LogitRows rows, TapSink *sink);

  Executor *executor_;
  std::optional<ModelEntry> prefill_;
  std::vector<ModelEntry> decodes_; // by bucket
  std::vector<SequenceStep> parts_; // of the step at hand
  HandlePool slots_;
  HandlePool pages_;
  bool paged_ = false;
};

} // namespace k3

#endif // K3_RUNTIME_EXEC_SESSION_H
