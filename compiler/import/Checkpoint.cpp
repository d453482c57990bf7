//===- Checkpoint.cpp - A model as it lies on disk ---------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the files, lets the binder look at their names and headers, and keeps the result. No tensor
// data is read.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/Checkpoint.h"

#include "compiler/import/Binder.h"
#include "support/File.h"

#include <algorithm>
#include <filesystem>

namespace k3 {

namespace fs = std::filesystem;

namespace {

constexpr const char *kConfigName = "config.json";
constexpr const char *kIndexName = "model.safetensors.index.json";

/// The only *.safetensors of a folder without an index, or an empty path.
Result<fs::path> singleFile(const fs::path &folder) {
  std::vector<fs::path> found;
  std::error_code error;
  // The increment of a range-based loop would throw.
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".safetensors")
      found.push_back(at->path());
  if (error)
    return Status::failed(folder.string() + ": cannot be listed (" + error.message() + ")");
  if (found.size() > 1)
    return Status::refused(folder.string() + ": the index is missing (got " +
                           std::to_string(found.size()) + " safetensors files, expected one, or " +
                           kIndexName + ")");
  return found.empty() ? fs::path() : found.front();
}

Status bindFiles(Binder &binder, const fs::path &folder) {
  std::error_code error;
  if (fs::path index = folder / kIndexName; fs::exists(index, error)) {
    K3_ASSIGN_OR_RETURN(std::string text, readFile(index.string(), uint64_t(1) << 30));
    K3_RETURN_IF_ERROR(binder.readIndex(text, index.string()));
    text = std::string();
    return binder.readShards(folder.string());
  }
  K3_ASSIGN_OR_RETURN(fs::path single, singleFile(folder));
  return single.empty() ? Status() : binder.readSingle(single.string());
}

} // namespace

int64_t BoundTensor::elements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

int64_t BoundTensor::storedElements() const {
  int64_t count = copies;
  for (int64_t extent : stored)
    count *= extent;
  return count;
}

int64_t BoundTensor::storedBytes() const { return encodedBytes(encoding, storedElements()); }

int64_t ImportedModel::nameCount() const {
  int64_t count = 0;
  for (const BoundTensor &tensor : tensors)
    count += tensor.copies * (tensor.encoding == Encoding::Mxfp4 ? 2 : 1);
  return count;
}

const BoundTensor *ImportedModel::find(std::string_view role, int64_t layer) const {
  auto found = byRole_.find(std::pair(std::string(role), layer));
  return found == byRole_.end() ? nullptr : &tensors[found->second];
}

void ImportedModel::indexTensors() {
  byRole_.clear();
  for (size_t i = 0; i < tensors.size(); ++i)
    byRole_[{tensors[i].role, tensors[i].layer}] = i;
}

Result<ImportedModel> importModel(const std::string &path) {
  std::error_code error;
  fs::path folder;
  fs::path configPath = path;
  if (fs::is_directory(configPath, error)) {
    folder = configPath;
    configPath /= kConfigName;
    // What cannot be looked at is an error of reading it.
    if (!fs::exists(configPath, error) && !error)
      return Status::refused(
          path +
          ": no config.json in this folder; give the folder of a checkpoint or a config file");
  } else if (!fs::exists(configPath, error) && !error) {
    return Status::refused(
        path + ": no such file or folder; give the folder of a checkpoint or a config file");
  }
  K3_ASSIGN_OR_RETURN(std::string text, readFile(configPath.string(), json::Limits().bytes));
  K3_ASSIGN_OR_RETURN(ModelConfig config, parseConfig(text, configPath.string()));
  K3_ASSIGN_OR_RETURN(ModelDef def, loadModelDef(config.family));
  Binder binder(def, config);
  K3_RETURN_IF_ERROR(binder.prepare());
  if (!folder.empty())
    K3_RETURN_IF_ERROR(bindFiles(binder, folder));
  return binder.finish();
}

} // namespace k3
