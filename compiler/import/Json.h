//===- Json.h - JSON with positions ------------------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads JSON so that every value knows its line, column and key path: messages and IR locations
// point into the user's file. Small documents become a tree, huge ones (the tensor index) are read
// as a stream of events.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_IMPORT_JSON_H
#define K3_COMPILER_IMPORT_JSON_H

#include "support/Status.h"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace k3::json {

/// Both count from 1; the column counts bytes, and a byte order mark is not counted.
struct Location {
  unsigned line = 0;
  unsigned column = 0;
};

enum class Kind { Null, Boolean, Integer, Unsigned, Float, String, Array, Object };

/// A value without children. `Integer` holds whatever fits int64, `Unsigned` only what does not,
/// `Float` what was written with a point or an exponent.
struct Scalar {
  Kind kind = Kind::Null;
  bool boolean = false;
  int64_t integer = 0;
  uint64_t unsignedInteger = 0;
  double number = 0;
  std::string string;
};

/// Receives a document as a stream. A Status that is not ok ends the parse and is returned as it
/// is.
class Events {
public:
  virtual ~Events() = default;
  virtual Status startObject(Location where) = 0;
  virtual Status endObject() = 0;
  virtual Status startArray(Location where) = 0;
  virtual Status endArray() = 0;
  /// The key of the next value.
  virtual Status key(std::string &text, Location where) = 0;
  virtual Status scalar(Scalar &value, Location where) = 0;
};

struct Limits {
  uint64_t bytes = 16u << 20;
  unsigned depth = 64;
};

/// Parses TEXT; FILE names it in messages. A byte order mark is skipped; an empty text, invalid
/// UTF-8, trailing characters, numbers beyond double, and anything over the limits are refused with
/// their position.
Status parseEvents(std::string_view text, const std::string &file, Events &events,
                   Limits limits = {});

/// One value of a tree. Nodes live in their Document and never move.
struct Node : Scalar {
  Location location;
  /// The key or the index under which the parent holds this value.
  std::string key;
  Location keyLocation;
  size_t index = 0;
  const Node *parent = nullptr;
  std::vector<const Node *> children;

  bool isNull() const { return kind == Kind::Null; }
  bool isObject() const { return kind == Kind::Object; }
  bool isArray() const { return kind == Kind::Array; }
  /// The member KEY of an object, or null.
  const Node *find(std::string_view name) const;
  /// `text_config.linear_attn_config.kda_layers[3]`; empty for the root.
  std::string path() const;
  /// For messages: `the string "96"`, `8`, `null`, `an object`, `an array of 3`.
  std::string describe() const;
};

/// A parsed document. Duplicate keys are refused with both values and the position of the second
/// key.
class Document {
public:
  static Result<Document> parse(std::string_view text, std::string file, Limits limits = {});
  // Nodes point at each other: a document moves and is never copied.
  Document(Document &&) = default;
  Document &operator=(Document &&) = default;

  const Node &root() const { return nodes_.front(); }
  const std::string &file() const { return file_; }
  /// `FILE:LINE:COLUMN: PATH`, the subject of a message about NODE (PATH is left out for the root).
  std::string where(const Node &node) const;

private:
  friend class TreeBuilder;
  Document() = default;
  std::string file_;
  std::deque<Node> nodes_;
};

/// `FILE:LINE:COLUMN`.
std::string place(const std::string &file, Location location);

} // namespace k3::json

#endif // K3_COMPILER_IMPORT_JSON_H
