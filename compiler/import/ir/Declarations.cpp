//===- Declarations.cpp - Params and states of a model --------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names, types and packing pieces of what lives at module level.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/ir/LayerBuilder.h"

using namespace mlir;

namespace k3 {

Location Declarations::loc(const KeyLocation &key) {
  MLIRContext *context = builder.getContext();
  // A plan depends on what the configuration says, not on what its file is called or where it lies.
  Location place =
      FileLineColLoc::get(context, kConfigName, key.location.line, key.location.column);
  return key.path.empty() ? place : NameLoc::get(StringAttr::get(context, key.path), place);
}

std::string Declarations::signature(int64_t layer) {
  std::string text;
  for (const BoundTensor &tensor : model.tensors)
    if (tensor.layer == layer)
      text += tensor.role + ":" + std::string(encodingName(tensor.encoding)) + ";";
  return text;
}

FlatSymbolRefAttr Declarations::declare(Twine name, Type type, ArrayRef<Attribute> pieces,
                                        Location location) {
  auto symbol = FlatSymbolRefAttr::get(builder.getContext(), name.str());
  if (params.try_emplace(symbol.getValue(), type).second)
    model::ParamOp::create(builder, location, symbol.getValue(), type,
                           builder.getArrayAttr(pieces));
  return symbol;
}

/// The name in the files, with the layer's number turned back into a placeholder.
static std::string templateName(const BoundTensor &tensor, StringRef prefix, StringRef suffix) {
  std::string name = (prefix + tensor.name + suffix).str();
  if (tensor.layer >= 0) {
    std::string number = "layers." + std::to_string(tensor.layer) + ".";
    if (size_t at = name.find(number); at != std::string::npos)
      name.replace(at, number.size(), "layers.{L}.");
  }
  return name;
}

static Type storageType(Builder &builder, Encoding encoding) {
  switch (encoding) {
  case Encoding::Bf16:
    return builder.getBF16Type();
  case Encoding::F32:
    return builder.getF32Type();
  case Encoding::Mxfp4:
    return builder.getI8Type();
  }
  llvm_unreachable("unknown encoding");
}

FlatSymbolRefAttr Declarations::param(StringRef role, int64_t layer, Type &type) {
  const BoundTensor *tensor = model.find(role, layer);
  assert(tensor && "the definition and the builder disagree on a role");
  // [P, 1, W] is the convolution's [P, W]; [1, H] of a pseudo-query is a vector.
  SmallVector<int64_t> shape(tensor->shape.begin(), tensor->shape.end());
  if (shape.size() == 3 && shape[1] == 1)
    shape.erase(shape.begin() + 1);
  if (role.ends_with("_res.proj"))
    shape.erase(shape.begin());
  type = RankedTensorType::get(shape, storageType(builder, tensor->encoding));
  int64_t columns = shape.back(), rows = tensor->elements() / columns;
  Attribute piece = model::PieceAttr::get(builder.getContext(), templateName(*tensor, "", ""), rows,
                                          columns, 0, 0, 0, 0, 1, 0, false);
  std::string name = (layer >= 0 ? "layers.{L}." : "") + role.str();
  // Layers that store a tensor otherwise have a param of their own.
  if (auto known = params.find(name); known != params.end() && known->second != type)
    name += "." + std::string(encodingName(tensor->encoding));
  return declare(name, type, {piece}, loc(tensor->location));
}

FlatSymbolRefAttr Declarations::experts(StringRef name, ArrayRef<StringRef> roles, int64_t layer,
                                        bool scales, Type &type) {
  const BoundTensor *first = model.find(roles.front(), layer);
  bool packed = first->encoding == Encoding::Mxfp4;
  int64_t per = packed ? (scales ? 32 : 2) : 1;
  int64_t rows = first->shape[0], columns = first->shape[1] / per, count = first->copies;
  int64_t allRows = rows * int64_t(roles.size());
  type = RankedTensorType::get({count, allRows, columns}, storageType(builder, first->encoding));
  SmallVector<Attribute> pieces;
  for (auto [i, role] : llvm::enumerate(roles)) {
    const BoundTensor *tensor = model.find(role, layer);
    std::string source = templateName(*tensor, "", packed ? (scales ? "_scale" : "_packed") : "");
    pieces.push_back(model::PieceAttr::get(builder.getContext(), source, rows, columns, 0, 0,
                                           int64_t(i) * rows * columns, 0, count, allRows * columns,
                                           false));
  }
  std::string symbol = "layers.{L}." + name.str() + (packed ? (scales ? ".scales" : ".codes") : "");
  return declare(symbol, type, pieces, loc(first->location));
}

FlatSymbolRefAttr Declarations::state(StringRef name, Type type, Location location) {
  if (states.try_emplace(name, type).second)
    model::StateOp::create(builder, location, name, type);
  return FlatSymbolRefAttr::get(builder.getContext(), name);
}

} // namespace k3
