//===- ModelDef.h - The tensors of a model family ----------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads model-defs/FAMILY/tensors.json: names, shapes and dtypes as expressions of configuration
// keys. The definitions are data inside k3c; a relative of the model is a new folder, not new code.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_IMPORT_MODELDEF_H
#define K3_COMPILER_IMPORT_MODELDEF_H

#include "compiler/import/Config.h"
#include "compiler/import/Expr.h"
#include "support/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k3 {

/// How the elements of a tensor are stored. Mxfp4 is a pair of U8 tensors, `.weight_packed` and
/// `.weight_scale`.
enum class Encoding { Bf16, F32, Mxfp4 };

/// `bf16`, `f32`, `mxfp4`.
std::string_view encodingName(Encoding encoding);

/// One line of a definition.
struct TensorDef {
  /// What the IR builder asks for: `kda.q_proj`, `moe.expert.w1`.
  std::string role;
  /// With {L} for the layer, {E} for the expert, {B} for the block of a repeated group.
  std::string name;
  std::vector<DefExpr> shape;
  /// Other shapes of the same elements that a file may have.
  std::vector<std::vector<DefExpr>> otherShapes;
  /// The file may hold more entries than count, in any shape.
  bool padded = false;
  /// Plain encodings; the first one is assumed where no header tells.
  std::vector<Encoding> encodings;
  /// The matrix may be stored as MXFP4.
  bool mxfp4 = false;
  std::optional<DefExpr> when;
  /// Number of {B}.
  std::optional<DefExpr> repeat;
  /// Not part of the text model: all tensors of the group exist, or none; empty for the text model.
  /// Names of a group do not take the prefix.
  std::string group;

  bool inLayers() const { return name.find("{L}") != std::string::npos; }
  bool inExperts() const { return name.find("{E}") != std::string::npos; }
};

struct ModelDef {
  std::string family;
  /// What stands before the names of the text model, likeliest first.
  std::vector<std::string> prefixes;
  std::vector<TensorDef> tensors;
};

/// A tensor that the configuration asks for, once for each of its experts or blocks.
struct ExpectedTensor {
  const TensorDef *def = nullptr;
  int64_t layer = -1;
  /// Experts of an expert tensor, blocks of a repeated one, else 1.
  int64_t copies = 1;
  std::vector<int64_t> shape;
  /// Product of the shape.
  int64_t elements = 0;
};

/// Parses a definition; FILE names it in messages. `extends` is looked up among the built-in ones.
Result<ModelDef> parseModelDef(std::string_view text, const std::string &file);
/// The built-in definition of FAMILY.
Result<ModelDef> loadModelDef(const std::string &family);
/// The built-in families, in the order of their names.
std::vector<std::string> modelFamilies();

/// Every tensor that CONFIG asks for, layer by layer in the order of the definition, groups last. A
/// group whose keys are missing is left out with a note.
struct ExpectedTensors {
  std::vector<ExpectedTensor> tensors;
  std::vector<std::string> notes;
};
Result<ExpectedTensors> expectedTensors(const ModelDef &def, const ModelConfig &config);

/// The other shapes that DEF allows in a layer.
Result<std::vector<std::vector<int64_t>>> otherShapes(const TensorDef &def,
                                                      const ModelConfig &config, int64_t layer);

/// Bytes of ELEMENTS in an encoding; MXFP4 takes 17 bytes for 32 elements.
int64_t encodedBytes(Encoding encoding, int64_t elements);

/// `[96, 4]`.
std::string shapeText(const std::vector<int64_t> &shape);

} // namespace k3

#endif // K3_COMPILER_IMPORT_MODELDEF_H
