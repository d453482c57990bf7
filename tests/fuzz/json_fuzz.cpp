//===- json_fuzz.cpp - Hostile configurations and indices -------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Feeds one text to the JSON reader, the configuration reader, the definition reader and the index
// reader. Every text is accepted or refused with a sentence, and every position lies inside the
// text.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/Config.h"
#include "compiler/import/ModelDef.h"
#include "compiler/import/TensorIndex.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

using namespace k3;

namespace {

void require(bool condition) {
  if (!condition)
    std::abort();
}

void requireSentence(const Status &status) {
  require(status.isOk() || (!status.message().empty() && status.exitCode() == 2));
}

void requirePositions(const json::Node &node, unsigned lines, size_t bytes) {
  require(node.location.line >= 1 && node.location.line <= lines);
  require(node.location.column >= 1 && node.location.column <= bytes);
  for (const json::Node *child : node.children) {
    require(child->parent == &node);
    requirePositions(*child, lines, bytes);
  }
}

void fuzzConfig(std::string_view text) {
  Result<ModelConfig> config = parseConfig(text, "fuzz.json");
  requireSentence(config.status());
  if (!config.isOk())
    return;
  Result<ModelDef> def = loadModelDef(config->family);
  require(def.isOk());
  requireSentence(expectedTensors(*def, *config).status());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  Result<json::Document> document = json::Document::parse(text, "fuzz.json");
  requireSentence(document.status());
  if (document.isOk())
    requirePositions(document->root(),
                     1 + static_cast<unsigned>(std::count(text.begin(), text.end(), '\n')), size);
  fuzzConfig(text);
  requireSentence(parseModelDef(text, "fuzz.json").status());
  requireSentence(parseIndex(text, "fuzz.json", [](const std::string &, uint32_t, json::Location) {
                    return Status();
                  }).status());
  return 0;
}
