//===- CpuMmaBench.cpp - Bandwidth of matrix-vector products --------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures how fast weights stream through compiled kernels, next to what plain reads of the same
// memory reach. Run by hand.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cpu/CompiledText.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

using namespace k3::cpu;

namespace {

/// Best of many short runs over all threads, in seconds: what else the machine does is left out
/// that way.
double seconds(int threads, const std::function<void(int)> &work) {
  double best = 1e9;
  for (int round = 0; round < 40; ++round) {
    auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t)
      others.emplace_back(work, t);
    work(0);
    for (std::thread &thread : others)
      thread.join();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

struct Shape {
  int64_t m, n, k;
};

std::string replaceAll(std::string text, const std::string &name, int64_t value) {
  for (size_t at; (at = text.find(name)) != std::string::npos;)
    text.replace(at, name.size(), std::to_string(value));
  return text;
}

std::string kernelText(Shape shape, bool mxfp4) {
  std::string weight = mxfp4 ? R"(
  %tp = tile.load %w[%n0, %c0] bound(%cn, %ch) : !tile.view<?xHHxi8> -> !tile.tile<32xHHxi8>
  %ts = tile.load %s[%n0, %c0] bound(%cn, %cg) : !tile.view<?xGGxi8> -> !tile.tile<32xGGxi8>
  %tw = tile.dequantize %tp, %ts : !tile.tile<32xHHxi8>, !tile.tile<32xGGxi8> -> !tile.tile<32xKKxf32>
  %r = tile.mma %acc, %tx, %tw {transpose_b} : !tile.tile<MMx32xf32>, !tile.tile<MMxKKxf32>, !tile.tile<32xKKxf32>)"
                             : R"(
  %tw = tile.load %w[%n0, %c0] bound(%cn, %ck) : !tile.view<?xKKxbf16> -> !tile.tile<32xKKxbf16>
  %r = tile.mma %acc, %tx, %tw {transpose_b} : !tile.tile<MMx32xf32>, !tile.tile<MMxKKxf32>, !tile.tile<32xKKxbf16>)";
  std::string text = R"(
tile.kernel @mv(%x: !tile.view<?xKKxbf16>, %m: index, %w: !tile.view<?xWTYPE>, %s: !tile.view<?xGGxi8>, %y: !tile.view<?xNNxbf16>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %cn = arith.constant NN : index
  %ck = arith.constant KK : index
  %ch = arith.constant HH : index
  %cg = arith.constant GG : index
  %zero = arith.constant 0.0 : f32
  %b = tile.block_id x
  %n0 = arith.muli %b, %c32 : index
  %acc = tile.splat %zero : f32 -> !tile.tile<MMx32xf32>
  %tx = tile.load %x[%c0, %c0] bound(%m, %ck) : !tile.view<?xKKxbf16> -> !tile.tile<MMxKKxf32>)" +
                     weight + R"(
  tile.store %r, %y[%c0, %n0] bound(%m, %cn) : !tile.tile<MMx32xf32> -> !tile.view<?xNNxbf16>
  tile.return
})";
  text.replace(text.find("WTYPE"), 5, mxfp4 ? "HHxi8" : "KKxbf16");
  for (auto [name, value] :
       {std::pair("MM", shape.m), std::pair("NN", shape.n), std::pair("KK", shape.k),
        std::pair("HH", shape.k / 2), std::pair("GG", shape.k / 32)})
    text = replaceAll(text, name, value);
  return text;
}

void bench(const char *label, Shape shape, bool mxfp4, int threads, int64_t rows, double readRate,
           const CpuOptions &options) {
  std::string error;
  auto compiled = CompiledText::compile(kernelText(shape, mxfp4), error, options);
  if (!compiled) {
    std::fprintf(stderr, "%s\n", error.c_str());
    return;
  }
  std::vector<uint8_t> weights(shape.n * shape.k * (mxfp4 ? 1 : 4) / 2, 0x11),
      scales(shape.n * shape.k / 32, 127);
  std::vector<uint16_t> x(shape.m * shape.k, 0x3f80), y(shape.m * shape.n);
  uint64_t params[] = {uint64_t(x.data()), uint64_t(rows), uint64_t(weights.data()),
                       uint64_t(scales.data()), uint64_t(y.data())};
  int64_t blocks = shape.n / 32;
  double time = seconds(threads, [&](int t) {
    compiled->find("mv")(params, blocks, 1, blocks * t / threads, blocks * (t + 1) / threads);
  });
  double bytes = double(weights.size() + (mxfp4 ? scales.size() : 0));
  std::printf("%-28s m=%-3ld %d threads %7.2f GB/s %5.0f%% of reads %8.1f GFLOP/s\n", label,
              long(rows), threads, bytes / time / 1e9, 100 * bytes / time / readRate,
              2.0 * rows * shape.n * shape.k / time / 1e9);
}

} // namespace

int main(int argc, char **argv) {
  CpuOptions options;
  if (argc > 1)
    options.cpu = argv[1];
  for (int threads : {1, 2}) {
    std::vector<uint64_t> memory(size_t(16) << 20, 1);
    std::vector<uint64_t> sums(16 * threads);
    double time = seconds(threads, [&](int t) {
      uint64_t sum[8] = {};
      size_t part = memory.size() / threads;
      for (size_t i = part * t; i < part * (t + 1); i += 8)
        for (int j = 0; j < 8; ++j)
          sum[j] += memory[i + j];
      for (uint64_t value : sum)
        sums[16 * t] += value;
    });
    double rate = double(memory.size() * 8) / time;
    std::printf("plain reads                  %d threads %7.2f GB/s\n", threads, rate / 1e9);
    bench("bf16 12288 x 4096", {1, 12288, 4096}, false, threads, 1, rate, options);
    bench("bf16 49152 x 1024", {1, 49152, 1024}, false, threads, 1, rate, options);
    bench("mxfp4 32768 x 4096", {1, 32768, 4096}, true, threads, 1, rate, options);
    bench("bf16, tile of 16, one row", {16, 12288, 4096}, false, threads, 1, rate, options);
    bench("bf16, tile of 16, all rows", {16, 4096, 4096}, false, threads, 16, rate, options);
  }
  return 0;
}
