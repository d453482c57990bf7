//===- TestModelKernel.h - The kernel of the test model ---------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the one kernel of the plan that TestModel.h builds, and how many parameters it has.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_EXEC_TESTMODELKERNEL_H
#define K3_RUNTIME_EXEC_TESTMODELKERNEL_H

#include <cstddef>
#include <cstdint>

namespace k3 {
inline constexpr uint64_t TestVocabulary = 11;
inline constexpr size_t TestStateSize = 6; // [1 head, 2 values, 3 keys]
inline constexpr size_t TestModelBuffers = 13, TestModelParams = 17;
} // namespace k3

extern "C" void k3_test_add_up_ids(const uint64_t *params, int64_t gridX, int64_t gridY,
                                   int64_t begin, int64_t end);

#endif // K3_RUNTIME_EXEC_TESTMODELKERNEL_H
