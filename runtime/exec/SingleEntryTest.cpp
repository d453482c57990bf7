//===- SingleEntryTest.cpp - Tests of one entry alone -----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inputs by name and shape, symbols from shapes and scalars, states preset and dumped, and each way
// in which a file of inputs can be wrong.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/SingleEntry.h"
#include "runtime/exec/TestModel.h"
#include "runtime/weights/TestFiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace k3;
using plan::ArenaClass;
using plan::DType;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// y[t] = x[t] + scalar; state[slot 0] += 1
void addScalar(const uint64_t *params, int64_t, int64_t, int64_t begin, int64_t end) {
  for (int64_t block = begin; block < end; ++block)
    reinterpret_cast<float *>(params[1])[block] =
        reinterpret_cast<float *>(params[0])[block] + static_cast<float>(params[3]);
  reinterpret_cast<float *>(params[2])[0] += 1;
}

/// An entry "main" of symbols T and N: x [T, 2] F32, b [2] BF16 (unread) → y [T, 2] F32, n [1] I32
/// (unread), and a state of two slots of three elements.
class SingleEntryTest : public testing::Test {
protected:
  void SetUp() override {
    const uint32_t t = builder_.symbol("T", 4), n = builder_.symbol("N", 9);
    const uint32_t tokens = builder_.symbolValue(t), one = builder_.constant(1),
                   two = builder_.constant(2), three = builder_.constant(3);
    const uint32_t x = builder_.buffer("x", ArenaClass::Io, DType::F32, {tokens, two}, 32);
    b_ = builder_.buffer("b", ArenaClass::Io, DType::BF16, {two}, 4);
    const uint32_t y = builder_.buffer("y", ArenaClass::Io, DType::F32, {tokens, two}, 32);
    const uint32_t i = builder_.buffer("n", ArenaClass::Io, DType::I32, {one}, 4);
    const uint32_t pool = builder_.buffer("pool", ArenaClass::State, DType::F32, {two, three}, 24);
    auto state = std::make_unique<plan::StateT>();
    state->name = "state";
    state->buffer = pool;
    state->shape = {3};
    state->slot_bytes = 12;
    builder_.program().states.push_back(std::move(state));
    const auto buffer = plan::ArgKind::Buffer;
    const uint32_t kernel =
        builder_.kernel("add_scalar", addScalar, {buffer, buffer, buffer, plan::ArgKind::Scalar});
    plan::EntryT &entry = builder_.entry("main", plan::EntryKind::Generic, {t, n});
    PlanBuilder::input(entry, "x", x);
    PlanBuilder::input(entry, "b", b_);
    PlanBuilder::output(entry, "y", y);
    PlanBuilder::output(entry, "n", i);
    std::vector<std::unique_ptr<plan::ArgT>> args;
    for (uint32_t arg : {x, y, pool})
      args.push_back(PlanBuilder::bufferArg(arg));
    args.push_back(PlanBuilder::scalarArg(builder_.symbolValue(n)));
    const uint32_t elements = builder_.expr(plan::ExprOp::Mul, tokens, two);
    PlanBuilder::command(entry, PlanBuilder::launch(kernel, {elements, one, one}, std::move(args)));
    auto executor = builder_.executor();
    ASSERT_TRUE(executor) << executor.status().message();
    executor_ = std::move(*executor);
  }

  Status run(const std::vector<TestTensor> &tensors, const std::string &entry = "main") {
    folder_.write("in", safetensorsBytes(tensors));
    auto inputs = SafetensorsFile::open(folder_.path("in"));
    EXPECT_TRUE(inputs) << inputs.status().message();
    return runSingleEntry(*executor_, entry, *inputs, folder_.path("out"));
  }
  std::vector<float> output(const char *name, std::vector<uint64_t> shape) {
    auto file = SafetensorsFile::open(folder_.path("out"));
    const TensorInfo *tensor = file ? file->find(name) : nullptr;
    if (!tensor || tensor->shape != shape) {
      ADD_FAILURE() << name << " is missing or has another shape";
      return {};
    }
    std::vector<float> values(tensor->elements());
    EXPECT_TRUE(file->read(*tensor, 0, values.data(), tensor->bytes));
    return values;
  }

