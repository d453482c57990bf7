//===- Driver.cpp - NVIDIA's driver, opened at run time -------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library stays open until the process ends: the driver's own threads run in it.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cuda/Driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

using namespace k3;

/// The first driver of CUDA 12, whose graphs and launches the device uses.
static constexpr int OldestDriver = 12000;

static Result<CudaDriver> openLibrary() {
  void *library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Status::failed("cuda: this machine has no NVIDIA driver (libcuda.so.1 was not found); "
                          "install it or rebuild the plan with --target cpu");
  CudaDriver driver;
  const char *missing = nullptr;
#define K3_CUDA_BIND(name, symbol, parameters)                                                     \
  driver.name = reinterpret_cast<int(*) parameters>(::dlsym(library, symbol));                     \
  if (!driver.name && !missing)                                                                    \
    missing = symbol;
  K3_CUDA_FUNCTIONS(K3_CUDA_BIND)
#undef K3_CUDA_BIND
  int version = 0;
  if (driver.driverVersion)
    driver.driverVersion(&version);
  if (missing || version < OldestDriver)
    return Status::failed(fmt::format(
        "cuda: the NVIDIA driver is too old (got CUDA {}.{}, expected at least {}.0{}); update it "
        "or rebuild the plan with --target cpu",
        version / 1000, version % 1000 / 10, OldestDriver / 1000,
        missing ? fmt::format(", {} is missing", missing) : ""));
  return driver;
}

Result<const CudaDriver *> CudaDriver::open() {
  static const Result<CudaDriver> driver = openLibrary();
  if (!driver)
    return driver.status();
  return &*driver;
}

Status CudaDriver::check(int code, const char *what) const {
  if (code == 0)
    return Status::ok();
  const char *text = nullptr;
  if (errorString(code, &text) != 0 || !text)
    text = "unknown error";
  return Status::failed(fmt::format("cuda: {} failed: {} (error {})", what, text, code));
}
