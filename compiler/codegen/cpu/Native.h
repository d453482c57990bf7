//===- Native.h - LLVM modules to machine code ------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The half of the CPU target that knows LLVM and no MLIR: target description, optimisation, object
// files and the linker.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_CODEGEN_CPU_NATIVE_H
#define K3_COMPILER_CODEGEN_CPU_NATIVE_H

#include "support/Status.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace k3::cpu {

/// The machine that code is made for.
struct NativeTarget {
  std::string triple;
  /// Name for scheduling decisions; what may be used is said by `features` alone.
  std::string tune;
  std::vector<std::string> features;

  /// `cpu` is "x86-64-v3" or "host".
  static Result<NativeTarget> find(const std::string &cpu);
  Result<std::unique_ptr<llvm::TargetMachine>> createMachine() const;
};

/// Sets triple, layout and attributes. Every function but `exportedName` becomes internal. Nothing
/// allows a * b + c to be contracted, so that fusion never changes a bit.
void prepareModule(llvm::Module &module, llvm::TargetMachine &machine, const NativeTarget &target,
                   llvm::StringRef exportedName);

/// Optimises the module and returns an object file.
Result<std::string> emitObject(llvm::Module &module, llvm::TargetMachine &machine);

/// Links object files into a shared object, with ld.lld in a temporary folder.
Result<std::string> linkSharedObject(llvm::ArrayRef<std::string> objects);

} // namespace k3::cpu

#endif // K3_COMPILER_CODEGEN_CPU_NATIVE_H
