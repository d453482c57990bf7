//===- Checkpoint.h - A folder of safetensors files -------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds tensors by name in a checkpoint folder: an index with its shards, or one file alone.
// Opening it reads and checks all headers and holds them against the index, so that a damaged or
// half-fetched folder is refused at once.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_WEIGHTS_CHECKPOINT_H
#define K3_RUNTIME_WEIGHTS_CHECKPOINT_H

#include "runtime/weights/Safetensors.h"

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace k3 {

/// A tensor and the file that holds it.
struct TensorPlace {
  uint32_t shard;
  const TensorInfo *info;
};

class Checkpoint {
public:
  /// Opens the checkpoint in FOLDER. Shards for which `mayBeMissing` holds for every tensor need
  /// not be there.
  static Result<Checkpoint> open(const std::string &folder,
                                 const std::function<bool(std::string_view)> &mayBeMissing = {});

  const std::string &folder() const { return folder_; }
  const std::vector<SafetensorsFile> &shards() const { return shards_; }
  /// The place of a tensor, or null.
  const TensorPlace *find(std::string_view name) const;
  Status read(const TensorPlace &place, uint64_t offset, void *to, uint64_t size) const {
    return shards_[place.shard].read(*place.info, offset, to, size);
  }

private:
  void addShard(SafetensorsFile file);
  std::string folder_;
  std::vector<SafetensorsFile> shards_;
  std::unordered_map<std::string_view, TensorPlace> places_; // names live in the shards' headers
};

} // namespace k3

#endif // K3_RUNTIME_WEIGHTS_CHECKPOINT_H
