//===- CudaDevice.h - Memory and kernels on a GPU ---------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a plan needs of a GPU: one allocation for each arena, its kernels, copies, and one stream in
// which all of it runs in order. It knows neither plans nor models.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
#define K3_RUNTIME_DEVICE_CUDA_CUDADEVICE_H

#include "runtime/device/cuda/Driver.h"
#include "support/Status.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace k3 {

class CudaDevice {
public:
  /// Opens GPU 0 for code of TARGET, "sm_90a"; another architecture is refused by name.
  static Result<std::unique_ptr<CudaDevice>> create(std::string_view target);
  ~CudaDevice();
  CudaDevice(const CudaDevice &) = delete;
  CudaDevice &operator=(const CudaDevice &) = delete;

  /// SIZE zeroed bytes, at a multiple of 256. NAME is for messages.
  Result<std::byte *> allocate(uint64_t size, std::string_view name);
  /// Loads a kernel out of the cubin in BYTES; returns its number.
  Result<size_t> addKernel(std::string_view bytes, const std::string &name, uint32_t threads,
                           uint64_t sharedBytes);

  /// Runs a kernel over the grid, its blocks in one dimension. PARAMS are those of the plan; the
  /// extents of the grid follow them. A zero means nothing to do.
  Status launch(size_t kernel, std::span<const uint64_t> params, int64_t gridX, int64_t gridY,
                int64_t gridZ);
  /// TO and FROM are addresses of the GPU; so is TO of `fill`.
  Status copy(std::byte *to, const std::byte *from, uint64_t bytes);
  Status fill(std::byte *to, uint8_t value, uint64_t bytes);
  /// To the GPU and back. The host's memory may be reused when `send` returns and is filled when
  /// `fetch` returns.
  Status send(std::byte *to, const std::byte *from, uint64_t bytes);
  Status fetch(std::byte *to, const std::byte *from, uint64_t bytes);
  /// Sends BYTES bytes that MAKE writes, part by part: MAKE(part, offset, bytes) writes bytes from
  /// OFFSET on into pinned memory. One part is made while the one before it is on its way.
  Status sendMade(std::byte *to, uint64_t bytes,
                  const std::function<Status(std::byte *, uint64_t, uint64_t)> &make);
  /// Waits for all that was asked for.
  Status finish();

  /// From here to `endGraph` launches are noted as nodes, one after the other, and do not run.
  Status beginGraph();
  /// The number of the graph.
  Result<size_t> endGraph();
  Status launchGraph(size_t graph);

  const std::string &name() const { return name_; }
  /// Seconds spent in `finish` so far.
  double waitSeconds() const { return waitSeconds_; }

private:
  struct Kernel {
    CudaHandle function;
    std::string name;
    uint32_t threads;
    uint32_t sharedBytes;
  };
  explicit CudaDevice(const CudaDriver &driver) : driver_(driver) {}
  Status openGpu(std::string_view target);

  const CudaDriver &driver_;
  std::string name_;
  int device_ = 0;
  CudaHandle context_ = nullptr;
  CudaHandle stream_ = nullptr;
  std::byte *staging_ = nullptr; // pinned
  CudaHandle halfSent_[2] = {};  // events: a half of it has been sent
  std::vector<CudaHandle> modules_;
  std::vector<Kernel> kernels_;
  std::vector<CudaAddress> arenas_;
  std::vector<uint64_t> params_;
  std::vector<void *> pointers_;
  double waitSeconds_ = 0;
  CudaHandle building_ = nullptr; // the graph that launches go into
  CudaHandle lastNode_ = nullptr;
  std::vector<CudaHandle> graphs_;
};

} // namespace k3

#endif // K3_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
