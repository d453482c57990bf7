//===- Verify.cpp - The checks at the end of a phase ----------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the checks of dialects/k3/Verify.h as a pass, for pipelines and for tests.
//
//===----------------------------------------------------------------------===//

#include "dialects/k3/Verify.h"
#include "compiler/passes/Passes.h"

using namespace mlir;

namespace k3 {
#define GEN_PASS_DEF_VERIFYPASS
#include "compiler/passes/Passes.h.inc"
} // namespace k3

namespace {

struct Verify : k3::impl::VerifyPassBase<Verify> {
  using VerifyPassBase::VerifyPassBase;
  void runOnOperation() override {
    if (failed(k3::model::verifyModule(getOperation())))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
