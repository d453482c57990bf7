//===- Block.cpp - Runs the threads of one block --------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A coroutine is entered once through ucontext and from then on by the compiler's own long jumps,
// which make no system call. Coroutines outlive their block: making 256 costs more than most
// blocks.
//
//===----------------------------------------------------------------------===//

#include "Block.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <ucontext.h>

namespace k3::emulator {

static constexpr unsigned kLanes = 32, kMostBytes = 64;
static constexpr size_t kStackBytes = 64 * 1024;

enum class State { Ready, AtBarrier, AtWarp, Done };

struct BlockRunner::Thread {
  State state = State::Done;
  bool entered = false;
  void *place[5];
  ucontext_t first;
  std::vector<char> stack = std::vector<char>(kStackBytes);
};

/// What the lanes bring lies in turn in one of two places, so that a fast lane cannot overwrite
/// what a slow one has yet to read: it cannot be two meetings ahead.
struct BlockRunner::Warp {
  unsigned arrived = 0, turn = 0, bytes = 0;
  bool mixed = false;
  alignas(16) unsigned char brought[2][kLanes * kMostBytes];
};

static BlockRunner *runner;

BlockRunner::BlockRunner(Order order) : order(order), random(order.seed) {
  runner = this;
  machine.barrier = waitForBlock;
  machine.gather = gatherOfWarp;
}

BlockRunner::~BlockRunner() = default;

void enterThread() {
  for (;;) {
    runner->entry(runner->parameters);
    runner->all[runner->machine.thread]->state = State::Done;
    runner->giveWay();
  }
}

void waitForBlock() {
  runner->all[runner->machine.thread]->state = State::AtBarrier;
  runner->giveWay();
}

const void *gatherOfWarp(const void *mine, unsigned bytes) {
  unsigned thread = runner->machine.thread;
  BlockRunner::Warp &warp = runner->warps[thread / kLanes];
  unsigned char *brought = warp.brought[warp.turn];
  warp.mixed |= bytes > kMostBytes || (warp.arrived && warp.bytes != bytes);
  warp.bytes = bytes;
  if (!warp.mixed)
    std::memcpy(brought + size_t(thread % kLanes) * bytes, mine, bytes);
  if (++warp.arrived == kLanes && !warp.mixed) {
    warp.arrived = 0;
    warp.turn ^= 1;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      runner->all[thread / kLanes * kLanes + lane]->state = State::Ready;
    return brought;
  }
  runner->all[thread]->state = State::AtWarp;
  runner->giveWay();
  return brought;
}

// The builtins keep no register but the frame and the stack. So what calls them must be a call to
// its callers too, one of which nothing is known: neither inlined nor looked into for the registers
// that it leaves alone.
#ifdef __clang__
#define K3_OPAQUE __attribute__((noinline))
#else
#define K3_OPAQUE __attribute__((noipa))
#endif

K3_OPAQUE static void jump(void **to) { __builtin_longjmp(to, 1); }

K3_OPAQUE void BlockRunner::giveWay() {
  if (__builtin_setjmp(all[machine.thread]->place) == 0)
    jump(scheduler);
}

K3_OPAQUE void BlockRunner::resume(unsigned thread) {
  machine.thread = thread;
  Thread &next = *all[thread];
  if (__builtin_setjmp(scheduler) != 0)
    return;
  if (next.entered)
    jump(next.place);
  next.entered = true;
  setcontext(&next.first);
}

void BlockRunner::makeThreads(unsigned count) {
  while (all.size() < count) {
    auto thread = std::make_unique<Thread>();
    getcontext(&thread->first);
    thread->first.uc_stack.ss_sp = thread->stack.data();
    thread->first.uc_stack.ss_size = thread->stack.size();
    thread->first.uc_link = nullptr;
    makecontext(&thread->first, enterThread, 0);
    all.push_back(std::move(thread));
  }
  warps.resize(std::max<size_t>(warps.size(), count / kLanes));
}

/// The warps in some order, and the lanes of each in some order: lanes of different warps meet only
/// at barriers, so that a warp is best run until it stands.
void BlockRunner::sortThreads(unsigned count) {
  bool same = sorted.size() == count && order.kind != Order::Shuffled;
  if (same)
    return;
  sorted.resize(count);
  std::iota(sorted.begin(), sorted.end(), 0);
  if (order.kind == Order::Backward)
    std::reverse(sorted.begin(), sorted.end());
  if (order.kind != Order::Shuffled)
    return;
  std::vector<unsigned> order(count / kLanes);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  for (unsigned i = 0; i < order.size(); ++i) {
    unsigned *lanes = sorted.data() + i * kLanes;
    std::iota(lanes, lanes + kLanes, order[i] * kLanes);
    std::shuffle(lanes, lanes + kLanes, random);
  }
}

const char *BlockRunner::run(k3_emulated_entry newEntry, void **newParameters, unsigned block,
                             unsigned threads) {
  makeThreads(threads);
  sortThreads(threads);
  entry = newEntry;
  parameters = newParameters;
  machine.block = block;
  for (unsigned i = 0; i < threads; ++i)
    all[i]->state = State::Ready;
  for (;;) {
    // Each warp as far as it comes.
    for (unsigned first = 0; first < threads; first += kLanes)
      for (bool moved = true; moved;) {
        moved = false;
        for (unsigned i = first; i < first + kLanes; ++i)
          if (all[sorted[i]]->state == State::Ready) {
            resume(sorted[i]);
            moved = true;
          }
      }
    unsigned done = 0, waiting = 0;
    for (unsigned i = 0; i < threads; ++i) {
      done += all[i]->state == State::Done;
      waiting += all[i]->state == State::AtBarrier;
    }
    if (done == threads)
      return nullptr;
    if (waiting != threads) {
      // They stay where they are: the coroutines are of no more use.
      all.clear();
      warps.clear();
      sorted.clear();
      return waiting + done == threads
                 ? "emulator: threads of a block wait at a barrier that others never reach"
                 : "emulator: lanes of a warp wait for others that never come";
    }
    for (unsigned i = 0; i < threads; ++i)
      all[i]->state = State::Ready;
  }
}

} // namespace k3::emulator
