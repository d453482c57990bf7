//===- SingleEntry.cpp - One entry alone ------------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Symbols first, since they fix every shape; then inputs and states; a test that gives a tensor of
// a wrong shape or name must hear of it and not get an answer.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/SingleEntry.h"

#include "runtime/exec/StepIndices.h"
#include "runtime/exec/Values.h"
#include "runtime/weights/PieceCopy.h"
#include "runtime/weights/SafetensorsWriter.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <set>

using namespace k3;

namespace {

class Runner {
public:
  Runner(Executor &executor, const plan::Entry &entry, const SafetensorsFile &file)
      : executor_(executor), plan_(executor.plan()), program_(executor.program()), entry_(entry),
        file_(file), symbols_(plan_.symbols()->size()) {}

  Status bindSymbols();
  Status fillInputs();
  Status checkIndices();
  Status presetStates();
  Status refuseUnknown() const;
  Status run(uint32_t entry);
  Status write(const std::string &path);

private:
  std::string symbolName(uint32_t symbol) const {
    return plan_.symbols()->Get(symbol)->name()->str();
  }
  Status bind(uint32_t symbol, uint64_t value, const std::string &tensor);
  Result<std::vector<uint64_t>> shapeOf(const plan::Buffer &buffer) const;
  Status fill(const TensorInfo &tensor, plan::DType type, std::byte *to);
  void addTensor(SafetensorsWriter &writer, const std::string &name, plan::DType type,
                 std::vector<uint64_t> shape, const std::byte *data);

