//===- EntryProgram.cpp - An entry, ready to run ----------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function prepares and one executes each kind of command. A step of the tiny model has about a
// hundred launches in less than a millisecond, so the loop touches a few cache lines a launch and
// allocates nothing.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/EntryProgram.h"

#include "runtime/loader/DTypes.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace k3;

void EntryProgram::addLaunch(const plan::Launch &launch, const Memory &memory,
                             std::span<const CpuKernel> kernels) {
  Launch command{kernels.empty() ? nullptr : kernels[launch.kernel()],
                 launch.kernel(),
                 static_cast<uint32_t>(params_.size()),
                 launch.args()->size(),
                 {},
                 {}};
  for (unsigned axis = 0; axis < 3; ++axis)
    command.grid[axis] = table_.add(launch.grid()->Get(axis));
  for (const plan::Arg *arg : *launch.args()) {
    if (arg->kind() == plan::ArgKind::Scalar) {
      scalars_.push_back({static_cast<uint32_t>(params_.size()), table_.add(arg->scalar())});
      params_.push_back(0);
    } else {
      params_.push_back(reinterpret_cast<uint64_t>(memory.address(arg->buffer()) + arg->offset()));
    }
  }
  commands_.emplace_back(command);
}

/// Bytes of BUFFER from OFFSET on.
static uint64_t room(const plan::Program &program, uint32_t buffer, uint64_t offset) {
  const uint64_t size = program.buffers()->Get(buffer)->size();
  return size - std::min(size, offset);
}

void EntryProgram::addCopy(const plan::Copy &copy, const plan::Program &program,
                           const Memory &memory) {
  commands_.emplace_back(Copy{memory.address(copy.src()) + copy.src_offset(),
                              memory.address(copy.dst()) + copy.dst_offset(),
                              std::min(room(program, copy.src(), copy.src_offset()),
                                       room(program, copy.dst(), copy.dst_offset())),
                              table_.add(copy.bytes()), 1});
}

void EntryProgram::addFill(const plan::Fill &fill, const plan::Program &program,
                           const Memory &memory) {
  commands_.emplace_back(Fill{memory.address(fill.dst()) + fill.dst_offset(),
                              room(program, fill.dst(), fill.dst_offset()),
                              table_.add(fill.bytes()), fill.value()});
}

/// Over one rank every collective is the identity: what this rank contributes is the result.
void EntryProgram::addCollective(const plan::Collective &collective, const plan::Program &program,
                                 const Memory &memory) {
  commands_.emplace_back(
      Copy{memory.address(collective.src()), memory.address(collective.dst()),
           std::min(room(program, collective.src(), 0), room(program, collective.dst(), 0)),
           table_.add(collective.count()), static_cast<uint32_t>(dtypeBytes(collective.dtype()))});
}

void EntryProgram::addTap(const plan::Tap &tap, const plan::Program &program,
                          const Memory &memory) {
  const plan::Buffer *buffer = program.buffers()->Get(tap.buffer());
  Tap prepared{tap.after(), &tap, buffer, memory.address(tap.buffer()), {}};
  for (uint32_t extent : *buffer->shape())
    prepared.shape.push_back(table_.add(extent));
  taps_.push_back(std::move(prepared));
}

