//===- TensorNames.h - Which tensors a checkpoint has ------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sorts the names of a checkpoint under the name templates of a definition. Half a million names
// become a few bytes each: a template, a layer and a copy, and the shard that holds it.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_IMPORT_TENSORNAMES_H
#define K3_COMPILER_IMPORT_TENSORNAMES_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace k3 {

/// What a shard header says about one tensor.
struct StoredTensor {
  std::string dtype;
  std::vector<int64_t> shape;
  bool operator==(const StoredTensor &) const = default;
};

/// The copies (experts, blocks) of one template in one layer.
struct PresentTensor {
  /// By copy: 0 for absent, else 1 + the shard; `kSeen` is added when the shard's own header has
  /// confirmed it.
  std::vector<uint32_t> shards;
  int64_t count = 0;
  /// The same for all copies.
  std::optional<StoredTensor> stored;
  int64_t confirmed = 0;
  bool wanted = false;
};

class TensorNames {
public:
  static constexpr uint32_t kSeen = 1u << 31;

  struct Match {
    size_t pattern;
    /// 0 for a template without {L}.
    size_t layer;
    size_t copy;
    /// The numbers lie inside the ranges of the template.
    bool inRange;
  };
  struct Pattern {
    std::string name;
    size_t layers;
    size_t copies;
    std::vector<PresentTensor> present;
  };

  /// Adds a template with LAYERS values of {L} (1 without) and COPIES of {E} or {B} (1 without);
  /// the same name twice is one template with the larger counts.
  size_t add(const std::string &name, size_t layers, size_t copies);
  std::optional<size_t> find(std::string_view name) const;
  std::optional<Match> match(std::string_view name) const;

  /// Records a name; false if it was there before.
  bool record(const Match &match, uint32_t shard);
  PresentTensor &at(size_t pattern, size_t layer) { return patterns_[pattern].present[layer]; }
  const std::vector<Pattern> &patterns() const { return patterns_; }
  /// The template with its numbers filled in.
  static std::string instance(std::string_view pattern, size_t layer, size_t copy);

private:
  struct Slot {
    /// 'L', 'E' (any copy), or '=' for a number that is part of the name.
    char kind;
    uint64_t number;
  };
  struct Template {
    size_t pattern;
    std::vector<Slot> slots;
  };
  /// NAME with every all-digit part replaced by '#'; the numbers go to NUMBERS. Braces count as
  /// numbers of a template.
  static bool canonical(std::string_view name, std::string &key, std::vector<Slot> &slots);

  std::vector<Pattern> patterns_;
  std::unordered_map<std::string, size_t> byName_;
  std::unordered_map<std::string, std::vector<Template>> byKey_;
};

/// Collects names for a message: by class, so that 93 tensors of one kind are one entry.
class NameSummary {
public:
  void add(std::string_view pattern, std::string name, int64_t count = 1);
  int64_t count() const { return count_; }
  /// `a.0.b and 92 alike, c, and 4 more`, at most LIMIT classes.
  std::string text(size_t limit) const;

private:
  struct Class {
    std::string pattern;
    std::string first;
    int64_t count;
  };
  int64_t count_ = 0;
  std::vector<Class> classes_;
  std::unordered_map<std::string, size_t> byPattern_;
};

} // namespace k3

#endif // K3_COMPILER_IMPORT_TENSORNAMES_H
