//===- EmbeddedDefs.h - model-defs inside the program ------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The build copies the text of every model-defs/FAMILY/tensors.json into a generated source file,
// so that the compiler finds its definitions wherever it is installed.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_IMPORT_EMBEDDEDDEFS_H
#define K3_COMPILER_IMPORT_EMBEDDEDDEFS_H

#include <span>
#include <string_view>

namespace k3 {

struct EmbeddedDef {
  std::string_view family;
  std::string_view text;
};

/// Sorted by family.
std::span<const EmbeddedDef> embeddedDefs();

} // namespace k3

#endif // K3_COMPILER_IMPORT_EMBEDDEDDEFS_H
