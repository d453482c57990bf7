//===- ModelFiles.h - Configuration a checkpoint brings along ---*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the few things that generation takes from config.json and generation_config.json in a
// checkpoint folder: the id a prompt begins with, and the ids that end an answer.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_EXEC_MODELFILES_H
#define K3_RUNTIME_EXEC_MODELFILES_H

#include "runtime/schema/plan_generated.h"
#include "support/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace k3 {

struct PromptIds {
  std::optional<int64_t> bos;
  std::vector<int64_t> stop; // sorted, each once
};

/// What FOLDER says, top level before text_config; what it leaves out comes from MODEL. A missing
/// file says nothing; a malformed one is refused.
Result<PromptIds> readPromptIds(const std::string &folder, const plan::Model &model);

} // namespace k3

#endif // K3_RUNTIME_EXEC_MODELFILES_H
