//===- CpuDevice.cpp - Memory and kernels on the CPU ------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arenas are private mappings, so that the kernel hands out zeroed pages when they are first
// written and a plan that does not fit fails here and not in the middle of a step.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/CpuDevice.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>
#include <utility>

using namespace k3;

/// From this size on an arena asks for huge pages; below, they would waste more than they save.
static constexpr uint64_t HugeFrom = 16u << 20;
static constexpr uint64_t HugePage = 2u << 20;

Result<HostArena> HostArena::create(uint64_t size, uint64_t alignment, std::string_view name) {
  HostArena arena;
  arena.size_ = size;
  if (size == 0)
    return arena;
  alignment = std::max<uint64_t>(alignment, size >= HugeFrom ? HugePage : 64);
  if (__builtin_add_overflow(size, alignment, &arena.mapped_))
    return Status::failed(fmt::format("{}: cannot allocate {} bytes", name, size));
  void *mapping =
      ::mmap(nullptr, arena.mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    return Status::failed(
        fmt::format("{}: cannot allocate {} bytes: {}; free memory or compile a smaller plan", name,
                    size, std::strerror(errno)));
  }
  arena.mapping_ = mapping;
  const uint64_t address = reinterpret_cast<uint64_t>(mapping);
  arena.data_ = static_cast<std::byte *>(mapping) +
                ((address + alignment - 1) / alignment * alignment - address);
  if (size >= HugeFrom)
    ::madvise(arena.data_, size, MADV_HUGEPAGE); // a hint: small pages are slower, not wrong
  return arena;
}

HostArena::HostArena(HostArena &&other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)), mapped_(other.mapped_),
      data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

HostArena &HostArena::operator=(HostArena &&other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_, other.mapped_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

HostArena::~HostArena() {
  if (mapping_)
    ::munmap(mapping_, mapped_);
}

Result<std::unique_ptr<CpuDevice>> CpuDevice::create(unsigned threads) {
  std::unique_ptr<CpuDevice> device(new CpuDevice);
  K3_ASSIGN_OR_RETURN(device->pool_, ThreadPool::create(threads));
  return device;
}

Result<size_t> CpuDevice::addImage(std::string_view bytes, const std::string &name) {
  K3_ASSIGN_OR_RETURN(SharedObject object, SharedObject::open(bytes, name));
  images_.push_back(std::move(object));
  return images_.size() - 1;
}

Result<CpuKernel> CpuDevice::kernel(size_t image, const std::string &symbol) const {
  K3_ASSIGN_OR_RETURN(void *address, images_[image].symbol(symbol));
  return reinterpret_cast<CpuKernel>(address);
}

void CpuDevice::launch(CpuKernel kernel, const uint64_t *params, int64_t gridX, int64_t gridY,
                       int64_t gridZ) {
  const int64_t blocks = gridX * gridY * gridZ;
  if (blocks <= 0)
    return;
  if (blocks == 1)
    return kernel(params, gridX, gridY, 0, 1);
  struct Launch {
    CpuKernel kernel;
    const uint64_t *params;
    int64_t gridX, gridY;
  } launch{kernel, params, gridX, gridY};
  // A few chunks for each thread: enough that a thread which is interrupted delays little, few
  // enough that taking them costs nothing.
  const int64_t grain = std::max<int64_t>(1, blocks / (static_cast<int64_t>(pool_->threads()) * 8));
  pool_->parallelFor(
      blocks, grain,
      [](void *context, int64_t begin, int64_t end) {
        const Launch *launch = static_cast<const Launch *>(context);
        launch->kernel(launch->params, launch->gridX, launch->gridY, begin, end);
      },
      &launch);
}
