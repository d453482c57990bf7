//===- ShardIndex.cpp - model.safetensors.index.json ------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only `weight_map` is taken; anything else at the top is passed over whatever it is. A shard is a
// plain file name, because the index is somebody else's text and must not lead out of its folder.
//
//===----------------------------------------------------------------------===//

#include "runtime/weights/ShardIndex.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

using namespace k3;

namespace {

/// JSON events of the index. `depth_` counts open objects and lists.
class IndexEvents {
public:
  ShardIndex index;
  std::string error;
  bool found = false;

  bool null() { return scalar(); }
  bool boolean(bool) { return scalar(); }
  bool number_integer(int64_t) { return scalar(); }
  bool number_unsigned(uint64_t) { return scalar(); }
  bool number_float(double, const std::string &) { return scalar(); }
  bool binary(nlohmann::json::binary_t &) { return scalar(); }

  bool string(std::string &shard) {
    if (!inMap())
      return scalar();
    if (shard.empty() || shard == "." || shard == ".." || shard.find('/') != std::string::npos ||
        shard.find('\0') != std::string::npos) {
      error = fmt::format("tensor '{}' is placed in \"{}\", which is not a plain file name", key_,
                          shard);
      return false;
    }
    index[shard].push_back(std::move(key_));
    return true;
  }

  bool start_object(size_t) {
    if (inMap())
      return scalar();
    if (++depth_ > 64)
      return tooDeep();
    if (depth_ == 2 && topKey_ == "weight_map") {
      if (found) {
        error = "weight_map appears twice";
        return false;
      }
      found = map_ = true;
    }
    return true;
  }
  bool key(std::string &value) {
    (depth_ == 1 ? topKey_ : key_) = value;
    return true;
  }
  bool end_object() {
    if (depth_-- == 2)
      map_ = false;
    return true;
  }
  bool start_array(size_t) {
    if (inMap() || depth_ == 0)
      return scalar();
    return ++depth_ <= 64 || tooDeep();
  }
  bool end_array() {
    --depth_;
    return true;
  }
  bool parse_error(size_t position, const std::string &, const nlohmann::detail::exception &) {
    error = fmt::format("is not valid JSON (at byte {})", position);
    return false;
  }

private:
  bool inMap() const { return map_ && depth_ == 2; }
  bool tooDeep() {
    error = "is nested more than 64 deep";
    return false;
  }
  bool scalar() {
    if (inMap())
      error = fmt::format("tensor '{}' is not placed in a file by name", key_);
    else if (depth_ == 0)
      error = "is not an object";
    return error.empty();
  }

  int depth_ = 0;
  bool map_ = false;
  std::string topKey_, key_;
};

} // namespace

Result<ShardIndex> k3::readShardIndex(const std::string &path) {
  std::unique_ptr<FILE, int (*)(FILE *)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file)
    return Status::refused(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  IndexEvents events;
  if (!nlohmann::json::sax_parse(file.get(), &events))
    return Status::refused(fmt::format("{}: {}", path, events.error));
  if (!events.found)
    return Status::refused(
        fmt::format("{}: has no object weight_map; it is not an index of a checkpoint", path));
  std::vector<std::string_view> names;
  for (auto &[shard, tensors] : events.index) {
    std::sort(tensors.begin(), tensors.end());
    names.insert(names.end(), tensors.begin(), tensors.end());
  }
  std::sort(names.begin(), names.end());
  if (auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
    return Status::refused(fmt::format("{}: tensor '{}' appears twice", path, *twice));
  return std::move(events.index);
}
