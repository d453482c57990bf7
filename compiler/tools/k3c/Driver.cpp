//===- Driver.cpp - What k3c is asked to do -------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Imports, runs the phases from --compile-from to --compile-to with the verifier between them, and
// writes IR or a plan. Diagnostics of MLIR become the one sentence that a user of the compiler
// wants; remarks are shown with --explain.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/k3c/Driver.h"

#include "compiler/codegen/cpu/CpuCodegen.h"
#include "compiler/codegen/cuda/CudaCodegen.h"
#include "compiler/import/Report.h"
#include "compiler/import/ir/BuildModel.h"
#include "compiler/serialize/Serialize.h"
#include "compiler/tools/k3c/Diagnostics.h"
#include "compiler/tools/k3c/Pipeline.h"
#include "dialects/k3/K3Dialect.h"
#include "dialects/k3/Verify.h"
#include "dialects/plan/PlanDialect.h"
#include "dialects/tile/TileDialect.h"
#include "support/File.h"
#include "support/Sha256.h"
#include "support/StandardStreams.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"

#include <chrono>
#include <unistd.h>

using namespace mlir;

namespace k3 {

namespace {

/// One compilation: the module and what was learned about it on the way.
class Compilation {
public:
  explicit Compilation(const CompileOptions &options)
      : options(options), context(makeRegistry()), diagnostics(&context, options.explain) {
    context.loadAllAvailableDialects();
    context.printOpOnDiagnostic(false);
  }

  Status run();

private:
  const CompileOptions &options;
  MLIRContext context;
  Diagnostics diagnostics;
  OwningOpRef<ModuleOp> module;
  std::optional<cpu::CpuImage> image;
  std::vector<cuda::CudaKernel> kernels;
  std::vector<cuda::CudaCode> codes;
  std::string nvrtcVersion;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registry.insert<model::K3Dialect, tile::TileDialect, host::PlanDialect, func::FuncDialect,
                    arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
    return registry;
  }

  Status import();
  Status parse();
  Status runPhase(const PhaseInfo &info);
  Status fail() const;
  Status generateForGpu();
  Status writeText();
  std::string defaultOutput() const;
  Status writePlan();
  DictionaryAttr modelAttr(const ImportedModel &imported, const std::string &configHash,
                           const std::string &indexHash);
  void announce(const PhaseInfo &info) const;
};

/// The phases to run, both ends included.
Result<std::pair<Phase, Phase>> phaseRange(const CompileOptions &options) {
  auto find = [](const std::string &name, const char *flag) -> Result<Phase> {
    if (std::optional<Phase> phase = findPhase(name))
      return *phase;
    std::string names;
    for (const PhaseInfo &info : kPhases)
      names += (names.empty() ? "" : ", ") + std::string(info.name);
    return Status::refused(std::string(flag) + ": unknown phase (got " + name +
                           ", expected one of " + names + ")");
  };
  Phase first = options.isMlir() ? Phase::Entry : Phase::Import, last = Phase::Serialise;
  switch (options.emit) {
  case EmitKind::K3:
    last = Phase::Entry;
    break;
  case EmitKind::Sharded:
    last = Phase::Numerics;
    break;
  case EmitKind::Tile:
  case EmitKind::Cuda:
    last = Phase::Schedule;
    break;
  case EmitKind::Plan:
    break;
  }
  if (!options.compileFrom.empty()) {
    K3_ASSIGN_OR_RETURN(first, find(options.compileFrom, "--compile-from"));
    if (options.isMlir() != (first != Phase::Import))
      return Status::refused("--compile-from " + options.compileFrom + ": " +
                             (options.isMlir() ? "a .mlir file is past import; name a later phase"
                                               : "a model starts at import; write the IR with "
                                                 "--compile-to first and give the .mlir file"));
  }
  if (first == Phase::Serialise)
    return Status::refused("--compile-from serialise: native code has no text to start from; start "
                           "at codegen, which takes the same text");
  if (!options.compileTo.empty()) {
    K3_ASSIGN_OR_RETURN(last, find(options.compileTo, "--compile-to"));
  }
  if (first > last)
    return Status::refused("--compile-from " + options.compileFrom + ": comes after --compile-to " +
                           options.compileTo);
  return std::pair(first, last);
}

constexpr const char *kStandardOutput = "-";

/// Writes to a file, or to standard output when OUTPUT is `-`.
Status writeOutput(const std::string &output, StringRef bytes) {
  if (output != kStandardOutput)
    return writeFileAtomic(output, bytes);
  return writeStandardOutput(bytes);
}

} // namespace

