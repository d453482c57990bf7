//===- ConfigReader.h - Typed access to the keys of a config -----*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The mechanics of Config.cpp: every read checks type and range, notes the place and the default,
// and collects missing keys so that they can be told all at once. The first wrong value wins over
// everything else.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_IMPORT_CONFIGREADER_H
#define K3_COMPILER_IMPORT_CONFIGREADER_H

#include "compiler/import/Config.h"

#include <initializer_list>
#include <set>

namespace k3 {

/// The inclusive range of an integer key.
struct IntRange {
  int64_t low;
  int64_t high;
};

class ConfigReader {
public:
  ConfigReader(const json::Document &document, ModelConfig &config)
      : document_(document), config_(config) {}

  /// Reads KEY of OBJECT (which may be null: then everything is absent). A null value counts as
  /// absent.
  std::optional<int64_t> integer(const json::Node *object, std::string_view key, IntRange range);
  std::optional<double> number(const json::Node *object, std::string_view key, double above);
  std::optional<bool> boolean(const json::Node *object, std::string_view key);
  /// One of VALUES.
  std::optional<std::string> choice(const json::Node *object, std::string_view key,
                                    std::initializer_list<std::string_view> values);
  std::optional<std::string> string(const json::Node *object, std::string_view key);
  const json::Node *object(const json::Node *parent, std::string_view key);
  const json::Node *array(const json::Node *parent, std::string_view key);

  /// As `integer`, but the key is listed as missing when it is absent; gives 0 then.
  int64_t required(const json::Node *object, std::string_view key, IntRange range);
  void missing(const json::Node *object, std::string_view key);
  bool isMissing() const { return !missing_.empty(); }

  /// VALUE, or DEFAULT with an entry in the list of defaults; MEANING explains it there.
  template <typename T>
  T orDefault(std::string_view key, const std::optional<T> &value, T fallback,
              const std::string &meaning) {
    if (!value)
      config_.defaults.push_back(std::string(key) + " " + meaning);
    return value.value_or(fallback);
  }
  template <typename T>
  std::optional<T> orNull(std::string_view key, std::optional<T> value,
                          const std::string &meaning) {
    if (!value)
      config_.defaults.push_back(std::string(key) + " null (" + meaning + ")");
    return value;
  }

  void note(std::string text) { config_.notes.push_back(std::move(text)); }
  /// Keeps the first refusal: `PLACE: PATH: WHAT`.
  void refuse(const json::Node &node, const std::string &what);
  bool failed() const { return !status_.isOk(); }

  /// The members of OBJECT that nobody read and nobody knows go to the list of unknown keys.
  void listUnknown(const json::Node &object);
  void markKnown(const json::Node *node) { known_.insert(node); }

  /// The first refusal, else the missing keys in one sentence, else ok.
  Status finish() const;
  const json::Document &document() const { return document_; }
  const json::Node *find(const json::Node *object, std::string_view key);

private:
  const json::Document &document_;
  ModelConfig &config_;
  Status status_;
  std::vector<std::string> missing_;
  const json::Node *missingIn_ = nullptr;
  std::set<const json::Node *> known_;
};

/// Reads `quantization_config` at either place; anything but MXFP4 with groups of 32 is refused by
/// its name.
void readQuantization(ConfigReader &reader, const json::Node &root, const json::Node &text,
                      ModelConfig &config);

} // namespace k3

#endif // K3_COMPILER_IMPORT_CONFIGREADER_H
