//===- Binder.cpp - Tensors of the definition and of the files ---*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The names: reading them, and the one-to-one match. Headers and bytes are in BinderHeaders.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/Binder.h"

#include <algorithm>

namespace k3 {

namespace {

/// How many classes of names a message lists.
constexpr size_t kListedClasses = 16;

/// The class of a name that no template knows: the name without its numbers.
std::string withoutNumbers(std::string_view name) {
  std::string result;
  for (char c : name)
    if (c < '0' || c > '9')
      result += c;
    else if (result.empty() || result.back() != '*')
      result += '*';
  return result;
}

} // namespace

std::vector<Binder::Part> Binder::partsOf(const ExpectedTensor &tensor, bool mxfp4) {
  const std::string &name = tensor.def->name;
  if (!mxfp4)
    return {{name, "", tensor.shape}};
  return {{name + "_packed", "U8", {tensor.shape[0], tensor.shape[1] / 2}},
          {name + "_scale", "U8", {tensor.shape[0], tensor.shape[1] / 32}}};
}

Status Binder::prepare() {
  K3_ASSIGN_OR_RETURN(expected_, expectedTensors(def_, config_));
  auto add = [&](const TensorDef &def, const std::string &name, size_t copies) {
    size_t pattern = names_.add(name, def.inLayers() ? config_.layers.size() : 1, copies);
    isText_.resize(std::max(isText_.size(), pattern + 1));
    isText_[pattern] = def.group.empty();
  };
  for (const TensorDef &def : def_.tensors) {
    size_t copies = def.inExperts() ? static_cast<size_t>(config_.numExperts) : 1;
    if (def.repeat) {
      auto found = std::find_if(expected_.tensors.begin(), expected_.tensors.end(),
                                [&](const ExpectedTensor &tensor) { return tensor.def == &def; });
      copies = found == expected_.tensors.end() ? 0 : static_cast<size_t>(found->copies);
    }
    add(def, def.name, copies);
    if (def.mxfp4) {
      add(def, def.name + "_packed", copies);
      add(def, def.name + "_scale", copies);
    }
  }
  return {};
}

std::string_view Binder::takePrefix(std::string_view &name) const {
  std::string_view longest;
  for (const std::string &prefix : def_.prefixes)
    if (prefix.size() > longest.size() && name.substr(0, prefix.size()) == prefix)
      longest = prefix;
  name.remove_prefix(longest.size());
  return longest;
}

std::string Binder::fullName(size_t pattern, size_t layer, size_t copy) const {
  std::string name = TensorNames::instance(names_.patterns()[pattern].name, layer, copy);
  return isText_[pattern] ? prefix_.value_or(def_.prefixes.front()) + name : name;
}

Status Binder::recordName(const std::string &name, uint32_t shard, const json::Location *where) {
  // Half a million names come by: a place is spelled out for the one that is refused.
  auto place = [&] { return where ? json::place(source_, *where) : source_; };
  std::string_view rest = name;
  std::string_view prefix = takePrefix(rest);
  std::optional<TensorNames::Match> match = names_.match(rest);
  if (!match || (!isText_[match->pattern] && !prefix.empty())) {
    unexpected_.add(withoutNumbers(name), name);
    return {};
  }
  if (isText_[match->pattern]) {
    if (!prefix_)
      prefix_ = std::string(prefix);
    if (*prefix_ != prefix)
      return Status::refused(place() + ": two spellings of the text model's names (got '" + name +
                             "', expected the prefix '" + *prefix_ + "' of the names before it)");
  }
  if (!match->inRange) {
    unexpected_.add(names_.patterns()[match->pattern].name, name);
    return {};
  }
  if (!names_.record(*match, shard))
    return Status::refused(place() + ": the tensor '" + name + "' is named twice");
  return {};
}

Status Binder::readIndex(std::string_view text, const std::string &file) {
  source_ = file;
  auto entry = [&](const std::string &name, uint32_t shard, json::Location where) -> Status {
    shardNames_.resize(std::max<size_t>(shardNames_.size(), shard + size_t(1)));
    ++shardNames_[shard];
    return recordName(name, shard, &where);
  };
  K3_ASSIGN_OR_RETURN(index_, parseIndex(text, file, entry));
  return checkNames();
}

bool Binder::isPresent(const std::string &pattern, int64_t layer) const {
  std::optional<size_t> found = names_.find(pattern);
  return found &&
         names_.patterns()[*found].present[static_cast<size_t>(std::max<int64_t>(layer, 0))].count >
             0;
}

bool Binder::isMxfp4(const ExpectedTensor &tensor) const {
  if (!tensor.def->mxfp4)
    return false;
  for (const Part &part : partsOf(tensor, true))
    if (isPresent(part.pattern, tensor.layer))
      return true;
  bool known = isPresent(tensor.def->name, tensor.layer);
  return !known && config_.expertFormat == ExpertFormat::Mxfp4;
}

void Binder::dropAbsentGroups() {
  auto present = [&](const ExpectedTensor &tensor) {
    return isPresent(tensor.def->name, tensor.layer);
  };
  std::vector<ExpectedTensor> &tensors = expected_.tensors;
  auto first = std::find_if(tensors.begin(), tensors.end(), [](const ExpectedTensor &tensor) {
    return !tensor.def->group.empty();
  });
  if (first == tensors.end() || std::any_of(first, tensors.end(), present))
    return;
  expected_.notes.push_back("the checkpoint has no " + first->def->group + " tensors: text only");
  tensors.erase(first, tensors.end());
}

Status Binder::checkNames() {
  dropAbsentGroups();
  for (const ExpectedTensor &tensor : expected_.tensors) {
    size_t layer = static_cast<size_t>(std::max<int64_t>(tensor.layer, 0));
    for (const Part &part : partsOf(tensor, isMxfp4(tensor))) {
      size_t pattern = *names_.find(part.pattern);
      PresentTensor &present = names_.at(pattern, layer);
      present.wanted = true;
      if (present.count == tensor.copies)
        continue;
      size_t absent = 0;
      while (absent < present.shards.size() && present.shards[absent] != 0)
        ++absent;
      missing_.add(part.pattern, fullName(pattern, layer, absent), tensor.copies - present.count);
    }
  }
  for (size_t pattern = 0; pattern < names_.patterns().size(); ++pattern) {
    const TensorNames::Pattern &entry = names_.patterns()[pattern];
    for (size_t layer = 0; layer < entry.present.size(); ++layer) {
      const PresentTensor &present = entry.present[layer];
      if (present.wanted || present.count == 0)
        continue;
      auto first = std::find_if(present.shards.begin(), present.shards.end(),
                                [](uint32_t s) { return s != 0; });
      unexpected_.add(entry.name,
                      fullName(pattern, layer, static_cast<size_t>(first - present.shards.begin())),
                      present.count);
    }
  }
  if (unexpected_.count() == 0 && missing_.count() == 0)
    return {};
  std::string what;
  if (unexpected_.count() > 0)
    what = std::to_string(unexpected_.count()) +
           " unexpected tensors: " + unexpected_.text(kListedClasses);
  if (missing_.count() > 0)
    what += (what.empty() ? "" : "; ") + std::to_string(missing_.count()) +
            " missing tensors: " + missing_.text(kListedClasses);
  return Status::refused(source_ + ": the tensors are not those of " + config_.file + " (" + what +
                         "); use the config.json that belongs to this checkpoint");
}

} // namespace k3