Result<EntryProgram> EntryProgram::prepare(const plan::Plan &plan, const plan::Program &program,
                                           uint32_t entry, const Memory &memory,
                                           std::span<const CpuKernel> kernels) {
  const plan::Entry &source = *program.entries()->Get(entry);
  EntryProgram result(plan);
  result.name_ = source.name()->str();
  result.commands_.reserve(source.commands()->size());
  for (const plan::Command *command : *source.commands()) {
    switch (command->body_type()) {
    case plan::CommandBody::Launch:
      result.addLaunch(*command->body_as_Launch(), memory, kernels);
      break;
    case plan::CommandBody::Copy:
      result.addCopy(*command->body_as_Copy(), program, memory);
      break;
    case plan::CommandBody::Fill:
      result.addFill(*command->body_as_Fill(), program, memory);
      break;
    case plan::CommandBody::Collective:
      // Of these the loader checks the one buffer that they use.
      if (command->body_as_Collective()->kind() == plan::CollectiveKind::Send ||
          command->body_as_Collective()->kind() == plan::CollectiveKind::Recv)
        return Status::refused(fmt::format(
            "entry '{}': command {} is a {}, and over one rank there is nobody at the other end; "
            "compile the plan again",
            result.name_, result.commands_.size(),
            plan::EnumNameCollectiveKind(command->body_as_Collective()->kind())));
      result.addCollective(*command->body_as_Collective(), program, memory);
      break;
    case plan::CommandBody::Record:
    case plan::CommandBody::Wait:
      result.commands_.emplace_back(Order{});
      break;
    case plan::CommandBody::HostCall:
      return Status::refused(fmt::format("entry '{}': host function '{}' is not one that this "
                                         "runtime has; use a k3 of the version that "
                                         "compiled the plan",
                                         result.name_, command->body_as_HostCall()->name()->str()));
    case plan::CommandBody::NONE:
      return Status::refused(fmt::format("entry '{}': command {} is empty; compile the plan again",
                                         result.name_, result.commands_.size()));
    }
  }
  if (source.taps()) {
    for (const plan::Tap *tap : *source.taps())
      result.addTap(*tap, program, memory);
    std::stable_sort(result.taps_.begin(), result.taps_.end(),
                     [](const Tap &a, const Tap &b) { return a.after < b.after; });
  }
  for (uint32_t symbol : *source.symbols()) {
    result.symbols_.push_back(symbol);
    result.bounds_.push_back(static_cast<int64_t>(plan.symbols()->Get(symbol)->upper_bound()));
  }
  return result;
}

Status EntryProgram::update(std::span<const int64_t> symbols) {
  bool same = evaluated_;
  for (size_t i = 0; i < symbols_.size(); ++i) {
    const int64_t value = symbols[symbols_[i]];
    if (value < 0 || value > bounds_[i]) {
      return Status::refused(
          fmt::format("entry '{}': symbol {} is out of range (got {}, expected 0 to {})", name_,
                      symbols_[i], value, bounds_[i]));
    }
    same = same && current_[i] == value;
  }
  if (same)
    return Status::ok();
  evaluated_ = false;
  current_.clear();
  K3_RETURN_IF_ERROR(table_.evaluate(symbols));
  for (const Scalar &scalar : scalars_)
    params_[scalar.param] = static_cast<uint64_t>(table_.value(scalar.slot));
  for (Command &command : commands_) {
    if (Launch *launch = std::get_if<Launch>(&command)) {
      int64_t blocks = 1;
      bool overflow = false;
      for (unsigned axis = 0; axis < 3; ++axis) {
        launch->extent[axis] = table_.value(launch->grid[axis]);
        overflow |= __builtin_mul_overflow(blocks, launch->extent[axis], &blocks);
      }
      if (overflow)
        return Status::failed(fmt::format(
            "entry '{}': a grid has more than 2^63 blocks; the plan is inconsistent", name_));
    } else if (Copy *copy = std::get_if<Copy>(&command)) {
      K3_RETURN_IF_ERROR(
          checkRoom("copy", table_.value(copy->bytes), copy->perElement, copy->room));
    } else if (Fill *fill = std::get_if<Fill>(&command)) {
      K3_RETURN_IF_ERROR(checkRoom("fill", table_.value(fill->bytes), 1, fill->room));
    }
  }
  for (uint32_t symbol : symbols_)
    current_.push_back(symbols[symbol]);
  evaluated_ = true;
  return Status::ok();
}

Status EntryProgram::checkRoom(std::string_view what, int64_t count, uint32_t perElement,
                               uint64_t room) const {
  if (static_cast<uint64_t>(count) <= room / perElement)
    return Status::ok();
  return Status::failed(fmt::format("entry '{}': a {} leaves its buffer (got {} x {} bytes, room "
                                    "for {}); the plan is inconsistent, compile "
                                    "it again",
                                    name_, what, count, perElement, room));
}

void EntryProgram::execute(const Launch &launch, CpuDevice &device) const {
  device.launch(launch.kernel, params_.data() + launch.firstParam, launch.extent[0],
                launch.extent[1], launch.extent[2]);
}

