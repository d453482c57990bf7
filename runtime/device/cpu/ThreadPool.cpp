//===- ThreadPool.cpp - Threads for the blocks of a kernel ------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A job is open or closed, and threads enter it when they notice it. The caller never waits for a
// thread that did not enter, so that a sleeping or descheduled worker delays nobody: it finds the
// job closed and goes back to sleep.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/ThreadPool.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <sched.h>
#include <string>

using namespace k3;

/// How long an idle worker spins before it sleeps: longer than the gap between two launches of a
/// step.
static constexpr std::chrono::microseconds SpinTime(50);
/// The most threads that are accepted; a larger number is a typing error.
static constexpr unsigned MaxThreads = 1024;

static void pauseProcessor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

Result<unsigned> k3::resolveThreadCount(unsigned requested) {
  if (requested > MaxThreads)
    return Status::refused(
        fmt::format("--threads: too many (got {}, expected at most {})", requested, MaxThreads));
  if (requested)
    return requested;
  if (const char *text = std::getenv("K3_THREADS"); text && *text) {
    char *end = nullptr;
    errno = 0;
    const unsigned long value = std::strtoul(text, &end, 10);
    if (errno || *end || value == 0 || value > MaxThreads || *text == '-')
      return Status::refused(fmt::format(
          "K3_THREADS: not a number of threads (got \"{}\", expected 1 to {})", text, MaxThreads));
    return static_cast<unsigned>(value);
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  const int usable = ::sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
  return static_cast<unsigned>(std::clamp(usable, 1, static_cast<int>(MaxThreads)));
}

/// Starts a thread with the stack that kernels need.
static Status startThread(pthread_t &thread, void *(*function)(void *), void *argument) {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  int error = ::pthread_attr_setstacksize(&attributes, KernelStackBytes);
  if (!error)
    error = ::pthread_create(&thread, &attributes, function, argument);
  ::pthread_attr_destroy(&attributes);
  if (error) {
    return Status::failed(
        fmt::format("threads: cannot start one with {} bytes of stack: {}; lower --threads",
                    KernelStackBytes, std::strerror(error)));
  }
  return Status::ok();
}

Status k3::runOnKernelStack(void (*function)(void *), void *context) {
  struct Call {
    void (*function)(void *);
    void *context;
  } call{function, context};
  pthread_t thread;
  K3_RETURN_IF_ERROR(startThread(
      thread,
      [](void *argument) -> void * {
        Call *call = static_cast<Call *>(argument);
        call->function(call->context);
        return nullptr;
      },
      &call));
  ::pthread_join(thread, nullptr);
  return Status::ok();
}

Result<std::unique_ptr<ThreadPool>> ThreadPool::create(unsigned threads) {
  std::unique_ptr<ThreadPool> pool(new ThreadPool);
  for (unsigned i = 1; i < threads; ++i) {
    pthread_t thread;
    K3_RETURN_IF_ERROR(startThread(thread, &ThreadPool::enter, pool.get()));
    pool->workers_.push_back(thread);
  }
  return pool;
}

ThreadPool::~ThreadPool() {
  stop_ = true;
  ++epoch_;
  epoch_.notify_all();
  for (pthread_t worker : workers_)
    ::pthread_join(worker, nullptr);
}

void *ThreadPool::enter(void *pool) {
  static_cast<ThreadPool *>(pool)->workerLoop();
  return nullptr;
}

void ThreadPool::takeChunks() {
  for (;;) {
    const int64_t begin = next_.fetch_add(grain_, std::memory_order_relaxed);
    if (begin >= blocks_)
      return;
    body_(context_, begin, std::min(begin + grain_, blocks_));
  }
}

void ThreadPool::workerLoop() {
  uint32_t seen = 0;
  while (!stop_.load(std::memory_order_relaxed)) {
    const auto deadline = std::chrono::steady_clock::now() + SpinTime;
    uint32_t now = epoch_.load(std::memory_order_acquire);
    while (now == seen && std::chrono::steady_clock::now() < deadline) {
      for (int i = 0; i < 32 && now == seen; ++i) {
        pauseProcessor();
        now = epoch_.load(std::memory_order_acquire);
      }
    }
    if (now == seen) {
      // The caller raises the epoch before it looks at `sleepers_`, so either it sees this sleeper
      // or `wait` sees it.
      sleepers_.fetch_add(1);
      epoch_.wait(seen);
      sleepers_.fetch_sub(1);
      continue;
    }
    seen = now;
    // Entering and closing are ordered against each other: either this thread sees the job closed,
    // or the caller sees this thread inside.
    inside_.fetch_add(1);
    if (open_.load())
      takeChunks();
    inside_.fetch_sub(1, std::memory_order_release);
  }
}

void ThreadPool::parallelFor(int64_t blocks, int64_t grain, Body body, void *context) {
  if (blocks <= 0)
    return;
  grain = std::max<int64_t>(grain, 1);
  if (workers_.empty() || blocks <= grain) {
    body(context, 0, blocks);
    return;
  }
  body_ = body;
  context_ = context;
  blocks_ = blocks;
  grain_ = grain;
  next_.store(0, std::memory_order_relaxed);
  open_.store(true);
  epoch_.fetch_add(1);
  if (sleepers_.load())
    epoch_.notify_all();
  takeChunks();
  open_.store(false);
  // Sequentially consistent, as the store above: otherwise this could read what `inside_` was
  // before a worker that still saw the pool open.
  for (int spins = 0; inside_.load() != 0; ++spins) {
    pauseProcessor();
    if (spins > 2000)
      ::sched_yield(); // more threads than processors: let the one that holds the last chunk run
  }
}
