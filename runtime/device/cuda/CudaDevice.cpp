//===- CudaDevice.cpp - Memory and kernels on a GPU -----------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One stream runs everything in the order of the calls. Copies from and to ordinary memory go
// through one pinned buffer, so their size does not matter to the host.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cuda/CudaDevice.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

using namespace k3;

static constexpr uint64_t StagingBytes = 32u << 20;
// Numbers of the driver's interface.
static constexpr int ComputeMajor = 75, ComputeMinor = 76;
static constexpr int MaxDynamicShared = 8;
static constexpr unsigned NoTiming = 2;
static constexpr uint64_t MostBlocks = 2147483647;

Result<std::unique_ptr<CudaDevice>> CudaDevice::create(std::string_view target) {
  K3_ASSIGN_OR_RETURN(const CudaDriver *driver, CudaDriver::open());
  std::unique_ptr<CudaDevice> device(new CudaDevice(*driver));
  K3_RETURN_IF_ERROR(device->openGpu(target));
  return device;
}

Status CudaDevice::openGpu(std::string_view target) {
  int count = 0;
  if (driver_.init(0) != 0 || driver_.deviceCount(&count) != 0 || count == 0)
    return Status::failed("cuda: this machine has a driver but no GPU that it can use; see "
                          "nvidia-smi, or rebuild the plan with --target cpu");
  K3_RETURN_IF_ERROR(driver_.check(driver_.deviceGet(&device_, 0), "opening GPU 0"));
  char name[256] = {};
  driver_.deviceName(name, sizeof name - 1, device_);
  name_ = name;
  int major = 0, minor = 0;
  driver_.deviceAttribute(&major, ComputeMajor, device_);
  driver_.deviceAttribute(&minor, ComputeMinor, device_);
  // "sm_90a": one digit of minor, then what only this very architecture has. Without a letter code
  // runs on later minors too.
  const int wanted =
      std::atoi(std::string(target.substr(std::min<size_t>(3, target.size()))).c_str());
  const int own = major * 10 + minor;
  const bool exact = target.ends_with('a');
  if (exact ? own != wanted : own / 10 != wanted / 10 || own < wanted)
    return Status::refused(fmt::format(
        "cuda: the plan is for another GPU (got {}, which is sm_{}, expected {}); rebuild it with "
        "--target for this one",
        name_, own, target));
  K3_RETURN_IF_ERROR(
      driver_.check(driver_.retainContext(&context_, device_), "opening a context on the GPU"));
  K3_RETURN_IF_ERROR(driver_.check(driver_.setContext(context_), "entering the GPU's context"));
  K3_RETURN_IF_ERROR(driver_.check(driver_.streamCreate(&stream_, 1), "opening a stream"));
  void *staging = nullptr;
  K3_RETURN_IF_ERROR(
      driver_.check(driver_.allocateHost(&staging, StagingBytes), "pinning memory for copies"));
  staging_ = static_cast<std::byte *>(staging);
  for (CudaHandle &event : halfSent_)
    K3_RETURN_IF_ERROR(driver_.check(driver_.eventCreate(&event, NoTiming), "making an event"));
  return Status::ok();
}

CudaDevice::~CudaDevice() {
  if (!context_)
    return;
  if (stream_)
    driver_.streamWait(stream_);
  for (CudaHandle graph : graphs_)
    driver_.graphExecDestroy(graph);
  if (building_)
    driver_.graphDestroy(building_);
  for (CudaHandle module : modules_)
    driver_.moduleUnload(module);
  for (CudaAddress arena : arenas_)
    driver_.free(arena);
  if (staging_)
    driver_.freeHost(staging_);
  for (CudaHandle event : halfSent_)
    if (event)
      driver_.eventDestroy(event);
  if (stream_)
    driver_.streamDestroy(stream_);
  driver_.releaseContext(device_);
}

Result<std::byte *> CudaDevice::allocate(uint64_t size, std::string_view name) {
  if (size == 0)
    return nullptr;
  CudaAddress address = 0;
  if (driver_.allocate(&address, size) != 0)
    return Status::failed(fmt::format(
        "{}: cannot allocate {} bytes on {}; free memory of the GPU or compile a smaller plan",
        name, size, name_));
  arenas_.push_back(address);
  std::byte *result = reinterpret_cast<std::byte *>(address);
  K3_RETURN_IF_ERROR(fill(result, 0, size));
  return result;
}

Result<size_t> CudaDevice::addKernel(std::string_view bytes, const std::string &name,
                                     uint32_t threads, uint64_t sharedBytes) {
  CudaHandle module = nullptr;
  // The driver reads the size from the image's own header.
  K3_RETURN_IF_ERROR(
      driver_.check(driver_.moduleLoad(&module, bytes.data()), ("loading kernel " + name).c_str()));
  modules_.push_back(module);
  Kernel kernel{nullptr, name, threads, static_cast<uint32_t>(sharedBytes)};
  K3_RETURN_IF_ERROR(driver_.check(driver_.moduleFunction(&kernel.function, module, name.c_str()),
                                   ("finding kernel " + name).c_str()));
  if (sharedBytes > 48 * 1024)
    K3_RETURN_IF_ERROR(driver_.check(
        driver_.functionAttribute(kernel.function, MaxDynamicShared, static_cast<int>(sharedBytes)),
        ("asking for the shared memory of " + name).c_str()));
  kernels_.push_back(std::move(kernel));
  return kernels_.size() - 1;
}

