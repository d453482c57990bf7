//===- fault.h - Chooses a mistake at run time -------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Included only by the patched copy of the compiler that run.py builds: one build then holds every
// mistake, and K3_FAULT in the environment names the one to make.
//
//===----------------------------------------------------------------------===//

#ifndef K3_TESTS_FAULTS_FAULT_H
#define K3_TESTS_FAULTS_FAULT_H

#include <cstdlib>
#include <cstring>

namespace k3 {

inline bool fault(const char *name) {
  const char *chosen = std::getenv("K3_FAULT");
  return chosen && std::strcmp(chosen, name) == 0;
}

} // namespace k3

#endif // K3_TESTS_FAULTS_FAULT_H
