//===- Report.cpp - The numbers of a model -----------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums over the bound tensors, then two printers of the same numbers.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/Report.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace k3 {

namespace {

/// The first matching start of a role names its kind.
constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
    {"moe.expert.", "routed experts"},
    {"moe.shared.", "shared experts"},
    {"moe.latent_", "latent projections"},
    {"moe.router", "routers"},
    {"kda.", "kda"},
    {"mla.", "mla"},
    {"mlp.", "dense mlp"},
    {"embed", "embedding and lm_head"},
    {"lm_head", "embedding and lm_head"},
    {"vision.", "vision"},
    {"", "norms and residual mix"},
};

std::string_view kindOf(std::string_view role) {
  for (auto [start, kind] : kKinds)
    if (role.substr(0, start.size()) == start)
      return kind;
  return {};
}

/// `93 layers: 69 KDA + 24 MLA, 1 dense + 92 MoE`.
std::string layersText(const ModelConfig &config) {
  auto count = [&](auto kind) { return std::to_string(config.countLayers(kind)); };
  return std::to_string(config.numHiddenLayers) + " layers: " + count(AttentionKind::Kda) +
         " KDA + " + count(AttentionKind::Mla) + " MLA, " + count(FfnKind::Dense) + " dense + " +
         count(FfnKind::Moe) + " MoE";
}

const BoundTensor *firstExpert(const ImportedModel &model) {
  auto found =
      std::find_if(model.tensors.begin(), model.tensors.end(),
                   [](const BoundTensor &tensor) { return tensor.role == "moe.expert.w1"; });
  return found == model.tensors.end() ? nullptr : &*found;
}

std::string checkpointText(const ImportedModel &model) {
  if (!model.hasNames)
    return "none, configuration alone";
  return std::to_string(model.shardCount) + (model.shardCount == 1 ? " file, " : " shards, ") +
         std::to_string(model.shardsPresent) + " present; names match one to one";
}

void appendRow(std::string &out, std::string_view name, const std::string &value) {
  constexpr size_t width = 26;
  out += "  " + std::string(name) + std::string(width - std::min(width - 1, name.size()), ' ') +
         value + "\n";
}

void appendList(std::string &out, std::string_view title, const std::vector<std::string> &lines) {
  if (lines.empty())
    return;
  out += std::string(title) + "\n";
  for (const std::string &line : lines)
    out += "  " + line + "\n";
}

} // namespace

std::string groupDigits(int64_t number) {
  std::string digits = std::to_string(number);
  size_t first = number < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

ModelReport makeReport(const ImportedModel &model, int64_t elementBytes) {
  ModelReport report;
  report.latentCacheBytesPerToken = model.config.latentCacheBytesPerToken(elementBytes);
  report.stateBytesPerSequence = model.config.stateBytesPerSequence(elementBytes);
  report.tensors = model.nameCount();
  for (auto [start, name] : kKinds)
    if (report.weights.empty() || report.weights.back().name != name)
      report.weights.push_back({std::string(name), 0, 0});
  for (const BoundTensor &tensor : model.tensors) {
    if (tensor.group.empty()) {
      report.textParameters += tensor.elements() * tensor.copies;
      report.storedTextParameters += tensor.storedElements();
    } else {
      report.visionParameters += tensor.storedElements();
    }
    report.checkpointBytes += tensor.storedBytes();
    auto kind =
        std::find_if(report.weights.begin(), report.weights.end(),
                     [&](const WeightKind &entry) { return entry.name == kindOf(tensor.role); });
    kind->parameters += tensor.storedElements();
    kind->bytes += tensor.storedBytes();
  }
  std::erase_if(report.weights, [](const WeightKind &kind) { return kind.parameters == 0; });
  return report;
}

std::string reportTable(const ImportedModel &model, const ModelReport &report,
                        const std::string &dtype) {
  const ModelConfig &config = model.config;
  std::string out = config.file + "\n";
  appendRow(out, "model", config.family + ", " + layersText(config));
  appendRow(out, "residuals",
            config.attnResBlockSize
                ? "attention residuals, blocks of " + std::to_string(*config.attnResBlockSize)
                : "plain");
  appendRow(out, "checkpoint", checkpointText(model));
  appendRow(out, "text parameters", groupDigits(report.textParameters));
  if (report.visionParameters > 0)
    appendRow(out, "vision parameters", groupDigits(report.visionParameters));
  appendRow(out, "parameters", groupDigits(report.parametersTotal()));
  if (model.hasNames)
    appendRow(out, "parameters as stored", groupDigits(report.parametersStored()));
  appendRow(out, "tensors", groupDigits(report.tensors));
  appendRow(out, "checkpoint bytes", groupDigits(report.checkpointBytes));
  for (const WeightKind &kind : report.weights)
    appendRow(out, "  " + kind.name, groupDigits(kind.bytes));
  if (const BoundTensor *expert = firstExpert(model))
    appendRow(out, "experts stored as", std::string(encodingName(expert->encoding)));
  appendRow(out, "latent cache",
            groupDigits(report.latentCacheBytesPerToken) + " bytes a token (" + dtype + ")");
  appendRow(out, "state",
            groupDigits(report.stateBytesPerSequence) +
                " bytes a sequence (KDA state f32, conv state " + dtype + ")");
  appendList(out, "notes", model.notes);
  appendList(out, "defaults taken", config.defaults);
  appendList(out, "keys not known, not used", config.unknownKeys);
  return out;
}

std::string reportJson(const ImportedModel &model, const ModelReport &report,
                       const std::string &dtype) {
  const ModelConfig &config = model.config;
  using Json = nlohmann::ordered_json;
  Json json;
  json["model"] = config.file;
  json["family"] = config.family;
  json["dtype"] = dtype;
  json["layers"] = {{"total", config.numHiddenLayers},
                    {"kda", config.countLayers(AttentionKind::Kda)},
                    {"mla", config.countLayers(AttentionKind::Mla)},
                    {"dense", config.countLayers(FfnKind::Dense)},
                    {"moe", config.countLayers(FfnKind::Moe)}};
  json["attn_res_block_size"] = config.attnResBlockSize ? Json(*config.attnResBlockSize) : Json();
  json["text_parameters"] = report.textParameters;
  json["vision_parameters"] = report.visionParameters;
  json["parameters_total"] = report.parametersTotal();
  json["parameters_stored"] = model.hasNames ? Json(report.parametersStored()) : Json();
  json["checkpoint_bytes"] = report.checkpointBytes;
  json["tensors"] = report.tensors;
  json["names_checked"] = model.hasNames;
  json["shards"] = model.shardCount;
  json["shards_present"] = model.shardsPresent;
  const BoundTensor *expert = firstExpert(model);
  json["expert_encoding"] = expert ? Json(encodingName(expert->encoding)) : Json();
  json["latent_cache_bytes_per_token"] = report.latentCacheBytesPerToken;
  json["state_bytes_per_sequence"] = report.stateBytesPerSequence;
  json["weights"] = Json::array();
  for (const WeightKind &kind : report.weights)
    json["weights"].push_back(
        {{"kind", kind.name}, {"parameters", kind.parameters}, {"bytes", kind.bytes}});
  json["notes"] = model.notes;
  json["defaults"] = config.defaults;
  json["unknown_keys"] = config.unknownKeys;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace k3
