//===- Expr.cpp - Integer expressions of the model definitions ---*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A precedence climber and a tree walk. Nesting is bounded, so that a hostile definition cannot
// exhaust the stack.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/Expr.h"

#include <array>
#include <cctype>
#include <charconv>
#include <limits>

namespace k3 {

class DefExprParser {
public:
  explicit DefExprParser(DefExpr &expr) : expr_(expr), text_(expr.text_) {}

  Status parse() {
    K3_ASSIGN_OR_RETURN(expr_.root_, binary(0));
    skipSpace();
    if (at_ != text_.size())
      return fail("unexpected '" + std::string(1, text_[at_]) +
                  "' (expected an operator or the end)");
    return {};
  }

private:
  using Op = DefExpr::Op;
  struct Binary {
    std::string_view spelling;
    int level;
    Op op;
  };
  static constexpr int kUnaryLevel = 6;
  static constexpr int kMaxDepth = 64;
  // Longer spellings first, so that `<=` is not read as `<`.
  static constexpr std::array<Binary, 14> kBinaries{{{"||", 0, Op::Or},
                                                     {"&&", 1, Op::And},
                                                     {"==", 2, Op::Eq},
                                                     {"!=", 2, Op::Ne},
                                                     {"<=", 2, Op::Le},
                                                     {">=", 2, Op::Ge},
                                                     {"<", 2, Op::Lt},
                                                     {">", 2, Op::Gt},
                                                     {"??", 3, Op::Else},
                                                     {"+", 4, Op::Add},
                                                     {"-", 4, Op::Sub},
                                                     {"*", 5, Op::Mul},
                                                     {"/", 5, Op::Div},
                                                     {"%", 5, Op::Rem}}};

  Status fail(const std::string &what) const { return expr_.fail(at_ + 1, what); }
  void skipSpace() {
    while (at_ < text_.size() && text_[at_] == ' ')
      ++at_;
  }
  int add(DefExpr::Node node) {
    expr_.nodes_.push_back(std::move(node));
    return static_cast<int>(expr_.nodes_.size()) - 1;
  }

  Result<int> binary(int level) {
    if (level == kUnaryLevel)
      return unary();
    K3_ASSIGN_OR_RETURN(int left, binary(level + 1));
    for (;;) {
      skipSpace();
      const Binary *found = nullptr;
      for (const Binary &candidate : kBinaries)
        if (text_.substr(at_).substr(0, candidate.spelling.size()) == candidate.spelling) {
          found = &candidate;
          break;
        }
      if (!found || found->level != level)
        return left;
      size_t column = at_ + 1;
      at_ += found->spelling.size();
      K3_ASSIGN_OR_RETURN(int right, binary(level + 1));
      left = add({found->op, column, 0, {}, left, right});
    }
  }

  Result<int> unary() {
    if (++depth_ > kMaxDepth)
      return fail("nested too deeply (at most " + std::to_string(kMaxDepth) + " levels)");
    skipSpace();
    Result<int> result = operand();
    --depth_;
    return result;
  }

  Result<int> operand() {
    if (at_ == text_.size())
      return fail("unexpected end (expected a number, a name or '(')");
    size_t column = at_ + 1;
    char c = text_[at_];
    if (c == '!' || c == '-') {
      ++at_;
      K3_ASSIGN_OR_RETURN(int inner, unary());
      return add({c == '!' ? Op::Not : Op::Negate, column, 0, {}, inner, -1});
    }
    if (c == '(') {
      ++at_;
      K3_ASSIGN_OR_RETURN(int inner, binary(0));
      skipSpace();
      if (at_ == text_.size() || text_[at_] != ')')
        return fail("unclosed '(' of column " + std::to_string(column) + " (expected ')')");
      ++at_;
      return inner;
    }
    if (isDigit(c))
      return number();
    if (isNameStart(c))
      return name();
    return fail("unexpected '" + std::string(1, c) + "' (expected a number, a name or '(')");
  }

  Result<int> number() {
    size_t column = at_ + 1;
    int64_t value = 0;
    const char *end = text_.data() + text_.size();
    auto [stop, error] = std::from_chars(text_.data() + at_, end, value);
    if (error != std::errc())
      return fail("the number does not fit 64 bits");
    at_ = static_cast<size_t>(stop - text_.data());
    return add({Op::Number, column, value, {}, -1, -1});
  }

