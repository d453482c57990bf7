//===- plan_seed.cpp - First input of plan_fuzz ---------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the test plan, so that fuzzing begins with a file that has one of everything.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/TestPlan.h"
#include "support/File.h"
#include "support/Log.h"

int main(int argc, char **argv) {
  if (argc != 2)
    return k3::reportStatus(
        k3::Status::refused("plan_seed: takes one argument, the file to write"));
  return k3::reportStatus(k3::writeFileAtomic(argv[1], k3::makeTestPlan().bytes()));
}