Status Compilation::fail() const {
  std::string message = diagnostics.firstError();
  if (message.empty())
    message = options.model + ": a phase failed without a message; please report it with the input";
  // What a hand-written file says is input; what a model became on the way is our own doing.
  return options.isMlir() ? Status::refused(message) : Status::failed(message);
}

DictionaryAttr Compilation::modelAttr(const ImportedModel &imported, const std::string &configHash,
                                      const std::string &indexHash) {
  const ModelConfig &config = imported.config;
  ModelReport report = makeReport(imported, options.elementBytes());
  Builder b(&context);
  auto number = [&](StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  };
  auto text = [&](StringRef name, const std::string &value) {
    return b.getNamedAttr(name, b.getStringAttr(value));
  };
  return b.getDictionaryAttr(
      {text("name", config.family), text("config_hash", configHash), text("index_hash", indexHash),
       number("layers", config.numHiddenLayers),
       number("kda_layers", config.countLayers(AttentionKind::Kda)),
       number("mla_layers", config.countLayers(AttentionKind::Mla)),
       number("text_parameters", report.textParameters), number("vocab_size", config.vocabSize),
       number("hidden_size", config.hiddenSize),
       number("bos_token_id", config.bosTokenId.value_or(-1)),
       b.getNamedAttr("eos_token_ids", b.getDenseI64ArrayAttr(config.eosTokenIds)),
       number("cache_bytes_per_token", report.latentCacheBytesPerToken),
       number("state_bytes_per_sequence", report.stateBytesPerSequence)});
}

Status Compilation::import() {
  K3_ASSIGN_OR_RETURN(ImportedModel imported, importModel(options.model));
  for (const std::string &note : imported.notes)
    llvm::errs() << "k3c: note: " << note << "\n";
  for (const std::string &taken : imported.config.defaults)
    llvm::errs() << "k3c: default: " << taken << "\n";
  int64_t context4k = std::min<int64_t>(4096, imported.config.maxPositionEmbeddings.value_or(4096));
  PlanLimits limits{options.maxTokens, options.maxSeqs, options.maxContext.value_or(context4k),
                    options.maxLogitRows, 64};
  // What a deployed plan is compared with: the configuration, and the index when there is one.
  K3_ASSIGN_OR_RETURN(std::string configHash, sha256OfFile(imported.config.file));
  std::string indexHash, index = options.model + "/model.safetensors.index.json";
  if (llvm::sys::fs::exists(index)) {
    K3_ASSIGN_OR_RETURN(indexHash, sha256OfFile(index));
  }
  module = buildModel(&context, imported, limits);
  (*module)->setAttr(kModelAttr, modelAttr(imported, configHash, indexHash));
  return Status::ok();
}

Status Compilation::parse() {
  module = parseSourceFile<ModuleOp>(options.model, &context);
  if (!module)
    return fail();
  Builder b(&context);
  if (!(*module)->hasAttr(model::kLimitsAttr)) {
    PlanLimits limits{options.maxTokens, options.maxSeqs, options.maxContext.value_or(4096),
                      options.maxLogitRows, 64};
    (*module)->setAttr(model::kLimitsAttr, makeLimitsAttr(&context, limits));
  }
  if (!(*module)->hasAttr(kModelAttr))
    (*module)->setAttr(kModelAttr,
                       b.getDictionaryAttr(b.getNamedAttr(
                           "name", b.getStringAttr(llvm::sys::path::filename(options.model)))));
  return Status::ok();
}

/// No step over two seconds is mute: on a terminal always, elsewhere once the work has taken that
/// long.
void Compilation::announce(const PhaseInfo &info) const {
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.explain || isatty(STDERR_FILENO) || seconds > 2)
    llvm::errs() << "k3c: " << llvm::format("%6.2f s  ", seconds) << info.name << ": " << info.what
                 << "\n";
}

Status Compilation::runPhase(const PhaseInfo &info) {
  announce(info);
  if (info.phase == Phase::Import)
    return options.isMlir() ? parse() : import();
  if (info.phase == Phase::Codegen) {
    if (options.isGpu())
      return generateForGpu();
    auto compiled =
        cpu::compileForCpu(*module, {options.target == "cpu-native" ? "host" : "x86-64-v3"});
    if (failed(compiled))
      return fail();
    image = std::move(*compiled);
    return Status::ok();
  }
  if (info.phase == Phase::Serialise)
    return writePlan();
  PassManager pm(&context);
  addPhase(pm, info.phase, options);
  if (failed(pm.run(*module)))
    return fail();
  // A kernel that does not fit its GPU is refused here, before anything is planned around it.
  if (info.phase == Phase::Schedule && options.isGpu() &&
      failed(cuda::checkForCuda(*module, *cuda::findTarget(options.target))))
    return fail();
  return Status::ok();
}

