//===- ShardIndex.h - model.safetensors.index.json --------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses the index that says which shard holds which tensor. The official one has half a million
// names in 59 MB, so it is read as events, grouped by shard, and never kept as a tree.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_WEIGHTS_SHARDINDEX_H
#define K3_RUNTIME_WEIGHTS_SHARDINDEX_H

#include "support/Status.h"

#include <map>
#include <string>
#include <vector>

namespace k3 {

/// Shard file name → names of its tensors, sorted.
using ShardIndex = std::map<std::string, std::vector<std::string>>;

/// Parses the index in file PATH.
Result<ShardIndex> readShardIndex(const std::string &path);

} // namespace k3

#endif // K3_RUNTIME_WEIGHTS_SHARDINDEX_H
