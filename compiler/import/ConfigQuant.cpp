//===- ConfigQuant.cpp - quantization_config ---------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The block stands at the top or in the text model, and names its format at its own top or in a
// group. It only decides when there is no checkpoint: with one, the names of the tensors tell how
// each matrix is stored.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/ConfigReader.h"

namespace k3 {

using json::Node;

namespace {

constexpr std::string_view kMxfp4Format = "mxfp4-pack-quantized";
constexpr int64_t kMxfp4Group = 32;
constexpr int64_t kMxfp4Bits = 4;

/// Refuses a format that is not ours by its own name.
void checkFormat(ConfigReader &reader, const Node &node) {
  if (node.kind != json::Kind::String || node.string != kMxfp4Format)
    reader.refuse(node, "this quantisation is not supported (got " + node.describe() +
                            ", expected " + std::string(kMxfp4Format) + ")");
}

void checkWeights(ConfigReader &reader, const Node &weights) {
  auto check = [&](std::string_view key, int64_t expected, const std::string &what) {
    const Node *node = reader.find(&weights, key);
    if (node && (node->kind != json::Kind::Integer || node->integer != expected))
      reader.refuse(*node, what + " (got " + node->describe() + ", expected " +
                               std::to_string(expected) + ")");
  };
  check("group_size", kMxfp4Group, "MXFP4 groups hold 32 columns");
  check("num_bits", kMxfp4Bits, "MXFP4 codes have 4 bits");
}

} // namespace

void readQuantization(ConfigReader &reader, const Node &root, const Node &text,
                      ModelConfig &config) {
  const Node *block = reader.object(&text, "quantization_config");
  if (const Node *outer = &root == &text ? nullptr : reader.object(&root, "quantization_config")) {
    if (block)
      reader.note("quantization_config stands at the top and in text_config: the one in "
                  "text_config is read");
    else
      block = outer;
  }
  if (!block)
    return;

  const Node *format = reader.find(block, "format");
  if (format)
    checkFormat(reader, *format);
  if (const Node *groups = reader.object(block, "config_groups")) {
    for (const Node *group : groups->children) {
      if (!group->isObject()) {
        reader.refuse(*group, "expected an object (got " + group->describe() + ")");
        return;
      }
      if (const Node *inner = reader.find(group, "format")) {
        checkFormat(reader, *inner);
        format = inner;
      }
      if (const Node *weights = reader.object(group, "weights"))
        checkWeights(reader, *weights);
      if (reader.find(group, "input_activations"))
        reader.note(
            "quantization_config: input_activations are not quantised here, only weights are");
    }
  }
  const Node *method = reader.find(block, "quant_method");
  if (!format) {
    if (method)
      reader.refuse(*method, "this quantisation is not supported (got " + method->describe() +
                                 " without a format, expected the format " +
                                 std::string(kMxfp4Format) + ")");
    else
      reader.refuse(*block, "no format is named (expected " + std::string(kMxfp4Format) + ")");
    return;
  }
  if (method && method->kind == json::Kind::String && method->string != "compressed-tensors")
    reader.note("quantization_config.quant_method " + method->string +
                " is read as the packed format " + std::string(kMxfp4Format) + " that it names");
  config.expertFormat = ExpertFormat::Mxfp4;
}

} // namespace k3
