//===- ValidateEntries.cpp - Entries of a plan ----------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names, symbols, inputs, outputs and taps of each entry. Its commands, which are most of a plan,
// are in ValidateCommands.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/Validate.h"
#include "runtime/loader/ValidateCommands.h"

#include <unordered_set>

namespace k3 {

namespace {

using EntryArgs = flatbuffers::Vector<flatbuffers::Offset<plan::EntryArg>>;

Status checkArgs(const PlanChecks &checks, const plan::Program &program, const std::string &who,
                 const char *what, const EntryArgs &args) {
  std::unordered_set<std::string_view> names;
  for (uint32_t i = 0; i < args.size(); ++i) {
    std::string_view name = args[i]->name()->string_view();
    std::string arg = fmt::format("{} {} {}", who, what, i);
    K3_RETURN_IF_ERROR(checks.checkName("entries", arg, name));
    if (!names.insert(name).second)
      return checks.refuse(
          "entries", "{} '{}': its name is taken (got it twice, expected unique names)", arg, name);
    K3_RETURN_IF_ERROR(
        checks.checkIndex("entries", arg, "buffer", args[i]->buffer(), program.buffers()->size()));
  }
  return Status::ok();
}

Status checkTaps(const PlanChecks &checks, const plan::Program &program, const std::string &who,
                 const plan::Entry &entry) {
  if (!entry.taps())
    return Status::ok();
  std::unordered_set<std::string_view> names;
  const auto &taps = *entry.taps();
  for (uint32_t i = 0; i < taps.size(); ++i) {
    std::string_view name = taps[i]->name()->string_view();
    std::string tap = fmt::format("{} tap {}", who, i);
    K3_RETURN_IF_ERROR(checks.checkName("entries", tap, name));
    if (!names.insert(name).second)
      return checks.refuse(
          "entries", "{} '{}': its name is taken (got it twice, expected unique names)", tap, name);
    K3_RETURN_IF_ERROR(
        checks.checkIndex("entries", tap, "command", taps[i]->after(), entry.commands()->size()));
    K3_RETURN_IF_ERROR(
        checks.checkIndex("entries", tap, "buffer", taps[i]->buffer(), program.buffers()->size()));
  }
  return Status::ok();
}

Status checkEntry(const PlanChecks &checks, const plan::Program &program, const std::string &who,
                  const plan::Entry &entry) {
  if (entry.kind() > plan::EntryKind::MAX)
    return checks.refuse("entries", "{}: its kind is unknown (got {}, expected at most {})", who,
                         static_cast<unsigned>(entry.kind()),
                         static_cast<unsigned>(plan::EntryKind::MAX));
  if (entry.kind() == plan::EntryKind::Decode && (entry.bucket() < 1 || entry.bucket() > INT32_MAX))
    return checks.refuse("entries",
                         "{}: its number of rows is out of range (got {}, expected 1 to {})", who,
                         entry.bucket(), INT32_MAX);
  uint64_t symbols = 0;
  for (uint32_t symbol : *entry.symbols()) {
    K3_RETURN_IF_ERROR(
        checks.checkIndex("entries", who, "symbol", symbol, checks.plan.symbols()->size()));
    if (symbols >> symbol & 1)
      return checks.refuse(
          "entries", "{}: a symbol is listed more than once (got symbol {} twice, expected once)",
          who, symbol);
    symbols |= uint64_t{1} << symbol;
  }
  K3_RETURN_IF_ERROR(checkArgs(checks, program, who, "input", *entry.inputs()));
  K3_RETURN_IF_ERROR(checkArgs(checks, program, who, "output", *entry.outputs()));
  for (uint32_t i = 0; i < entry.commands()->size(); ++i)
    K3_RETURN_IF_ERROR(
        validateCommand({checks, program, who, symbols, i}, *(*entry.commands())[i]));
  return checkTaps(checks, program, who, entry);
}

} // namespace

Status validateEntries(const PlanChecks &checks, const plan::Program &program) {
  const auto &entries = *program.entries();
  std::unordered_set<std::string_view> names;
  for (uint32_t i = 0; i < entries.size(); ++i) {
    std::string_view name = entries[i]->name()->string_view();
    K3_RETURN_IF_ERROR(
        checks.checkName("entries", fmt::format("rank {} entry {}", program.rank(), i), name));
    std::string who = fmt::format("rank {} entry '{}'", program.rank(), name);
    if (!names.insert(name).second)
      return checks.refuse("entries", "{}: its name is taken (got it twice, expected unique names)",
                           who);
    K3_RETURN_IF_ERROR(checkEntry(checks, program, who, *entries[i]));
  }
  return Status::ok();
}

} // namespace k3
