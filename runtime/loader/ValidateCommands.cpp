//===- ValidateCommands.cpp - Commands of an entry ------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function for each kind of command. The sizes that a step computes are compared at their
// largest, so the executor need not look again.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/ValidateCommands.h"

#include "runtime/loader/DTypes.h"

#include <algorithm>

namespace k3 {

namespace {

constexpr uint32_t maxStreams = 64;

/// What of a command is wrong, as text only when it is needed: "the size", "argument 3".
struct Part {
  Part(const char *name) : name(name) {}
  explicit Part(uint32_t argument) : argument(argument) {}
  std::string text() const { return name ? name : fmt::format("argument {}", argument); }

  const char *name = nullptr;
  uint32_t argument = 0;
};

Status checkExpr(const CommandChecks &c, Part what, uint32_t expr) {
  const std::vector<ExprRange> &ranges = c.checks.ranges;
  if (expr >= ranges.size())
    return c.refuse("{}: its expression does not exist (got {}, expected less than {})",
                    what.text(), expr, ranges.size());
  if (uint64_t missing = ranges[expr].symbols & ~c.symbols)
    return c.refuse("{}: depends on symbol '{}', which its entry is not given (got an entry "
                    "without it, expected it in the entry's symbols)",
                    what.text(),
                    (*c.checks.plan.symbols())[static_cast<uint32_t>(__builtin_ctzll(missing))]
                        ->name()
                        ->string_view());
  return Status::ok();
}

const plan::Buffer *bufferAt(const CommandChecks &c, uint32_t index) {
  const auto &buffers = *c.program.buffers();
  return index < buffers.size() ? buffers[index] : nullptr;
}

Status noBuffer(const CommandChecks &c, Part what, uint32_t index) {
  return c.refuse("{}: its buffer does not exist (got {}, expected less than {})", what.text(),
                  index, c.program.buffers()->size());
}

/// BYTES from OFFSET must lie in the buffer.
Status checkRange(const CommandChecks &c, Part what, uint32_t index, uint64_t offset,
                  uint64_t bytes) {
  const plan::Buffer *buffer = bufferAt(c, index);
  if (!buffer)
    return noBuffer(c, what, index);
  if (offset > buffer->size() || bytes > buffer->size() - offset)
    return c.refuse("{}: ends outside buffer '{}' (got {} bytes at offset {}, expected within {})",
                    what.text(), buffer->name()->string_view(), bytes, offset, buffer->size());
  return Status::ok();
}

Status checkArg(const CommandChecks &c, const plan::Arg &arg, uint32_t index) {
  if (arg.kind() > plan::ArgKind::MAX)
    return c.refuse("argument {}: its kind is unknown (got {}, expected at most {})", index,
                    static_cast<unsigned>(arg.kind()), static_cast<unsigned>(plan::ArgKind::MAX));
  if (arg.kind() == plan::ArgKind::Scalar)
    return checkExpr(c, Part(index), arg.scalar());
  const plan::Buffer *buffer = bufferAt(c, arg.buffer());
  if (!buffer)
    return noBuffer(c, Part(index), arg.buffer());
  // The address right behind a buffer belongs to the next one; only offset 0 of an empty buffer is
  // harmless.
  if (arg.offset() != 0 && arg.offset() >= buffer->size())
    return c.refuse(
        "argument {}: begins outside buffer '{}' (got offset {}, expected less than {})", index,
        buffer->name()->string_view(), arg.offset(), buffer->size());
  return Status::ok();
}

Status checkLaunch(const CommandChecks &c, const plan::Launch &launch) {
  const auto &kernels = *c.checks.plan.kernels();
  if (launch.kernel() >= kernels.size())
    return c.refuse("its kernel does not exist (got {}, expected less than {})", launch.kernel(),
                    kernels.size());
  const plan::Kernel &kernel = *kernels[launch.kernel()];
  if (launch.grid()->size() != 3)
    return c.refuse("its grid has a wrong number of axes (got {}, expected 3)",
                    launch.grid()->size());
  int64_t blocks = 1;
  for (uint32_t axis : *launch.grid()) {
    K3_RETURN_IF_ERROR(checkExpr(c, "the grid", axis));
    // An axis that can be zero must not hide that the others are too large.
    if (__builtin_mul_overflow(blocks, std::max<int64_t>(c.checks.ranges[axis].high, 1), &blocks))
      return c.refuse("its grid overflows 63 bits (got an axis of {})", c.checks.ranges[axis].high);
  }
  const auto &params = *kernel.params();
  const auto &args = *launch.args();
  if (args.size() != params.size())
    return c.refuse("kernel '{}' is given a wrong number of arguments (got {}, expected {})",
                    kernel.name()->string_view(), args.size(), params.size());
  for (uint32_t i = 0; i < args.size(); ++i) {
    K3_RETURN_IF_ERROR(checkArg(c, *args[i], i));
    plan::ArgKind expected = static_cast<plan::ArgKind>(params[i]);
    if (args[i]->kind() != expected)
      return c.refuse("kernel '{}' is given argument {} of a wrong kind (got {}, expected {})",
                      kernel.name()->string_view(), i, plan::EnumNameArgKind(args[i]->kind()),
                      plan::EnumNameArgKind(expected));
  }
  return Status::ok();
}

Status checkCopy(const CommandChecks &c, const plan::Copy &copy) {
  K3_RETURN_IF_ERROR(checkExpr(c, "the size", copy.bytes()));
  uint64_t bytes = static_cast<uint64_t>(c.checks.ranges[copy.bytes()].high);
  K3_RETURN_IF_ERROR(checkRange(c, "the source", copy.src(), copy.src_offset(), bytes));
  K3_RETURN_IF_ERROR(checkRange(c, "the destination", copy.dst(), copy.dst_offset(), bytes));
  const plan::Buffer &src = *bufferAt(c, copy.src()), &dst = *bufferAt(c, copy.dst());
  uint64_t from = src.offset() + copy.src_offset(), to = dst.offset() + copy.dst_offset();
  if (src.arena() == dst.arena() && std::max(from, to) < std::min(from, to) + bytes)
    return c.refuse("source and destination overlap (got {} bytes from {} to {} of arena {}, "
                    "expected disjoint ranges)",
                    bytes, from, to, src.arena());
  return Status::ok();
}

Status checkFill(const CommandChecks &c, const plan::Fill &fill) {
  K3_RETURN_IF_ERROR(checkExpr(c, "the size", fill.bytes()));
  return checkRange(c, "the destination", fill.dst(), fill.dst_offset(),
                    static_cast<uint64_t>(c.checks.ranges[fill.bytes()].high));
}

Status checkCollective(const CommandChecks &c, const plan::Collective &collective) {
  if (collective.kind() > plan::CollectiveKind::MAX)
    return c.refuse("its collective is unknown (got {}, expected at most {})",
                    static_cast<unsigned>(collective.kind()),
                    static_cast<unsigned>(plan::CollectiveKind::MAX));
  if (collective.dtype() > plan::DType::MAX)
    return c.refuse("its dtype is unknown (got {}, expected at most {})",
                    static_cast<unsigned>(collective.dtype()),
                    static_cast<unsigned>(plan::DType::MAX));
  std::string_view axis = collective.axis()->string_view();
  const plan::Mesh &mesh = *c.checks.plan.mesh();
  uint64_t ranks = axis == "tp"   ? mesh.tp()
                   : axis == "ep" ? mesh.ep()
                   : axis == "pp" ? mesh.pp()
                                  : 0;
  if (!ranks)
    return c.refuse("its axis is unknown (got '{}', expected tp, ep or pp)", axis.substr(0, 16));
  bool sends = collective.kind() == plan::CollectiveKind::Send,
       receives = collective.kind() == plan::CollectiveKind::Recv;
  if ((sends || receives) && collective.peer() >= ranks)
    return c.refuse("its peer does not exist (got {}, expected less than {})", collective.peer(),
                    ranks);
  K3_RETURN_IF_ERROR(checkExpr(c, "the count", collective.count()));
  uint64_t count = static_cast<uint64_t>(c.checks.ranges[collective.count()].high), bytes = 0,
           gathered = 0;
  if (__builtin_mul_overflow(count, dtypeBytes(collective.dtype()), &bytes) ||
      __builtin_mul_overflow(bytes, ranks, &gathered))
    return c.refuse(
        "its size overflows 64 bits (got {} elements for {} ranks, expected within its buffers)",
        count, ranks);
  // What is received grows with the ranks when all parts are kept, and is divided when each keeps
  // its own.
  bool gathers = collective.kind() == plan::CollectiveKind::AllGather;
  bool scatters = collective.kind() == plan::CollectiveKind::ReduceScatter;
  uint64_t received = gathers    ? gathered
                      : scatters ? (count + ranks - 1) / ranks * dtypeBytes(collective.dtype())
                                 : bytes;
  if (!receives)
    K3_RETURN_IF_ERROR(checkRange(c, "the source", collective.src(), 0, bytes));
  if (!sends)
    K3_RETURN_IF_ERROR(checkRange(c, "the destination", collective.dst(), 0, received));
  return Status::ok();
}

Status checkEvent(const CommandChecks &c, uint32_t event) {
  return event < c.program.events()
             ? Status::ok()
             : c.refuse("its event does not exist (got {}, expected less than {})", event,
                        c.program.events());
}

Status checkHostCall(const CommandChecks &c, const plan::HostCall &call) {
  K3_RETURN_IF_ERROR(
      c.checks.checkName("commands", fmt::format("{} command {} host function", c.entry, c.index),
                         call.name()->string_view()));
  for (uint32_t i = 0; i < call.args()->size(); ++i)
    K3_RETURN_IF_ERROR(checkArg(c, *(*call.args())[i], i));
  return Status::ok();
}

Status checkBody(const CommandChecks &c, const plan::Command &command) {
  switch (command.body_type()) {
  case plan::CommandBody::Launch:
    return checkLaunch(c, *command.body_as_Launch());
  case plan::CommandBody::Copy:
    return checkCopy(c, *command.body_as_Copy());
  case plan::CommandBody::Fill:
    return checkFill(c, *command.body_as_Fill());
  case plan::CommandBody::Collective:
    return checkCollective(c, *command.body_as_Collective());
  case plan::CommandBody::Record:
    return checkEvent(c, command.body_as_Record()->event());
  case plan::CommandBody::Wait:
    return checkEvent(c, command.body_as_Wait()->event());
  case plan::CommandBody::HostCall:
    return checkHostCall(c, *command.body_as_HostCall());
  case plan::CommandBody::NONE:
    break;
  }
  return c.refuse("its kind is unknown (got {}, expected 1 to {})",
                  static_cast<unsigned>(command.body_type()),
                  static_cast<unsigned>(plan::CommandBody::MAX));
}

} // namespace

Status validateCommand(const CommandChecks &checks, const plan::Command &command) {
  K3_RETURN_IF_ERROR(checkBody(checks, command));
  if (command.stream() >= maxStreams)
    return checks.refuse("its stream does not exist (got {}, expected less than {})",
                         command.stream(), maxStreams);
  uint32_t locations = checks.checks.plan.locations()->size();
  if (command.location() != UINT32_MAX && command.location() >= locations)
    return checks.refuse("its location does not exist (got {}, expected less than {})",
                         command.location(), locations);
  return Status::ok();
}

} // namespace k3