  const TestTensor x_ = {"x", "F32", {2, 2}, bytesOf<float>({1, 2, 3, 4})};
  const TestTensor bias_ = {"b", "F32", {2}, bytesOf<float>({1.0f + 0x3p-8f, -1})};
  const TestTensor n_ = {"@N", "I32", {}, bytesOf<int32_t>({5})};
  PlanBuilder builder_;
  std::unique_ptr<Executor> executor_;
  uint32_t b_ = 0;
  TestFolder folder_;
};

TEST_F(SingleEntryTest, RunsOnItsInputs) {
  const Status status = run({x_, bias_, n_});
  ASSERT_TRUE(status) << status.message();
  EXPECT_THAT(output("y", {2, 2}), ElementsAre(6, 7, 8, 9));
  EXPECT_THAT(output("state", {2, 3}), ElementsAre(1, 0, 0, 0, 0, 0));
  auto file = SafetensorsFile::open(folder_.path("out"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->find("n")->type, ElementType::I32);
  uint16_t rounded[2]; // F32 into a BF16 buffer rounds to nearest even
  std::memcpy(rounded, executor_->memory().address(b_), 4);
  EXPECT_THAT(rounded, ElementsAre(0x3F82, 0xBF80));
}

TEST_F(SingleEntryTest, PresetsStates) {
  ASSERT_TRUE(run({x_, bias_, n_, {"state", "F32", {2, 3}, bytesOf<float>({1, 2, 3, 4, 5, 6})}}));
  EXPECT_THAT(output("state", {2, 3}), ElementsAre(2, 2, 3, 4, 5, 6));
  ASSERT_TRUE(run({x_, bias_, n_, {"state", "BF16", {3}, bytesOf<uint16_t>({0x4120, 0, 0x3F80})}}));
  EXPECT_THAT(output("state", {2, 3}), ElementsAre(11, 0, 1, 4, 5, 6));
}

TEST_F(SingleEntryTest, RefusesWrongFiles) {
  const auto refusal = [&](std::vector<TestTensor> tensors) {
    const Status status = run(tensors);
    EXPECT_EQ(status.exitCode(), 2);
    return status.message();
  };
  EXPECT_THAT(run({x_, bias_, n_}, "other").message(),
              HasSubstr("--entry: the plan has no entry 'other' (expected one of main)"));
  EXPECT_THAT(
      refusal({x_, bias_}),
      HasSubstr("no tensor gives symbol N of entry 'main' a value; add a scalar I32 named \"@N\""));
  EXPECT_THAT(refusal({bias_, n_}), HasSubstr("no tensor gives symbol T"));
  EXPECT_THAT(refusal({x_, n_}),
              HasSubstr("lacks the input 'b' of entry 'main' (expected BF16 of shape [2])"));
  EXPECT_THAT(refusal({{"x", "F32", {2, 3}, std::string(24, '\0')}, bias_, n_}),
              HasSubstr("(got [2, 3], expected [2, 2])"));
  EXPECT_THAT(
      refusal({{"x", "I32", {2, 2}, std::string(16, '\0')}, bias_, n_}),
      HasSubstr("tensor 'x' has an element type that cannot be used here (got I32, expected F32)"));
  EXPECT_THAT(refusal({{"x", "F32", {5, 2}, std::string(40, '\0')}, bias_, n_}),
              HasSubstr("gives symbol T too large a value (got 5, expected at most 4)"));
  EXPECT_THAT(
      refusal({x_, bias_, n_, {"@T", "I32", {1}, bytesOf<int32_t>({3})}}),
      HasSubstr("gives symbol T another value than a tensor before it (got 2, expected 3)"));
  EXPECT_THAT(refusal({x_, bias_, {"@N", "I32", {}, bytesOf<int32_t>({-5})}}),
              HasSubstr("tensor '@N' is negative (got -5)"));
  EXPECT_THAT(refusal({x_, bias_, {"@N", "F32", {}, bytesOf<float>({5})}}),
              HasSubstr("tensor '@N' is not one I32"));
  EXPECT_THAT(
      refusal({x_, bias_, n_, {"z", "U8", {1}, "z"}}),
      HasSubstr("tensor 'z' is neither an input nor a symbol of entry 'main', nor a state"));
  EXPECT_THAT(refusal({x_, bias_, n_, {"state", "F32", {2, 2}, std::string(16, '\0')}}),
              HasSubstr("(got [2, 2], expected [2, 3] or [3])"));
}

} // namespace
