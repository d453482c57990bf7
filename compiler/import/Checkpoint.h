//===- Checkpoint.h - A model as it lies on disk -----------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The entry of the importer: a folder or a config.json becomes a checked configuration and one
// bound tensor for each role and layer. The configuration says what is computed; names and headers,
// as far as they are there, say how it is stored.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_IMPORT_CHECKPOINT_H
#define K3_COMPILER_IMPORT_CHECKPOINT_H

#include "compiler/import/Config.h"
#include "compiler/import/ModelDef.h"
#include "support/Status.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace k3 {

/// A tensor of the model, or the experts of one matrix in one layer.
struct BoundTensor {
  std::string role;
  /// As in the files, layer filled in; `{E}` stands for the expert, `{B}` for the block of a
  /// repeated group. An MXFP4 matrix has the name that ends in `.weight`; the files hold
  /// NAME_packed and NAME_scale.
  std::string name;
  /// -1 outside of layers.
  int64_t layer = -1;
  int64_t copies = 1;
  /// As it is computed with: [out, in].
  std::vector<int64_t> shape;
  /// As it is stored: `[96, 1, 4]` or `[96, 4]`, `[128]` for a padded `[96]`. MXFP4 gives the
  /// logical shape.
  std::vector<int64_t> stored;
  Encoding encoding = Encoding::Bf16;
  /// Empty for the text model, `vision` for the tower.
  std::string group;
  /// The configuration key behind it: the entry of the layer list, or `hidden_size`.
  KeyLocation location;

  int64_t elements() const;
  /// Elements and bytes in the files, over all copies.
  int64_t storedElements() const;
  int64_t storedBytes() const;
};

struct ImportedModel {
  ModelConfig config;
  std::vector<BoundTensor> tensors;
  /// `language_model.` or nothing.
  std::string prefix;

  /// Names were checked against an index or a single file.
  bool hasNames = false;
  int64_t shardCount = 0;
  int64_t shardsPresent = 0;
  /// Notes of the configuration and of the checkpoint.
  std::vector<std::string> notes;

  /// Names in the files, MXFP4 pairs counted as two.
  int64_t nameCount() const;
  /// The tensor of ROLE in LAYER (-1 outside of layers), or null.
  const BoundTensor *find(std::string_view role, int64_t layer) const;
  /// Fills the table behind `find`; to be called after a change of `tensors`.
  void indexTensors();

private:
  std::map<std::pair<std::string, int64_t>, size_t, std::less<>> byRole_;
};

/// Imports a folder (config.json, index, shard headers as far as present) or a config file (that
/// file alone).
Result<ImportedModel> importModel(const std::string &path);

} // namespace k3

#endif // K3_COMPILER_IMPORT_CHECKPOINT_H
