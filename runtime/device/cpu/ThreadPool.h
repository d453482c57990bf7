//===- ThreadPool.h - Threads for the blocks of a kernel --------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits a range of blocks over a fixed set of threads, thousands of times a second: the caller
// works along, idle threads spin briefly before they sleep, and nothing is allocated by a launch.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_DEVICE_CPU_THREADPOOL_H
#define K3_RUNTIME_DEVICE_CPU_THREADPOOL_H

#include "support/Status.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <pthread.h>
#include <vector>

namespace k3 {

/// Stack of every thread that runs kernels. Kernels keep tiles on the stack, and the default
/// differs by machine.
inline constexpr size_t KernelStackBytes = 16u << 20;

/// Threads to use: REQUESTED if it is not 0, else the environment's K3_THREADS, else the processors
/// of this process.
Result<unsigned> resolveThreadCount(unsigned requested);

/// Calls FUNCTION(CONTEXT) on a new thread with KernelStackBytes of stack and waits for its end.
Status runOnKernelStack(void (*function)(void *), void *context);

class ThreadPool {
public:
  /// Runs blocks [begin, end).
  using Body = void (*)(void *context, int64_t begin, int64_t end);

  /// A pool of THREADS threads, the caller of parallelFor included.
  static Result<std::unique_ptr<ThreadPool>> create(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  unsigned threads() const { return static_cast<unsigned>(workers_.size()) + 1; }

  /// Calls BODY on chunks of about GRAIN blocks that together are [0, BLOCKS), each block once, and
  /// returns when all are done. One caller at a time. With one chunk the caller runs it and no
  /// thread is woken.
  void parallelFor(int64_t blocks, int64_t grain, Body body, void *context);

private:
  ThreadPool() = default;
  static void *enter(void *pool);
  void workerLoop();
  /// Takes chunks until none is left.
  void takeChunks();

  std::vector<pthread_t> workers_;

  // The job. Written while `open_` is false and `inside_` is 0, read by threads that are inside.
  Body body_ = nullptr;
  void *context_ = nullptr;
  int64_t blocks_ = 0;
  int64_t grain_ = 1;

  // One cache line each: every thread hammers `next_`, and sleepers watch `epoch_`.
  alignas(64) std::atomic<int64_t> next_{0};
  alignas(64) std::atomic<uint32_t> epoch_{0};
  alignas(64) std::atomic<bool> open_{false};
  alignas(64) std::atomic<uint32_t> inside_{0};
  alignas(64) std::atomic<uint32_t> sleepers_{0};
  std::atomic<bool> stop_{false};
};

} // namespace k3

#endif // K3_RUNTIME_DEVICE_CPU_THREADPOOL_H
