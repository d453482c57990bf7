//===- k3-translate.cpp - Between MLIR and other texts --------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns lowered kernels into LLVM IR (`--mlir-to-llvmir`), which is how generated code is looked at
// by hand and in lit tests. Our dialects are registered, so that a module that still holds them
// fails with their names.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/Register.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Target/LLVMIR/ModuleTranslation.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

static mlir::LogicalResult printLlvmIr(mlir::Operation *op, llvm::raw_ostream &output) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = mlir::translateModuleToLLVMIR(op, context);
  if (!module)
    return mlir::failure();
  module->print(output, nullptr);
  return mlir::success();
}

int main(int argc, char **argv) {
  mlir::TranslateFromMLIRRegistration toLlvmIr("mlir-to-llvmir",
                                               "translate the llvm dialect to LLVM IR", printLlvmIr,
                                               [](mlir::DialectRegistry &registry) {
                                                 k3::registerAllDialects(registry);
                                                 mlir::registerAllToLLVMIRTranslations(registry);
                                               });
  return mlir::failed(mlir::mlirTranslateMain(argc, argv, "k3 translation driver"));
}
