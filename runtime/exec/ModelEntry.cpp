//===- ModelEntry.cpp - The step protocol of a model ------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes are held against the buffers before anything is written: the kernels trust these inputs.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/ModelEntry.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

using namespace k3;

/// The value of expression EXPR, which must not depend on a symbol.
static Result<uint64_t> constantOf(const plan::Plan &plan, uint32_t expr, std::string_view what) {
  ExprTable table(plan);
  const uint32_t slot = table.add(expr);
  if (table.isDynamic(slot))
    return Status::refused(
        fmt::format("{}: depends on a symbol (expected a constant); compile the plan again", what));
  K3_RETURN_IF_ERROR(table.evaluate({}));
  return static_cast<uint64_t>(table.value(slot));
}

Status ModelEntry::bindInput(const plan::EntryArg &input) {
  const plan::Program &program = executor_->program();
  const std::string_view name = input.name()->string_view();
  const std::string entry = program.entries()->Get(entry_)->name()->str();
  const plan::Buffer &buffer = *program.buffers()->Get(input.buffer());
  const struct {
    std::string_view name;
    Input &input;
    uint32_t rank;
  } known[] = {
      {"ids", ids_, 1},
      {"token_seq", tokenSeq_, 1},
      {"token_pos", tokenPos_, 1},
      {"seq_offsets", seqOffsets_, 1},
      {"seq_slots", seqSlots_, 1},
      {"seq_context", seqContext_, 1},
      {"page_table", pageTable_, 2},
      {"logit_rows", logitRows_, 1},
  };
  for (const auto &candidate : known) {
    if (candidate.name != name)
      continue;
    if (buffer.dtype() != plan::DType::I32 || buffer.shape()->size() != candidate.rank) {
      return Status::refused(fmt::format("entry '{}': input '{}' is not as this runtime fills it "
                                         "(got {} of rank {}, expected I32 of rank "
                                         "{}); compile the plan again",
                                         entry, name, plan::EnumNameDType(buffer.dtype()),
                                         buffer.shape()->size(), candidate.rank));
    }
    candidate.input = {reinterpret_cast<int32_t *>(executor_->memory().address(input.buffer())),
                       buffer.size() / 4};
    if (candidate.rank == 2) {
      K3_ASSIGN_OR_RETURN(pagesPerSequence_, constantOf(executor_->plan(), buffer.shape()->Get(1),
                                                        "page_table: number of pages"));
    }
    return Status::ok();
  }
  return Status::refused(fmt::format("entry '{}': this runtime knows no input '{}'; use a k3 of "
                                     "the version that compiled the plan",
                                     entry, name));
}

Status ModelEntry::bindLogits() {
  const plan::Program &program = executor_->program();
  const plan::Entry &entry = *program.entries()->Get(entry_);
  for (const plan::EntryArg *output : *entry.outputs()) {
    if (output->name()->string_view() != "logits")
      continue;
    const plan::Buffer &buffer = *program.buffers()->Get(output->buffer());
    if (buffer.dtype() != plan::DType::F32 || buffer.shape()->size() != 2)
      break;
    K3_ASSIGN_OR_RETURN(
        vocabulary_, constantOf(executor_->plan(), buffer.shape()->Get(1), "logits: vocabulary"));
    if (!vocabulary_)
      break;
    logits_ = reinterpret_cast<const float *>(executor_->memory().address(output->buffer()));
    logitRowsMax_ = buffer.size() / 4 / vocabulary_;
    return Status::ok();
  }
  return Status::refused(fmt::format(
      "entry '{}': has no output 'logits' of type F32 and rank 2; compile the plan again",
      entry.name()->str()));
}

Status ModelEntry::bindSymbols() {
  const plan::Plan &plan = executor_->plan();
  const plan::Entry &entry = *executor_->program().entries()->Get(entry_);
  symbols_.assign(plan.symbols()->size(), 0);
  for (uint32_t symbol : *entry.symbols()) {
    const std::string_view name = plan.symbols()->Get(symbol)->name()->string_view();
    if (name == "T")
      symbolT_ = static_cast<int>(symbol);
    else if (name == "S")
      symbolS_ = static_cast<int>(symbol);
    else if (name == "R")
      symbolR_ = static_cast<int>(symbol);
    else
      return Status::refused(fmt::format(
          "entry '{}': needs symbol '{}', which this runtime does not know (expected T, S or R)",
          entry.name()->str(), name));
  }
  return Status::ok();
}

Result<ModelEntry> ModelEntry::bind(Executor &executor, uint32_t entry) {
  ModelEntry result(executor, entry);
  const plan::Entry &source = *executor.program().entries()->Get(entry);
  if (source.kind() == plan::EntryKind::Decode) {
    result.bucket_ = source.bucket();
    if (!result.bucket_)
      return Status::refused(
          fmt::format("entry '{}': is a decode entry of no sequences; compile the plan again",
                      source.name()->str()));
  }
  for (const plan::EntryArg *input : *source.inputs())
    K3_RETURN_IF_ERROR(result.bindInput(*input));
  K3_RETURN_IF_ERROR(result.bindLogits());
  K3_RETURN_IF_ERROR(result.bindSymbols());
  return result;
}

