//===- PlanExprTest.cpp - Tests of expressions ----------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How expressions simplify, and the ranges they have between zero and the bounds of their symbols.
//
//===----------------------------------------------------------------------===//

#include "dialects/plan/PlanDialect.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace k3::host {
namespace {

class PlanExprTest : public ::testing::Test {
protected:
  PlanExprTest() { context.loadDialect<PlanDialect>(); }

  ExprAttr number(int64_t value) { return ExprAttr::getConstant(&context, value); }
  ExprAttr symbol(StringRef name) { return ExprAttr::getSymbol(&context, name); }
  ExprAttr make(ExprOp op, ExprAttr lhs, ExprAttr rhs) { return ExprAttr::getBinary(op, lhs, rhs); }
  std::string text(ExprAttr expr) {
    std::string out;
    llvm::raw_string_ostream(out) << expr;
    return out;
  }
  /// T is at most 100, S at most 3.
  static std::optional<ExprRange> range(ExprAttr expr) {
    return rangeOf(expr, [](StringRef name) -> std::optional<int64_t> {
      if (name == "T")
        return 100;
      return name == "S" ? std::optional<int64_t>(3) : std::nullopt;
    });
  }
  void expectRange(ExprAttr expr, int64_t low, int64_t high) {
    std::optional<ExprRange> found = range(expr);
    ASSERT_TRUE(found) << text(expr);
    EXPECT_EQ(found->low, low) << text(expr);
    EXPECT_EQ(found->high, high) << text(expr);
  }

  MLIRContext context;
};

TEST_F(PlanExprTest, NumbersFold) {
  EXPECT_EQ(make(ExprOp::Add, number(3), number(4)), number(7));
  EXPECT_EQ(make(ExprOp::Sub, number(7), number(7)), number(0));
  EXPECT_EQ(make(ExprOp::Mul, number(3), number(4)), number(12));
  EXPECT_EQ(make(ExprOp::CeilDiv, number(9), number(4)), number(3));
  EXPECT_EQ(make(ExprOp::CeilDiv, number(8), number(4)), number(2));
  EXPECT_EQ(make(ExprOp::CeilDiv, number(INT64_MAX), number(2)), number(INT64_MAX / 2 + 1));
  EXPECT_EQ(make(ExprOp::FloorDiv, number(9), number(4)), number(2));
  EXPECT_EQ(make(ExprOp::Min, number(3), number(4)), number(3));
  EXPECT_EQ(make(ExprOp::Max, number(3), number(4)), number(4));
}

TEST_F(PlanExprTest, WhatHasNoValueIsNull) {
  EXPECT_FALSE(make(ExprOp::Sub, number(1), number(2)));
  EXPECT_FALSE(make(ExprOp::Add, number(INT64_MAX), number(1)));
  EXPECT_FALSE(make(ExprOp::Mul, number(INT64_MAX), number(2)));
  EXPECT_FALSE(make(ExprOp::CeilDiv, number(1), number(0)));
  EXPECT_FALSE(make(ExprOp::FloorDiv, symbol("T"), number(0)));
}

TEST_F(PlanExprTest, NeutralNumbersDisappear) {
  ExprAttr t = symbol("T");
  EXPECT_EQ(make(ExprOp::Add, t, number(0)), t);
  EXPECT_EQ(make(ExprOp::Add, number(0), t), t);
  EXPECT_EQ(make(ExprOp::Sub, t, number(0)), t);
  EXPECT_EQ(make(ExprOp::Mul, t, number(1)), t);
  EXPECT_EQ(make(ExprOp::Mul, number(1), t), t);
  EXPECT_EQ(make(ExprOp::Mul, number(0), t), number(0));
  EXPECT_EQ(make(ExprOp::CeilDiv, t, number(1)), t);
  EXPECT_EQ(make(ExprOp::FloorDiv, t, number(1)), t);
  EXPECT_EQ(make(ExprOp::Max, t, number(0)), t);
  EXPECT_EQ(make(ExprOp::Min, t, number(0)), number(0));
  EXPECT_EQ(make(ExprOp::Min, t, t), t);
}

TEST_F(PlanExprTest, NumbersGoRightAndMeet) {
  ExprAttr t = symbol("T"), twice = make(ExprOp::Mul, number(2), t);
  EXPECT_EQ(text(twice), "#plan.expr<mul(T, 2)>");
  EXPECT_EQ(text(make(ExprOp::Mul, number(8), twice)), "#plan.expr<mul(T, 16)>");
  EXPECT_EQ(text(make(ExprOp::Add, make(ExprOp::Add, t, number(3)), number(4))),
            "#plan.expr<add(T, 7)>");
  // Division and difference keep their order.
  EXPECT_EQ(text(make(ExprOp::Sub, number(200), t)), "#plan.expr<sub(200, T)>");
  EXPECT_EQ(text(make(ExprOp::CeilDiv, make(ExprOp::CeilDiv, t, number(2)), number(3))),
            "#plan.expr<ceildiv(ceildiv(T, 2), 3)>");
  // Numbers whose product overflows stay apart; the range is refused later.
  ExprAttr large = make(ExprOp::Mul, t, number(INT64_MAX));
  EXPECT_EQ(make(ExprOp::Mul, large, number(2)).getLhs(), large);
}

TEST_F(PlanExprTest, RangesFollowTheSymbols) {
  ExprAttr t = symbol("T"), s = symbol("S");
  expectRange(t, 0, 100);
  expectRange(make(ExprOp::Add, t, s), 0, 103);
  expectRange(make(ExprOp::Add, s, number(1)), 1, 4);
  expectRange(make(ExprOp::Mul, t, s), 0, 300);
  expectRange(make(ExprOp::CeilDiv, t, number(16)), 0, 7);
  expectRange(make(ExprOp::FloorDiv, t, number(16)), 0, 6);
  expectRange(make(ExprOp::Sub, number(200), t), 100, 200);
  expectRange(make(ExprOp::Sub, t, s), 0, 100);
  expectRange(make(ExprOp::Min, t, number(4)), 0, 4);
  expectRange(make(ExprOp::Max, s, number(2)), 2, 3);
  expectRange(make(ExprOp::FloorDiv, number(100), make(ExprOp::Add, s, number(1))), 25, 100);
}

TEST_F(PlanExprTest, WhatCanFailHasNoRange) {
  ExprAttr t = symbol("T"), s = symbol("S");
  EXPECT_FALSE(range(symbol("R")));
  EXPECT_FALSE(range(make(ExprOp::Add, t, symbol("R"))));
  EXPECT_FALSE(range(make(ExprOp::CeilDiv, t, s)));
  EXPECT_FALSE(range(make(ExprOp::Mul, make(ExprOp::Mul, t, number(INT64_MAX)), number(2))));
}

TEST_F(PlanExprTest, SymbolsAreVisited) {
  std::string seen;
  walkSymbols(make(ExprOp::Min, make(ExprOp::Add, symbol("T"), symbol("S")), symbol("T")),
              [&](StringRef name) { seen += name; });
  EXPECT_EQ(seen, "TST");
}

} // namespace
} // namespace k3::host
