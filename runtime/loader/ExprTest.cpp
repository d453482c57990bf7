//===- ExprTest.cpp - Tests of expressions --------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every operation and fault, and tables of expressions: values, falls below zero, shared operands.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/Expr.h"
#include "runtime/loader/ExprTable.h"
#include "runtime/loader/Plan.h"
#include "runtime/loader/TestPlan.h"

#include <gtest/gtest.h>

namespace k3 {
namespace {

using plan::ExprOp;

TEST(Expr, operations) {
  EXPECT_EQ(applyExprOp(ExprOp::Add, 3, 4).value, 7);
  EXPECT_EQ(applyExprOp(ExprOp::Sub, 4, 4).value, 0);
  EXPECT_EQ(applyExprOp(ExprOp::Mul, 3, 4).value, 12);
  EXPECT_EQ(applyExprOp(ExprOp::CeilDiv, 9, 4).value, 3);
  EXPECT_EQ(applyExprOp(ExprOp::CeilDiv, 8, 4).value, 2);
  EXPECT_EQ(applyExprOp(ExprOp::CeilDiv, INT64_MAX, 2).value, INT64_MAX / 2 + 1);
  EXPECT_EQ(applyExprOp(ExprOp::FloorDiv, 9, 4).value, 2);
  EXPECT_EQ(applyExprOp(ExprOp::Min, 3, 4).value, 3);
  EXPECT_EQ(applyExprOp(ExprOp::Max, 3, 4).value, 4);
}

TEST(Expr, faults) {
  EXPECT_EQ(applyExprOp(ExprOp::Add, INT64_MAX, 1).fault, ExprFault::Overflow);
  EXPECT_EQ(applyExprOp(ExprOp::Mul, int64_t{1} << 32, int64_t{1} << 31).fault,
            ExprFault::Overflow);
  EXPECT_EQ(applyExprOp(ExprOp::Sub, 3, 4).fault, ExprFault::Negative);
  EXPECT_EQ(applyExprOp(ExprOp::CeilDiv, 3, 0).fault, ExprFault::DivisionByZero);
  EXPECT_EQ(applyExprOp(ExprOp::FloorDiv, 3, 0).fault, ExprFault::DivisionByZero);
  EXPECT_EQ(applyExprOp(ExprOp::Const, 3, 0).fault, ExprFault::UnknownOp);
}

class Evaluate : public testing::Test {
protected:
  const plan::Plan &load() {
    Result<LoadedPlan> loaded = parsePlan(test_.bytes(), "t.k3plan");
    EXPECT_TRUE(loaded.isOk()) << loaded.status().message();
    loaded_ = std::make_unique<LoadedPlan>(std::move(*loaded));
    return loaded_->plan();
  }
  TestPlan test_ = makeTestPlan();
  uint32_t tokens_ = test_.symbol(0), seqs_ = test_.symbol(1);
  std::unique_ptr<LoadedPlan> loaded_;
};

TEST_F(Evaluate, nestedExpression) {
  // ceildiv(T + 3, 4) * S
  uint32_t sum = test_.expr(ExprOp::Add, tokens_, test_.constant(3));
  uint32_t all =
      test_.expr(ExprOp::Mul, test_.expr(ExprOp::CeilDiv, sum, test_.constant(4)), seqs_);
  ExprTable table(load());
  uint32_t slot = table.add(all), inner = table.add(sum);
  EXPECT_EQ(table.add(all), slot) << "an expression has one slot";
  int64_t symbols[] = {6, 2};
  ASSERT_TRUE(table.evaluate(symbols).isOk());
  EXPECT_EQ(table.value(slot), 6);
  EXPECT_EQ(table.value(inner), 9);
  EXPECT_EQ(loaded_->upperBound(all), 6);
}

TEST_F(Evaluate, negativeValueIsRefusedAtTheStep) {
  uint32_t difference = test_.expr(ExprOp::Sub, tokens_, seqs_);
  ExprTable table(load());
  uint32_t slot = table.add(difference);
  int64_t symbols[] = {2, 2};
  ASSERT_TRUE(table.evaluate(symbols).isOk());
  EXPECT_EQ(table.value(slot), 0);
  symbols[0] = 1;
  EXPECT_EQ(
      table.evaluate(symbols).message(),
      "expression " + std::to_string(difference) +
          ": Sub of 1 and 2: it becomes negative; the plan is inconsistent, compile it again");
}

TEST_F(Evaluate, sharedOperandsAreComputedOnce) {
  uint32_t node = test_.constant(1);
  for (int i = 0; i < 60; ++i)
    node = test_.expr(ExprOp::Add, node, node);
  ExprTable table(load());
  uint32_t slot = table.add(node);
  int64_t symbols[] = {0, 0};
  ASSERT_TRUE(table.evaluate(symbols).isOk());
  EXPECT_EQ(table.value(slot), int64_t{1} << 60);
}

} // namespace
} // namespace k3
