//===- CpuMmaTest.cpp - Compiled contractions against plain loops ---------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every form of tile.mma at odd sizes and bounds, MXFP4 decoding of all codes and scales, and loops
// that carry tiles.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cpu/CompiledText.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace k3::cpu {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Form {
  bool transposeA, transposeB;
  /// Both operands have a second reader, so that they lie in buffers.
  bool buffered;
};

/// Every test runs with ops merged into loops and with each op on its own: that changes the code
/// and not the result.
class CpuMma : public testing::TestWithParam<bool> {
protected:
  std::unique_ptr<CompiledText> compile(const std::string &text) {
    std::string error;
    CpuOptions options;
    options.fuse = GetParam();
    auto compiled = CompiledText::compile(text, error, options);
    EXPECT_TRUE(compiled) << error;
    return compiled;
  }
  void checkMma(int m, int n, int k, Form form, bool bf16);
};

/// Replaces $NAME$ by numbers or words.
std::string fill(std::string text, std::vector<std::pair<std::string, std::string>> values) {
  for (auto &[name, value] : values)
    for (size_t at; (at = text.find("$" + name + "$")) != std::string::npos;)
      text.replace(at, name.size() + 2, value);
  return text;
}

/// Multiples of 1/8 below 4 in size: exact in bf16, and products and sums of them are exact in f32.
std::vector<float> eighths(size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<float> values(count);
  for (float &value : values)
    value = float(int(engine() % 63) - 31) / 8.0f;
  return values;
}

std::vector<uint16_t> narrow(const std::vector<float> &values) {
  std::vector<uint16_t> result;
  for (float value : values)
    result.push_back(toBf16(value));
  return result;
}

std::string mmaKernel(int m, int n, int k, Form form, const std::string &element) {
  std::string text = R"(
tile.kernel @mm(%a: !tile.view<?x$AC$x$E$>, %b: !tile.view<?x$BC$x$E$>, %am: index, %ak: index, %bn: index, %bk: index, %c: !tile.view<?x$N$xf32>, %side: !tile.view<?x1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cm = arith.constant $M$ : index
  %cn = arith.constant $N$ : index
  %ta = tile.load %a[%c0, %c0] bound(%$A0$, %$A1$) : !tile.view<?x$AC$x$E$> -> !tile.tile<$AR$x$AC$xf32>
  %tb = tile.load %b[%c0, %c0] bound(%$B0$, %$B1$) : !tile.view<?x$BC$x$E$> -> !tile.tile<$BR$x$BC$x$E$>
  %t0 = tile.load %c[%c0, %c0] bound(%cm, %cn) : !tile.view<?x$N$xf32> -> !tile.tile<$M$x$N$xf32>
  %r = tile.mma %t0, %ta, %tb $FLAGS$ : !tile.tile<$M$x$N$xf32>, !tile.tile<$AR$x$AC$xf32>, !tile.tile<$BR$x$BC$x$E$>
  tile.store %r, %c[%c0, %c0] bound(%cm, %cn) : !tile.tile<$M$x$N$xf32> -> !tile.view<?x$N$xf32>
  $EXTRA$
  tile.return
})";
  std::string extra = R"(
  %wide = tile.cast %tb : !tile.tile<$BR$x$BC$x$E$> -> !tile.tile<$BR$x$BC$xf32>
  %sa = tile.reduce max %ta axis 1 : !tile.tile<$AR$x$AC$xf32> -> !tile.tile<$AR$x1xf32>
  %sb = tile.reduce max %wide axis 1 : !tile.tile<$BR$x$BC$xf32> -> !tile.tile<$BR$x1xf32>
  tile.store %sa, %side[%c0, %c0] bound(%c1, %c1) : !tile.tile<$AR$x1xf32> -> !tile.view<?x1xf32>
  tile.store %sb, %side[%c1, %c0] bound(%c1, %c1) : !tile.tile<$BR$x1xf32> -> !tile.view<?x1xf32>)";
  if (element == "f32")
    extra.replace(extra.find("%wide = tile.cast"),
                  extra.find("%sa") - extra.find("%wide = tile.cast"), "");
  if (element == "f32")
    extra.replace(extra.find("%wide axis"), 5, "%tb");
  std::string flags =
      std::string(form.transposeA ? "transpose_a " : "") + (form.transposeB ? "transpose_b" : "");
  if (!flags.empty())
    flags = "{" + std::string(form.transposeA ? "transpose_a" : "") +
            (form.transposeA && form.transposeB ? ", " : "") +
            (form.transposeB ? "transpose_b" : "") + "}";
  auto s = [](int v) { return std::to_string(v); };
  return fill(text, {{"EXTRA", form.buffered ? extra : ""},
                     {"FLAGS", flags},
                     {"E", element},
                     {"M", s(m)},
                     {"N", s(n)},
                     {"AR", s(form.transposeA ? k : m)},
                     {"AC", s(form.transposeA ? m : k)},
                     {"BR", s(form.transposeB ? n : k)},
                     {"BC", s(form.transposeB ? k : n)},
                     {"A0", form.transposeA ? "ak" : "am"},
                     {"A1", form.transposeA ? "am" : "ak"},
                     {"B0", form.transposeB ? "bn" : "bk"},
                     {"B1", form.transposeB ? "bk" : "bn"}});
}