  Executor &executor_;
  const plan::Plan &plan_;
  const plan::Program &program_;
  const plan::Entry &entry_;
  const SafetensorsFile &file_;
  std::vector<std::optional<uint64_t>> symbols_;
  std::vector<int64_t> values_; // of symbols_, once all are bound
  std::set<std::string> used_;
};

uint64_t product(const std::vector<uint64_t> &shape) {
  uint64_t elements = 1;
  for (uint64_t extent : shape)
    elements *= extent;
  return elements;
}

Status Runner::bind(uint32_t symbol, uint64_t value, const std::string &tensor) {
  const uint64_t bound = plan_.symbols()->Get(symbol)->upper_bound();
  if (value > bound) {
    return Status::refused(fmt::format(
        "{}: tensor '{}' gives symbol {} too large a value (got {}, expected at most {})",
        file_.path(), tensor, symbolName(symbol), value, bound));
  }
  if (symbols_[symbol] && *symbols_[symbol] != value) {
    return Status::refused(fmt::format("{}: tensor '{}' gives symbol {} another value than a "
                                       "tensor before it (got {}, expected {})",
                                       file_.path(), tensor, symbolName(symbol), value,
                                       *symbols_[symbol]));
  }
  symbols_[symbol] = value;
  return Status::ok();
}

Status Runner::bindSymbols() {
  for (uint32_t symbol : *entry_.symbols()) {
    const std::string name = fmt::format("@{}", symbolName(symbol));
    const TensorInfo *scalar = file_.find(name);
    if (!scalar)
      continue;
    if (scalar->type != ElementType::I32 || scalar->elements() != 1)
      return Status::refused(fmt::format("{}: tensor '{}' is not one I32 (got {} of shape {})",
                                         file_.path(), name, elementTypeName(scalar->type),
                                         shapeString(scalar->shape)));
    int32_t value = 0;
    K3_RETURN_IF_ERROR(file_.read(*scalar, 0, &value, sizeof(value)));
    if (value < 0)
      return Status::refused(
          fmt::format("{}: tensor '{}' is negative (got {})", file_.path(), name, value));
    K3_RETURN_IF_ERROR(bind(symbol, static_cast<uint64_t>(value), name));
    used_.insert(name);
  }
  for (const plan::EntryArg *input : *entry_.inputs()) {
    const plan::Buffer &buffer = *program_.buffers()->Get(input->buffer());
    const TensorInfo *tensor = file_.find(input->name()->string_view());
    if (!tensor || tensor->shape.size() != buffer.shape()->size())
      continue; // reported with the shape it should have, once that is known
    for (uint32_t axis = 0; axis < buffer.shape()->size(); ++axis) {
      const plan::Expr &expr = *plan_.exprs()->Get(buffer.shape()->Get(axis));
      if (expr.op() == plan::ExprOp::Symbol)
        K3_RETURN_IF_ERROR(
            bind(static_cast<uint32_t>(expr.value()), tensor->shape[axis], tensor->name));
    }
  }
  for (uint32_t symbol : *entry_.symbols()) {
    if (!symbols_[symbol]) {
      return Status::refused(fmt::format(
          "{}: no tensor gives symbol {} of entry '{}' a value; add a scalar I32 named \"@{}\"",
          file_.path(), symbolName(symbol), entry_.name()->str(), symbolName(symbol)));
    }
  }
  for (const std::optional<uint64_t> &value : symbols_)
    values_.push_back(static_cast<int64_t>(value.value_or(0)));
  return Status::ok();
}

Result<std::vector<uint64_t>> Runner::shapeOf(const plan::Buffer &buffer) const {
  ExprTable table(plan_);
  std::vector<uint32_t> slots;
  for (uint32_t extent : *buffer.shape())
    slots.push_back(table.add(extent));
  K3_RETURN_IF_ERROR(table.evaluate(values_));
  std::vector<uint64_t> shape;
  for (uint32_t slot : slots)
    shape.push_back(static_cast<uint64_t>(table.value(slot)));
  return shape;
}

/// Copies TENSOR to TO as TYPE. Only the tests' own conversions exist: F32 to BF16 rounds, BF16 to
/// F32 is exact.
Status Runner::fill(const TensorInfo &tensor, plan::DType type, std::byte *to) {
  const bool rounds = tensor.type == ElementType::F32 && type == plan::DType::BF16;
  if (!rounds && !isExactConversion(tensor.type, type)) {
    return Status::refused(fmt::format(
        "{}: tensor '{}' has an element type that cannot be used here (got {}, expected {})",
        file_.path(), tensor.name, elementTypeName(tensor.type), elementTypeName(type)));
  }
  std::vector<std::byte> bytes(tensor.bytes);
  K3_RETURN_IF_ERROR(file_.read(tensor, 0, bytes.data(), bytes.size()));
  const uint64_t elements = tensor.elements();
  if (elements == 0)
    return Status::ok();
  if (!rounds) {
    copyRectangle(bytes.data(), tensor.type, to, type, {1, elements, elements, elements, 1});
    return Status::ok();
  }
  for (uint64_t i = 0; i < elements; ++i) {
    float value;
    std::memcpy(&value, bytes.data() + 4 * i, 4);
    const uint16_t rounded = roundToBf16(value);
    std::memcpy(to + 2 * i, &rounded, 2);
  }
  return Status::ok();
}

Status Runner::fillInputs() {
  for (const plan::EntryArg *input : *entry_.inputs()) {
    const plan::Buffer &buffer = *program_.buffers()->Get(input->buffer());
    const std::string name = input->name()->str();
    K3_ASSIGN_OR_RETURN(const std::vector<uint64_t> shape, shapeOf(buffer));
    const TensorInfo *tensor = file_.find(name);
    if (!tensor) {
      return Status::refused(fmt::format(
          "{}: lacks the input '{}' of entry '{}' (expected {} of shape {})", file_.path(), name,
          entry_.name()->str(), elementTypeName(buffer.dtype()), shapeString(shape)));
    }
    if (tensor->shape != shape) {
      return Status::refused(
          fmt::format("{}: tensor '{}' does not have the shape of its input (got {}, expected {})",
                      file_.path(), name, shapeString(tensor->shape), shapeString(shape)));
    }
    K3_RETURN_IF_ERROR(fill(*tensor, buffer.dtype(), executor_.memory().address(input->buffer())));
    used_.insert(name);
  }
  return Status::ok();
}

/// Kernels use a slot or a page as an address, so the indices of a step are checked before it runs.
Status Runner::checkIndices() {
  // The tokens of the step: symbol T, or the rows of the first input of an entry of one size.
  std::optional<int64_t> tokens;
  for (uint32_t symbol : *entry_.symbols()) {
    if (symbolName(symbol) == "T")
      tokens = values_[symbol];
  }
  if (!tokens && entry_.inputs()->size()) {
    const uint32_t first = entry_.inputs()->Get(0)->buffer();
    K3_ASSIGN_OR_RETURN(const std::vector<uint64_t> shape,
                        shapeOf(*program_.buffers()->Get(first)));
    tokens = shape.empty() ? 0 : static_cast<int64_t>(shape[0]);
  }
  StepIndices indices(tokens.value_or(0));
  for (const plan::EntryArg *input : *entry_.inputs()) {
    const plan::Buffer &buffer = *program_.buffers()->Get(input->buffer());
    if (buffer.dtype() != plan::DType::I32)
      continue;
    K3_ASSIGN_OR_RETURN(const std::vector<uint64_t> shape, shapeOf(buffer));
    const auto *data =
        reinterpret_cast<const int32_t *>(executor_.memory().address(input->buffer()));
    indices.set(input->name()->string_view(), {data, product(shape)}, shape.empty() ? 0 : shape[0]);
  }
  return indices.check(file_.path(), *plan_.limits());
}

Status Runner::presetStates() {
  for (const plan::State *state : *program_.states()) {
    const std::string name = state->name()->str();
    const TensorInfo *tensor = file_.find(name);
    if (!tensor)
      continue;
    const plan::Buffer &buffer = *program_.buffers()->Get(state->buffer());
    K3_ASSIGN_OR_RETURN(const std::vector<uint64_t> pool, shapeOf(buffer));
    const std::vector<uint64_t> slot(state->shape()->begin(), state->shape()->end());
    if (tensor->shape != pool && tensor->shape != slot) {
      return Status::refused(fmt::format(
          "{}: tensor '{}' does not have the shape of its state (got {}, expected {} or {})",
          file_.path(), name, shapeString(tensor->shape), shapeString(pool), shapeString(slot)));
    }
    K3_RETURN_IF_ERROR(fill(*tensor, buffer.dtype(), executor_.memory().address(state->buffer())));
    used_.insert(name);
  }
  return Status::ok();
}

Status Runner::refuseUnknown() const {
  for (const TensorInfo &tensor : file_.tensors()) {
    if (!used_.contains(tensor.name))
      return Status::refused(
          fmt::format("{}: tensor '{}' is neither an input nor a symbol of entry '{}', nor a state",
                      file_.path(), tensor.name, entry_.name()->str()));
  }
  return Status::ok();
}

Status Runner::run(uint32_t entry) {
  for (const plan::State *state : *program_.states())
    K3_RETURN_IF_ERROR(executor_.send(state->buffer()));
  return executor_.run(entry, values_);
}

void Runner::addTensor(SafetensorsWriter &writer, const std::string &name, plan::DType type,
                       std::vector<uint64_t> shape, const std::byte *data) {
  const uint64_t elements = product(shape);
  if (type == plan::DType::I32) {
    std::vector<int32_t> values(elements);
    if (elements) // an empty vector has no address to copy to
      std::memcpy(values.data(), data, elements * sizeof(int32_t));
    return writer.add(name, std::move(shape), std::move(values));
  }
  std::vector<float> values;
  values.reserve(elements);
  appendFloats(values, type, data, elements);
  writer.add(name, std::move(shape), std::move(values));
}

Status Runner::write(const std::string &path) {
  SafetensorsWriter writer;
  for (const plan::EntryArg *output : *entry_.outputs()) {
    const plan::Buffer &buffer = *program_.buffers()->Get(output->buffer());
    K3_ASSIGN_OR_RETURN(std::vector<uint64_t> shape, shapeOf(buffer));
    addTensor(writer, output->name()->str(), buffer.dtype(), std::move(shape),
              executor_.memory().address(output->buffer()));
  }
  for (const plan::State *state : *program_.states()) {
    K3_RETURN_IF_ERROR(executor_.fetch(state->buffer()));
    const plan::Buffer &buffer = *program_.buffers()->Get(state->buffer());
    K3_ASSIGN_OR_RETURN(std::vector<uint64_t> shape, shapeOf(buffer));
    addTensor(writer, state->name()->str(), buffer.dtype(), std::move(shape),
              executor_.memory().address(state->buffer()));
  }
  return writer.write(path);
}

} // namespace

Status k3::runSingleEntry(Executor &executor, const std::string &name,
                          const SafetensorsFile &inputs, const std::string &output) {
  const std::optional<uint32_t> entry = executor.findEntry(name);
  if (!entry) {
    std::vector<std::string> names;
    for (const plan::Entry *known : *executor.program().entries())
      names.push_back(known->name()->str());
    return Status::refused(fmt::format("--entry: the plan has no entry '{}' (expected one of {})",
                                       name, fmt::join(names, ", ")));
  }
  Runner runner(executor, *executor.program().entries()->Get(*entry), inputs);
  K3_RETURN_IF_ERROR(runner.bindSymbols());
  K3_RETURN_IF_ERROR(runner.fillInputs());
  K3_RETURN_IF_ERROR(runner.checkIndices());
  K3_RETURN_IF_ERROR(runner.presetStates());
  K3_RETURN_IF_ERROR(runner.refuseUnknown());
  K3_RETURN_IF_ERROR(runner.run(*entry));
  return runner.write(output);
}
