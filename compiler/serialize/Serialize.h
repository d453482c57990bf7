//===- Serialize.h - From the plan dialect to a plan file -------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last step of the compiler. The same module and the same code give the same bytes: nothing in
// them comes from the clock, the machine or the place of a file.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_SERIALIZE_SERIALIZE_H
#define K3_COMPILER_SERIALIZE_SERIALIZE_H

#include "support/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <string_view>
#include <vector>

namespace k3 {

/// Facts of the model on the module: a dictionary with the fields of the schema's table Model.
inline constexpr llvm::StringLiteral kModelAttr = "k3.model";

/// The code of one kernel and how it is launched.
struct KernelImage {
  std::string name;
  std::string_view bytes;
  uint32_t threads = 0;
  uint64_t sharedBytes = 0;
  uint32_t registers = 0;
  uint32_t spillBytes = 0;
};

/// What a plan holds beyond the module.
struct PlanContents {
  /// Command line flags that matter for the result, without paths.
  std::vector<std::string> flags;
  /// "cpu", "cpu-native" or an architecture such as "sm_90a".
  std::string target;
  std::string triple;
  /// CPU features in LLVM's spelling.
  std::vector<std::string> features;
  /// Exports every kernel of the module under its name; empty if there is no kernel.
  std::string_view sharedObject;
  /// For a GPU: the code of each kernel, and the version of NVRTC that made it.
  std::vector<KernelImage> cubins;
  std::string nvrtcVersion;
};

/// The bytes of the plan that `module` describes: its plan.symbol and plan.program ops,
/// `k3.limits`, `k3.model` and `k3.mesh`. They have passed the checks of the runtime's own loader.
Result<std::string> serializePlan(mlir::ModuleOp module, const PlanContents &contents);

} // namespace k3

#endif // K3_COMPILER_SERIALIZE_SERIALIZE_H
