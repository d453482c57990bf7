//===- Json.cpp - JSON with positions ----------------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nlohmann's SAX interface tells no positions. The parser is fed through an iterator that counts
// what it has taken, and the start of a token is the first byte after the last token that is
// neither white space nor punctuation.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/Json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <unordered_set>

namespace k3::json {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// An input iterator over bytes that shares how far the parser has read.
class CountingIterator {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  CountingIterator(const char *at, const char **furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  CountingIterator &operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator &other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator &other) const { return at_ != other.at_; }

private:
  const char *at_;
  const char **furthest_;
};

/// What nlohmann's message says is wrong, without its prefix, position and echo of the input.
std::string reason(std::string_view what) {
  if (size_t at = what.find(", column "); at != what.npos)
    what.remove_prefix(std::min(what.size(), what.find(": ", at) + 2));
  else if (size_t end = what.find("] "); end != what.npos)
    what.remove_prefix(end + 2);
  std::string expected;
  if (size_t at = what.rfind("; expected "); at != what.npos)
    expected = what.substr(at);
  if (size_t at = what.find("; last read: "); at != what.npos) {
    what = what.substr(0, at);
    // What was read stands before what was expected, but for a number that broke off.
    if (expected.find("; last read: ") != std::string::npos)
      expected.clear();
  } else if (!expected.empty()) {
    what.remove_suffix(expected.size());
  }
  // The number that does not fit is all in the message, however long it is.
  constexpr size_t longest = 120;
  return std::string(what.substr(0, longest)) + (what.size() > longest ? "..." : "") + expected;
}

/// Turns nlohmann's calls into Events with positions.
class Adapter {
public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  Adapter(std::string_view text, const std::string &file, Events &events, Limits limits)
      : text_(text), file_(file), events_(events), limits_(limits), scanned_(text.data()),
        read(text.data()) {}

  bool null() { return scalar({}); }
  bool boolean(bool value) {
    Scalar result;
    result.kind = Kind::Boolean;
    result.boolean = value;
    return scalar(std::move(result));
  }
  bool number_integer(number_integer_t value) {
    Scalar result;
    result.kind = Kind::Integer;
    result.integer = value;
    return scalar(std::move(result));
  }
  bool number_unsigned(number_unsigned_t value) {
    Scalar result;
    bool fits = value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    result.kind = fits ? Kind::Integer : Kind::Unsigned;
    result.integer = fits ? static_cast<int64_t>(value) : 0;
    result.unsignedInteger = value;
    return scalar(std::move(result));
  }
  bool number_float(number_float_t value, const string_t &) {
    Scalar result;
    result.kind = Kind::Float;
    result.number = value;
    return scalar(std::move(result));
  }
  bool string(string_t &value) {
    Scalar result;
    result.kind = Kind::String;
    result.string = std::move(value);
    return scalar(std::move(result));
  }
  bool binary(binary_t &) { return keep(Status::refused(file_ + ": binary values are not JSON")); }
  bool start_object(std::size_t) { return open() && keep(events_.startObject(token())); }
  bool end_object() { return close() && keep(events_.endObject()); }
  bool start_array(std::size_t) { return open() && keep(events_.startArray(token())); }
  bool end_array() { return close() && keep(events_.endArray()); }
  bool key(string_t &text) { return keep(events_.key(text, token())); }
  bool parse_error(std::size_t position, const std::string &,
                   const nlohmann::json::exception &error) {
    // The offending byte was the last one taken; at the end of the text there is none.
    size_t at = std::min(position > 0 ? position - 1 : 0, text_.size());
    advanceTo(text_.data() + at);
    return keep(Status::refused(place(file_, here_) + ": not valid JSON: " + reason(error.what())));
  }

  Status takeStatus() { return std::move(status_); }

private:
  bool keep(Status status) {
    if (status.isOk())
      return true;
    status_ = std::move(status);
    return false;
  }
  bool scalar(Scalar value) { return keep(events_.scalar(value, token())); }
  bool open() {
    if (++depth_ <= limits_.depth)
      return true;
    return keep(Status::refused(place(file_, token()) + ": nested too deeply (got " +
                                std::to_string(depth_) + " levels, at most " +
                                std::to_string(limits_.depth) + ")"));
  }
  bool close() {
    --depth_;
    return true;
  }
  void advanceTo(const char *at) {
    for (; scanned_ < at; ++scanned_) {
      if (*scanned_ == '\n')
        here_ = {here_.line + 1, 1};
      else
        ++here_.column;
    }
  }
  /// The start of the token that was just read.
  Location token() {
    const char *end = text_.data() + text_.size(), *at = tokenEnd_ ? tokenEnd_ : text_.data();
    constexpr std::string_view between = " \t\r\n,:]}";
    while (at < end && between.find(*at) != between.npos)
      ++at;
    advanceTo(at);
    tokenEnd_ = read;
    return here_;
  }

