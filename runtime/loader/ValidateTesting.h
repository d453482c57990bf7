//===- ValidateTesting.h - How a changed test plan is refused ---*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by the tests of validation: one macro that changes the test plan and expects one sentence.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_LOADER_VALIDATETESTING_H
#define K3_RUNTIME_LOADER_VALIDATETESTING_H

#include "runtime/loader/Plan.h"
#include "runtime/loader/TestPlan.h"

#include <gtest/gtest.h>

namespace k3 {

/// The sentence with which TEST is refused; empty when it is not.
inline std::string refusalOf(TestPlan &test) {
  Status status = parsePlan(test.bytes(), "t.k3plan").status();
  EXPECT_NE(status.code(), Code::Failed);
  return status.message();
}

} // namespace k3

/// The test plan `t`, changed by the rest of the arguments, is refused in SECTION with WHAT.
#define EXPECT_REFUSED(SECTION, WHAT, ...)                                                         \
  do {                                                                                             \
    TestPlan t = makeTestPlan();                                                                   \
    __VA_ARGS__;                                                                                   \
    EXPECT_EQ(refusalOf(t), std::string("t.k3plan: section '" SECTION "': ") + WHAT +              \
                                "; rebuild the plan with k3c");                                    \
  } while (false)

#endif // K3_RUNTIME_LOADER_VALIDATETESTING_H
