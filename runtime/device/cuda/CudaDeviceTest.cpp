//===- CudaDeviceTest.cpp - Tests of the GPU device ---------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without a GPU the device says so in one sentence; with one, memory goes there and comes back.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cuda/CudaDevice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace k3;
using testing::AnyOf;
using testing::HasSubstr;

namespace {

TEST(CudaDevice, MissingOrOtherGpuIsOneSentence) {
  // No machine has a GPU of this architecture.
  auto device = CudaDevice::create("sm_19a");
  ASSERT_FALSE(device);
  EXPECT_THAT(device.status().message(),
              AnyOf(HasSubstr("has no NVIDIA driver"), HasSubstr("driver is too old"),
                    HasSubstr("no GPU that it can use"), HasSubstr("is for another GPU")));
  EXPECT_EQ(device.status().message().find('\n'), std::string::npos);
}

} // namespace
