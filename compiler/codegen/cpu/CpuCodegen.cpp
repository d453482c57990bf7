//===- CpuCodegen.cpp - Tile kernels to a shared object -------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives each kernel a module of its own, lowers and compiles them in parallel, and links the
// objects in the order of the module, so that the number of threads never shows in the bytes.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cpu/CpuCodegen.h"

#include "compiler/codegen/cpu/Native.h"
#include "compiler/codegen/cpu/Passes.h"
#include "dialects/tile/TileOps.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <atomic>
#include <thread>

using namespace mlir;

namespace k3::cpu {

namespace {

/// One kernel on its way to an object file. The context must outlive the module.
struct Unit {
  std::string name;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::string object;
  Status status;
};

} // namespace

static void compileUnit(Unit &unit, const NativeTarget &target) {
  auto compile = [&]() -> Result<std::string> {
    K3_ASSIGN_OR_RETURN(auto machine, target.createMachine());
    prepareModule(*unit.module, *machine, target, unit.name);
    return emitObject(*unit.module, *machine);
  };
  Result<std::string> object = compile();
  if (object)
    unit.object = std::move(*object);
  else
    unit.status = object.status();
  unit.module.reset();
  unit.context.reset();
}

static void compileUnits(std::vector<Unit> &units, const NativeTarget &target, unsigned threads) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < units.size(); i = next++)
      compileUnit(units[i], target);
  };
  if (threads == 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads && i < units.size(); ++i)
    others.emplace_back(work);
  work();
  for (std::thread &thread : others)
    thread.join();
}

FailureOr<CpuImage> compileForCpu(ModuleOp module, const CpuOptions &options) {
  auto fail = [&](const Status &status) -> FailureOr<CpuImage> {
    module.emitError() << status.message();
    return failure();
  };
  Result<NativeTarget> target = NativeTarget::find(options.cpu);
  if (!target)
    return fail(target.status());

  MLIRContext *context = module.getContext();
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context->appendDialectRegistry(registry);

  // One module a kernel: the pass manager works on them in parallel.
  OwningOpRef<ModuleOp> all = ModuleOp::create(module.getLoc());
  CpuImage image;
  for (tile::KernelOp kernel : module.getOps<tile::KernelOp>()) {
    OpBuilder builder = OpBuilder::atBlockEnd(all->getBody());
    ModuleOp own = ModuleOp::create(builder, kernel.getLoc());
    own.push_back(kernel->clone());
    image.kernels.push_back(kernel.getSymName().str());
  }
  if (image.kernels.empty())
    return fail(Status::refused("cpu: the module has no kernel to compile"));
  PassManager pm(context);
  buildTileToLlvmPipeline(pm.nest<ModuleOp>(), options.fuse);
  if (failed(pm.run(*all)))
    return failure();

  std::vector<Unit> units(image.kernels.size());
  for (auto [unit, name, own] : llvm::zip_equal(units, image.kernels, all->getOps<ModuleOp>())) {
    unit.name = name;
    unit.context = std::make_unique<llvm::LLVMContext>();
    unit.module = translateModuleToLLVMIR(own, *unit.context, name);
    if (!unit.module)
      return failure();
  }
  compileUnits(units, *target, options.threads);
  std::vector<std::string> objects;
  for (Unit &unit : units) {
    if (!unit.status)
      return fail(unit.status);
    objects.push_back(std::move(unit.object));
  }
  Result<std::string> linked = linkSharedObject(objects);
  if (!linked)
    return fail(linked.status());
  image.sharedObject = std::move(*linked);
  image.features = target->features;
  image.triple = target->triple;
  return image;
}

} // namespace k3::cpu
