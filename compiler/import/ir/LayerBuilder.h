//===- LayerBuilder.h - The body of one kind of layer -----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the function of a layer from the roles of its tensors, op by op in the order of
// docs/model.md.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_IMPORT_IR_LAYERBUILDER_H
#define K3_COMPILER_IMPORT_IR_LAYERBUILDER_H

#include "compiler/import/Checkpoint.h"
#include "dialects/k3/K3Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace k3 {

/// What locations call the configuration.
inline constexpr llvm::StringLiteral kConfigName = "config.json";

/// Declares params and states at the end of a module, each name once.
class Declarations {
public:
  Declarations(mlir::ModuleOp module, const ImportedModel &model, int64_t pageTokens)
      : model(model), pageTokens(pageTokens),
        builder(mlir::OpBuilder::atBlockEnd(module.getBody())) {}

  /// The param of a role as seen from `layer` (-1 outside of layers).
  mlir::FlatSymbolRefAttr param(llvm::StringRef role, int64_t layer, mlir::Type &type);
  /// W1 over W3 of every expert (`roles` in row order), plain or one half of an MXFP4 pair.
  mlir::FlatSymbolRefAttr experts(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> roles,
                                  int64_t layer, bool scales, mlir::Type &type);
  mlir::FlatSymbolRefAttr state(llvm::StringRef name, mlir::Type type, mlir::Location loc);
  mlir::Location loc(const KeyLocation &key);
  /// The signature of a layer's storage: layers that differ in it do not share a body.
  std::string signature(int64_t layer);

  const ImportedModel &model;
  const int64_t pageTokens;

private:
  mlir::OpBuilder builder;
  llvm::StringMap<mlir::Type> params, states;

  mlir::FlatSymbolRefAttr declare(llvm::Twine name, mlir::Type type,
                                  llvm::ArrayRef<mlir::Attribute> pieces, mlir::Location loc);
};

/// Builds the op sequence of a layer into the current block.
class LayerBuilder {
public:
  LayerBuilder(mlir::ImplicitLocOpBuilder &b, Declarations &declarations, int64_t layer,
               mlir::Value batch)
      : b(b), declarations(declarations), c(declarations.model.config), layer(layer), batch(batch) {
  }

  /// Mixes the stack with h when the model has attention residuals; f32 then, else h itself.
  mlir::Value mix(llvm::StringRef site, mlir::Value stack, mlir::Value count, mlir::Value h);
  mlir::Value norm(mlir::Value x, llvm::StringRef role, double eps);
  mlir::Value attention(mlir::Value x);
  mlir::Value feedForward(mlir::Value x);
  mlir::Value linear(mlir::Value x, llvm::StringRef role, bool f32 = false);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value weight(llvm::StringRef role);

private:
  mlir::ImplicitLocOpBuilder &b;
  Declarations &declarations;
  const ModelConfig &c;
  int64_t layer;
  mlir::Value batch;

  mlir::Value kda(mlir::Value x);
  mlir::Value mla(mlir::Value x);
  mlir::Value mlp(mlir::Value x, llvm::StringRef prefix);
  mlir::Value moe(mlir::Value x);
  mlir::Value state(llvm::StringRef name, mlir::Type type);
  mlir::Value shortConv(mlir::Value x, llvm::StringRef which);
  mlir::RankedTensorType like(mlir::Value x, int64_t columns, mlir::Type element = {});
  model::ActivationAttr activation();
  mlir::FloatAttr linearBeta();
};

} // namespace k3

#endif // K3_COMPILER_IMPORT_IR_LAYERBUILDER_H
