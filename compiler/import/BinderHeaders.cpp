//===- BinderHeaders.cpp - Shapes, dtypes and bytes of the files -*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The second half of the binder: shard headers, as far as the shards are there, and the sum of all
// bytes. What no header tells is taken from the definition, and the total of the index must confirm
// it.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/Binder.h"

#include "runtime/weights/Safetensors.h"

#include <algorithm>
#include <bit>
#include <filesystem>

namespace k3 {

namespace {

std::string allowedDtypes(const TensorDef &def) {
  std::string result;
  for (Encoding encoding : def.encodings)
    result +=
        (result.empty() ? "" : " or ") + std::string(encoding == Encoding::F32 ? "F32" : "BF16");
  return result;
}

StoredTensor storedTensor(const TensorInfo &info) {
  StoredTensor stored{std::string(elementTypeName(info.type)), {}};
  for (uint64_t extent : info.shape)
    stored.shape.push_back(static_cast<int64_t>(extent));
  return stored;
}

int64_t product(const std::vector<int64_t> &shape) {
  int64_t result = 1;
  for (int64_t extent : shape)
    result *= extent;
  return result;
}

/// Puts the layer into a name and leaves the copy open.
std::string layerName(std::string name, int64_t layer) {
  if (size_t at = name.find("{L}"); at != std::string::npos)
    name.replace(at, 3, std::to_string(layer));
  return name;
}

} // namespace

Status Binder::readHeader(const std::string &path, uint32_t shard) {
  K3_ASSIGN_OR_RETURN(SafetensorsFile file, SafetensorsFile::open(path));
  for (const TensorInfo &info : file.tensors()) {
    std::string_view rest = info.name;
    takePrefix(rest);
    std::optional<TensorNames::Match> match = names_.match(rest);
    PresentTensor *present =
        match && match->inRange ? &names_.at(match->pattern, match->layer) : nullptr;
    if (!present || present->shards.empty() || present->shards[match->copy] != shard + 1 ||
        fullName(match->pattern, match->layer, match->copy) != info.name)
      return Status::refused(path + ": holds the tensor '" + info.name + "', which " + source_ +
                             " does not place there; the files are of different checkpoints");
    present->shards[match->copy] |= TensorNames::kSeen;
    ++present->confirmed;
    StoredTensor stored = storedTensor(info);
    if (present->stored && *present->stored != stored)
      return Status::refused(path + ": " + info.name + ": not stored as its siblings are (got " +
                             stored.dtype + " " + shapeText(stored.shape) + ", expected " +
                             present->stored->dtype + " " + shapeText(present->stored->shape) +
                             ")");
    present->stored = std::move(stored);
  }
  if (file.tensors().size() == shardNames_[shard])
    return {};
  for (size_t pattern = 0; pattern < names_.patterns().size(); ++pattern)
    for (size_t layer = 0; layer < names_.patterns()[pattern].present.size(); ++layer) {
      const std::vector<uint32_t> &shards = names_.patterns()[pattern].present[layer].shards;
      if (auto lost = std::find(shards.begin(), shards.end(), shard + 1); lost != shards.end())
        return Status::refused(
            path + ": lacks the tensor '" +
            fullName(pattern, layer, static_cast<size_t>(lost - shards.begin())) + "' (got " +
            std::to_string(file.tensors().size()) + " tensors, expected the " +
            std::to_string(shardNames_[shard]) + " of " + source_ + ")");
    }
  return {};
}

Status Binder::readShards(const std::string &folder) {
  folder_ = folder;
  std::error_code error;
  for (uint32_t shard = 0; shard < index_.shards.size(); ++shard) {
    std::filesystem::path path = std::filesystem::path(folder) / index_.shards[shard];
    if (!std::filesystem::exists(path, error))
      continue;
    K3_RETURN_IF_ERROR(readHeader(path.string(), shard));
    ++shardsPresent_;
  }
  return {};
}

Status Binder::readSingle(const std::string &file) {
  source_ = file;
  std::filesystem::path path(file);
  folder_ = path.parent_path().string();
  index_.shards = {path.filename().string()};
  K3_ASSIGN_OR_RETURN(SafetensorsFile opened, SafetensorsFile::open(file));
  shardNames_ = {opened.tensors().size()};
  for (const TensorInfo &info : opened.tensors())
    K3_RETURN_IF_ERROR(recordName(info.name, 0, nullptr));
  K3_RETURN_IF_ERROR(checkNames());
  shardsPresent_ = 1;
  return readHeader(file, 0);
}

Status Binder::checkHeader(const ExpectedTensor &tensor, const Part &part,
                           const PresentTensor &present, BoundTensor &bound) const {
  const StoredTensor &stored = *present.stored;
  auto shard = std::find_if(present.shards.begin(), present.shards.end(),
                            [](uint32_t entry) { return (entry & TensorNames::kSeen) != 0; });
  const std::string &file = index_.shards[(*shard & ~TensorNames::kSeen) - 1];
  size_t copy = static_cast<size_t>(shard - present.shards.begin());
  auto refuse = [&](const std::string &what) {
    std::string name = fullName(*names_.find(part.pattern),
                                static_cast<size_t>(std::max<int64_t>(tensor.layer, 0)), copy);
    return Status::refused((std::filesystem::path(folder_) / file).string() + ": " + name + ": " +
                           what);
  };
  bool halfOfPair = !part.dtype.empty();
  if (halfOfPair) {
    if (stored.dtype != part.dtype)
      return refuse("wrong dtype (got " + stored.dtype + ", expected " + part.dtype + ")");
  } else {
    auto fits = [&](Encoding encoding) {
      return stored.dtype == (encoding == Encoding::F32 ? "F32" : "BF16");
    };
    auto found = std::find_if(tensor.def->encodings.begin(), tensor.def->encodings.end(), fits);
    if (found == tensor.def->encodings.end())
      return refuse("wrong dtype (got " + stored.dtype + ", expected " +
                    allowedDtypes(*tensor.def) + ")");
    bound.encoding = *found;
  }
  K3_ASSIGN_OR_RETURN(auto others, otherShapes(*tensor.def, config_, tensor.layer));
  bool agrees =
      stored.shape == part.shape ||
      (!halfOfPair && std::find(others.begin(), others.end(), stored.shape) != others.end()) ||
      (tensor.def->padded && product(stored.shape) >= tensor.elements);
  if (!agrees)
    return refuse("the shape does not agree with " + config_.file + " (got " +
                  shapeText(stored.shape) + ", expected " + shapeText(part.shape) +
                  (tensor.def->padded ? " or more entries)" : ")"));
  if (!halfOfPair)
    bound.stored = stored.shape;
  return {};
}

Status Binder::bindTensor(const ExpectedTensor &tensor, ImportedModel &model) {
  const TensorDef &def = *tensor.def;
  bool mxfp4 = isMxfp4(tensor);
  BoundTensor bound;
  bound.role = def.role;
  bound.name = layerName(def.group.empty() ? model.prefix + def.name : def.name, tensor.layer);
  bound.layer = tensor.layer;
  bound.copies = tensor.copies;
  bound.shape = tensor.shape;
  bound.stored = tensor.shape;
  bound.encoding = mxfp4 ? Encoding::Mxfp4 : def.encodings.front();
  bound.group = def.group;
  bound.location = tensor.layer >= 0 ? config_.layers[static_cast<size_t>(tensor.layer)].location
                                     : config_.locationOf("hidden_size");
  if (mxfp4 && tensor.shape[1] % 32 != 0)
    return Status::refused(source_ + ": " + bound.name +
                           ": MXFP4 groups hold 32 columns (got shape " + shapeText(tensor.shape) +
                           ", expected a multiple of 32 columns)");
  bool seen = false;
  if (!source_.empty()) {
    for (const Part &part : partsOf(tensor, mxfp4)) {
      const PresentTensor &present = names_.at(
          *names_.find(part.pattern), static_cast<size_t>(std::max<int64_t>(tensor.layer, 0)));
      if (!present.stored)
        continue;
      seen = true;
      K3_RETURN_IF_ERROR(checkHeader(tensor, part, present, bound));
    }
    if (def.padded && !seen)
      unseenPadded_.push_back(model.tensors.size());
  }
  model.tensors.push_back(std::move(bound));
  return {};
}

Status Binder::checkTotal(ImportedModel &model) {
  int64_t sum = 0;
  for (const BoundTensor &tensor : model.tensors)
    if (__builtin_add_overflow(sum, tensor.storedBytes(), &sum))
      return Status::refused(config_.file + ": the model does not fit 64-bit sizes");
  if (!index_.totalSize) {
    if (!source_.empty() && shardsPresent_ != static_cast<int64_t>(index_.shards.size()))
      model.notes.push_back("the index has no metadata.total_size: bytes are not checked");
    return {};
  }
  int64_t extra = *index_.totalSize - sum;
  if (extra == 0)
    return {};
  // Tensors without a header may be padded: all alike, and to a power of two, or the difference has
  // another cause.
  if (!unseenPadded_.empty() && extra > 0) {
    const BoundTensor &first = model.tensors[unseenPadded_.front()];
    int64_t unit = encodedBytes(first.encoding, static_cast<int64_t>(unseenPadded_.size()));
    int64_t entries = first.elements() + extra / unit;
    if (extra % unit == 0 && std::has_single_bit(static_cast<uint64_t>(entries))) {
      for (size_t i : unseenPadded_)
        model.tensors[i].stored = {entries};
      model.notes.push_back(
          std::to_string(extra) + " bytes of the index total are padding: A_log is stored with " +
          std::to_string(entries) + " entries, of which " + std::to_string(first.elements()) +
          " count, in " + std::to_string(unseenPadded_.size()) + " layers");
      return {};
    }
  }
  return Status::refused(json::place(source_, index_.totalSizeLocation) +
                         ": metadata.total_size: not the sum of the tensors (got " +
                         std::to_string(*index_.totalSize) + " bytes, expected " +
                         std::to_string(sum) + ", difference " + std::to_string(extra) +
                         "); use the index that belongs to this config.json");
}

Result<ImportedModel> Binder::finish() {
  ImportedModel model;
  model.prefix = prefix_.value_or(def_.prefixes.front());
  model.hasNames = !source_.empty();
  model.shardCount = static_cast<int64_t>(index_.shards.size());
  model.shardsPresent = shardsPresent_;
  model.notes = config_.notes;
  model.notes.insert(model.notes.end(), expected_.notes.begin(), expected_.notes.end());
  model.tensors.reserve(expected_.tensors.size());
  for (const ExpectedTensor &tensor : expected_.tensors)
    K3_RETURN_IF_ERROR(bindTensor(tensor, model));
  K3_RETURN_IF_ERROR(checkTotal(model));
  bool configMxfp4 = config_.expertFormat == ExpertFormat::Mxfp4;
  for (const BoundTensor &tensor : model.tensors)
    if (model.hasNames && tensor.copies > 1 && tensor.group.empty() &&
        (tensor.encoding == Encoding::Mxfp4) != configMxfp4) {
      model.notes.push_back("the experts are stored as " +
                            std::string(encodingName(tensor.encoding)) +
                            ", whatever quantization_config says");
      break;
    }
  if (shardsPresent_ > 0 && shardsPresent_ < model.shardCount)
    model.notes.push_back(std::to_string(shardsPresent_) + " of " +
                          std::to_string(model.shardCount) +
                          " shards are here: the headers of the others were not checked");
  model.config = config_;
  model.indexTensors();
  return model;
}

} // namespace k3
