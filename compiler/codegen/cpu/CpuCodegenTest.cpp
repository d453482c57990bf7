//===- CpuCodegenTest.cpp - Compiled kernels against plain loops ----------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory, elementwise and ordered ops of the tile dialect, compiled to machine code and compared
// with loops in double. Padding is poisoned, so that a read or a write past a bound shows.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cpu/CompiledText.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace k3::cpu {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

/// Every test runs with ops merged into loops and with each op on its own: that changes the code
/// and not the result.
class CpuCodegen : public testing::TestWithParam<bool> {
protected:
  std::unique_ptr<CompiledText> compile(const std::string &text) {
    std::string error;
    CpuOptions options;
    options.fuse = GetParam();
    auto compiled = CompiledText::compile(text, error, options);
    EXPECT_TRUE(compiled) << error;
    return compiled;
  }
};

std::vector<float> randomFloats(size_t count, unsigned seed, float scale = 1.0f) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0.0f, scale);
  std::vector<float> values(count);
  for (float &value : values)
    value = normal(engine);
  return values;
}

const char *kConstants = R"(
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
)";

std::string kernel(const std::string &name, const std::string &arguments, const std::string &body) {
  return "tile.kernel @" + name + "(" + arguments + ") {" + kConstants + body +
         "\n tile.return\n}\n";
}

