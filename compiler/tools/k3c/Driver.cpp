//===- Driver.cpp - What k3c is asked to do ----------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the phases. The input is imported first, so that a model that cannot be compiled is refused
// before anything else is done.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/k3c/Driver.h"

#include "compiler/import/Checkpoint.h"

namespace k3 {

Status compile(const CompileOptions &options) {
  K3_ASSIGN_OR_RETURN(ImportedModel model, importModel(options.model));
  return Status::failed(model.config.file + ": this build of k3c only imports (got --target " +
                        options.target + ", expected --dry-run); add --dry-run");
}

} // namespace k3
