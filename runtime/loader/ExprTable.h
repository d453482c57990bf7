//===- ExprTable.h - Expressions of one entry, step by step -----*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates the expressions an entry needs in one pass without allocating: operands come before
// their users in a plan, so the needed nodes in rising order are a program of their own.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_LOADER_EXPRTABLE_H
#define K3_RUNTIME_LOADER_EXPRTABLE_H

#include "runtime/schema/plan_generated.h"
#include "support/Status.h"

#include <cstdint>
#include <span>
#include <vector>

namespace k3 {

class ExprTable {
public:
  explicit ExprTable(const plan::Plan &plan) : plan_(&plan), slots_(plan.exprs()->size(), Unused) {}

  /// Makes expression EXPR part of the table; its value is `value(slot)` after `evaluate`.
  uint32_t add(uint32_t expr);
  /// Whether the value of SLOT depends on a symbol.
  bool isDynamic(uint32_t slot) const { return nodes_[slot].dynamic; }

  /// Evaluates everything for these values of the plan's symbols. Fails with the expression on
  /// overflow or a negative value.
  Status evaluate(std::span<const int64_t> symbols);
  int64_t value(uint32_t slot) const { return nodes_[slot].value; }

private:
  static constexpr uint32_t Unused = UINT32_MAX;
  struct Node {
    plan::ExprOp op;
    bool dynamic;
    uint32_t lhs, rhs; // slots
    int64_t value;     // Const: fixed
    uint32_t symbol;
    uint32_t expr;
  };
  const plan::Plan *plan_;
  std::vector<uint32_t> slots_; // by expression
  std::vector<Node> nodes_;
};

} // namespace k3

#endif // K3_RUNTIME_LOADER_EXPRTABLE_H
