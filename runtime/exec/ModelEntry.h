//===- ModelEntry.h - The step protocol of a model --------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fills the inputs of a prefill or decode entry from a list of sequences, runs it, and gives back
// the logits. The names and shapes of these inputs are the whole contract between compiled models
// and this runtime.
//
// Inputs, all I32, T tokens of S sequences with R wanted rows (an entry may lack those it does not
// use):
//   ids [T], token_seq [T] sequence of each token, token_pos [T] absolute position, seq_offsets [S
//   + 1] first token of each sequence, seq_slots [S] state slot or -1 for a padding row that reads
//   and writes nothing, seq_context [S] tokens before this step, page_table [S, pages] cache pages
//   of the sequence, logit_rows [R] tokens whose logits are wanted. Output: logits [R, vocabulary],
//   F32. In a decode entry T = S = R = the bucket.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_EXEC_MODELENTRY_H
#define K3_RUNTIME_EXEC_MODELENTRY_H

#include "runtime/exec/Executor.h"
#include "support/Status.h"

#include <cstdint>
#include <span>
#include <vector>

namespace k3 {

/// Which tokens of a sequence get logits in a step.
enum class LogitRows { Last, All };

/// The part of one sequence in one step.
struct SequenceStep {
  std::span<const int32_t> ids;
  int32_t slot;
  int64_t context; // tokens of the sequence before this step
  std::span<const int32_t> pages;
  LogitRows rows = LogitRows::Last;
};

class ModelEntry {
public:
  /// Finds and checks the inputs and the output of entry ENTRY, which is of kind Prefill or Decode.
  static Result<ModelEntry> bind(Executor &executor, uint32_t entry);

  /// Sequences of a Decode entry, 0 for Prefill.
  uint64_t bucket() const { return bucket_; }
  uint64_t vocabulary() const { return vocabulary_; }

  /// Runs one step and returns its logits, row by row in the order of the sequences. The rows are
  /// valid until the next step. In a decode entry every sequence has one token.
  Result<std::span<const float>> run(std::span<const SequenceStep> sequences,
                                     TapSink *sink = nullptr);

private:
  /// An input, or null when the entry has none of that name.
  struct Input {
    int32_t *data = nullptr;
    uint64_t capacity = 0; // elements
  };

  explicit ModelEntry(Executor &executor, uint32_t entry) : executor_(&executor), entry_(entry) {}
  Status bindInput(const plan::EntryArg &input);
  Status bindLogits();
  Status bindSymbols();
  Status checkSizes(uint64_t tokens, uint64_t sequences, uint64_t rows) const;
  void writeToken(uint64_t token, int32_t id, uint64_t sequence, int64_t position);
  void writeSequence(uint64_t sequence, const SequenceStep &step, uint64_t firstToken);
  Result<std::span<const float>> execute(uint64_t tokens, uint64_t sequences, uint64_t rows,
                                         TapSink *sink);

  Executor *executor_;
  uint32_t entry_;
  uint64_t bucket_ = 0;
  uint64_t vocabulary_ = 0;
  uint64_t logitRowsMax_ = 0;
  uint64_t pagesPerSequence_ = 0;
  const float *logits_ = nullptr;
  Input ids_, tokenSeq_, tokenPos_, seqOffsets_, seqSlots_, seqContext_, pageTable_, logitRows_;
  std::vector<int64_t> symbols_; // a value for each symbol of the plan
  int symbolT_ = -1, symbolS_ = -1, symbolR_ = -1;
};

} // namespace k3

#endif // K3_RUNTIME_EXEC_MODELENTRY_H