Status CudaDevice::launch(size_t number, std::span<const uint64_t> params, int64_t gridX,
                          int64_t gridY, int64_t gridZ) {
  const Kernel &kernel = kernels_[number];
  const int64_t blocks = gridX * gridY * gridZ;
  if (blocks <= 0)
    return Status::ok();
  if (static_cast<uint64_t>(blocks) > MostBlocks)
    return Status::failed(fmt::format("{}: a grid is too large for a GPU (got {} blocks, expected "
                                      "at most {}); compile with a smaller --max-tokens",
                                      kernel.name, blocks, MostBlocks));
  params_.assign(params.begin(), params.end());
  params_.push_back(static_cast<uint64_t>(gridX));
  params_.push_back(static_cast<uint64_t>(gridY));
  pointers_.clear();
  for (uint64_t &param : params_)
    pointers_.push_back(&param);
  if (building_) {
    // The driver copies the parameters into the node.
    const CudaKernelNode node{kernel.function,
                              static_cast<unsigned>(blocks),
                              1,
                              1,
                              kernel.threads,
                              1,
                              1,
                              kernel.sharedBytes,
                              pointers_.data(),
                              nullptr,
                              nullptr,
                              nullptr};
    CudaHandle added = nullptr;
    K3_RETURN_IF_ERROR(driver_.check(
        driver_.graphAddKernel(&added, building_, &lastNode_, lastNode_ ? 1 : 0, &node),
        "adding a kernel to a graph"));
    lastNode_ = added;
    return Status::ok();
  }
  const int code =
      driver_.launch(kernel.function, static_cast<unsigned>(blocks), 1, 1, kernel.threads, 1, 1,
                     kernel.sharedBytes, stream_, pointers_.data(), nullptr);
  return code == 0 ? Status::ok() : driver_.check(code, ("launching " + kernel.name).c_str());
}

Status CudaDevice::copy(std::byte *to, const std::byte *from, uint64_t bytes) {
  if (bytes == 0 || to == from)
    return Status::ok();
  return driver_.check(driver_.copy(reinterpret_cast<CudaAddress>(to),
                                    reinterpret_cast<CudaAddress>(from), bytes, stream_),
                       "copying on the GPU");
}

Status CudaDevice::fill(std::byte *to, uint8_t value, uint64_t bytes) {
  if (bytes == 0)
    return Status::ok();
  return driver_.check(driver_.fill(reinterpret_cast<CudaAddress>(to), value, bytes, stream_),
                       "filling GPU memory");
}

Status CudaDevice::send(std::byte *to, const std::byte *from, uint64_t bytes) {
  for (uint64_t done = 0; done < bytes; done += StagingBytes) {
    const uint64_t part = std::min(StagingBytes, bytes - done);
    // The buffer may still be on its way to the GPU.
    K3_RETURN_IF_ERROR(finish());
    std::memcpy(staging_, from + done, part);
    K3_RETURN_IF_ERROR(driver_.check(
        driver_.toDevice(reinterpret_cast<CudaAddress>(to + done), staging_, part, stream_),
        "copying to the GPU"));
  }
  return Status::ok();
}

Status CudaDevice::fetch(std::byte *to, const std::byte *from, uint64_t bytes) {
  for (uint64_t done = 0; done < bytes; done += StagingBytes) {
    const uint64_t part = std::min(StagingBytes, bytes - done);
    K3_RETURN_IF_ERROR(finish());
    K3_RETURN_IF_ERROR(driver_.check(
        driver_.toHost(staging_, reinterpret_cast<CudaAddress>(from + done), part, stream_),
        "copying from the GPU"));
    K3_RETURN_IF_ERROR(finish());
    std::memcpy(to + done, staging_, part);
  }
  return Status::ok();
}

Status CudaDevice::sendMade(std::byte *to, uint64_t bytes,
                            const std::function<Status(std::byte *, uint64_t, uint64_t)> &make) {
  K3_RETURN_IF_ERROR(finish());
  constexpr uint64_t Half = StagingBytes / 2;
  for (uint64_t done = 0, number = 0; done < bytes; done += Half, ++number) {
    const uint64_t half = number % 2, part = std::min(Half, bytes - done);
    // Two parts ago this half was sent; it may still be read.
    if (number >= 2)
      K3_RETURN_IF_ERROR(
          driver_.check(driver_.eventWait(halfSent_[half]), "waiting for a copy to the GPU"));
    K3_RETURN_IF_ERROR(make(staging_ + half * Half, done, part));
    K3_RETURN_IF_ERROR(driver_.check(driver_.toDevice(reinterpret_cast<CudaAddress>(to + done),
                                                      staging_ + half * Half, part, stream_),
                                     "copying to the GPU"));
    K3_RETURN_IF_ERROR(
        driver_.check(driver_.eventRecord(halfSent_[half], stream_), "marking a copy to the GPU"));
  }
  return finish();
}

Status CudaDevice::finish() {
  const auto start = std::chrono::steady_clock::now();
  const int code = driver_.streamWait(stream_);
  waitSeconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return code == 0 ? Status::ok() : driver_.check(code, "a step on the GPU");
}

Status CudaDevice::beginGraph() {
  lastNode_ = nullptr;
  return driver_.check(driver_.graphCreate(&building_, 0), "making a graph");
}

Result<size_t> CudaDevice::endGraph() {
  CudaHandle executable = nullptr;
  const int code = driver_.graphInstantiate(&executable, building_, 0);
  driver_.graphDestroy(building_);
  building_ = nullptr;
  K3_RETURN_IF_ERROR(driver_.check(code, "preparing a graph"));
  graphs_.push_back(executable);
  return graphs_.size() - 1;
}

Status CudaDevice::launchGraph(size_t graph) {
  return driver_.check(driver_.graphLaunch(graphs_[graph], stream_), "launching a graph");
}