  std::string_view text_;
  const std::string &file_;
  Events &events_;
  Limits limits_;
  Status status_;
  unsigned depth_ = 0;
  Location here_{1, 1};
  /// Up to where `here_` has counted, and the end of the last token.
  const char *scanned_;
  const char *tokenEnd_ = nullptr;

public:
  /// Kept by the iterator.
  const char *read;
};

} // namespace

std::string place(const std::string &file, Location location) {
  return file + ":" + std::to_string(location.line) + ":" + std::to_string(location.column);
}

Status parseEvents(std::string_view text, const std::string &file, Events &events, Limits limits) {
  if (text.size() > limits.bytes)
    return Status::refused(file + ": the file is too large (got " + std::to_string(text.size()) +
                           " bytes, at most " + std::to_string(limits.bytes) + ")");
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark)
    text.remove_prefix(kByteOrderMark.size());
  if (text.find_first_not_of(" \t\r\n") == text.npos)
    return Status::refused(file + ": the file is empty (got " + std::to_string(text.size()) +
                           " bytes, expected a JSON object)");
  Adapter adapter(text, file, events, limits);
  bool done = nlohmann::json::sax_parse(CountingIterator(text.data(), &adapter.read),
                                        CountingIterator(text.data() + text.size(), &adapter.read),
                                        &adapter);
  Status status = adapter.takeStatus();
  if (!done && status.isOk())
    return Status::refused(file + ": not valid JSON");
  return status;
}

const Node *Node::find(std::string_view name) const {
  for (const Node *child : children)
    if (isObject() && child->key == name)
      return child;
  return nullptr;
}

std::string Node::path() const {
  if (!parent)
    return "";
  if (parent->isArray())
    return parent->path() + "[" + std::to_string(index) + "]";
  std::string before = parent->path();
  return before.empty() ? key : before + "." + key;
}

std::string Node::describe() const {
  switch (kind) {
  case Kind::Null:
    return "null";
  case Kind::Boolean:
    return boolean ? "true" : "false";
  case Kind::Integer:
    return std::to_string(integer);
  case Kind::Unsigned:
    return std::to_string(unsignedInteger);
  case Kind::Float:
    return nlohmann::json(number).dump();
  case Kind::String: {
    constexpr size_t longest = 80;
    std::string shown = string.size() > longest ? string.substr(0, longest) + "..." : string;
    using handler = nlohmann::json::error_handler_t;
    return "the string " + nlohmann::json(shown).dump(-1, ' ', false, handler::replace);
  }
  case Kind::Array:
    return "an array of " + std::to_string(children.size());
  case Kind::Object:
    return "an object";
  }
  return "";
}

/// Builds the tree and finds duplicate keys when the second value is known.
class TreeBuilder : public Events {
public:
  explicit TreeBuilder(Document &document) : document_(document) {}

  Status startObject(Location where) override {
    Scalar value;
    value.kind = Kind::Object;
    return open(value, where);
  }
  Status endObject() override { return close(); }
  Status startArray(Location where) override {
    Scalar value;
    value.kind = Kind::Array;
    return open(value, where);
  }
  Status endArray() override { return close(); }
  Status key(std::string &text, Location where) override {
    key_ = std::move(text);
    keyLocation_ = where;
    return {};
  }
  Status scalar(Scalar &value, Location where) override { return add(value, where).status; }

private:
  struct Added {
    Status status;
    Node *node = nullptr;
  };

  Added add(Scalar &value, Location where) {
    Node &node = document_.nodes_.emplace_back();
    static_cast<Scalar &>(node) = std::move(value);
    node.location = where;
    node.keyLocation = where;
    if (open_.empty())
      return {{}, &node};
    Node &parent = *open_.back().node;
    node.parent = &parent;
    node.index = parent.children.size();
    if (parent.isObject()) {
      node.key = std::move(key_);
      node.keyLocation = keyLocation_;
      if (!open_.back().keys.insert(node.key).second) {
        std::string first = parent.find(node.key)->describe();
        return {Status::refused(place(document_.file_, node.keyLocation) + ": " + node.path() +
                                ": duplicate key '" + node.key + "' (got " + first + " and then " +
                                node.describe() + ", expected one value); keep one of them")};
      }
    }
    parent.children.push_back(&node);
    return {{}, &node};
  }
  Status open(Scalar &value, Location where) {
    Added added = add(value, where);
    K3_RETURN_IF_ERROR(added.status);
    open_.push_back({added.node, {}});
    return {};
  }
  Status close() {
    open_.pop_back();
    return {};
  }

  struct Level {
    Node *node;
    std::unordered_set<std::string> keys;
  };
  Document &document_;
  std::vector<Level> open_;
  std::string key_;
  Location keyLocation_;
};

Result<Document> Document::parse(std::string_view text, std::string file, Limits limits) {
  Document document;
  document.file_ = std::move(file);
  TreeBuilder builder(document);
  K3_RETURN_IF_ERROR(parseEvents(text, document.file_, builder, limits));
  return document;
}

std::string Document::where(const Node &node) const {
  std::string path = node.path();
  std::string position = place(file_, node.location);
  return path.empty() ? position : position + ": " + path;
}

} // namespace k3::json
