//===- ConfigReader.cpp - Typed access to the keys of a config ---*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function a type, each with the message that a user sees when the type or the range is wrong.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/ConfigReader.h"

#include "compiler/import/ConfigKeys.h"

#include <cmath>

namespace k3 {

using json::Kind;
using json::Node;

namespace {

/// The key as the official class spells it, without the name of the object that holds the text
/// keys.
std::string canonicalKey(const Node &node) {
  std::string path = node.path();
  constexpr std::string_view prefix = "text_config.";
  return path.compare(0, prefix.size(), prefix) == 0 ? path.substr(prefix.size()) : path;
}

} // namespace

const Node *ConfigReader::find(const Node *object, std::string_view key) {
  const Node *node = object ? object->find(key) : nullptr;
  if (!node)
    return nullptr;
  known_.insert(node);
  if (node->isNull())
    return nullptr;
  config_.locations[canonicalKey(*node)] = {node->location, node->path()};
  return node;
}

void ConfigReader::refuse(const Node &node, const std::string &what) {
  if (status_.isOk())
    status_ = Status::refused(document_.where(node) + ": " + what);
}

std::optional<int64_t> ConfigReader::integer(const Node *object, std::string_view key,
                                             IntRange range) {
  const Node *node = find(object, key);
  if (!node)
    return std::nullopt;
  if (node->kind != Kind::Integer && node->kind != Kind::Unsigned) {
    refuse(*node, "expected an integer (got " + node->describe() + ")");
    return std::nullopt;
  }
  if (node->kind == Kind::Unsigned || node->integer < range.low || node->integer > range.high) {
    refuse(*node, "out of range (got " + node->describe() + ", expected " +
                      std::to_string(range.low) + " to " + std::to_string(range.high) + ")");
    return std::nullopt;
  }
  return node->integer;
}

std::optional<double> ConfigReader::number(const Node *object, std::string_view key, double above) {
  const Node *node = find(object, key);
  if (!node)
    return std::nullopt;
  if (node->kind != Kind::Integer && node->kind != Kind::Float) {
    refuse(*node, "expected a number (got " + node->describe() + ")");
    return std::nullopt;
  }
  double value = node->kind == Kind::Integer ? static_cast<double>(node->integer) : node->number;
  if (!(value > above)) {
    refuse(*node, "out of range (got " + node->describe() + ", expected more than 0)");
    return std::nullopt;
  }
  return value;
}

std::optional<bool> ConfigReader::boolean(const Node *object, std::string_view key) {
  const Node *node = find(object, key);
  if (!node)
    return std::nullopt;
  if (node->kind != Kind::Boolean) {
    refuse(*node, "expected true or false (got " + node->describe() + ")");
    return std::nullopt;
  }
  return node->boolean;
}

std::optional<std::string> ConfigReader::string(const Node *object, std::string_view key) {
  const Node *node = find(object, key);
  if (!node)
    return std::nullopt;
  if (node->kind != Kind::String) {
    refuse(*node, "expected a string (got " + node->describe() + ")");
    return std::nullopt;
  }
  return node->string;
}

std::optional<std::string> ConfigReader::choice(const Node *object, std::string_view key,
                                                std::initializer_list<std::string_view> values) {
  std::optional<std::string> value = string(object, key);
  if (!value)
    return std::nullopt;
  std::string listed;
  for (std::string_view candidate : values) {
    if (*value == candidate)
      return value;
    listed += (listed.empty() ? "" : ", ") + std::string(candidate);
  }
  const Node *node = find(object, key);
  refuse(*node, "not supported (got " + node->describe() + ", expected one of " + listed + ")");
  return std::nullopt;
}

const Node *ConfigReader::object(const Node *parent, std::string_view key) {
  const Node *node = find(parent, key);
  if (!node || node->isObject())
    return node;
  refuse(*node, "expected an object (got " + node->describe() + ")");
  return nullptr;
}

const Node *ConfigReader::array(const Node *parent, std::string_view key) {
  const Node *node = find(parent, key);
  if (!node || node->isArray())
    return node;
  refuse(*node, "expected an array (got " + node->describe() + ")");
  return nullptr;
}

int64_t ConfigReader::required(const Node *object, std::string_view key, IntRange range) {
  if (!find(object, key)) {
    missing(object, key);
    return 0;
  }
  return integer(object, key, range).value_or(0);
}

void ConfigReader::missing(const Node *object, std::string_view key) {
  std::string path = object ? object->path() : "";
  missing_.push_back(path.empty() ? std::string(key) : path + "." + std::string(key));
  if (!missingIn_)
    missingIn_ = object;
}

void ConfigReader::listUnknown(const Node &object) {
  for (const Node *child : object.children)
    if (!known_.count(child) && !isKnownUnusedKey(child->key))
      config_.unknownKeys.push_back(child->path());
}

Status ConfigReader::finish() const {
  if (!status_.isOk() || missing_.empty())
    return status_;
  std::string listed;
  for (const std::string &key : missing_)
    listed += (listed.empty() ? "" : ", ") + key;
  const Node &at = missingIn_ ? *missingIn_ : document_.root();
  bool one = missing_.size() == 1;
  return Status::refused(
      json::place(document_.file(), at.location) + ": " + listed +
      (one ? ": this key is missing"
           : ": these " + std::to_string(missing_.size()) + " keys are missing") +
      (one ? " and has no default; add it" : " and have no default; add them") +
      " to the configuration");
}

} // namespace k3