void CpuMma::checkMma(int m, int n, int k, Form form, bool bf16) {
  SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k << (form.transposeA ? " ta" : "")
                                  << (form.transposeB ? " tb" : "") << (bf16 ? " bf16" : " f32")
                                  << (form.buffered ? " buffered" : ""));
  auto compiled = compile(mmaKernel(m, n, k, form, bf16 ? "bf16" : "f32"));
  ASSERT_TRUE(compiled);
  for (int cut = 0; cut < 2; ++cut) {
    // The second run has fewer rows and columns than the tiles; what lies behind them is NaN.
    int64_t em = cut ? m - m / 3 : m, en = cut ? n - n / 4 : n, ek = cut ? k - k / 3 : k;
    std::vector<float> a = eighths(m * k, 1), b = eighths(k * n, 2), c = eighths(m * n, 3);
    std::vector<double> expected(c.begin(), c.end());
    auto atA = [&](int i, int l) { return form.transposeA ? l * m + i : i * k + l; };
    auto atB = [&](int l, int j) { return form.transposeB ? j * k + l : l * n + j; };
    for (int i = 0; i < m; ++i)
      for (int l = 0; l < k; ++l)
        if (i >= em || l >= ek)
          a[atA(i, l)] = kNaN;
    for (int l = 0; l < k; ++l)
      for (int j = 0; j < n; ++j)
        if (j >= en || l >= ek)
          b[atB(l, j)] = kNaN;
    for (int i = 0; i < em; ++i)
      for (int j = 0; j < en; ++j)
        for (int l = 0; l < ek; ++l)
          expected[i * n + j] += double(a[atA(i, l)]) * b[atB(l, j)];
    std::vector<float> side(2);
    if (bf16) {
      std::vector<uint16_t> na = narrow(a), nb = narrow(b);
      compiled->run("mm", {1, 1, 1}, na.data(), nb.data(), em, ek, en, ek, c.data(), side.data());
    } else {
      compiled->run("mm", {1, 1, 1}, a.data(), b.data(), em, ek, en, ek, c.data(), side.data());
    }
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j)
        ASSERT_EQ(c[i * n + j], float(expected[i * n + j]))
            << "cut " << cut << " at " << i << " " << j;
  }
}

TEST_P(CpuMma, EveryFormAtOddSizes) {
  const int sizes[][3] = {{1, 5, 20}, {1, 3, 64}, {3, 5, 17}, {5, 17, 20}, {16, 3, 8}, {2, 19, 3}};
  for (auto &[m, n, k] : sizes)
    for (bool ta : {false, true})
      for (bool tb : {false, true})
        checkMma(m, n, k, {ta, tb, false}, (m + n) % 2 == 0);
  for (bool bf16 : {false, true})
    for (bool ta : {false, true})
      for (bool tb : {false, true})
        checkMma(7, 33, 41, {ta, tb, true}, bf16);
}

