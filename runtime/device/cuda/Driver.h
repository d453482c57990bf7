//===- Driver.h - NVIDIA's driver, opened at run time -----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of libcuda that the device uses, in one list. Nothing of CUDA is needed to build
// this, and a machine without a driver gets one sentence.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_DEVICE_CUDA_DRIVER_H
#define K3_RUNTIME_DEVICE_CUDA_DRIVER_H

#include "support/Status.h"

#include <cstddef>
#include <cstdint>

namespace k3 {

using CudaAddress = unsigned long long;
using CudaHandle = void *;

/// A kernel in a graph, as the driver wants it.
struct CudaKernelNode {
  CudaHandle function;
  unsigned gridX, gridY, gridZ;
  unsigned blockX, blockY, blockZ;
  unsigned sharedBytes;
  void **parameters;
  void **extra;
  CudaHandle kernel;
  CudaHandle context;
};

// Name in this table, name in the library, parameters. A `_v2` is what the headers of CUDA 12 and
// 13 give the plain name.
#define K3_CUDA_FUNCTIONS(F)                                                                       \
  F(init, "cuInit", (unsigned flags))                                                              \
  F(driverVersion, "cuDriverGetVersion", (int *version))                                           \
  F(errorString, "cuGetErrorString", (int code, const char **text))                                \
  F(deviceCount, "cuDeviceGetCount", (int *count))                                                 \
  F(deviceGet, "cuDeviceGet", (int *device, int ordinal))                                          \
  F(deviceName, "cuDeviceGetName", (char *name, int length, int device))                           \
  F(deviceAttribute, "cuDeviceGetAttribute", (int *value, int attribute, int device))              \
  F(retainContext, "cuDevicePrimaryCtxRetain", (CudaHandle * context, int device))                 \
  F(releaseContext, "cuDevicePrimaryCtxRelease_v2", (int device))                                  \
  F(setContext, "cuCtxSetCurrent", (CudaHandle context))                                           \
  F(allocate, "cuMemAlloc_v2", (CudaAddress * address, size_t bytes))                              \
  F(free, "cuMemFree_v2", (CudaAddress address))                                                   \
  F(allocateHost, "cuMemAllocHost_v2", (void **address, size_t bytes))                             \
  F(freeHost, "cuMemFreeHost", (void *address))                                                    \
  F(toDevice, "cuMemcpyHtoDAsync_v2",                                                              \
    (CudaAddress to, const void *from, size_t bytes, CudaHandle stream))                           \
  F(toHost, "cuMemcpyDtoHAsync_v2", (void *to, CudaAddress from, size_t bytes, CudaHandle stream)) \
  F(copy, "cuMemcpyDtoDAsync_v2",                                                                  \
    (CudaAddress to, CudaAddress from, size_t bytes, CudaHandle stream))                           \
  F(fill, "cuMemsetD8Async",                                                                       \
    (CudaAddress to, unsigned char value, size_t bytes, CudaHandle stream))                        \
  F(streamCreate, "cuStreamCreate", (CudaHandle * stream, unsigned flags))                         \
  F(streamDestroy, "cuStreamDestroy_v2", (CudaHandle stream))                                      \
  F(streamWait, "cuStreamSynchronize", (CudaHandle stream))                                        \
  F(eventCreate, "cuEventCreate", (CudaHandle * event, unsigned flags))                            \
  F(eventDestroy, "cuEventDestroy_v2", (CudaHandle event))                                         \
  F(eventRecord, "cuEventRecord", (CudaHandle event, CudaHandle stream))                           \
  F(eventWait, "cuEventSynchronize", (CudaHandle event))                                           \
  F(moduleLoad, "cuModuleLoadData", (CudaHandle * module, const void *image))                      \
  F(moduleUnload, "cuModuleUnload", (CudaHandle module))                                           \
  F(moduleFunction, "cuModuleGetFunction",                                                         \
    (CudaHandle * function, CudaHandle module, const char *name))                                  \
  F(functionAttribute, "cuFuncSetAttribute", (CudaHandle function, int attribute, int value))      \
  F(launch, "cuLaunchKernel",                                                                      \
    (CudaHandle function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,         \
     unsigned blockY, unsigned blockZ, unsigned sharedBytes, CudaHandle stream, void **parameters, \
     void **extra))                                                                                \
  F(graphCreate, "cuGraphCreate", (CudaHandle * graph, unsigned flags))                            \
  F(graphDestroy, "cuGraphDestroy", (CudaHandle graph))                                            \
  F(graphAddKernel, "cuGraphAddKernelNode_v2",                                                     \
    (CudaHandle * node, CudaHandle graph, const CudaHandle *after, size_t count,                   \
     const CudaKernelNode *kernel))                                                                \
  F(graphInstantiate, "cuGraphInstantiateWithFlags",                                               \
    (CudaHandle * executable, CudaHandle graph, unsigned long long flags))                         \
  F(graphLaunch, "cuGraphLaunch", (CudaHandle executable, CudaHandle stream))                      \
  F(graphExecDestroy, "cuGraphExecDestroy", (CudaHandle executable))

struct CudaDriver {
#define K3_CUDA_MEMBER(name, symbol, parameters) int(*name) parameters = nullptr;
  K3_CUDA_FUNCTIONS(K3_CUDA_MEMBER)
#undef K3_CUDA_MEMBER

  /// Opens the library, once a process.
  static Result<const CudaDriver *> open();
  /// A failure that says what was attempted and the driver's words for CODE; ok for 0.
  Status check(int code, const char *what) const;
};

} // namespace k3

#endif // K3_RUNTIME_DEVICE_CUDA_DRIVER_H
