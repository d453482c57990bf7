//===- TensorIndex.h - model.safetensors.index.json --------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the index of a checkpoint as a stream: every pair of name and shard goes to a callback with
// its position, and nothing of the 59 MB of the official index is kept.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_IMPORT_TENSORINDEX_H
#define K3_COMPILER_IMPORT_TENSORINDEX_H

#include "compiler/import/Json.h"
#include "support/Status.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k3 {

struct IndexSummary {
  std::optional<int64_t> totalSize;
  json::Location totalSizeLocation;
  /// Shard file names in the order of their first mention; the callback's shard is an index into
  /// it.
  std::vector<std::string> shards;
};

using IndexEntry =
    std::function<Status(const std::string &name, uint32_t shard, json::Location where)>;

/// Parses the text of an index; FILE names it in messages.
Result<IndexSummary> parseIndex(std::string_view text, const std::string &file,
                                const IndexEntry &entry);

} // namespace k3

#endif // K3_COMPILER_IMPORT_TENSORINDEX_H
