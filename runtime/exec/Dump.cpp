//===- Dump.cpp - Everything a run computed, in a file ----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plan may keep a recurrent state value-first and a cache in scattered pages; a reader of the
// dump sees neither.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/Dump.h"

#include "runtime/exec/Values.h"
#include "runtime/loader/DTypes.h"

#include <algorithm>
#include <fmt/format.h>

using namespace k3;

static uint64_t product(std::span<const uint64_t> shape) {
  uint64_t elements = 1;
  for (uint64_t extent : shape)
    elements *= extent;
  return elements;
}

uint64_t k3::dumpBytes(const plan::Plan &plan, const plan::Program &program, uint64_t tokens) {
  uint64_t perToken = plan.model()->vocab_size(), fixed = 0;
  for (const plan::Entry *entry : *program.entries()) {
    if (entry->kind() != plan::EntryKind::Prefill || !entry->taps())
      continue;
    for (const plan::Tap *tap : *entry->taps()) {
      const plan::Buffer &buffer = *program.buffers()->Get(tap->buffer());
      perToken += buffer.size() / dtypeBytes(buffer.dtype()) /
                  std::max<uint64_t>(plan.limits()->max_tokens(), 1);
    }
  }
  for (const plan::State *state : *program.states()) {
    const uint64_t elements =
        state->slot_bytes() / dtypeBytes(program.buffers()->Get(state->buffer())->dtype());
    if (state->kind() == plan::StateKind::LatentCache)
      perToken += elements / std::max<uint64_t>(plan.limits()->page_tokens(), 1);
    else
      fixed += elements;
  }
  // Twice: a vector that grows holds its old and its new bytes for a moment.
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(tokens, perToken, &bytes) ||
      __builtin_add_overflow(bytes, fixed, &bytes) ||
      __builtin_mul_overflow(bytes, 2 * sizeof(float), &bytes))
    return UINT64_MAX; // fits nowhere, which is what a budget needs to know
  return bytes;
}

void DumpRecorder::tap(std::string_view name, plan::DType type, std::span<const uint64_t> shape,
                       const std::byte *data) {
  if (shape.empty())
    return;
  auto found = taps_.find(name);
  if (found == taps_.end())
    found = taps_.emplace(std::string(name), TapRows{{shape.begin() + 1, shape.end()}, {}}).first;
  appendFloats(found->second.values, type, data,
               std::min(stepTokens_, shape.front()) * product(shape.subspan(1)));
}

/// The state of one slot, key-first whatever the plan keeps.
static void addRecurrent(SafetensorsWriter &writer, const plan::State &state,
                         const std::vector<uint64_t> &shape, const std::vector<float> &values) {
  if (state.kind() != plan::StateKind::KdaState || !state.order() ||
      state.order()->string_view() != "vk" || shape.size() != 3)
    return writer.add(state.name()->str(), shape, values);
  const uint64_t heads = shape[0], rows = shape[1], cols = shape[2];
  std::vector<float> turned(values.size());
  for (uint64_t head = 0; head < heads; ++head) {
    for (uint64_t row = 0; row < rows; ++row) {
      for (uint64_t col = 0; col < cols; ++col)
        turned[(head * cols + col) * rows + row] = values[(head * rows + row) * cols + col];
    }
  }
  writer.add(state.name()->str(), {heads, cols, rows}, std::move(turned));
}

Status DumpRecorder::write(const std::string &path, const Session &session,
                           const Sequence &sequence, std::vector<int32_t> ids) {
  SafetensorsWriter writer;
  const uint64_t count = ids.size();
  writer.add("ids", {count}, std::move(ids));
  const uint64_t rows = logits_.size() / session.vocabulary();
  writer.add("logits", {rows, session.vocabulary()}, std::move(logits_));
  for (auto &[name, tap] : taps_) {
    std::vector<uint64_t> shape = {tap.values.size() /
                                   std::max<uint64_t>(product(tap.rowShape), 1)};
    shape.insert(shape.end(), tap.rowShape.begin(), tap.rowShape.end());
    writer.add(name, std::move(shape), std::move(tap.values));
  }
  const Executor &executor = session.executor();
  for (const plan::State *state : *executor.program().states()) {
    const plan::DType type = executor.program().buffers()->Get(state->buffer())->dtype();
    K3_RETURN_IF_ERROR(executor.fetch(state->buffer()));
    const std::byte *pool = executor.memory().address(state->buffer());
    const std::vector<uint64_t> shape(state->shape()->begin(), state->shape()->end());
    std::vector<float> values;
    if (state->kind() != plan::StateKind::LatentCache) {
      appendFloats(values, type,
                   pool + static_cast<uint64_t>(sequence.slot()) * state->slot_bytes(),
                   product(shape));
      addRecurrent(writer, *state, shape, values);
      continue;
    }
    const uint64_t width = product(std::span(shape).subspan(1));
    for (uint64_t token = 0; token < sequence.length();) {
      const uint64_t part = std::min(shape.front(), sequence.length() - token);
      const int32_t page = sequence.pages()[token / shape.front()];
      appendFloats(values, type, pool + static_cast<uint64_t>(page) * state->slot_bytes(),
                   part * width);
      token += part;
    }
    writer.add(state->name()->str(), {sequence.length(), width}, std::move(values));
  }
  return writer.write(path);
}
