//===- Memory.h - The arenas and buffers of a program -----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Allocates what a program asks for, once, and knows the address of each of its buffers from then
// on.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_EXEC_MEMORY_H
#define K3_RUNTIME_EXEC_MEMORY_H

#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/schema/plan_generated.h"
#include "support/Status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace k3 {

class Memory {
public:
  static Result<Memory> allocate(const plan::Program &program);
  /// The same on a GPU: addresses are the GPU's and the device owns what they point to.
  static Result<Memory> allocate(const plan::Program &program, CudaDevice &device);

  std::byte *address(uint32_t buffer) const { return addresses_[buffer]; }
  std::span<std::byte *const> addresses() const { return addresses_; }
  /// Fills all scratch with 0xFF, which is NaN in every float type: a read of what was not written
  /// shows.
  void poisonScratch();
  Status poisonScratch(CudaDevice &device) const;

private:
  struct Owned {
    plan::ArenaClass cls;
    HostArena arena;
  };
  struct OnDevice {
    plan::ArenaClass cls;
    std::byte *data;
    uint64_t size;
  };
  std::vector<Owned> arenas_;
  std::vector<OnDevice> deviceArenas_;
  std::vector<std::byte *> addresses_;
};

} // namespace k3

#endif // K3_RUNTIME_EXEC_MEMORY_H
