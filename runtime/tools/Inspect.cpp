//===- Inspect.cpp - k3 inspect -------------------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The subcommand, and the counting that its two outputs share. A plan is loaded with all its
// checks, but it need not be for this machine.
//
//===----------------------------------------------------------------------===//

#include "runtime/tools/Inspect.h"

#include "runtime/tools/Commands.h"
#include "support/CommandLine.h"
#include "support/Format.h"
#include "support/Log.h"
#include "support/StandardStreams.h"

#include <memory>

namespace k3 {

namespace {

// Shared operands can make the text of a small expression astronomically long.
constexpr size_t maxExprText = 200;

void appendExpr(const plan::Plan &plan, uint32_t expr, std::string &out) {
  if (out.size() > maxExprText)
    return;
  const plan::Expr &node = *(*plan.exprs())[expr];
  auto infix = [&](const char *op) {
    out += "(";
    appendExpr(plan, node.lhs(), out);
    out += op;
    appendExpr(plan, node.rhs(), out);
    out += ")";
  };
  auto call = [&](const char *name) {
    out += name;
    infix(", ");
  };
  switch (node.op()) {
  case plan::ExprOp::Const:
    out += std::to_string(node.value());
    return;
  case plan::ExprOp::Symbol:
    out += (*plan.symbols())[static_cast<uint32_t>(node.value())]->name()->string_view();
    return;
  case plan::ExprOp::Add:
    return infix(" + ");
  case plan::ExprOp::Sub:
    return infix(" - ");
  case plan::ExprOp::Mul:
    return infix(" * ");
  case plan::ExprOp::CeilDiv:
    return call("ceildiv");
  case plan::ExprOp::FloorDiv:
    return call("floordiv");
  case plan::ExprOp::Min:
    return call("min");
  case plan::ExprOp::Max:
    return call("max");
  }
}

const char *commandName(plan::CommandBody kind) {
  switch (kind) {
  case plan::CommandBody::Launch:
    return "launch";
  case plan::CommandBody::Copy:
    return "copy";
  case plan::CommandBody::Fill:
    return "fill";
  case plan::CommandBody::Collective:
    return "collective";
  case plan::CommandBody::Record:
    return "record";
  case plan::CommandBody::Wait:
    return "wait";
  case plan::CommandBody::HostCall:
    return "host_call";
  case plan::CommandBody::NONE:
    break;
  }
  return "unknown";
}

Status inspect(const std::string &path, bool json) {
  K3_ASSIGN_OR_RETURN(LoadedPlan plan, loadPlan(path));
  std::string text = json ? inspectJson(plan) : inspectTable(plan);
  return writeStandardOutput(text);
}

} // namespace

std::string exprText(const plan::Plan &plan, uint32_t expr) {
  std::string text;
  appendExpr(plan, expr, text);
  if (text.size() > maxExprText)
    text = text.substr(0, maxExprText) + "...";
  return text;
}

MemoryByClass memoryOf(const plan::Program &program) {
  MemoryByClass memory;
  memory.bytes.resize(static_cast<size_t>(plan::ArenaClass::MAX) + 1);
  for (const plan::Arena *arena : *program.arenas()) {
    memory.bytes[static_cast<size_t>(arena->cls())] += arena->size();
    memory.total += arena->size();
  }
  return memory;
}

std::map<std::string, uint64_t> commandCounts(const plan::Entry &entry) {
  std::map<std::string, uint64_t> counts;
  for (const plan::Command *command : *entry.commands())
    ++counts[commandName(command->body_type())];
  return counts;
}

std::vector<uint64_t> launchCounts(const plan::Plan &plan, const plan::Program &program) {
  std::vector<uint64_t> counts(plan.kernels()->size());
  for (const plan::Entry *entry : *program.entries())
    for (const plan::Command *command : *entry->commands())
      if (const plan::Launch *launch = command->body_as_Launch())
        ++counts[launch->kernel()];
  return counts;
}

void addInspectCommand(CLI::App &app, int &exitCode) {
  struct Options {
    std::string plan;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand("inspect", "show what is inside a plan");
  command->add_option("PLAN", options->plan, "a .k3plan file")->required()->check(notEmpty());
  command->add_flag("--json", options->json, "everything, as one JSON object on standard output");
  command->callback(
      [options, &exitCode] { exitCode = reportStatus(inspect(options->plan, options->json)); });
}

} // namespace k3
