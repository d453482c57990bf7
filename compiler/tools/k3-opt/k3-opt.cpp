//===- k3-opt.cpp - Runs passes on a file ---------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The work-horse of the lit tests: parses, verifies, runs the passes named on the command line and
// prints. It knows every dialect and pass of ours.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/Register.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  k3::registerAllDialects(registry);
  k3::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "k3 optimizer driver\n", registry));
}