TEST_P(CpuCodegen, CopyHonoursBounds) {
  // Tiles of 4 x 20 over 6 x 33 numbers, of which 5 x 31 exist.
  auto k =
      compile(kernel("copy", "%x: !tile.view<?x33xf32>, %n: index, %y: !tile.view<?x33xf32>", R"(
    %bx = tile.block_id x
    %by = tile.block_id y
    %c4 = arith.constant 4 : index
    %c20 = arith.constant 20 : index
    %c31 = arith.constant 31 : index
    %r = arith.muli %by, %c4 : index
    %c = arith.muli %bx, %c20 : index
    %t = tile.load %x[%r, %c] bound(%n, %c31) : !tile.view<?x33xf32> -> !tile.tile<4x20xf32>
    tile.store %t, %y[%r, %c] bound(%n, %c31) : !tile.tile<4x20xf32> -> !tile.view<?x33xf32>)"));
  ASSERT_TRUE(k);
  std::vector<float> x = randomFloats(6 * 33, 1), y(6 * 33, kNaN);
  k->run("copy", {2, 2, 1}, x.data(), int64_t(5), y.data());
  for (int r = 0; r < 6; ++r)
    for (int c = 0; c < 33; ++c)
      if (r < 5 && c < 31)
        EXPECT_EQ(y[r * 33 + c], x[r * 33 + c]) << r << " " << c;
      else
        EXPECT_TRUE(std::isnan(y[r * 33 + c])) << r << " " << c;
}

TEST_P(CpuCodegen, ElementsPastTheBoundAreZero) {
  // The tile is kept (two readers), so that its padding must really hold zeros, although memory
  // holds NaN there.
  auto k = compile(
      kernel("pad", "%x: !tile.view<?x17xbf16>, %n: index, %m: index, %y: !tile.view<?x17xf32>", R"(
    %c3 = arith.constant 3 : index
    %c17 = arith.constant 17 : index
    %t = tile.load %x[%c0, %c0] bound(%n, %m) : !tile.view<?x17xbf16> -> !tile.tile<3x17xf32>
    %d = tile.map(%t, %t) : (!tile.tile<3x17xf32>, !tile.tile<3x17xf32>) -> !tile.tile<3x17xf32> {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    }
    tile.store %d, %y[%c0, %c0] bound(%c3, %c17) : !tile.tile<3x17xf32> -> !tile.view<?x17xf32>)"));
  ASSERT_TRUE(k);
  for (int64_t n : {0, 1, 3})
    for (int64_t m : {0, 5, 8, 9, 17}) {
      std::vector<uint16_t> x(3 * 17, toBf16(kNaN));
      for (int64_t r = 0; r < n; ++r)
        for (int64_t c = 0; c < m; ++c)
          x[r * 17 + c] = toBf16(float(r * 17 + c));
      std::vector<float> y(3 * 17, kNaN);
      k->run("pad", {1, 1, 1}, x.data(), n, m, y.data());
      for (int64_t r = 0; r < 3; ++r)
        for (int64_t c = 0; c < 17; ++c)
          EXPECT_EQ(y[r * 17 + c],
                    r < n && c < m ? 2.0f * fromBf16(toBf16(float(r * 17 + c))) : 0.0f)
              << n << " " << m << " at " << r << " " << c;
    }
}

TEST_P(CpuCodegen, NegativeAndLargeLeadingIndices) {
  // A slot of -1 is a padding row: it reads as zero and is never written.
  auto k = compile(
      kernel("slot", "%s: !tile.view<?xi32>, %x: !tile.view<?x8xf32>, %y: !tile.view<?x8xf32>", R"(
    %b = tile.block_id x
    %c8 = arith.constant 8 : index
    %c4 = arith.constant 4 : index
    %c2 = arith.constant 2 : index
    %slot = tile.read %s[%b] bound(%c4) : !tile.view<?xi32> -> index
    %t = tile.load %x[%slot, %c0] bound(%c2, %c8) : !tile.view<?x8xf32> -> !tile.tile<8xf32>
    %u = tile.map(%t) : (!tile.tile<8xf32>) -> !tile.tile<8xf32> {
    ^bb0(%a: f32):
      %one = arith.constant 1.0 : f32
      %r = arith.addf %a, %one : f32
      tile.yield %r : f32
    }
    tile.store %u, %y[%slot, %c0] bound(%c2, %c8) : !tile.tile<8xf32> -> !tile.view<?x8xf32>
    tile.store %u, %y[%b, %c0] bound(%c4, %c8) : !tile.tile<8xf32> -> !tile.view<?x8xf32>)"));
  ASSERT_TRUE(k);
  std::vector<int32_t> slots = {-1, 7, 2, std::numeric_limits<int32_t>::min()};
  std::vector<float> x(16, 5.0f), y(5 * 8, 9.0f);
  k->run("slot", {4, 1, 1}, slots.data(), x.data(), y.data());
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(y[i], i < 32 ? 1.0f : 9.0f) << i;
}

TEST_P(CpuCodegen, Bf16RoundingIsExact) {
  auto k = compile(
      kernel("round",
             "%x: !tile.view<?x256xf32>, %y: !tile.view<?x256xbf16>, %z: !tile.view<?x256xf32>", R"(
    %b = tile.block_id x
    %n = arith.constant 4096 : index
    %c256 = arith.constant 256 : index
    %t = tile.load %x[%b, %c0] bound(%n, %c256) : !tile.view<?x256xf32> -> !tile.tile<1x256xf32>
    tile.store %t, %y[%b, %c0] bound(%n, %c256) : !tile.tile<1x256xf32> -> !tile.view<?x256xbf16>
    %c = tile.cast %t : !tile.tile<1x256xf32> -> !tile.tile<1x256xbf16>
    %w = tile.cast %c : !tile.tile<1x256xbf16> -> !tile.tile<1x256xf32>
    tile.store %w, %z[%b, %c0] bound(%n, %c256) : !tile.tile<1x256xf32> -> !tile.view<?x256xf32>)"));
  ASSERT_TRUE(k);
  // Every upper half with lower halves around the tie, and NaNs whose payload sits in the lower
  // half only.
  std::vector<float> x;
  std::mt19937 engine(3);
  const uint32_t lows[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
  while (x.size() < 4096 * 256) {
    uint32_t bits = engine() << 16 | lows[engine() % 6];
    float value;
    std::memcpy(&value, &bits, 4);
    x.push_back(value);
  }
  std::vector<uint16_t> y(x.size());
  std::vector<float> z(x.size());
  k->run("round", {4096, 1, 1}, x.data(), y.data(), z.data());
  for (size_t i = 0; i < x.size(); ++i) {
    uint16_t expected = toBf16(x[i]), again;
    again = toBf16(z[i]);
    ASSERT_EQ(y[i], expected) << x[i];
    ASSERT_EQ(again, expected) << x[i];
  }
}

TEST_P(CpuCodegen, GatherAndScatter) {
  auto k = compile(kernel("move",
                          "%ids: !tile.view<?xi32>, %x: !tile.view<?x21xf32>, %to: "
                          "!tile.view<?xi32>, %y: !tile.view<?x21xbf16>",
                          R"(
    %c5 = arith.constant 5 : index
    %c6 = arith.constant 6 : index
    %c20 = arith.constant 20 : index
    %rows = tile.load %ids[%c0] bound(%c5) : !tile.view<?xi32> -> !tile.tile<5xi32>
    %out = tile.load %to[%c0] bound(%c5) : !tile.view<?xi32> -> !tile.tile<5xi32>
    %t = tile.gather %x[%rows, %c1] bound(%c6, %c20) : !tile.view<?x21xf32>, !tile.tile<5xi32> -> !tile.tile<5x20xf32>
    tile.scatter %t, %y[%out, %c0] bound(%c6, %c20) : !tile.tile<5x20xf32>, !tile.view<?x21xbf16>, !tile.tile<5xi32>)"));
  ASSERT_TRUE(k);
  std::vector<int32_t> from = {3, -1, 6, 0, 5}, to = {5, 1, 0, 6, 2};
  std::vector<float> x = randomFloats(7 * 21, 5);
  for (int i = 0; i < 21; ++i)
    x[6 * 21 + i] = kNaN;
  for (int r = 0; r < 7; ++r)
    x[r * 21 + 20] = kNaN;
  std::vector<uint16_t> y(7 * 21, 0x1234), expected = y;
  k->run("move", {1, 1, 1}, from.data(), x.data(), to.data(), y.data());
  for (int m = 0; m < 5; ++m)
    if (to[m] < 6)
      for (int c = 0; c < 20; ++c)
        expected[to[m] * 21 + c] =
            from[m] >= 0 && from[m] < 6 && c + 1 < 20 ? toBf16(x[from[m] * 21 + c + 1]) : 0;
  EXPECT_EQ(y, expected);
}

TEST_P(CpuCodegen, LayoutOps) {
  auto k = compile(kernel(
      "layout",
      "%x: !tile.view<?x5xf32>, %i: index, %y: !tile.view<?x3xf32>, %z: !tile.view<?x15xf32>", R"(
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c15 = arith.constant 15 : index
    %t = tile.load %x[%c0, %c0] bound(%c3, %c5) : !tile.view<?x5xf32> -> !tile.tile<3x5xf32>
    %u = tile.transpose %t : !tile.tile<3x5xf32> -> !tile.tile<5x3xf32>
    tile.store %u, %y[%c0, %c0] bound(%c5, %c3) : !tile.tile<5x3xf32> -> !tile.view<?x3xf32>
    %row = tile.extract %t[%i, %c1] : !tile.tile<3x5xf32> -> !tile.tile<1x4xf32>
    %v = tile.insert %row into %t[%c0, %c0] : !tile.tile<1x4xf32> into !tile.tile<3x5xf32> -> !tile.tile<3x5xf32>
    %flat = tile.reshape %v : !tile.tile<3x5xf32> -> !tile.tile<1x15xf32>
    tile.store %flat, %z[%c0, %c0] bound(%c1, %c15) : !tile.tile<1x15xf32> -> !tile.view<?x15xf32>
    %ru = tile.reshape %u : !tile.tile<5x3xf32> -> !tile.tile<1x15xf32>
    %b = tile.broadcast %ru : !tile.tile<1x15xf32> -> !tile.tile<2x15xf32>
    %iota = tile.iota %c5 axis 1 : !tile.tile<2x15xi32>
    %if = tile.cast %iota : !tile.tile<2x15xi32> -> !tile.tile<2x15xf32>
    %sum = tile.map(%b, %if) : (!tile.tile<2x15xf32>, !tile.tile<2x15xf32>) -> !tile.tile<2x15xf32> {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      tile.yield %s : f32
    }
    tile.store %sum, %z[%c1, %c0] bound(%c3, %c15) : !tile.tile<2x15xf32> -> !tile.view<?x15xf32>)"));
  ASSERT_TRUE(k);
  std::vector<float> x = randomFloats(15, 8), y(15), z(45), expected(45);
  for (int64_t i = 0; i < 3; ++i) {
    k->run("layout", {1, 1, 1}, x.data(), i, y.data(), z.data());
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 5; ++c)
        EXPECT_EQ(y[c * 3 + r], x[r * 5 + c]);
    std::copy(x.begin(), x.end(), expected.begin());
    for (int c = 0; c < 4; ++c)
      expected[c] = x[i * 5 + 1 + c];
    for (int e = 0; e < 15; ++e)
      expected[15 + e] = expected[30 + e] = y[e] + float(5 + e);
    EXPECT_EQ(z, expected);
  }
}

TEST_P(CpuCodegen, Reductions) {
  std::string body = R"(
    %c5 = arith.constant 5 : index
    %cn = arith.constant NN : index
    %x0 = tile.load %x[%c0, %c0] bound(%c5, %cn) : !tile.view<?xNNxf32> -> !tile.tile<5xNNxf32>
    %s = tile.reduce add %x0 axis 1 : !tile.tile<5xNNxf32> -> !tile.tile<5x1xf32>
    tile.store %s, %rs[%c0, %c0] bound(%c5, %c1) : !tile.tile<5x1xf32> -> !tile.view<?x1xf32>
    %x1 = tile.load %x[%c0, %c0] bound(%c5, %cn) : !tile.view<?xNNxf32> -> !tile.tile<5xNNxf32>
    %m = tile.reduce max %x1 axis 1 : !tile.tile<5xNNxf32> -> !tile.tile<5x1xf32>
    tile.store %m, %rm[%c0, %c0] bound(%c5, %c1) : !tile.tile<5x1xf32> -> !tile.view<?x1xf32>
    %x2 = tile.load %x[%c0, %c0] bound(%c5, %cn) : !tile.view<?xNNxf32> -> !tile.tile<5xNNxf32>
    %t = tile.reduce add %x2 axis 0 : !tile.tile<5xNNxf32> -> !tile.tile<1xNNxf32>
    tile.store %t, %cs[%c0, %c0] bound(%c1, %cn) : !tile.tile<1xNNxf32> -> !tile.view<?xNNxf32>
    %x3 = tile.load %x[%c0, %c0] bound(%c5, %cn) : !tile.view<?xNNxf32> -> !tile.tile<5xNNxf32>
    %a = tile.scan %x3 axis 0 : !tile.tile<5xNNxf32>
    %b = tile.scan %a axis 1 : !tile.tile<5xNNxf32>
    tile.store %b, %sc[%c0, %c0] bound(%c5, %cn) : !tile.tile<5xNNxf32> -> !tile.view<?xNNxf32>)";
  for (int n : {1, 3, 8, 17, 20, 200}) {
    std::string text =
        kernel("r",
               "%x: !tile.view<?xNNxf32>, %rs: !tile.view<?x1xf32>, %rm: !tile.view<?x1xf32>, %cs: "
               "!tile.view<?xNNxf32>, %sc: !tile.view<?xNNxf32>",
               body);
    for (size_t at; (at = text.find("NN")) != std::string::npos;)
      text.replace(at, 2, std::to_string(n));
    auto k = compile(text);
    ASSERT_TRUE(k);
    // Small integers: every order of the sums gives the same number.
    std::vector<float> x(5 * n), rs(5), rm(5), cs(n), sc(5 * n);
    for (int i = 0; i < 5 * n; ++i)
      x[i] = float((i * 7919) % 31 - 15);
    k->run("r", {1, 1, 1}, x.data(), rs.data(), rm.data(), cs.data(), sc.data());
    for (int r = 0; r < 5; ++r) {
      EXPECT_EQ(rs[r], std::accumulate(x.begin() + r * n, x.begin() + (r + 1) * n, 0.0f));
      EXPECT_EQ(rm[r], *std::max_element(x.begin() + r * n, x.begin() + (r + 1) * n));
    }
    for (int c = 0; c < n; ++c) {
      float sum = 0;
      for (int r = 0; r < 5; ++r)
        sum += x[r * n + c];
      EXPECT_EQ(cs[c], sum);
    }
    for (int r = 0; r < 5; ++r)
      for (int c = 0; c < n; ++c) {
        float sum = 0;
        for (int i = 0; i <= r; ++i)
          for (int j = 0; j <= c; ++j)
            sum += x[i * n + j];
        EXPECT_EQ(sc[r * n + c], sum) << n << " at " << r << " " << c;
      }
    // A NaN anywhere shows in both.
    x[4 * n + n / 2] = kNaN;
    k->run("r", {1, 1, 1}, x.data(), rs.data(), rm.data(), cs.data(), sc.data());
    EXPECT_TRUE(std::isnan(rs[4]) && std::isnan(rm[4]) && std::isnan(cs[n / 2]) &&
                !std::isnan(rm[0]));
  }
}

TEST_P(CpuCodegen, TopKOrder) {
  auto text = [](int n, int k) {
    std::string t = kernel(
        "top", "%x: !tile.view<?xNNxf32>, %v: !tile.view<?xKKxf32>, %i: !tile.view<?xKKxi32>", R"(
      %cn = arith.constant NN : index
      %ck = arith.constant KK : index
      %b = tile.block_id x
      %n = arith.constant 1000 : index
      %t = tile.load %x[%b, %c0] bound(%n, %cn) : !tile.view<?xNNxf32> -> !tile.tile<1xNNxf32>
      %values, %ids = tile.top_k %t : !tile.tile<1xNNxf32> -> !tile.tile<1xKKxf32>, !tile.tile<1xKKxi32>
      tile.store %values, %v[%b, %c0] bound(%n, %ck) : !tile.tile<1xKKxf32> -> !tile.view<?xKKxf32>
      tile.store %ids, %i[%b, %c0] bound(%n, %ck) : !tile.tile<1xKKxi32> -> !tile.view<?xKKxi32>)");
    for (auto [mark, value] : {std::pair("NN", n), std::pair("KK", k)})
      for (size_t at; (at = t.find(mark)) != std::string::npos;)
        t.replace(at, 2, std::to_string(value));
    return t;
  };
  for (auto [n, top] : {std::pair(1, 1), std::pair(7, 3), std::pair(7, 7), std::pair(96, 16)}) {
    auto k = compile(text(n, top));
    ASSERT_TRUE(k);
    std::mt19937 engine(11);
    const float special[] = {0.0f, -0.0f, 1.0f, -1.0f, kInf, -kInf, kNaN, -kNaN, 2.0f};
    const int rows = 200;
    std::vector<float> x(rows * n), v(rows * top);
    std::vector<int32_t> ids(rows * top);
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < n; ++c)
        x[r * n + c] = r == 0   ? -kInf
                       : r == 1 ? kNaN
                       : r % 2  ? special[engine() % 9]
                                : float(engine() % 50);
    k->run("top", {rows, 1, 1}, x.data(), v.data(), ids.data());
    for (int r = 0; r < rows; ++r) {
      std::vector<int32_t> order(n);
      std::iota(order.begin(), order.end(), 0);
      const float *row = &x[r * n];
      std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return std::isnan(row[b]) ? !std::isnan(row[a]) : row[a] > row[b];
      });
      for (int j = 0; j < top; ++j) {
        ASSERT_EQ(ids[r * top + j], order[j]) << "row " << r << " place " << j;
        ASSERT_EQ(std::memcmp(&v[r * top + j], &row[order[j]], 4), 0);
      }
    }
  }
}

TEST_P(CpuCodegen, TriangularSolveOnAlignedKeys) {
  const int C = 16, N = 20, D = 32;
  auto k = compile(kernel(
      "solve", "%l: !tile.view<?x16xf32>, %b: !tile.view<?x20xf32>, %x: !tile.view<?x20xf32>", R"(
    %c16 = arith.constant 16 : index
    %c20 = arith.constant 20 : index
    %lt = tile.load %l[%c0, %c0] bound(%c16, %c16) : !tile.view<?x16xf32> -> !tile.tile<16x16xf32>
    %bt = tile.load %b[%c0, %c0] bound(%c16, %c20) : !tile.view<?x20xf32> -> !tile.tile<16x20xf32>
    %xt = tile.tri_solve %lt, %bt : !tile.tile<16x16xf32>, !tile.tile<16x20xf32>
    tile.store %xt, %x[%c0, %c0] bound(%c16, %c20) : !tile.tile<16x20xf32> -> !tile.view<?x20xf32>)"));
  ASSERT_TRUE(k);
  // Keys whose cosines are 0.99: products of powers of L would cancel here.
  std::vector<float> common = randomFloats(D, 1), noise = randomFloats(C * D, 2);
  std::vector<double> keys(C * D);
  for (int i = 0; i < C; ++i) {
    double norm = 0;
    for (int d = 0; d < D; ++d)
      norm += std::pow(keys[i * D + d] = common[d] + 0.1 * noise[i * D + d], 2);
    for (int d = 0; d < D; ++d)
      keys[i * D + d] /= std::sqrt(norm);
  }
  std::vector<float> l(C * C, kNaN), b = randomFloats(C * N, 3), x(C * N);
  for (int i = 0; i < C; ++i)
    for (int j = 0; j < i; ++j) {
      double dot = 0;
      for (int d = 0; d < D; ++d)
        dot += keys[i * D + d] * keys[j * D + d];
      EXPECT_GT(dot, 0.97);
      l[i * C + j] = float(dot);
    }
  k->run("solve", {1, 1, 1}, l.data(), b.data(), x.data());
  std::vector<double> expected(C * N);
  for (int i = 0; i < C; ++i)
    for (int n = 0; n < N; ++n) {
      double rest = b[i * N + n];
      for (int j = 0; j < i; ++j)
        rest -= double(l[i * C + j]) * expected[j * N + n];
      expected[i * N + n] = rest;
      EXPECT_NEAR(x[i * N + n], rest, 2e-5) << i << " " << n;
    }
}

INSTANTIATE_TEST_SUITE_P(Fusion, CpuCodegen, testing::Bool(),
                         [](const testing::TestParamInfo<bool> &info) {
                           return std::string(info.param ? "On" : "Off");
                         });

} // namespace
} // namespace k3::cpu