void EntryProgram::execute(const Copy &copy, CpuDevice &) const {
  // memmove: a collective may work in place.
  std::memmove(copy.to, copy.from,
               static_cast<uint64_t>(table_.value(copy.bytes)) * copy.perElement);
}

void EntryProgram::execute(const Fill &fill, CpuDevice &) const {
  std::memset(fill.to, fill.value, static_cast<uint64_t>(table_.value(fill.bytes)));
}

std::vector<uint64_t> EntryProgram::shapeOf(const Tap &tap) const {
  std::vector<uint64_t> shape;
  for (uint32_t slot : tap.shape)
    shape.push_back(static_cast<uint64_t>(table_.value(slot)));
  return shape;
}

void EntryProgram::deliver(const Tap &tap, TapSink &sink) const {
  sink.tap(tap.tap->name()->string_view(), tap.buffer->dtype(), shapeOf(tap), tap.data);
}

Status EntryProgram::deliver(const Tap &tap, TapSink &sink, CudaDevice &device) const {
  const std::vector<uint64_t> shape = shapeOf(tap);
  uint64_t bytes = dtypeBytes(tap.buffer->dtype());
  for (uint64_t extent : shape)
    bytes *= extent;
  std::vector<std::byte> data(bytes);
  K3_RETURN_IF_ERROR(device.fetch(data.data(), tap.data, bytes));
  sink.tap(tap.tap->name()->string_view(), tap.buffer->dtype(), shape, data.data());
  return Status::ok();
}

Status EntryProgram::enqueue(const Launch &launch, CudaDevice &device) const {
  return device.launch(launch.number, {params_.data() + launch.firstParam, launch.params},
                       launch.extent[0], launch.extent[1], launch.extent[2]);
}

Status EntryProgram::enqueue(const Copy &copy, CudaDevice &device) const {
  return device.copy(copy.to, copy.from,
                     static_cast<uint64_t>(table_.value(copy.bytes)) * copy.perElement);
}

Status EntryProgram::enqueue(const Fill &fill, CudaDevice &device) const {
  return device.fill(fill.to, fill.value, static_cast<uint64_t>(table_.value(fill.bytes)));
}

/// Nothing depends on a symbol, and all is launches: one graph is right for every step.
bool EntryProgram::isConstant() const {
  return symbols_.empty() && std::ranges::all_of(commands_, [](const Command &command) {
           return std::holds_alternative<Launch>(command) || std::holds_alternative<Order>(command);
         });
}

Status EntryProgram::run(CpuDevice &device, std::span<const int64_t> symbols, TapSink *sink) {
  K3_RETURN_IF_ERROR(update(symbols));
  size_t tap = 0;
  for (size_t i = 0; i < commands_.size(); ++i) {
    std::visit([&](const auto &command) { execute(command, device); }, commands_[i]);
    for (; sink && tap < taps_.size() && taps_[tap].after == i; ++tap)
      deliver(taps_[tap], *sink);
  }
  return Status::ok();
}

Status EntryProgram::run(CudaDevice &device, std::span<const int64_t> symbols, TapSink *sink,
                         bool graphs) {
  K3_RETURN_IF_ERROR(update(symbols));
  auto enqueueAll = [&]() -> Status {
    size_t tap = 0;
    for (size_t i = 0; i < commands_.size(); ++i) {
      K3_RETURN_IF_ERROR(
          std::visit([&](const auto &command) { return enqueue(command, device); }, commands_[i]));
      for (; sink && tap < taps_.size() && taps_[tap].after == i; ++tap)
        K3_RETURN_IF_ERROR(deliver(taps_[tap], *sink, device));
    }
    return Status::ok();
  };
  if (!graphs || (sink && !taps_.empty()) || !isConstant()) {
    K3_RETURN_IF_ERROR(enqueueAll());
    return device.finish();
  }
  if (!graph_) {
    K3_RETURN_IF_ERROR(device.beginGraph());
    K3_RETURN_IF_ERROR(enqueueAll());
    K3_ASSIGN_OR_RETURN(graph_, device.endGraph());
  }
  K3_RETURN_IF_ERROR(device.launchGraph(*graph_));
  return device.finish();
}
