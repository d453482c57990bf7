//===- Expr.h - Integer expressions of the model definitions -----*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The shapes and conditions in model-defs are expressions over configuration keys, so that a new
// relative of the model is data and not code. Every failure names the expression and the column.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_IMPORT_EXPR_H
#define K3_COMPILER_IMPORT_EXPR_H

#include "support/Status.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k3 {

/// A number, or nothing for a key that is null.
using ExprValue = std::optional<int64_t>;
/// The value of a name; nothing for a null key, a failure for a name that does not exist.
using ExprScope = std::function<Result<ExprValue>(std::string_view name)>;

/// `||`, `&&`, `== != < <= > >=`, `??` (right side if the left one is null), `+ -`, `* / %`, `!`,
/// unary `-`, parentheses, integers, and names such as `linear_attn_config.num_heads` or
/// `vision_config.merge_kernel_size[0]`. 64-bit integers; overflow and division by zero are
/// failures. Null counts as false; arithmetic refuses it.
class DefExpr {
public:
  static Result<DefExpr> parse(std::string text);

  Result<ExprValue> evaluate(const ExprScope &scope) const;
  /// The value, which must not be null.
  Result<int64_t> number(const ExprScope &scope) const;
  Result<bool> condition(const ExprScope &scope) const;
  const std::string &text() const { return text_; }

private:
  friend class DefExprParser;
  enum class Op {
    Number,
    Name,
    Not,
    Negate,
    Or,
    And,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Else,
    Add,
    Sub,
    Mul,
    Div,
    Rem
  };
  struct Node {
    Op op;
    size_t column;
    int64_t number = 0;
    std::string name;
    int left = -1;
    int right = -1;
  };
  Result<ExprValue> evaluate(int node, const ExprScope &scope) const;
  Status fail(size_t column, const std::string &what) const;

  std::string text_;
  std::vector<Node> nodes_;
  int root_ = -1;
};

} // namespace k3

#endif // K3_COMPILER_IMPORT_EXPR_H