TEST_P(CpuMma, LongRowsOfBf16) {
  checkMma(1, 6, 1000, {false, true, false}, true);
  checkMma(6, 9, 300, {false, true, false}, true);
}

// -------------------------------------------------------------------------------------------------------
// MXFP4

double codeValue(int code) {
  const double magnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return (code & 8 ? -1 : 1) * magnitudes[code & 7];
}

TEST_P(CpuMma, DequantizeAllCodesAndScales) {
  // Row s has scale byte s; the columns go through all codes in both nibbles.
  for (const char *element : {"f32", "bf16"}) {
    auto k = compile(fill(R"(
tile.kernel @dq(%p: !tile.view<?x32xi8>, %s: !tile.view<?x2xi8>, %y: !tile.view<?x64x$E$>) {
  %c0 = arith.constant 0 : index
  %n = arith.constant 256 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %b = tile.block_id x
  %tp = tile.load %p[%b, %c0] bound(%n, %c32) : !tile.view<?x32xi8> -> !tile.tile<1x32xi8>
  %ts = tile.load %s[%b, %c0] bound(%n, %c2) : !tile.view<?x2xi8> -> !tile.tile<1x2xi8>
  %d = tile.dequantize %tp, %ts : !tile.tile<1x32xi8>, !tile.tile<1x2xi8> -> !tile.tile<1x64x$E$>
  tile.store %d, %y[%b, %c0] bound(%n, %c64) : !tile.tile<1x64x$E$> -> !tile.view<?x64x$E$>
  tile.return
})",
                          {{"E", element}}));
    ASSERT_TRUE(k);
    std::vector<uint8_t> packed(256 * 32), scales(512);
    for (int r = 0; r < 256; ++r) {
      for (int j = 0; j < 32; ++j)
        packed[r * 32 + j] = uint8_t(j < 16 ? (j | (15 - j) << 4) : (r + j) * 37);
      scales[2 * r] = uint8_t(r);
      scales[2 * r + 1] = uint8_t(255 - r);
    }
    bool isF32 = std::string(element) == "f32";
    std::vector<float> wide(256 * 64);
    std::vector<uint16_t> narrowed(256 * 64);
    if (isF32)
      k->run("dq", {256, 1, 1}, packed.data(), scales.data(), wide.data());
    else
      k->run("dq", {256, 1, 1}, packed.data(), scales.data(), narrowed.data());
    for (int r = 0; r < 256; ++r)
      for (int c = 0; c < 64; ++c) {
        int code = packed[r * 32 + c / 2] >> (c % 2 ? 4 : 0) & 15, scale = scales[2 * r + c / 32];
        float got = isF32 ? wide[r * 64 + c] : fromBf16(narrowed[r * 64 + c]);
        if (scale == 255) {
          ASSERT_TRUE(std::isnan(got)) << r << " " << c;
          continue;
        }
        float expected = float(codeValue(code) * std::ldexp(1.0, scale - 127));
        ASSERT_EQ(got, expected) << "row " << r << " column " << c;
        ASSERT_EQ(std::signbit(got), std::signbit(expected));
      }
  }
}

