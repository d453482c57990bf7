//===- Native.cpp - LLVM modules to machine code --------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Target description, the optimisation pipeline and object files. No library function is known to
// the optimiser, so that none is ever called.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cpu/Native.h"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <mutex>

namespace k3::cpu {

static constexpr const char *kTriple = "x86_64-unknown-linux-gnu";

/// What x86-64-v3 promises and generated code may use, in LLVM's spelling.
static const std::vector<std::string> &baselineFeatures() {
  static const std::vector<std::string> features = {
      "avx",   "avx2",   "bmi", "bmi2", "cmov", "f16c",   "fma",    "lzcnt", "mmx",
      "movbe", "popcnt", "sse", "sse2", "sse3", "sse4.1", "sse4.2", "ssse3"};
  return features;
}

/// Features beyond the baseline that pay for the code made here.
static const std::vector<std::string> &usefulFeatures() {
  static const std::vector<std::string> features = {"avx512bw", "avx512dq", "avx512f", "avx512vl",
                                                    "avx512vbmi"};
  return features;
}

Result<NativeTarget> NativeTarget::find(const std::string &cpu) {
  NativeTarget target{kTriple, "x86-64-v3", baselineFeatures()};
  if (cpu == "x86-64-v3")
    return target;
  if (cpu != "host")
    return Status::refused("cpu: unknown machine (got '" + cpu + "', expected x86-64-v3 or host)");
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  for (const std::string &feature : baselineFeatures())
    if (!host.lookup(feature))
      return Status::refused("cpu: this machine lacks the feature '" + feature +
                             "' that generated code needs; compile on a machine with AVX2 and FMA");
  for (const std::string &feature : usefulFeatures())
    if (host.lookup(feature))
      target.features.push_back(feature);
  std::sort(target.features.begin(), target.features.end());
  target.tune = llvm::sys::getHostCPUName().str();
  return target;
}

static std::string featureString(const NativeTarget &target) {
  std::string all;
  for (const std::string &feature : target.features)
    all += (all.empty() ? "+" : ",+") + feature;
  return all;
}

Result<std::unique_ptr<llvm::TargetMachine>> NativeTarget::createMachine() const {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  std::string error;
  llvm::Triple parsed(triple);
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(parsed, error);
  if (!found)
    return Status::failed("cpu: LLVM has no target for " + triple + " (" + error + ")");
  llvm::TargetOptions options;
  std::unique_ptr<llvm::TargetMachine> machine(
      found->createTargetMachine(parsed, "x86-64", featureString(*this), options, llvm::Reloc::PIC_,
                                 std::nullopt, llvm::CodeGenOptLevel::Default));
  if (!machine)
    return Status::failed("cpu: LLVM cannot make code for " + triple);
  return machine;
}

void prepareModule(llvm::Module &module, llvm::TargetMachine &machine, const NativeTarget &target,
                   llvm::StringRef exportedName) {
  module.setModuleIdentifier(exportedName);
  module.setSourceFileName(exportedName);
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    if (function.getName() != exportedName)
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
    function.addFnAttr("target-cpu", "x86-64");
    function.addFnAttr("tune-cpu", target.tune);
    function.addFnAttr("target-features", featureString(target));
    function.addFnAttr("prefer-vector-width", "256");
    function.addFnAttr("no-builtins");
    // No contraction here: which products meet which sums depends on what was fused, and fusion
    // must not change a bit. Contractions and polynomials ask for fused multiply-adds by name.
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

Result<std::string> emitObject(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::TargetLibraryInfoImpl library(machine.getTargetTriple());
  library.disableAllFunctions();
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);

  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager emission;
  emission.add(new llvm::TargetLibraryInfoWrapperPass(library));
  if (machine.addPassesToEmitFile(emission, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return Status::failed("cpu: LLVM cannot write object files for " +
                          machine.getTargetTriple().str());
  emission.run(module);
  return std::string(bytes.begin(), bytes.end());
}

} // namespace k3::cpu