  Result<int> name() {
    size_t start = at_;
    while (at_ < text_.size() && (isNameStart(text_[at_]) || isDigit(text_[at_]) ||
                                  text_[at_] == '.' || text_[at_] == '[' || text_[at_] == ']'))
      ++at_;
    return add({Op::Name, start + 1, 0, std::string(text_.substr(start, at_ - start)), -1, -1});
  }

  static bool isDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
  static bool isNameStart(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
  }

  DefExpr &expr_;
  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

Status DefExpr::fail(size_t column, const std::string &what) const {
  return Status::refused("expression '" + text_ + "', column " + std::to_string(column) + ": " +
                         what);
}

Result<DefExpr> DefExpr::parse(std::string text) {
  DefExpr expr;
  expr.text_ = std::move(text);
  K3_RETURN_IF_ERROR(DefExprParser(expr).parse());
  return expr;
}

Result<ExprValue> DefExpr::evaluate(const ExprScope &scope) const { return evaluate(root_, scope); }

Result<int64_t> DefExpr::number(const ExprScope &scope) const {
  K3_ASSIGN_OR_RETURN(ExprValue value, evaluate(scope));
  if (!value)
    return fail(1, "the value is null (expected an integer)");
  return *value;
}

Result<bool> DefExpr::condition(const ExprScope &scope) const {
  K3_ASSIGN_OR_RETURN(ExprValue value, evaluate(scope));
  return value.value_or(0) != 0;
}

Result<ExprValue> DefExpr::evaluate(int index, const ExprScope &scope) const {
  const Node &node = nodes_[static_cast<size_t>(index)];
  if (node.op == Op::Number)
    return ExprValue(node.number);
  if (node.op == Op::Name) {
    Result<ExprValue> value = scope(node.name);
    return value.isOk() ? value : Result<ExprValue>(fail(node.column, value.status().message()));
  }
  K3_ASSIGN_OR_RETURN(ExprValue left, evaluate(node.left, scope));
  // These do not always look at their right side.
  if (node.op == Op::Not)
    return ExprValue(left.value_or(0) == 0);
  if (node.op == Op::Else && left)
    return left;
  if ((node.op == Op::And) == (left.value_or(0) == 0) && (node.op == Op::And || node.op == Op::Or))
    return ExprValue(node.op == Op::Or);
  ExprValue right = 0;
  if (node.right >= 0) {
    K3_ASSIGN_OR_RETURN(right, evaluate(node.right, scope));
  }
  if (node.op == Op::And || node.op == Op::Or)
    return ExprValue(right.value_or(0) != 0);
  if (node.op == Op::Else)
    return right;
  if (!left || !right)
    return fail(node.column, "one side is null (expected integers on both sides)");
  int64_t a = *left, b = *right, result = 0;
  bool overflow = false;
  switch (node.op) {
  case Op::Eq:
    return ExprValue(a == b);
  case Op::Ne:
    return ExprValue(a != b);
  case Op::Lt:
    return ExprValue(a < b);
  case Op::Le:
    return ExprValue(a <= b);
  case Op::Gt:
    return ExprValue(a > b);
  case Op::Ge:
    return ExprValue(a >= b);
  case Op::Negate:
    overflow = __builtin_sub_overflow(int64_t(0), a, &result);
    break;
  case Op::Add:
    overflow = __builtin_add_overflow(a, b, &result);
    break;
  case Op::Sub:
    overflow = __builtin_sub_overflow(a, b, &result);
    break;
  case Op::Mul:
    overflow = __builtin_mul_overflow(a, b, &result);
    break;
  case Op::Div:
  case Op::Rem:
    if (b == 0)
      return fail(node.column, "division by zero");
    overflow = a == std::numeric_limits<int64_t>::min() && b == -1;
    if (!overflow)
      result = node.op == Op::Div ? a / b : a % b;
    break;
  default:
    return fail(node.column, "not an arithmetic operator");
  }
  if (overflow)
    return fail(node.column, "the result does not fit 64 bits (got operands " + std::to_string(a) +
                                 " and " + std::to_string(b) + ")");
  return ExprValue(result);
}

} // namespace k3