TEST_P(CpuMma, ContractsMxfp4WithoutUnpacking) {
  // Five experts' matrices of 7 x 96; two rows of x, of which the bound admits one or two.
  auto k = compile(R"(
tile.kernel @mx(%x: !tile.view<?x96xbf16>, %m: index, %p: !tile.view<5x7x48xi8>, %s: !tile.view<5x7x3xi8>, %e: index, %y: !tile.view<?x7xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %c48 = arith.constant 48 : index
  %c96 = arith.constant 96 : index
  %zero = arith.constant 0.0 : f32
  %acc = tile.splat %zero : f32 -> !tile.tile<2x8xf32>
  %tx = tile.load %x[%c0, %c0] bound(%m, %c96) : !tile.view<?x96xbf16> -> !tile.tile<2x96xf32>
  %tp = tile.load %p[%e, %c0, %c0] bound(%c5, %c7, %c48) : !tile.view<5x7x48xi8> -> !tile.tile<8x48xi8>
  %ts = tile.load %s[%e, %c0, %c0] bound(%c5, %c7, %c3) : !tile.view<5x7x3xi8> -> !tile.tile<8x3xi8>
  %w = tile.dequantize %tp, %ts : !tile.tile<8x48xi8>, !tile.tile<8x3xi8> -> !tile.tile<8x96xf32>
  %r = tile.mma %acc, %tx, %w {transpose_b} : !tile.tile<2x8xf32>, !tile.tile<2x96xf32>, !tile.tile<8x96xf32>
  tile.store %r, %y[%c0, %c0] bound(%c2, %c7) : !tile.tile<2x8xf32> -> !tile.view<?x7xf32>
  tile.return
})");
  ASSERT_TRUE(k);
  std::mt19937 engine(4);
  std::vector<uint8_t> packed(5 * 7 * 48), scales(5 * 7 * 3);
  for (uint8_t &byte : packed)
    byte = uint8_t(engine());
  for (uint8_t &byte : scales)
    byte = uint8_t(125 + engine() % 5);
  std::vector<float> x = eighths(2 * 96, 9);
  std::vector<uint16_t> nx = narrow(x);
  for (int64_t e = 0; e < 5; ++e)
    for (int64_t m = 1; m <= 2; ++m) {
      std::vector<float> y(14, kNaN);
      k->run("mx", {1, 1, 1}, nx.data(), m, packed.data(), scales.data(), e, y.data());
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 7; ++j) {
          double sum = 0;
          for (int c = 0; c < 96 && i < m; ++c) {
            int64_t row = e * 7 + j;
            sum += x[i * 96 + c] * codeValue(packed[row * 48 + c / 2] >> (c % 2 ? 4 : 0) & 15) *
                   std::ldexp(1.0, scales[row * 3 + c / 32] - 127);
          }
          ASSERT_EQ(y[i * 7 + j], float(sum)) << e << " " << m << " at " << i << " " << j;
        }
    }
  // A NaN scale reaches every sum of its row and no other.
  scales[(2 * 7 + 3) * 3 + 1] = 255;
  std::vector<float> y(14);
  k->run("mx", {1, 1, 1}, nx.data(), int64_t(2), packed.data(), scales.data(), int64_t(2),
         y.data());
  for (int j = 0; j < 7; ++j)
    EXPECT_EQ(std::isnan(y[j]), j == 3);
}

// -------------------------------------------------------------------------------------------------------
// loops

