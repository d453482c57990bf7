//===- Binder.h - Tensors of the definition and of the files -----*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matches what a configuration asks for with what a checkpoint has, one to one: every tensor exists
// once, nothing is left over, shapes and dtypes agree, and the bytes add up to the index's total.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_IMPORT_BINDER_H
#define K3_COMPILER_IMPORT_BINDER_H

#include "compiler/import/Checkpoint.h"
#include "compiler/import/TensorIndex.h"
#include "compiler/import/TensorNames.h"

#include <optional>

namespace k3 {

class Binder {
public:
  Binder(const ModelDef &def, ModelConfig &config) : def_(def), config_(config) {}

  /// Lists what the configuration asks for; first.
  Status prepare();
  /// Either an index, and then the shards of its folder that are there, or a single file, or
  /// nothing.
  Status readIndex(std::string_view text, const std::string &file);
  Status readShards(const std::string &folder);
  Status readSingle(const std::string &file);
  Result<ImportedModel> finish();

private:
  /// A name in the files that belongs to an expected tensor: the tensor itself, or one half of an
  /// MXFP4 pair.
  struct Part {
    std::string pattern;
    /// What a header must say; empty for a plain tensor, whose definition lists its dtypes.
    std::string dtype;
    std::vector<int64_t> shape;
  };
  static std::vector<Part> partsOf(const ExpectedTensor &tensor, bool mxfp4);

  /// WHERE is null in a single file, whose header has no lines.
  Status recordName(const std::string &name, uint32_t shard, const json::Location *where);
  /// Removes the prefix from NAME and returns it.
  std::string_view takePrefix(std::string_view &name) const;
  std::string fullName(size_t pattern, size_t layer, size_t copy) const;

  /// Every expected name exists, and no other.
  Status checkNames();
  bool isPresent(const std::string &pattern, int64_t layer) const;
  bool isMxfp4(const ExpectedTensor &tensor) const;
  void dropAbsentGroups();

  Status readHeader(const std::string &path, uint32_t shard);
  Status bindTensor(const ExpectedTensor &tensor, ImportedModel &model);
  Status checkHeader(const ExpectedTensor &tensor, const Part &part, const PresentTensor &present,
                     BoundTensor &bound) const;
  /// The bytes of all tensors are the total of the index, but for the padding of tensors whose
  /// header was not seen.
  Status checkTotal(ImportedModel &model);

  const ModelDef &def_;
  ModelConfig &config_;
  ExpectedTensors expected_;
  TensorNames names_;
  /// By pattern: part of the text model, whose names take the prefix.
  std::vector<bool> isText_;
  IndexSummary index_;
  /// The index or the single file, for messages; empty without a checkpoint.
  std::string source_;
  std::string folder_;
  std::optional<std::string> prefix_;
  int64_t shardsPresent_ = 0;
  /// By shard: how many names the index places there.
  std::vector<size_t> shardNames_;
  /// Indices of bound tensors that may be padded and whose header was not seen.
  std::vector<size_t> unseenPadded_;
  NameSummary unexpected_;
  NameSummary missing_;
};

} // namespace k3

#endif // K3_COMPILER_IMPORT_BINDER_H
