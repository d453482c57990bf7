//===- TensorIndex.cpp - model.safetensors.index.json ------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The two levels of the file are told apart by depth and by the key of the outer object.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/TensorIndex.h"

#include <unordered_map>

namespace k3 {
namespace {

constexpr uint64_t kMaxIndexBytes = uint64_t(1) << 30;
constexpr size_t kMaxShards = 65536;

std::string quoted(std::string_view text) {
  constexpr size_t longest = 80;
  return std::string("\"").append(text.substr(0, longest)) + "\"";
}

class IndexEvents : public json::Events {
public:
  IndexEvents(const std::string &file, const IndexEntry &entry) : file_(file), entry_(entry) {}

  Status startObject(json::Location where) override {
    ++depth_;
    if (depth_ == 2 && outer_ == "weight_map")
      sawMap_ = true;
    return depth_ > 2 && outer_ == "weight_map" ? notAShard(where, "an object") : Status();
  }
  Status endObject() override {
    --depth_;
    return {};
  }
  Status startArray(json::Location where) override {
    if (depth_ == 0)
      return Status::refused(json::place(file_, where) + ": expected an object (got an array)");
    ++depth_;
    return outer_ == "weight_map" ? notAShard(where, "an array") : Status();
  }
  Status endArray() override {
    --depth_;
    return {};
  }
  Status key(std::string &text, json::Location where) override {
    if (depth_ == 1)
      outer_ = text;
    inner_.swap(text);
    innerLocation_ = where;
    return {};
  }
  Status scalar(json::Scalar &value, json::Location where) override {
    if (depth_ == 0)
      return Status::refused(json::place(file_, where) +
                             ": expected an object (got a single value)");
    if (outer_ == "weight_map")
      return depth_ == 2 ? shard(value, where) : notAShard(where, "a single value");
    if (depth_ == 2 && outer_ == "metadata" && inner_ == "total_size")
      return totalSize(value, where);
    return {};
  }
  Status finish() const {
    if (sawMap_)
      return {};
    return Status::refused(
        file_ + ": weight_map is missing (expected an object of tensor names and shard files)");
  }

  IndexSummary summary;

private:
  Status notAShard(json::Location where, const std::string &what) const {
    return Status::refused(json::place(file_, where) +
                           ": weight_map: expected the name of a shard file (got " + what + ")");
  }
  Status totalSize(const json::Scalar &value, json::Location where) {
    // Some writers store the number with a point.
    bool whole = value.kind == json::Kind::Float && value.number >= 0 && value.number < 9e15 &&
                 value.number == static_cast<double>(static_cast<int64_t>(value.number));
    if (!whole && (value.kind != json::Kind::Integer || value.integer < 0))
      return Status::refused(json::place(file_, where) +
                             ": metadata.total_size: expected a number of bytes");
    summary.totalSize = whole ? static_cast<int64_t>(value.number) : value.integer;
    summary.totalSizeLocation = where;
    return {};
  }
  Status shard(const json::Scalar &value, json::Location where) {
    const std::string &name = value.string;
    if (value.kind != json::Kind::String || name.empty() || name.find('/') != name.npos ||
        name == "." || name == "..")
      return notAShard(where, value.kind == json::Kind::String ? quoted(name) : "no string");
    auto [known, added] = numbers_.try_emplace(name, static_cast<uint32_t>(numbers_.size()));
    if (added) {
      if (numbers_.size() > kMaxShards)
        return Status::refused(json::place(file_, where) + ": more than " +
                               std::to_string(kMaxShards) + " shard files are named");
      summary.shards.push_back(name);
    }
    return entry_(inner_, known->second, innerLocation_);
  }

  const std::string &file_;
  const IndexEntry &entry_;
  unsigned depth_ = 0;
  bool sawMap_ = false;
  std::string outer_;
  std::string inner_;
  json::Location innerLocation_;
  std::unordered_map<std::string, uint32_t> numbers_;
};

} // namespace

Result<IndexSummary> parseIndex(std::string_view text, const std::string &file,
                                const IndexEntry &entry) {
  IndexEvents events(file, entry);
  K3_RETURN_IF_ERROR(json::parseEvents(text, file, events, {kMaxIndexBytes, 16}));
  K3_RETURN_IF_ERROR(events.finish());
  return std::move(events.summary);
}

} // namespace k3
