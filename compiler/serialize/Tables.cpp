//===- Tables.cpp - Tables shared by the programs of a plan ---------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expressions become nodes whose operands come first; locations lose their folders, so that a plan
// does not tell where it was made.
//
//===----------------------------------------------------------------------===//

#include "compiler/serialize/Tables.h"

#include "llvm/Support/Path.h"

using namespace mlir;

namespace k3 {

// The enums of dialect and schema have the same numbers, so that values can be cast.
static_assert(static_cast<int>(host::ExprOp::Max) == static_cast<int>(plan::ExprOp::Max));
static_assert(static_cast<int>(host::ArgKind::Scalar) == static_cast<int>(plan::ArgKind::Scalar));

void Tables::addSymbol(host::SymbolOp op) {
  auto symbol = std::make_unique<plan::SymbolT>();
  symbol->name = op.getSymName().str();
  symbol->upper_bound = op.getUpper();
  symbols[op.getSymName()] = plan.symbols.size();
  plan.symbols.push_back(std::move(symbol));
}

void Tables::addKernel(host::KernelOp op) {
  if (!kernels.try_emplace(op.getSymName(), plan.kernels.size()).second)
    return;
  auto kernel = std::make_unique<plan::KernelT>();
  kernel->name = op.getSymName().str();
  for (int32_t kind : op.getParams())
    kernel->params.push_back(static_cast<plan::ArgKind>(kind));
  kernel->block.assign(op.getBlock().begin(), op.getBlock().end());
  kernel->shared_bytes = op.getSharedBytes();
  kernel->registers = op.getRegisters();
  kernel->spill_bytes = op.getSpillBytes();
  kernel->location = location(op.getLoc());
  plan.kernels.push_back(std::move(kernel));
}

uint32_t Tables::expr(host::ExprAttr expr) {
  if (auto known = exprIds.find(expr); known != exprIds.end())
    return known->second;
  auto node = std::make_unique<plan::ExprT>();
  node->op = static_cast<plan::ExprOp>(expr.getOp());
  if (expr.getOp() == host::ExprOp::Const) {
    node->value = expr.getValue();
  } else if (expr.getOp() == host::ExprOp::Symbol) {
    node->value = symbol(expr.getSymbol());
  } else {
    node->lhs = this->expr(expr.getLhs());
    node->rhs = this->expr(expr.getRhs());
  }
  uint32_t index = plan.exprs.size();
  plan.exprs.push_back(std::move(node));
  exprIds[expr] = index;
  return index;
}

std::vector<uint32_t> Tables::exprs(ArrayAttr list) {
  std::vector<uint32_t> indices;
  for (auto expr : list.getAsRange<host::ExprAttr>())
    indices.push_back(this->expr(expr));
  return indices;
}

uint32_t Tables::location(Location loc) {
  auto [known, isNew] = knownLocations.try_emplace(loc, UINT32_MAX);
  if (!isNew)
    return known->second;
  // The outermost name is the key of the model description; the first place is where it stands.
  std::string key;
  FileLineColLoc place;
  loc->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part); name && key.empty())
      key = name.getName().str();
    place = dyn_cast<FileLineColLoc>(part);
    return place ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!place)
    return UINT32_MAX;
  std::string file = llvm::sys::path::filename(place.getFilename().getValue()).str();
  auto [entry, isFirst] = locationIds.try_emplace({file, place.getLine(), place.getColumn(), key},
                                                  plan.locations.size());
  if (isFirst) {
    auto location = std::make_unique<plan::LocationT>();
    location->file = file.empty() ? "-" : file;
    location->line = place.getLine();
    location->column = place.getColumn();
    location->key = key;
    plan.locations.push_back(std::move(location));
  }
  return known->second = entry->second;
}

} // namespace k3