Status ModelEntry::checkSizes(uint64_t tokens, uint64_t sequences, uint64_t rows) const {
  const uint64_t rowsMax =
      bucket_ ? logitRowsMax_
              : std::min(logitRowsMax_, executor_->plan().limits()->max_logit_rows());
  if (rows > rowsMax)
    return Status::refused(fmt::format("step: too many rows of logits (got {}, expected at most "
                                       "{}); rebuild with a larger --max-logit-rows",
                                       rows, rowsMax));
  uint64_t tableCells = 0;
  if (__builtin_mul_overflow(sequences, pagesPerSequence_, &tableCells))
    tableCells = UINT64_MAX;
  const struct {
    std::string_view name;
    const Input &input;
    uint64_t need;
  } inputs[] = {
      {"ids", ids_, tokens},
      {"token_seq", tokenSeq_, tokens},
      {"token_pos", tokenPos_, tokens},
      {"seq_offsets", seqOffsets_, sequences + 1},
      {"seq_slots", seqSlots_, sequences},
      {"seq_context", seqContext_, sequences},
      {"page_table", pageTable_, tableCells},
      {"logit_rows", logitRows_, rows},
  };
  for (const auto &[name, input, need] : inputs) {
    if (input.data && need > input.capacity)
      return Status::refused(
          fmt::format("step: '{}' is too long for the plan (got {}, expected at most {})", name,
                      need, input.capacity));
  }
  return Status::ok();
}

void ModelEntry::writeToken(uint64_t token, int32_t id, uint64_t sequence, int64_t position) {
  if (ids_.data)
    ids_.data[token] = id;
  if (tokenSeq_.data)
    tokenSeq_.data[token] = static_cast<int32_t>(sequence);
  if (tokenPos_.data)
    tokenPos_.data[token] = static_cast<int32_t>(position);
}

void ModelEntry::writeSequence(uint64_t sequence, const SequenceStep &step, uint64_t firstToken) {
  if (seqOffsets_.data)
    seqOffsets_.data[sequence] = static_cast<int32_t>(firstToken);
  if (seqSlots_.data)
    seqSlots_.data[sequence] = step.slot;
  if (seqContext_.data)
    seqContext_.data[sequence] = static_cast<int32_t>(step.context);
  if (pageTable_.data) {
    int32_t *row = pageTable_.data + sequence * pagesPerSequence_;
    const uint64_t pages = std::min<uint64_t>(step.pages.size(), pagesPerSequence_);
    std::copy_n(step.pages.begin(), pages, row);
    std::fill(row + pages, row + pagesPerSequence_, 0);
  }
}

Result<std::span<const float>> ModelEntry::execute(uint64_t tokens, uint64_t sequences,
                                                   uint64_t rows, TapSink *sink) {
  if (seqOffsets_.data)
    seqOffsets_.data[sequences] = static_cast<int32_t>(tokens);
  if (symbolT_ >= 0)
    symbols_[static_cast<size_t>(symbolT_)] = static_cast<int64_t>(tokens);
  if (symbolS_ >= 0)
    symbols_[static_cast<size_t>(symbolS_)] = static_cast<int64_t>(sequences);
  if (symbolR_ >= 0)
    symbols_[static_cast<size_t>(symbolR_)] = static_cast<int64_t>(rows);
  K3_RETURN_IF_ERROR(executor_->run(entry_, symbols_, sink));
  return std::span<const float>(logits_, rows * vocabulary_);
}

Result<std::span<const float>> ModelEntry::run(std::span<const SequenceStep> sequences,
                                               TapSink *sink) {
  uint64_t tokens = 0, rows = 0;
  for (const SequenceStep &step : sequences) {
    tokens += step.ids.size();
    rows += step.rows == LogitRows::All ? step.ids.size() : std::min<size_t>(step.ids.size(), 1);
    if (step.pages.size() > pagesPerSequence_ && pageTable_.data)
      return Status::refused(
          fmt::format("step: a sequence has too many cache pages (got {}, expected at most {})",
                      step.pages.size(), pagesPerSequence_));
    if (bucket_ && step.ids.size() != 1)
      return Status::refused(fmt::format(
          "step: a sequence of a decode step has {} tokens (expected 1)", step.ids.size()));
  }
  if (bucket_ && sequences.size() > bucket_)
    return Status::refused(
        fmt::format("step: too many sequences for the bucket (got {}, expected at most {})",
                    sequences.size(), bucket_));
  K3_RETURN_IF_ERROR(bucket_ ? checkSizes(bucket_, bucket_, bucket_)
                             : checkSizes(tokens, sequences.size(), rows));

  uint64_t token = 0, row = 0;
  for (uint64_t sequence = 0; sequence < sequences.size(); ++sequence) {
    const SequenceStep &step = sequences[sequence];
    writeSequence(sequence, step, token);
    for (uint64_t i = 0; i < step.ids.size(); ++i, ++token) {
      writeToken(token, step.ids[i], sequence, step.context + static_cast<int64_t>(i));
      if (logitRows_.data && (step.rows == LogitRows::All || i + 1 == step.ids.size()))
        logitRows_.data[row++] = static_cast<int32_t>(token);
    }
  }
  for (uint64_t padding = sequences.size(); padding < bucket_; ++padding) {
    writeSequence(padding, {{}, -1, 0, {}}, padding);
    writeToken(padding, 0, padding, 0);
    if (logitRows_.data)
      logitRows_.data[padding] = static_cast<int32_t>(padding);
  }
  if (!bucket_)
    return execute(tokens, sequences.size(), rows, sink);
  K3_ASSIGN_OR_RETURN(std::span<const float> logits, execute(bucket_, bucket_, bucket_, sink));
  return logits.first(sequences.size() * vocabulary_);
}
