//===- Checkpoint.cpp - A folder of safetensors files -----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The index and the shards' headers must say the same. What is missing is named with its layer
// where it has one, because people fetch these folders layer by layer.
//
//===----------------------------------------------------------------------===//

#include "runtime/weights/Checkpoint.h"

#include "runtime/weights/ShardIndex.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <unistd.h>

using namespace k3;

/// The number after ".layers." or a leading "layers." of a tensor name.
static std::optional<std::string> layerOf(std::string_view name) {
  const size_t at = name.find("layers.");
  if (at == std::string_view::npos || (at > 0 && name[at - 1] != '.'))
    return std::nullopt;
  std::string_view rest = name.substr(at + 7);
  const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  if (digits == 0)
    return std::nullopt;
  return std::string(rest.substr(0, digits));
}

/// ", all of layer 5" when the tensors share one, otherwise nothing.
static std::string layerNote(const std::vector<std::string> &tensors) {
  std::optional<std::string> layer = layerOf(tensors.front());
  for (const std::string &name : tensors) {
    if (layerOf(name) != layer)
      return "";
  }
  return layer ? fmt::format(", all of layer {}", *layer) : "";
}

/// Names of the *.safetensors files of FOLDER, sorted.
static Result<std::vector<std::string>> safetensorsIn(const std::string &folder) {
  DIR *dir = ::opendir(folder.c_str());
  if (!dir)
    return Status::refused(fmt::format("{}: cannot be opened as a checkpoint folder: {}", folder,
                                       std::strerror(errno)));
  std::vector<std::string> names;
  while (const dirent *entry = ::readdir(dir)) {
    if (std::string name = entry->d_name; name.size() > 12 && name.ends_with(".safetensors"))
      names.push_back(std::move(name));
  }
  ::closedir(dir);
  std::sort(names.begin(), names.end());
  return names;
}

/// Compares the tensors of a shard with those that the index places in it. EXPECTED is sorted.
static Status compareWithIndex(const SafetensorsFile &file,
                               const std::vector<std::string> &expected) {
  std::vector<std::string> found;
  for (const TensorInfo &tensor : file.tensors())
    found.push_back(tensor.name);
  std::sort(found.begin(), found.end());
  std::vector<std::string> missing, extra;
  std::set_difference(expected.begin(), expected.end(), found.begin(), found.end(),
                      std::back_inserter(missing));
  std::set_difference(found.begin(), found.end(), expected.begin(), expected.end(),
                      std::back_inserter(extra));
  if (!missing.empty()) {
    return Status::refused(fmt::format("{}: lacks {} of the {} tensors that the index places in "
                                       "it, first '{}'; fetch the file again",
                                       file.path(), missing.size(), expected.size(),
                                       missing.front()));
  }
  if (!extra.empty()) {
    return Status::refused(fmt::format(
        "{}: holds {} tensors that the index does not place in it, first '{}'; index and shard are "
        "not of one checkpoint",
        file.path(), extra.size(), extra.front()));
  }
  return Status::ok();
}

void Checkpoint::addShard(SafetensorsFile file) {
  const uint32_t shard = static_cast<uint32_t>(shards_.size());
  shards_.push_back(std::move(file));
  for (const TensorInfo &tensor : shards_.back().tensors())
    places_.emplace(tensor.name, TensorPlace{shard, &tensor});
}

Result<Checkpoint> Checkpoint::open(const std::string &folder,
                                    const std::function<bool(std::string_view)> &mayBeMissing) {
  Checkpoint checkpoint;
  checkpoint.folder_ = folder;
  const std::string indexPath = folder + "/model.safetensors.index.json";
  K3_ASSIGN_OR_RETURN(std::vector<std::string> present, safetensorsIn(folder));
  if (::access(indexPath.c_str(), F_OK) != 0) {
    if (present.size() != 1) {
      return Status::refused(fmt::format("{}: is not a checkpoint: it has no "
                                         "model.safetensors.index.json and {} safetensors files "
                                         "(expected an index, or exactly one file)",
                                         folder, present.size()));
    }
    K3_ASSIGN_OR_RETURN(SafetensorsFile file,
                        SafetensorsFile::open(folder + "/" + present.front()));
    checkpoint.addShard(std::move(file));
    return checkpoint;
  }

  K3_ASSIGN_OR_RETURN(ShardIndex index, readShardIndex(indexPath));
  checkpoint.shards_.reserve(index.size());
  for (const auto &[shard, tensors] : index) {
    const std::string path = folder + "/" + shard;
    if (!std::binary_search(present.begin(), present.end(), shard) &&
        ::access(path.c_str(), F_OK) != 0) {
      if (mayBeMissing && std::all_of(tensors.begin(), tensors.end(), mayBeMissing))
        continue;
      return Status::refused(fmt::format(
          "{}: the shard is missing (the index places {} tensors in it{}); fetch it again", path,
          tensors.size(), layerNote(tensors)));
    }
    K3_ASSIGN_OR_RETURN(SafetensorsFile file, SafetensorsFile::open(path));
    K3_RETURN_IF_ERROR(compareWithIndex(file, tensors));
    checkpoint.addShard(std::move(file));
  }
  return checkpoint;
}

const TensorPlace *Checkpoint::find(std::string_view name) const {
  auto found = places_.find(name);
  return found == places_.end() ? nullptr : &found->second;
}
