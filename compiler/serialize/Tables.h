//===- Tables.h - Tables shared by the programs of a plan -------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Symbols, expressions, kernels and locations are stored once and named by index. Each table gives
// equal things one index, in the order of first use.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_SERIALIZE_TABLES_H
#define K3_COMPILER_SERIALIZE_TABLES_H

#include "dialects/plan/PlanOps.h"
#include "runtime/schema/plan_generated.h"

#include "llvm/ADT/StringMap.h"

#include <map>
#include <tuple>

namespace k3 {

class Tables {
public:
  explicit Tables(plan::PlanT &plan) : plan(plan) {}

  void addSymbol(host::SymbolOp symbol);
  /// Kernels of several programs are one if they have one name; image 0 holds them.
  void addKernel(host::KernelOp kernel);

  uint32_t symbol(llvm::StringRef name) const { return symbols.lookup(name); }
  uint32_t kernel(llvm::StringRef name) const { return kernels.lookup(name); }
  uint32_t expr(host::ExprAttr expr);
  std::vector<uint32_t> exprs(mlir::ArrayAttr list);
  /// The file (without its folder), line, column and key of a location, or the index for an unknown
  /// one.
  uint32_t location(mlir::Location loc);

private:
  plan::PlanT &plan;
  llvm::StringMap<uint32_t> symbols, kernels;
  llvm::DenseMap<host::ExprAttr, uint32_t> exprIds;
  std::map<std::tuple<std::string, uint32_t, uint32_t, std::string>, uint32_t> locationIds;
  llvm::DenseMap<mlir::Location, uint32_t> knownLocations;
};

} // namespace k3

#endif // K3_COMPILER_SERIALIZE_TABLES_H
