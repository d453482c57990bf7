//===- ModelFiles.cpp - Configuration a checkpoint brings along -*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stop ids are the union of both files: stopping on the wrong id is a classic fault, and
// generation_config.json is where publishers repair config.json.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/ModelFiles.h"

#include "support/File.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace k3;
using Json = nlohmann::json;

/// The most bytes of a configuration that are read.
static constexpr uint64_t MaxConfigBytes = 16u << 20;
/// Deeper than any configuration; the library copies and prints values by recursion.
static constexpr int MaxDepth = 64;

/// The object in PATH; an empty one when there is no such file.
static Result<Json> readObject(const std::string &path) {
  if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT)
    return Json::object();
  K3_ASSIGN_OR_RETURN(std::string text, readFile(path, MaxConfigBytes));
  bool deep = false;
  const auto shallow = [&](int depth, Json::parse_event_t, Json &) {
    deep |= depth > MaxDepth;
    return !deep;
  };
  Json json = Json::parse(text, shallow, /*allow_exceptions=*/false);
  if (deep)
    return Status::refused(
        fmt::format("{}: is nested too deeply (got more than {} levels, expected a configuration); "
                    "fetch the file again",
                    path, MaxDepth));
  if (!json.is_object())
    return Status::refused(fmt::format("{}: is not a JSON object; fetch the file again", path));
  return json;
}

/// Adds the ids at KEY of OBJECT, a number or a list of numbers; null and nothing add none.
static Status addIds(const Json &object, const char *key, const std::string &path,
                     std::vector<int64_t> &ids) {
  auto found = object.find(key);
  if (found == object.end() || found->is_null())
    return Status::ok();
  const Json list = found->is_array() ? *found : Json::array({*found});
  for (const Json &value : list) {
    if (!value.is_number_integer() || value.get<int64_t>() < 0 ||
        value.get<int64_t>() > INT32_MAX) {
      return Status::refused(
          fmt::format("{}: {} is not a token id or a list of them (got {})", path, key,
                      value.dump(-1, ' ', false, Json::error_handler_t::replace)));
    }
    ids.push_back(value.get<int64_t>());
  }
  return Status::ok();
}

Result<PromptIds> k3::readPromptIds(const std::string &folder, const plan::Model &model) {
  PromptIds result;
  std::vector<int64_t> bos;
  // Without a folder there is nothing to read: "/config.json" would be somebody else's file.
  for (const char *name : {"config.json", "generation_config.json"}) {
    if (folder.empty())
      break;
    const std::string path = folder + "/" + name;
    K3_ASSIGN_OR_RETURN(Json object, readObject(path));
    const Json inner = object.contains("text_config") && object["text_config"].is_object()
                           ? object["text_config"]
                           : Json::object();
    for (const Json *level : {static_cast<const Json *>(&object), &inner}) {
      K3_RETURN_IF_ERROR(addIds(*level, "eos_token_id", path, result.stop));
      K3_RETURN_IF_ERROR(addIds(*level, "bos_token_id", path, bos));
    }
  }
  if (!bos.empty())
    result.bos = bos.front();
  else if (model.bos_token_id() >= 0)
    result.bos = model.bos_token_id();
  if (result.stop.empty() && model.eos_token_ids())
    result.stop.assign(model.eos_token_ids()->begin(), model.eos_token_ids()->end());
  std::sort(result.stop.begin(), result.stop.end());
  result.stop.erase(std::unique(result.stop.begin(), result.stop.end()), result.stop.end());
  return result;
}
