//===- CpuDeviceTest.cpp - Tests of threads, memory and images --*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every block runs exactly once whatever the counts are, arenas are aligned and zeroed, and code
// that arrives as bytes can be called.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/CpuDevice.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <thread>

using namespace k3;
using testing::HasSubstr;

namespace {

struct Counts {
  explicit Counts(size_t blocks) : runs(blocks) {}
  std::vector<std::atomic<int>> runs;
  std::atomic<int> calls{0};
};

void countBlocks(void *context, int64_t begin, int64_t end) {
  Counts *counts = static_cast<Counts *>(context);
  ++counts->calls;
  for (int64_t block = begin; block < end; ++block)
    ++counts->runs[static_cast<size_t>(block)];
}

TEST(ThreadPool, RunsEveryBlockOnce) {
  for (unsigned threads : {1u, 2u, 3u, 7u}) {
    auto pool = ThreadPool::create(threads);
    ASSERT_TRUE(pool);
    EXPECT_EQ((*pool)->threads(), threads);
    for (int64_t blocks : {0, 1, 2, 3, 8, 63, 1000}) {
      for (int64_t grain : {0, 1, 2, 7, 2000}) {
        Counts counts(static_cast<size_t>(blocks));
        (*pool)->parallelFor(blocks, grain, countBlocks, &counts);
        for (const std::atomic<int> &runs : counts.runs)
          ASSERT_EQ(runs.load(), 1)
              << threads << " threads, " << blocks << " blocks, grain " << grain;
      }
    }
  }
}

TEST(ThreadPool, OneChunkStaysWithTheCaller) {
  auto pool = ThreadPool::create(3);
  ASSERT_TRUE(pool);
  std::thread::id id;
  (*pool)->parallelFor(
      5, 5,
      [](void *context, int64_t, int64_t) {
        *static_cast<std::thread::id *>(context) = std::this_thread::get_id();
      },
      &id);
  EXPECT_EQ(id, std::this_thread::get_id());
}

TEST(ThreadPool, ManySmallJobsWithSleepsBetween) {
  // Jobs in quick succession, and now and then a pause that lets the workers fall asleep: no block
  // may be lost, run twice or run after the call has returned.
  auto pool = ThreadPool::create(4);
  ASSERT_TRUE(pool);
  int64_t sum = 0, expected = 0;
  for (int round = 0; round < 20000; ++round) {
    std::atomic<int64_t> local{0};
    const int64_t blocks = 2 + round % 23;
    (*pool)->parallelFor(
        blocks, 1,
        [](void *context, int64_t begin, int64_t end) {
          for (int64_t block = begin; block < end; ++block)
            static_cast<std::atomic<int64_t> *>(context)->fetch_add(block + 1);
        },
        &local);
    sum += local.load();
    expected += blocks * (blocks + 1) / 2;
    if (round % 1000 == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
  EXPECT_EQ(sum, expected);
}

TEST(ThreadPool, WorkersHelp) {
  auto pool = ThreadPool::create(2);
  ASSERT_TRUE(pool);
  // Block 0 waits until another thread has run block 1: with the caller alone this would time out.
  std::atomic<bool> other{false};
  (*pool)->parallelFor(
      2, 1,
      [](void *context, int64_t begin, int64_t) {
        auto *flag = static_cast<std::atomic<bool> *>(context);
        if (begin == 1)
          *flag = true;
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!*flag && std::chrono::steady_clock::now() < deadline)
          std::this_thread::yield();
      },
      &other);
  EXPECT_TRUE(other);
}

TEST(ThreadPool, CountComesFromFlagThenEnvironment) {
  ::setenv("K3_THREADS", "3", 1);
  EXPECT_EQ(*resolveThreadCount(5), 5u);
  EXPECT_EQ(*resolveThreadCount(0), 3u);
  for (const char *bad : {"0", "-1", "two", "3x", "99999"}) {
    ::setenv("K3_THREADS", bad, 1);
    auto count = resolveThreadCount(0);
    ASSERT_FALSE(count) << bad;
    EXPECT_EQ(count.status().exitCode(), 2);
  }
  ::unsetenv("K3_THREADS");
  EXPECT_GE(*resolveThreadCount(0), 1u);
  EXPECT_THAT(resolveThreadCount(5000).status().message(),
              HasSubstr("too many (got 5000, expected at most 1024)"));
}

TEST(ThreadPool, KernelStackIsLarge) {
  bool done = false;
  ASSERT_TRUE(runOnKernelStack(
      [](void *context) {
        volatile char large[12 << 20];
        large[0] = 1;
        large[sizeof(large) - 1] = 1;
        *static_cast<bool *>(context) = large[0] == 1;
      },
      &done));
  EXPECT_TRUE(done);
}

TEST(HostArena, IsAlignedAndZeroed) {
  for (uint64_t alignment : {uint64_t(1), uint64_t(64), uint64_t(4096), uint64_t(1) << 21}) {
    auto arena = HostArena::create(100001, alignment, "test");
    ASSERT_TRUE(arena);
    EXPECT_EQ(reinterpret_cast<uint64_t>(arena->data()) % std::max<uint64_t>(alignment, 64), 0u);
    EXPECT_EQ(std::count(arena->data(), arena->data() + arena->size(), std::byte{}), 100001);
  }
  auto large = HostArena::create(33u << 20, 64, "test");
  ASSERT_TRUE(large);
  large->data()[large->size() - 1] = std::byte{1};
  EXPECT_EQ(HostArena::create(0, 64, "test")->size(), 0u);
}

TEST(HostArena, SaysWhatDidNotFit) {
  auto arena = HostArena::create(uint64_t(1) << 60, 64, "cache");
  ASSERT_FALSE(arena);
  EXPECT_EQ(arena.status().exitCode(), 1);
  EXPECT_THAT(arena.status().message(),
              HasSubstr("cache: cannot allocate 1152921504606846976 bytes"));
  EXPECT_FALSE(HostArena::create(UINT64_MAX, 64, "cache"));
}

/// Bytes of the small library that the build makes of TestImage.cpp.
std::string imageBytes() {
  std::ifstream file(K3_TEST_IMAGE, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

TEST(CpuDevice, RunsKernelsOutOfMemory) {
  auto device = CpuDevice::create(2);
  ASSERT_TRUE(device);
  auto image = (*device)->addImage(imageBytes(), "image 0");
  ASSERT_TRUE(image) << image.status().message();
  auto kernel = (*device)->kernel(*image, "k3_test_coordinates");
  ASSERT_TRUE(kernel);
  // The kernel writes x + 100 y + 10000 z for each block.
  std::vector<int32_t> out(3 * 4 * 5, -1);
  const uint64_t params[] = {reinterpret_cast<uint64_t>(out.data())};
  (*device)->launch(*kernel, params, 3, 4, 5);
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(out[1], 1);
  EXPECT_EQ(out[3], 100);
  EXPECT_EQ(out[3 * 4], 10000);
  EXPECT_EQ(out.back(), 2 + 300 + 40000);
  std::fill(out.begin(), out.end(), -1);
  (*device)->launch(*kernel, params, 3, 0, 5);
  EXPECT_EQ(out[0], -1);
  auto none = (*device)->kernel(*image, "no_such_kernel");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.status().exitCode(), 2);
  EXPECT_THAT(none.status().message(),
              HasSubstr("image 0: kernel 'no_such_kernel' is not exported by its image"));
}

TEST(CpuDevice, TwoImagesAreTwoObjects) {
  // Each image has a counter of its own; a loader that takes them for the same file would share it.
  auto device = CpuDevice::create(1);
  ASSERT_TRUE(device);
  const std::string bytes = imageBytes();
  int64_t value = 0;
  const uint64_t params[] = {reinterpret_cast<uint64_t>(&value)};
  for (int i = 0; i < 2; ++i) {
    auto image = (*device)->addImage(bytes, "image");
    ASSERT_TRUE(image);
    auto kernel = (*device)->kernel(*image, "k3_test_count");
    ASSERT_TRUE(kernel);
    (*device)->launch(*kernel, params, 1, 1, 1);
    EXPECT_EQ(value, 1);
  }
}

TEST(CpuDevice, RefusesBytesThatAreNoObject) {
  auto device = CpuDevice::create(1);
  ASSERT_TRUE(device);
  auto image = (*device)->addImage("not an object", "image 7");
  ASSERT_FALSE(image);
  EXPECT_THAT(image.status().message(),
              HasSubstr("image 7: the dynamic loader refuses the kernels"));
}

} // namespace
