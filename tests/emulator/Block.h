//===- Block.h - Runs the threads of one block ------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every thread of a block is a coroutine of the one host thread; it gives way only at a barrier or
// where the lanes of its warp meet. So a missing barrier is not a matter of luck: another order of
// the threads gives other numbers.
//
//===----------------------------------------------------------------------===//

#ifndef K3_TESTS_EMULATOR_BLOCK_H
#define K3_TESTS_EMULATOR_BLOCK_H

#include "Machine.h"

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace k3::emulator {

/// In which order threads that could all run are run, for a whole process: forward, backward, or
/// shuffled anew for each block.
struct Order {
  enum Kind { Forward, Backward, Shuffled } kind = Forward;
  uint64_t seed = 0;
};

/// What a kernel's thread calls; only inside `BlockRunner::run`.
void enterThread();
void waitForBlock();
const void *gatherOfWarp(const void *mine, unsigned bytes);

class BlockRunner {
public:
  explicit BlockRunner(Order order);
  ~BlockRunner();

  /// Runs block number `block` of `threads` threads, a multiple of 32, at most 1024. Returns
  /// nothing, or what is wrong with the kernel: some threads of the block, or lanes of a warp, wait
  /// for others that never come.
  const char *run(k3_emulated_entry entry, void **parameters, unsigned block, unsigned threads);

  k3_emulated_machine machine;

private:
  struct Thread;
  struct Warp;
  friend void enterThread();
  friend void waitForBlock();
  friend const void *gatherOfWarp(const void *mine, unsigned bytes);

  void makeThreads(unsigned count);
  void resume(unsigned thread);
  void giveWay();
  void sortThreads(unsigned count);

  Order order;
  std::mt19937_64 random;
  std::vector<std::unique_ptr<Thread>> all;
  std::vector<Warp> warps;
  std::vector<unsigned> sorted;
  k3_emulated_entry entry = nullptr;
  void **parameters = nullptr;
  void *scheduler[5] = {};
};

} // namespace k3::emulator

#endif // K3_TESTS_EMULATOR_BLOCK_H
