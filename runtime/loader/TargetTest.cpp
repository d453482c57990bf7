//===- TargetTest.cpp - Tests of the target check -------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan for this machine is taken; each way of being for another one is named.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/HostCpu.h"
#include "runtime/loader/Plan.h"
#include "runtime/loader/TestPlan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace k3 {
namespace {

std::string check(TestPlan &test) {
  Result<LoadedPlan> loaded = parsePlan(test.bytes(), "t.k3plan");
  EXPECT_TRUE(loaded.isOk()) << loaded.status().message();
  Status status = checkTarget(*loaded);
  EXPECT_NE(status.code(), Code::Failed);
  return status.message();
}

TEST(HostCpu, listIsSortedAndHasTheBaseline) {
  const std::vector<std::string> &features = hostCpuFeatures();
  EXPECT_TRUE(std::is_sorted(features.begin(), features.end()));
  if (hostArchitecture() == "x86_64") {
    EXPECT_THAT(features, testing::IsSupersetOf({"cmov", "sse", "sse2"}));
  }
}

TEST(Target, thisMachineIsTaken) {
  TestPlan test = makeTestPlan();
  test.plan.target->triple = std::string(hostArchitecture()) + "-unknown-linux-gnu";
  test.plan.target->features = hostCpuFeatures();
  EXPECT_EQ(check(test), "");
}

TEST(Target, missingFeaturesAreListed) {
  TestPlan test = makeTestPlan();
  test.plan.target->name = "cpu-native";
  test.plan.target->triple = std::string(hostArchitecture()) + "-unknown-linux-gnu";
  test.plan.target->features = {"avx9", "warp"};
  EXPECT_EQ(
      check(test),
      "t.k3plan: target 'cpu-native': needs CPU features that this machine lacks (got none of avx9 "
      "warp, expected all of them); rebuild the plan with k3c --target cpu");
}

TEST(Target, otherArchitecture) {
  TestPlan test = makeTestPlan();
  test.plan.target->triple = "riscv64-unknown-linux-gnu";
  EXPECT_EQ(check(test),
            "t.k3plan: target 'cpu': is for another architecture (got riscv64, expected " +
                std::string(hostArchitecture()) + "); rebuild the plan with k3c --target cpu");
}

TEST(Target, otherDevice) {
  TestPlan test = makeTestPlan();
  test.plan.images[0]->kind = plan::ImageKind::Cubin;
  EXPECT_EQ(check(test),
            "t.k3plan: target 'cpu': needs another device (got an image of kind Cubin, expected "
            "CpuSharedObject); rebuild the plan with k3c --target cpu");
  test.plan.target->name = "sm_90a";
  EXPECT_EQ(check(test), "");
  test.plan.images[0]->kind = plan::ImageKind::CpuSharedObject;
  EXPECT_EQ(check(test),
            "t.k3plan: target 'sm_90a': needs another device (got an image of kind "
            "CpuSharedObject, expected Cubin); rebuild the plan with k3c --target cpu");
}

} // namespace
} // namespace k3