TEST_P(CpuMma, LoopsCarryTilesInPlaceAndSwapped) {
  // outer: (s, a, b, n) -> (s * 0.5 + x_i yᵀ_i, b, a, n + 1), with an inner loop that adds rows to
  // a running tile.
  auto k = compile(R"(
tile.kernel @loop(%x: !tile.view<?x5xf32>, %y: !tile.view<?x9xf32>, %n: index, %s: !tile.view<?x9xf32>, %ab: !tile.view<?x9xf32>, %cnt: !tile.view<?x9xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c9 = arith.constant 9 : index
  %half = arith.constant 0.5 : f32
  %s0 = tile.load %s[%c0, %c0] bound(%c5, %c9) : !tile.view<?x9xf32> -> !tile.tile<5x9xf32>
  %a0 = tile.load %ab[%c0, %c0] bound(%c2, %c9) : !tile.view<?x9xf32> -> !tile.tile<1x9xf32>
  %b0 = tile.load %ab[%c1, %c0] bound(%c2, %c9) : !tile.view<?x9xf32> -> !tile.tile<1x9xf32>
  %r:4 = tile.for %i = %c0 to %n step %c1 iter(%t = %s0, %a = %a0, %b = %b0, %k = %c0) : !tile.tile<5x9xf32>, !tile.tile<1x9xf32>, !tile.tile<1x9xf32>, index {
    %xi = tile.load %x[%i, %c0] bound(%n, %c5) : !tile.view<?x5xf32> -> !tile.tile<1x5xf32>
    %yi = tile.load %y[%i, %c0] bound(%n, %c9) : !tile.view<?x9xf32> -> !tile.tile<1x9xf32>
    %d = tile.map(%t) : (!tile.tile<5x9xf32>) -> !tile.tile<5x9xf32> {
    ^bb0(%p: f32):
      %q = arith.mulf %p, %half : f32
      tile.yield %q : f32
    }
    %u = tile.mma %d, %xi, %yi {transpose_a} : !tile.tile<5x9xf32>, !tile.tile<1x5xf32>, !tile.tile<1x9xf32>
    %in = tile.for %j = %c0 to %c3 step %c1 iter(%e = %a) : !tile.tile<1x9xf32> {
      %f = tile.map(%e, %b) : (!tile.tile<1x9xf32>, !tile.tile<1x9xf32>) -> !tile.tile<1x9xf32> {
      ^bb0(%p: f32, %q: f32):
        %g = arith.addf %p, %q : f32
        tile.yield %g : f32
      }
      tile.yield %f : !tile.tile<1x9xf32>
    }
    %next = arith.addi %k, %c2 : index
    tile.yield %u, %b, %in, %next : !tile.tile<5x9xf32>, !tile.tile<1x9xf32>, !tile.tile<1x9xf32>, index
  }
  tile.store %r#0, %s[%c0, %c0] bound(%c5, %c9) : !tile.tile<5x9xf32> -> !tile.view<?x9xf32>
  tile.store %r#1, %ab[%c0, %c0] bound(%c2, %c9) : !tile.tile<1x9xf32> -> !tile.view<?x9xf32>
  tile.store %r#2, %ab[%c1, %c0] bound(%c2, %c9) : !tile.tile<1x9xf32> -> !tile.view<?x9xf32>
  %count = tile.splat %r#3 : index -> !tile.tile<1x9xi32>
  %cf = tile.cast %count : !tile.tile<1x9xi32> -> !tile.tile<1x9xf32>
  %many = arith.cmpi sgt, %r#3, %c2 : index
  tile.if %many {
    tile.store %cf, %cnt[%c0, %c0] bound(%c1, %c9) : !tile.tile<1x9xf32> -> !tile.view<?x9xf32>
  }
  tile.return
})");
  ASSERT_TRUE(k);
  for (int64_t n : {0, 1, 2, 4}) {
    std::vector<float> x = eighths(4 * 5, 1), y = eighths(4 * 9, 2), s = eighths(45, 3),
                       ab = eighths(18, 4), cnt(9, -1.0f);
    std::vector<float> es = s, a(ab.begin(), ab.begin() + 9), b(ab.begin() + 9, ab.end());
    for (int i = 0; i < n; ++i) {
      for (int p = 0; p < 5; ++p)
        for (int q = 0; q < 9; ++q)
          es[p * 9 + q] = es[p * 9 + q] * 0.5f + x[i * 5 + p] * y[i * 9 + q];
      std::vector<float> in = a;
      for (int q = 0; q < 9; ++q)
        in[q] += 3 * b[q];
      a = b;
      b = in;
    }
    k->run("loop", {1, 1, 1}, x.data(), y.data(), n, s.data(), ab.data(), cnt.data());
    EXPECT_EQ(s, es) << n;
    a.insert(a.end(), b.begin(), b.end());
    EXPECT_EQ(ab, a) << n;
    EXPECT_EQ(cnt[8], n > 1 ? float(2 * n) : -1.0f);
  }
}

