//===- Diagnostics.h - MLIR diagnostics for users ---------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects the first error as one sentence with file, line, column and key path; remarks are
// printed on request.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_TOOLS_K3C_DIAGNOSTICS_H
#define K3_COMPILER_TOOLS_K3C_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace k3 {

class Diagnostics {
public:
  /// `explain`: print remarks, which say what was decided and what it costs.
  Diagnostics(mlir::MLIRContext *context, bool explain)
      : handler(context, [this, explain](mlir::Diagnostic &diagnostic) {
          std::string text = render(diagnostic);
          if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error && first.empty())
            first = text;
          else if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Remark && explain)
            llvm::errs() << "k3c: remark: " << text << "\n";
          else if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Warning)
            llvm::errs() << "k3c: warning: " << text << "\n";
          return mlir::success();
        }) {}

  const std::string &firstError() const { return first; }

private:
  std::string first;
  mlir::ScopedDiagnosticHandler handler;

  /// `config.json:12:3: text_config.hidden_size: what is wrong`.
  static std::string render(mlir::Diagnostic &diagnostic) {
    std::string text, key;
    llvm::raw_string_ostream os(text);
    diagnostic.getLocation()->walk([&](mlir::Location loc) {
      if (auto name = llvm::dyn_cast<mlir::NameLoc>(loc); name && key.empty())
        key = name.getName().str() + ": ";
      if (auto place = llvm::dyn_cast<mlir::FileLineColLoc>(loc)) {
        os << place.getFilename().getValue() << ":" << place.getLine() << ":" << place.getColumn()
           << ": ";
        return mlir::WalkResult::interrupt();
      }
      return mlir::WalkResult::advance();
    });
    os << key << diagnostic.str();
    for (mlir::Diagnostic &note : diagnostic.getNotes())
      os << "; " << note.str();
    return text;
  }
};

} // namespace k3

#endif // K3_COMPILER_TOOLS_K3C_DIAGNOSTICS_H
