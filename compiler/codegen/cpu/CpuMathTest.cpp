//===- CpuMathTest.cpp - Elementary functions against double --------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sweeps every function over its range, special values included, and checks the largest error in
// units of the last place.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cpu/CompiledText.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace k3::cpu {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// |got - exact| in units of the last place of the f32 next to the exact value; denormals share the
/// smallest unit.
double errorInUlps(float got, double exact) {
  float nearest = float(exact);
  if (std::isnan(exact) || std::isinf(nearest))
    return (std::isnan(exact) && std::isnan(got)) || got == nearest ? 0.0 : kInf;
  int exponent = exact == 0 ? -126 : std::max(std::ilogb(exact), -126);
  return std::abs(double(got) - exact) / std::ldexp(1.0, exponent - 23);
}

class CpuMath : public testing::Test {
protected:
  static void SetUpTestSuite() {
    std::string text;
    const std::pair<const char *, const char *> bodies[] = {
        {"exp", "%y = math.exp %x : f32"},
        {"exp2", "%y = math.exp2 %x : f32"},
        {"log", "%y = math.log %x : f32"},
        {"log1p", "%y = math.log1p %x : f32"},
        {"tanh", "%y = math.tanh %x : f32"},
        {"sqrt", "%y = math.sqrt %x : f32"},
        {"sigmoid",
         "%m = arith.negf %x : f32 \n %e = math.exp %m : f32 \n %d = arith.addf %e, %one : f32 \n"
         "%y = arith.divf %one, %d : f32"},
        {"softplus",
         "%a = math.absf %x : f32 \n %m = arith.negf %a : f32 \n %e = math.exp %m : f32 \n"
         "%l = math.log1p %e : f32 \n %p = arith.maximumf %x, %zero : f32 \n %y = arith.addf %p, "
         "%l : f32"}};
    for (auto &[name, body] : bodies)
      text += "tile.kernel @" + std::string(name) +
              R"((%in: !tile.view<?x64xf32>, %n: index, %out: !tile.view<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %b = tile.block_id x
  %t = tile.load %in[%b, %c0] bound(%n, %c64) : !tile.view<?x64xf32> -> !tile.tile<1x64xf32>
  %r = tile.map(%t) : (!tile.tile<1x64xf32>) -> !tile.tile<1x64xf32> {
  ^bb0(%x: f32):
)" + body + R"(
    tile.yield %y : f32
  }
  tile.store %r, %out[%b, %c0] bound(%n, %c64) : !tile.tile<1x64xf32> -> !tile.view<?x64xf32>
  tile.return
}
)";
    std::string error;
    kernels = CompiledText::compile(text, error).release();
    ASSERT_TRUE(kernels) << error;
  }
  static void TearDownTestSuite() { delete kernels; }

  static std::vector<float> apply(const std::string &name, std::vector<float> x) {
    x.resize((x.size() + 63) / 64 * 64);
    std::vector<float> y(x.size());
    int64_t rows = int64_t(x.size() / 64);
    kernels->run(name, {rows, 1, 1}, x.data(), rows, y.data());
    return y;
  }

  /// The largest error over every `stride`-th f32 between low and high, by bit pattern, both signs
  /// where asked for.
  static double largestError(const std::string &name, const std::function<double(double)> &exact,
                             float low, float high, uint32_t stride, float *where) {
    uint32_t from, to;
    std::memcpy(&from, &low, 4);
    std::memcpy(&to, &high, 4);
    std::vector<float> x;
    for (uint64_t bits = from; bits <= to; bits += stride) {
      uint32_t pattern = uint32_t(bits);
      float value;
      std::memcpy(&value, &pattern, 4);
      x.push_back(value);
    }
    std::vector<float> y = apply(name, x);
    double largest = 0;
    for (size_t i = 0; i < x.size(); ++i)
      if (double error = errorInUlps(y[i], exact(x[i])); error > largest) {
        largest = error;
        *where = x[i];
      }
    return largest;
  }

  static void check(const std::string &name, const std::function<double(double)> &exact, float low,
                    float high, double limit, uint32_t stride = 997) {
    float where = 0;
    double largest = largestError(name, exact, low, high, stride, &where);
    EXPECT_LE(largest, limit) << name << " at " << where;
    RecordProperty(name + std::to_string(low), std::to_string(largest));
  }

  static CompiledText *kernels;
};

CompiledText *CpuMath::kernels = nullptr;

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

TEST_F(CpuMath, ErrorsAreSmall) {
  auto exp = [](double x) { return std::exp(x); };
  check("exp", exp, 0.0f, 88.7f, 1.1);
  check("exp", exp, -0.0f, -104.0f, 1.1);
  auto exp2 = [](double x) { return std::exp2(x); };
  check("exp2", exp2, 0.0f, 127.9f, 1.1);
  check("exp2", exp2, -0.0f, -150.0f, 1.1);
  check("log", [](double x) { return std::log(x); }, 1e-45f, 3e38f, 1.1);
  auto log1p = [](double x) { return std::log1p(x); };
  check("log1p", log1p, 0.0f, 3e38f, 2.0);
  check("log1p", log1p, -0.0f, -0.9999f, 2.0);
  auto tanh = [](double x) { return std::tanh(x); };
  check("tanh", tanh, 0.0f, 100.0f, 2.0);
  check("tanh", tanh, -0.0f, -100.0f, 2.0);
  check("sqrt", [](double x) { return std::sqrt(x); }, 0.0f, 3e38f, 0.5);
  check("sigmoid", sigmoid, 0.0f, 100.0f, 2.5);
  check("sigmoid", sigmoid, -0.0f, -87.0f, 2.5);
  check("softplus", softplus, 0.0f, 100.0f, 2.0);
  check("softplus", softplus, -0.0f, -103.0f, 2.0);
}

TEST_F(CpuMath, SpecialValues) {
  const float inf = std::numeric_limits<float>::infinity(),
              nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x = {0.0f,  -0.0f, inf,   -inf,  nan,    1e4f,
                          -1e4f, 1.0f,  -1.0f, 3e38f, -3e38f, 1e-40f};
  auto expect = [&](const char *name, std::vector<float> expected) {
    std::vector<float> y = apply(name, x);
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_TRUE(std::isnan(expected[i]) ? std::isnan(y[i]) : y[i] == expected[i])
          << name << " of " << x[i] << " is " << y[i] << ", expected " << expected[i];
  };
  expect("exp", {1, 1, inf, 0, nan, inf, 0});
  expect("exp2", {1, 1, inf, 0, nan, inf, 0, 2, 0.5, inf, 0, 1});
  expect("log", {-inf, -inf, inf, nan, nan});
  expect("log1p", {0, -0.0f, inf, nan, nan});
  expect("tanh", {0, -0.0f, 1, -1, nan, 1, -1});
  expect("sigmoid", {0.5, 0.5, 1, 0, nan, 1, 0});
  expect("softplus", {std::log(2.0f), std::log(2.0f), inf, 0, nan, 1e4f, 0});
  EXPECT_TRUE(std::isnan(apply("log", {-1.0f})[0]) && std::isnan(apply("log1p", {-1.5f})[0]));
  EXPECT_EQ(apply("log1p", {-1.0f})[0], -inf);
  EXPECT_TRUE(std::signbit(apply("tanh", {-0.0f})[0]));
}

} // namespace
} // namespace k3::cpu
