//===- Driver.cpp - What k3c is asked to do -------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Imports, runs the phases from --compile-from to --compile-to with the verifier between them, and writes IR or a plan.
// Diagnostics of MLIR become the one sentence that a user of the compiler wants; remarks are shown with --explain.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/k3c/Driver.h"

#include "compiler/import/Report.h"
#include "compiler/import/ir/BuildModel.h"
#include "compiler/tools/k3c/Pipeline.h"
#include "dialects/k3/K3Dialect.h"
#include "dialects/k3/Verify.h"
#include "dialects/tile/TileDialect.h"
#include "support/File.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace k3 {

namespace {

/// Turns diagnostics into text: the first error is the message of the failure, remarks go to standard error on request.
class Diagnostics {
public:
  Diagnostics(MLIRContext *context, bool explain)
      : handler(context, [this, explain](Diagnostic &diagnostic) {
          std::string text = render(diagnostic);
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error && first.empty())
            first = text;
          else if (diagnostic.getSeverity() == DiagnosticSeverity::Remark && explain)
            llvm::errs() << "remark: " << text << "\n";
          else if (diagnostic.getSeverity() == DiagnosticSeverity::Warning)
            llvm::errs() << "warning: " << text << "\n";
          return success();
        }) {}

  const std::string &firstError() const { return first; }

private:
  std::string first;
  ScopedDiagnosticHandler handler;

  /// `config.json:12:3: text_config.hidden_size: what is wrong`.
  static std::string render(Diagnostic &diagnostic) {
    std::string text, key;
    llvm::raw_string_ostream os(text);
    diagnostic.getLocation()->walk([&](Location loc) {
      if (auto name = dyn_cast<NameLoc>(loc); name && key.empty())
        key = name.getName().str() + ": ";
      if (auto place = dyn_cast<FileLineColLoc>(loc)) {
        os << place.getFilename().getValue() << ":" << place.getLine() << ":" << place.getColumn() << ": ";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    os << key << diagnostic.str();
    for (Diagnostic &note : diagnostic.getNotes())
      os << "; " << note.str();
    return text;
  }
};

} // namespace

Status compile(const CompileOptions &options) {
  DialectRegistry registry;
  registry.insert<model::K3Dialect, tile::TileDialect, func::FuncDialect, arith::ArithDialect>();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false);
  Diagnostics diagnostics(&context, options.explain);
  PlanLimits limits{options.maxTokens, options.maxSeqs, options.maxContext.value_or(4096), options.maxLogitRows, 64};

  OwningOpRef<ModuleOp> module;
  if (options.isMlir()) {
    module = parseSourceFile<ModuleOp>(options.model, &context);
    if (!module)
      return Status::refused(diagnostics.firstError());
  } else {
    K3_ASSIGN_OR_RETURN(ImportedModel model, importModel(options.model));
    if (!options.maxContext && model.config.maxPositionEmbeddings)
      limits.maxContext = std::min(limits.maxContext, *model.config.maxPositionEmbeddings);
    module = buildModel(&context, model, limits);
  }
  for (const PhaseInfo &info : kPhases) {
    if (info.phase == Phase::Import)
      continue;
    if (info.phase == Phase::Plan)
      break;
    PassManager pm(&context);
    addPhase(pm, info.phase, options);
    if (failed(pm.run(*module)))
      return Status::failed(diagnostics.firstError());
    if (info.name == options.compileTo)
      break;
  }
  module->print(llvm::outs(), OpPrintingFlags().useLocalScope());
  return Status::ok();
}

} // namespace k3
