//===- CompiledText.cpp - Kernels from text, ready to call ----------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parsing, compiling and dlopen of an anonymous file; the first diagnostic is kept as the error.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cpu/CompiledText.h"

#include "dialects/tile/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;

namespace k3::cpu {

std::unique_ptr<CompiledText> CompiledText::compile(const std::string &text, std::string &error,
                                                    const CpuOptions &options) {
  MLIRContext context;
  context.loadDialect<tile::TileDialect, arith::ArithDialect, math::MathDialect>();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (error.empty())
      error = diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return nullptr;
  FailureOr<CpuImage> image = compileForCpu(*module, options);
  if (failed(image))
    return nullptr;
  std::unique_ptr<CompiledText> compiled(new CompiledText);
  compiled->image = std::move(*image);
  const std::string &bytes = compiled->image.sharedObject;
  compiled->file = memfd_create("kernels", 0);
  if (compiled->file < 0 ||
      write(compiled->file, bytes.data(), bytes.size()) != ssize_t(bytes.size())) {
    error = "an anonymous file cannot be written";
    return nullptr;
  }
  std::string path = "/proc/self/fd/" + std::to_string(compiled->file);
  compiled->handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!compiled->handle) {
    error = dlerror();
    return nullptr;
  }
  return compiled;
}

CompiledText::~CompiledText() {
  if (handle)
    dlclose(handle);
  if (file >= 0)
    close(file);
}

CompiledText::Kernel CompiledText::find(const std::string &name) const {
  return reinterpret_cast<Kernel>(dlsym(handle, name.c_str()));
}

} // namespace k3::cpu