TEST_P(CpuMma, ACarriedTileIsReadAfterItsSuccessorIsKnown) {
  // The next %s is computed before the last reader of the old one, so it must not take its place.
  auto k = compile(R"(
tile.kernel @late(%n: index, %st: !tile.view<2x3x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %s0 = tile.load %st[%c0, %c0, %c0] bound(%c2, %c3, %c8) : !tile.view<2x3x8xf32> -> !tile.tile<3x8xf32>
  %t0 = tile.load %st[%c1, %c0, %c0] bound(%c2, %c3, %c8) : !tile.view<2x3x8xf32> -> !tile.tile<3x8xf32>
  %r:2 = tile.for %i = %c0 to %n step %c1 iter(%s = %s0, %t = %t0) : !tile.tile<3x8xf32>, !tile.tile<3x8xf32> {
    %u = tile.scan %s axis 0 : !tile.tile<3x8xf32>
    %next = tile.map(%s, %u) : (!tile.tile<3x8xf32>, !tile.tile<3x8xf32>) -> !tile.tile<3x8xf32> {
    ^bb0(%p: f32, %q: f32):
      %d = arith.subf %q, %p : f32
      tile.yield %d : f32
    }
    %both = tile.map(%next, %s, %t) : (!tile.tile<3x8xf32>, !tile.tile<3x8xf32>, !tile.tile<3x8xf32>) -> !tile.tile<3x8xf32> {
    ^bb0(%p: f32, %q: f32, %w: f32):
      %d = arith.addf %p, %q : f32
      %e = arith.addf %d, %w : f32
      tile.yield %e : f32
    }
    tile.yield %next, %both : !tile.tile<3x8xf32>, !tile.tile<3x8xf32>
  }
  tile.store %r#0, %st[%c0, %c0, %c0] bound(%c2, %c3, %c8) : !tile.tile<3x8xf32> -> !tile.view<2x3x8xf32>
  tile.store %r#1, %st[%c1, %c0, %c0] bound(%c2, %c3, %c8) : !tile.tile<3x8xf32> -> !tile.view<2x3x8xf32>
  tile.return
})");
  ASSERT_TRUE(k);
  std::vector<float> state = eighths(48, 6);
  std::vector<float> s(state.begin(), state.begin() + 24), t(state.begin() + 24, state.end());
  for (int step = 0; step < 3; ++step) {
    std::vector<float> next(24);
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 8; ++c)
        for (int i = 0; i < r; ++i)
          next[r * 8 + c] += s[i * 8 + c];
    for (int e = 0; e < 24; ++e)
      t[e] += next[e] + s[e];
    s = next;
  }
  k->run("late", {1, 1, 1}, int64_t(3), state.data());
  s.insert(s.end(), t.begin(), t.end());
  EXPECT_EQ(state, s);
}

TEST_P(CpuMma, AWriteSettlesPendingReads) {
  // A window that slides by one row over itself: the read must not see what the write has done.
  auto k = compile(R"(
tile.kernel @slide(%s: !tile.view<?x8xf32>, %x: !tile.view<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %old = tile.load %s[%c0, %c0] bound(%c3, %c8) : !tile.view<?x8xf32> -> !tile.tile<3x8xf32>
  %new = tile.load %x[%c0, %c0] bound(%c1, %c8) : !tile.view<?x8xf32> -> !tile.tile<1x8xf32>
  tile.store %new, %s[%c0, %c0] bound(%c4, %c8) : !tile.tile<1x8xf32> -> !tile.view<?x8xf32>
  tile.store %old, %s[%c1, %c0] bound(%c4, %c8) : !tile.tile<3x8xf32> -> !tile.view<?x8xf32>
  tile.return
})");
  ASSERT_TRUE(k);
  std::vector<float> s = eighths(32, 1), x = eighths(8, 2), expected = x;
  expected.insert(expected.end(), s.begin(), s.begin() + 24);
  k->run("slide", {1, 1, 1}, s.data(), x.data());
  EXPECT_EQ(s, expected);
}

INSTANTIATE_TEST_SUITE_P(Fusion, CpuMma, testing::Bool(),
                         [](const testing::TestParamInfo<bool> &info) {
                           return std::string(info.param ? "On" : "Off");
                         });

} // namespace
} // namespace k3::cpu
