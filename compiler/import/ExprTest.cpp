//===- ExprTest.cpp - Tests of definition expressions ------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values, null, precedence, and the column in every failure. Overflow is tested at the edge of 64
// bits, where shapes of hostile configurations end up.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/Expr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace k3;
using testing::HasSubstr;

namespace {

Result<ExprValue> scope(std::string_view name) {
  if (name == "two")
    return ExprValue(2);
  if (name == "a.b[1]")
    return ExprValue(7);
  if (name == "nothing")
    return ExprValue();
  if (name == "big")
    return ExprValue(INT64_MAX);
  return Status::refused(std::string(name) + " is unknown");
}

std::optional<int64_t> value(const std::string &text) {
  Result<DefExpr> expr = DefExpr::parse(text);
  EXPECT_TRUE(expr.isOk()) << expr.status().message();
  Result<ExprValue> result = expr->evaluate(scope);
  EXPECT_TRUE(result.isOk()) << result.status().message();
  return *result;
}

std::string failure(const std::string &text) {
  Result<DefExpr> expr = DefExpr::parse(text);
  if (!expr.isOk())
    return expr.status().message();
  Result<int64_t> result = expr->number(scope);
  EXPECT_FALSE(result.isOk()) << text;
  return result.isOk() ? "" : result.status().message();
}

TEST(Expr, Arithmetic) {
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("(1 + 2) * 3"), 9);
  EXPECT_EQ(value("10 - 3 - 2"), 5);
  EXPECT_EQ(value("7 / 2 * 2 + 7 % 4"), 9);
  EXPECT_EQ(value("two*(two+a.b[1])"), 18);
  EXPECT_EQ(value("-two + 5"), 3);
}

TEST(Expr, Conditions) {
  EXPECT_EQ(value("1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3 && 1 != 2 && 2 == two"), 1);
  EXPECT_EQ(value("0 || two"), 1);
  EXPECT_EQ(value("!two || 0"), 0);
  EXPECT_EQ(value("1 + 1 == two && !nothing"), 1);
  // The right side of a decided condition is not looked at.
  EXPECT_EQ(value("0 && unknown"), 0);
  EXPECT_EQ(value("1 || unknown"), 1);
}

TEST(Expr, Null) {
  EXPECT_EQ(value("nothing"), std::nullopt);
  EXPECT_EQ(value("nothing ?? 5"), 5);
  EXPECT_EQ(value("two ?? unknown"), 2);
  EXPECT_EQ(value("nothing ?? two * 3"), 6);
  EXPECT_EQ(
      failure("2 * nothing"),
      "expression '2 * nothing', column 3: one side is null (expected integers on both sides)");
  EXPECT_EQ(failure("nothing"),
            "expression 'nothing', column 1: the value is null (expected an integer)");
}

TEST(Expr, FailuresNameTheColumn) {
  EXPECT_EQ(failure("two * missing"), "expression 'two * missing', column 7: missing is unknown");
  EXPECT_EQ(failure("two two"),
            "expression 'two two', column 5: unexpected 't' (expected an operator or the end)");
  EXPECT_EQ(failure("(1 + 2"),
            "expression '(1 + 2', column 7: unclosed '(' of column 1 (expected ')')");
  EXPECT_EQ(failure("1 +"),
            "expression '1 +', column 4: unexpected end (expected a number, a name or '(')");
  EXPECT_EQ(failure("1 + $"),
            "expression '1 + $', column 5: unexpected '$' (expected a number, a name or '(')");
  EXPECT_EQ(failure("1 / 0"), "expression '1 / 0', column 3: division by zero");
  EXPECT_THAT(failure("99999999999999999999"),
              HasSubstr("column 1: the number does not fit 64 bits"));
  EXPECT_THAT(failure(""), HasSubstr("column 1: unexpected end"));
}

TEST(Expr, OverflowIsRefused) {
  EXPECT_EQ(failure("big * two"),
            "expression 'big * two', column 5: the result does not fit 64 bits (got operands "
            "9223372036854775807 and 2)");
  EXPECT_THAT(failure("big + 1"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(failure("-big - 2"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(failure("(-big - 1) / -1"), HasSubstr("does not fit 64 bits"));
}

TEST(Expr, NestingIsBounded) {
  EXPECT_THAT(failure(std::string(100000, '(')), HasSubstr("nested too deeply"));
  EXPECT_THAT(failure(std::string(100000, '!').append("1")), HasSubstr("nested too deeply"));
  std::string sum = "1";
  for (int i = 0; i < 1000; ++i)
    sum += " + 1";
  EXPECT_EQ(value(sum), 1001);
}

} // namespace
