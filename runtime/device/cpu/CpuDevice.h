//===- CpuDevice.h - Memory and kernels on the CPU --------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a plan needs of a processor: one allocation for each arena, entry points for its kernels,
// and launches over a thread pool. It knows neither plans nor models.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_DEVICE_CPU_CPUDEVICE_H
#define K3_RUNTIME_DEVICE_CPU_CPUDEVICE_H

#include "runtime/device/cpu/SharedObject.h"
#include "runtime/device/cpu/ThreadPool.h"
#include "support/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace k3 {

/// Runs blocks begin..end-1 of the linear grid, x fastest.
using CpuKernel = void (*)(const uint64_t *params, int64_t gridX, int64_t gridY, int64_t begin,
                           int64_t end);

/// Zeroed memory of its own mapping, freed with the object.
class HostArena {
public:
  /// SIZE bytes at a multiple of ALIGNMENT, a power of two. NAME is for messages.
  static Result<HostArena> create(uint64_t size, uint64_t alignment, std::string_view name);
  HostArena() = default;
  HostArena(HostArena &&other) noexcept;
  HostArena &operator=(HostArena &&other) noexcept;
  ~HostArena();

  std::byte *data() const { return data_; }
  uint64_t size() const { return size_; }

private:
  void *mapping_ = nullptr;
  uint64_t mapped_ = 0;
  std::byte *data_ = nullptr;
  uint64_t size_ = 0;
};

class CpuDevice {
public:
  static Result<std::unique_ptr<CpuDevice>> create(unsigned threads);

  /// Opens a shared object of kernels and keeps it; returns its number.
  Result<size_t> addImage(std::string_view bytes, const std::string &name);
  Result<CpuKernel> kernel(size_t image, const std::string &symbol) const;

  /// Runs a kernel over gridX × gridY × gridZ blocks and returns when it is done. A zero means
  /// nothing to do.
  void launch(CpuKernel kernel, const uint64_t *params, int64_t gridX, int64_t gridY,
              int64_t gridZ);

  unsigned threads() const { return pool_->threads(); }

private:
  CpuDevice() = default;
  std::unique_ptr<ThreadPool> pool_;
  std::vector<SharedObject> images_;
};

} // namespace k3

#endif // K3_RUNTIME_DEVICE_CPU_CPUDEVICE_H
