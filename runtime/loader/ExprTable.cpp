//===- ExprTable.cpp - Expressions of one entry, step by step ---*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loader has bounded every expression from above. A difference can still fall below zero and a
// divisor to it for some values of the symbols, so the checks stay here.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/ExprTable.h"

#include "runtime/loader/Expr.h"

#include <fmt/format.h>

using namespace k3;

uint32_t ExprTable::add(uint32_t expr) {
  if (slots_[expr] != Unused)
    return slots_[expr];
  const plan::Expr &source = *plan_->exprs()->Get(expr);
  Node node{source.op(), false, 0, 0, 0, 0, expr};
  if (source.op() == plan::ExprOp::Const) {
    node.value = source.value();
  } else if (source.op() == plan::ExprOp::Symbol) {
    node.symbol = static_cast<uint32_t>(source.value());
    node.dynamic = true;
  } else {
    node.lhs = add(source.lhs());
    node.rhs = add(source.rhs());
    node.dynamic = nodes_[node.lhs].dynamic || nodes_[node.rhs].dynamic;
  }
  nodes_.push_back(node);
  return slots_[expr] = static_cast<uint32_t>(nodes_.size() - 1);
}

Status ExprTable::evaluate(std::span<const int64_t> symbols) {
  for (Node &node : nodes_) {
    if (node.op == plan::ExprOp::Const)
      continue;
    if (node.op == plan::ExprOp::Symbol) {
      node.value = symbols[node.symbol];
      continue;
    }
    const int64_t lhs = nodes_[node.lhs].value, rhs = nodes_[node.rhs].value;
    const ExprValue result = applyExprOp(node.op, lhs, rhs);
    if (result.fault != ExprFault::None)
      return Status::failed(fmt::format(
          "expression {}: {} of {} and {}: {}; the plan is inconsistent, compile it again",
          node.expr, plan::EnumNameExprOp(node.op), lhs, rhs, describe(result.fault)));
    node.value = result.value;
  }
  return Status::ok();
}
