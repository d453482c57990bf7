//===- ConfigValue.cpp - Keys of a configuration by name ---------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the expressions of model-defs may name: the keys that decide about tensors, with defaults
// filled in, the integers of vision_config, and facts about the layer at hand.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/Config.h"

namespace k3 {
namespace {

struct Named {
  std::string_view name;
  ExprValue (*read)(const ModelConfig &);
};

constexpr Named kNames[] = {
    {"attn_res_block_size", [](const ModelConfig &c) -> ExprValue { return c.attnResBlockSize; }},
    {"hidden_size", [](const ModelConfig &c) -> ExprValue { return c.hiddenSize; }},
    {"intermediate_size", [](const ModelConfig &c) -> ExprValue { return c.intermediateSize; }},
    {"kv_lora_rank", [](const ModelConfig &c) -> ExprValue { return c.kvLoraRank; }},
    {"latent_moe_use_norm", [](const ModelConfig &c) -> ExprValue { return c.latentMoeUseNorm; }},
    {"linear_attn_config.head_dim",
     [](const ModelConfig &c) -> ExprValue { return c.linearAttn.headDim; }},
    {"linear_attn_config.num_heads",
     [](const ModelConfig &c) -> ExprValue { return c.linearAttn.numHeads; }},
    {"linear_attn_config.short_conv_kernel_size",
     [](const ModelConfig &c) -> ExprValue { return c.linearAttn.shortConvKernelSize; }},
    {"linear_attn_config.use_full_rank_gate",
     [](const ModelConfig &c) -> ExprValue { return c.linearAttn.useFullRankGate; }},
    {"mla_use_output_gate", [](const ModelConfig &c) -> ExprValue { return c.mlaUseOutputGate; }},
    {"moe_intermediate_size",
     [](const ModelConfig &c) -> ExprValue { return c.moeIntermediateSize; }},
    {"num_attention_heads", [](const ModelConfig &c) -> ExprValue { return c.numAttentionHeads; }},
    {"num_experts", [](const ModelConfig &c) -> ExprValue { return c.numExperts; }},
    {"num_hidden_layers", [](const ModelConfig &c) -> ExprValue { return c.numHiddenLayers; }},
    {"num_shared_experts", [](const ModelConfig &c) -> ExprValue { return c.numSharedExperts; }},
    {"q_lora_rank", [](const ModelConfig &c) -> ExprValue { return c.qLoraRank; }},
    {"qk_nope_head_dim", [](const ModelConfig &c) -> ExprValue { return c.qkNopeHeadDim; }},
    {"qk_rope_head_dim", [](const ModelConfig &c) -> ExprValue { return c.qkRopeHeadDim; }},
    {"routed_expert_hidden_size",
     [](const ModelConfig &c) -> ExprValue { return c.routedExpertHiddenSize; }},
    {"tie_word_embeddings", [](const ModelConfig &c) -> ExprValue { return c.tieWordEmbeddings; }},
    {"v_head_dim", [](const ModelConfig &c) -> ExprValue { return c.vHeadDim; }},
    {"vocab_size", [](const ModelConfig &c) -> ExprValue { return c.vocabSize; }},
};

} // namespace

Result<ExprValue> ModelConfig::value(std::string_view name, int64_t layer) const {
  for (const Named &named : kNames)
    if (named.name == name)
      return named.read(*this);
  if (auto found = vision.find(name); found != vision.end())
    return ExprValue(found->second);
  if (name.substr(0, 6) == "layer." && layer >= 0) {
    const LayerConfig &at = layers[static_cast<size_t>(layer)];
    if (name == "layer.index")
      return ExprValue(layer);
    if (name == "layer.is_kda")
      return ExprValue(at.attention == AttentionKind::Kda);
    if (name == "layer.is_mla")
      return ExprValue(at.attention == AttentionKind::Mla);
    if (name == "layer.is_moe")
      return ExprValue(at.ffn == FfnKind::Moe);
  }
  return Status::refused(std::string("'").append(name) +
                         "' is not a key that the configuration has");
}

} // namespace k3