Status Compilation::generateForGpu() {
  const cuda::CudaTarget &target = *cuda::findTarget(options.target);
  auto printed = cuda::printForCuda(*module, target);
  if (failed(printed))
    return fail();
  kernels = std::move(*printed);
  cuda::CompileSettings settings;
  settings.nvrtc = options.nvrtc;
  settings.progress = true;
  K3_ASSIGN_OR_RETURN(codes, cuda::compileForCuda(kernels, target, settings, nvrtcVersion));
  for (auto [kernel, code] : llvm::zip(kernels, codes))
    if (code.spillBytes > 0)
      llvm::errs() << "k3c: warning: " << kernel.name << ": spills " << code.spillBytes
                   << " bytes of registers to memory\n";
  return Status::ok();
}

Status Compilation::writeText() {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (options.emit == EmitKind::Cuda) {
    if (!options.isGpu())
      return Status::refused("--emit=cuda: needs a GPU (got --target " + options.target +
                             ", expected sm_80, sm_90a, sm_100a or sm_120a)");
    auto printed = cuda::printForCuda(*module, *cuda::findTarget(options.target));
    if (failed(printed))
      return fail();
    for (const cuda::CudaKernel &kernel : *printed)
      os << kernel.text << "\n";
  } else {
    // With locations, so that a later --compile-from knows where the keys stand.
    module->print(os, OpPrintingFlags().enableDebugInfo(!options.output.empty()).useLocalScope());
    os << "\n";
  }
  return writeOutput(options.output.empty() ? kStandardOutput : options.output, text);
}

/// The plan of a model lies where k3c is called.
std::string Compilation::defaultOutput() const {
  StringRef name = llvm::sys::path::filename(StringRef(options.model).rtrim('/'));
  return (llvm::sys::path::stem(name) + ".k3plan").str();
}

Status Compilation::writePlan() {
  PlanContents contents;
  contents.flags = {"--target " + options.target, "--dtype " + options.dtype};
  if (!options.schedule.empty())
    contents.flags.push_back("--schedule " + options.schedule);
  for (const std::string &rule : options.noFuse)
    contents.flags.push_back("--no-fuse " + rule);
  contents.target = options.target;
  if (image) {
    contents.triple = image->triple;
    contents.features = image->features;
    contents.sharedObject = image->sharedObject;
  } else {
    contents.triple = "nvptx64-nvidia-cuda";
    contents.nvrtcVersion = nvrtcVersion;
    for (auto [kernel, code] : llvm::zip(kernels, codes))
      contents.cubins.push_back({kernel.name, code.cubin, uint32_t(kernel.threads),
                                 uint64_t(kernel.sharedBytes), uint32_t(code.registers),
                                 uint32_t(code.spillBytes)});
  }
  K3_ASSIGN_OR_RETURN(std::string bytes, serializePlan(*module, contents));
  std::string output = options.output.empty() ? defaultOutput() : options.output;
  K3_RETURN_IF_ERROR(writeOutput(output, bytes));
  llvm::errs() << "k3c: wrote " << output << " (" << bytes.size() << " bytes, "
               << (image ? image->kernels.size() : kernels.size()) << " kernels)\n";
  return Status::ok();
}

Status Compilation::run() {
  K3_ASSIGN_OR_RETURN(auto range, phaseRange(options));
  bool asText = range.second < Phase::Serialise;
  if (std::string output = options.output.empty() && !asText ? defaultOutput() : options.output;
      !output.empty() && output != kStandardOutput)
    K3_RETURN_IF_ERROR(checkWritable(output));
  if (options.isMlir())
    K3_RETURN_IF_ERROR(runPhase(kPhases.front()));
  for (const PhaseInfo &info : kPhases)
    if (info.phase >= range.first && info.phase <= range.second &&
        !(options.isMlir() && info.phase == Phase::Import))
      K3_RETURN_IF_ERROR(runPhase(info));
  return asText ? writeText() : Status::ok();
}

Status compile(const CompileOptions &options) { return Compilation(options).run(); }

} // namespace k3
