//===- Config.cpp - The configuration of a model -----------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the keys in groups: family, layers, attention, experts, numbers. A group is read only when
// a layer needs it, so that a model without experts needs no expert sizes.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/Config.h"

#include "compiler/import/ConfigKeys.h"
#include "compiler/import/ConfigReader.h"
#include "compiler/import/EmbeddedDefs.h"

#include <algorithm>
#include <limits>

namespace k3 {

using json::Node;

namespace {

// Generous bounds that keep every product of two sizes far inside 64 bits, and every list short.
constexpr int64_t kMaxLayers = 4096;
constexpr int64_t kMaxExperts = 65536;
constexpr IntRange kWidth{1, 1 << 22};
constexpr IntRange kHeads{1, 1 << 14};
constexpr IntRange kHeadDim{1, 1 << 14};
constexpr IntRange kVocab{1, std::numeric_limits<int32_t>::max()};
constexpr IntRange kCount{0, std::numeric_limits<int32_t>::max()};
constexpr IntRange kToken{0, std::numeric_limits<int32_t>::max()};
constexpr int64_t kMxfp4Group = 32;
/// Layers that a note names one by one.
constexpr size_t kMaxListed = 16;
/// Latent cache, conv state: three convolutions (q, k, v) a layer; the recurrent state is always
/// f32.
constexpr int64_t kConvs = 3;
constexpr int64_t kStateBytes = 4;

class TextReader {
public:
  TextReader(const json::Document &document, ModelConfig &config)
      : reader_(document, config), config_(config), root_(document.root()) {}

  Status read() {
    if (!root_.isObject()) {
      reader_.refuse(root_, "expected an object (got " + root_.describe() + ")");
      return reader_.finish();
    }
    readFamily();
    if (reader_.failed())
      return reader_.finish();
    readLayers();
    if (reader_.failed())
      return reader_.finish();
    readAttention();
    readFeedForward();
    readNumbers();
    readTokens();
    readVision();
    readQuantization(reader_, root_, *text_, config_);
    K3_RETURN_IF_ERROR(reader_.finish());
    checkTogether();
    reader_.listUnknown(root_);
    if (text_ != &root_)
      reader_.listUnknown(*text_);
    if (linear_)
      reader_.listUnknown(*linear_);
    return reader_.finish();
  }

private:
  void checkModelType(const Node *object) {
    const Node *node = object->find("model_type");
    reader_.markKnown(node);
    if (!node || node->isNull())
      return;
    if (node->kind != json::Kind::String) {
      reader_.refuse(*node, "expected a string (got " + node->describe() + ")");
      return;
    }
    std::string families;
    for (const EmbeddedDef &def : embeddedDefs()) {
      if (node->string == def.family)
        return;
      families += (families.empty() ? "" : ", ") + std::string(def.family);
    }
    std::string_view why = unsupportedReason(node->string);
    reader_.refuse(*node, "this model is not supported (got " + node->describe() +
                              (why.empty() ? std::string() : std::string(": ").append(why)) +
                              ", expected one of " + families + ")");
  }

  void readFamily() {
    const Node *nested = root_.find("text_config");
    checkModelType(&root_);
    if (reader_.failed())
      return;
    const Node *type = reader_.find(&root_, "model_type");
    text_ = nested ? reader_.object(&root_, "text_config") : nullptr;
    if (nested && nested->isNull())
      nested = nullptr;
    if (!nested && type && type->string == "kimi_k3") {
      reader_.refuse(root_, "text_config is missing (model_type kimi_k3 keeps the text model "
                            "there); use the complete "
                            "config.json of the checkpoint");
      return;
    }
    if (reader_.failed())
      return;
    if (!text_)
      text_ = &root_;
    else
      checkModelType(text_);
    config_.nested = text_ != &root_;
    if (!type) {
      type = reader_.find(text_, "model_type");
      if (!type)
        reader_.missing(&root_, "model_type");
    }
    config_.family = type ? type->string : config_.nested ? "kimi_k3" : "kimi_linear";
  }

  /// The largest number of the layer lists, for the message about a count of layers beyond reason.
  std::string listsEnd() {
    int64_t last = 0;
    for (std::string_view key : {"kda_layers", "full_attn_layers"})
      if (const Node *list = linear_ ? linear_->find(key) : nullptr)
        for (const Node *entry : list->children)
          if (entry->kind == json::Kind::Integer)
            last = std::max(last, entry->integer);
    return last > 0 ? "; the layer lists end at " + std::to_string(last) : "";
  }

  void readLayers() {
    linear_ = reader_.object(text_, "linear_attn_config");
    if (const Node *count = reader_.find(text_, "num_hidden_layers");
        count && (count->kind == json::Kind::Unsigned ||
                  (count->kind == json::Kind::Integer && count->integer > kMaxLayers)))
      reader_.refuse(*count, "too many layers (got " + count->describe() + ", expected 1 to " +
                                 std::to_string(kMaxLayers) + listsEnd() + ")");
    int64_t layers = reader_.required(text_, "num_hidden_layers", {1, kMaxLayers});
    if (reader_.failed())
      return;
    config_.numHiddenLayers = layers;
    config_.layers.resize(static_cast<size_t>(layers));
    if (layers == 0)
      return;
    for (LayerConfig &layer : config_.layers)
      layer.location = config_.locationOf("num_hidden_layers");
    std::vector<const Node *> listed(config_.layers.size());
    if (linear_) {
      if (!reader_.array(linear_, "kda_layers"))
        reader_.missing(linear_, "kda_layers");
      readLayerList("kda_layers", AttentionKind::Kda, listed);
      readLayerList("full_attn_layers", AttentionKind::Mla, listed);
    } else {
      config_.defaults.push_back("linear_attn_config null (every layer is MLA)");
    }
    if (!reader_.failed() && !reader_.isMissing() && linear_)
      noteUnlisted(listed);
    readLayerKinds();
  }

  void readLayerList(std::string_view key, AttentionKind kind, std::vector<const Node *> &listed) {
    const Node *list = reader_.array(linear_, key);
    if (!list)
      return;
    int64_t layers = config_.numHiddenLayers;
    for (const Node *entry : list->children) {
      if (entry->kind != json::Kind::Integer) {
        reader_.refuse(*entry, "expected an integer (got " + entry->describe() + ")");
        return;
      }
      if (entry->integer < 1 || entry->integer > layers) {
        reader_.refuse(*entry, std::string(key) + " holds " + entry->describe() +
                                   "; lists count from 1 to " + std::to_string(layers));
        return;
      }
      const Node *&before = listed[static_cast<size_t>(entry->integer - 1)];
      if (before) {
        reader_.refuse(*entry, "layer " + entry->describe() + " is listed twice (first in " +
                                   before->path() + ")");
        return;
      }
      before = entry;
      LayerConfig &layer = config_.layers[static_cast<size_t>(entry->integer - 1)];
      layer.attention = kind;
      layer.location = {entry->location, entry->path()};
    }
  }

  void noteUnlisted(const std::vector<const Node *> &listed) {
    bool hasMlaList = reader_.find(linear_, "full_attn_layers") != nullptr;
    std::string layers;
    size_t unlisted = 0;
    for (size_t i = 0; i < listed.size(); ++i)
      if (!listed[i] && ++unlisted <= kMaxListed)
        layers += (layers.empty() ? "layer " : ", layer ") + std::to_string(i + 1) + " (index " +
                  std::to_string(i) + ")";
    if (unlisted > kMaxListed)
      layers += " and " + std::to_string(unlisted - kMaxListed) + " more";
    if (!hasMlaList)
      reader_.note(
          "linear_attn_config.full_attn_layers is absent: layers outside kda_layers are MLA" +
          (layers.empty() ? "" : ", here " + layers));
    else if (!layers.empty())
      reader_.note(layers + (unlisted == 1 ? " is in neither list and becomes MLA"
                                           : " are in neither list and become MLA"));
  }

  void readLayerKinds() {
    config_.numExperts =
        reader_.orDefault("num_experts", reader_.integer(text_, "num_experts", {0, kMaxExperts}),
                          int64_t(0), "null (every layer is dense)");
    config_.firstKDenseReplace =
        reader_.orDefault("first_k_dense_replace",
                          reader_.integer(text_, "first_k_dense_replace", kCount), int64_t(0), "0");
    config_.moeLayerFreq = reader_.orDefault(
        "moe_layer_freq", reader_.integer(text_, "moe_layer_freq", {1, kCount.high}), int64_t(1),
        "1");
    for (int64_t i = 0; i < config_.numHiddenLayers; ++i)
      if (config_.numExperts > 0 && i >= config_.firstKDenseReplace &&
          i % config_.moeLayerFreq == 0)
        config_.layers[static_cast<size_t>(i)].ffn = FfnKind::Moe;
  }

  void readAttention() {
    if (linear_ &&
        (config_.hasLayer(AttentionKind::Kda) || config_.layers.empty() || reader_.isMissing())) {
      config_.linearAttn.numHeads = reader_.required(linear_, "num_heads", kHeads);
      config_.linearAttn.headDim = reader_.required(linear_, "head_dim", kHeadDim);
      config_.linearAttn.shortConvKernelSize =
          reader_.required(linear_, "short_conv_kernel_size", {2, 64});
      config_.linearAttn.gateLowerBound = reader_.orNull(
          "linear_attn_config.gate_lower_bound",
          reader_.number(linear_, "gate_lower_bound", -std::numeric_limits<double>::infinity()),
          "softplus gate");
      if (config_.linearAttn.gateLowerBound && *config_.linearAttn.gateLowerBound >= 0)
        reader_.refuse(*linear_->find("gate_lower_bound"),
                       "out of range (got " + linear_->find("gate_lower_bound")->describe() +
                           ", expected a negative number)");
      config_.linearAttn.useFullRankGate = reader_.orDefault(
          "linear_attn_config.use_full_rank_gate", reader_.boolean(linear_, "use_full_rank_gate"),
          false, "false (low-rank output gate)");
    } else if (linear_) {
      // No layer is KDA: the sizes are not needed, and their keys are known all the same.
      for (std::string_view key : {"num_heads", "head_dim", "short_conv_kernel_size",
                                   "gate_lower_bound", "use_full_rank_gate"})
        reader_.find(linear_, key);
    }
    readMla();
    config_.attnResBlockSize = reader_.orNull(
        "attn_res_block_size", reader_.integer(text_, "attn_res_block_size", {1, kMaxLayers}),
        "plain residuals");
  }

  void readMla() {
    constexpr std::string_view keys[] = {
        "num_attention_heads", "num_key_value_heads", "q_lora_rank", "kv_lora_rank",
        "qk_nope_head_dim",    "qk_rope_head_dim",    "v_head_dim",  "mla_use_nope",
        "mla_use_output_gate", "mla_norm_eps"};
    if (!config_.hasLayer(AttentionKind::Mla) && !config_.layers.empty()) {
      for (std::string_view key : keys)
        reader_.find(text_, key);
      return;
    }
    config_.numAttentionHeads = reader_.required(text_, "num_attention_heads", kHeads);
    std::optional<int64_t> kvHeads = reader_.integer(text_, "num_key_value_heads", kHeads);
    if (kvHeads && config_.numAttentionHeads && *kvHeads != config_.numAttentionHeads)
      reader_.refuse(*text_->find("num_key_value_heads"),
                     "MLA has as many key-value heads as heads (got " + std::to_string(*kvHeads) +
                         ", expected " + std::to_string(config_.numAttentionHeads) + ")");
    config_.qLoraRank = reader_.orNull("q_lora_rank", reader_.integer(text_, "q_lora_rank", kWidth),
                                       "plain q projection");
    config_.kvLoraRank = reader_.required(text_, "kv_lora_rank", kWidth);
    config_.qkNopeHeadDim = reader_.required(text_, "qk_nope_head_dim", kHeadDim);
    config_.qkRopeHeadDim = reader_.required(text_, "qk_rope_head_dim", {0, kHeadDim.high});
    config_.vHeadDim = reader_.required(text_, "v_head_dim", kHeadDim);
    std::optional<bool> nope = reader_.boolean(text_, "mla_use_nope");
    if (!nope)
      reader_.note(
          "mla_use_nope is absent and taken as true: no rotary model of this family exists");
    else if (!*nope)
      reader_.refuse(*text_->find("mla_use_nope"),
                     "rotary MLA does not exist in this family (got false, expected true)");
    config_.mlaUseOutputGate = reader_.orDefault(
        "mla_use_output_gate", reader_.boolean(text_, "mla_use_output_gate"), false, "false");
    config_.mlaNormEps =
        reader_.orDefault("mla_norm_eps", reader_.number(text_, "mla_norm_eps", 0), 1e-6, "1e-06");
  }

  void readFeedForward() {
    if (config_.hasLayer(FfnKind::Dense) || config_.layers.empty())
      config_.intermediateSize = reader_.required(text_, "intermediate_size", kWidth);
    else
      reader_.find(text_, "intermediate_size");
    if (!config_.hasLayer(FfnKind::Moe)) {
      for (std::string_view key :
           {"num_experts_per_token", "num_shared_experts", "moe_intermediate_size",
            "num_expert_group", "topk_group", "routed_expert_hidden_size", "latent_moe_use_norm",
            "moe_router_activation_func", "moe_renormalize", "routed_scaling_factor"})
        reader_.find(text_, key);
      return;
    }
    config_.numExpertsPerToken = reader_.required(text_, "num_experts_per_token", kCount);
    config_.moeIntermediateSize = reader_.required(text_, "moe_intermediate_size", kWidth);
    config_.numSharedExperts =
        reader_.orDefault("num_shared_experts",
                          reader_.integer(text_, "num_shared_experts", {0, 1024}), int64_t(0), "0");
    config_.numExpertGroup = reader_.orDefault(
        "num_expert_group", reader_.integer(text_, "num_expert_group", {1, kMaxExperts}),
        int64_t(1), "1");
    config_.topkGroup = reader_.orDefault(
        "topk_group", reader_.integer(text_, "topk_group", {1, kMaxExperts}), int64_t(1), "1");
    config_.routedExpertHiddenSize = reader_.orNull(
        "routed_expert_hidden_size", reader_.integer(text_, "routed_expert_hidden_size", kWidth),
        "experts on the full width");
    config_.latentMoeUseNorm = reader_.orDefault(
        "latent_moe_use_norm", reader_.boolean(text_, "latent_moe_use_norm"), false, "false");
    std::optional<std::string> score =
        reader_.choice(text_, "moe_router_activation_func", {"sigmoid", "softmax"});
    config_.routerScore = reader_.orDefault("moe_router_activation_func", score,
                                            std::string("sigmoid"), "sigmoid") == "softmax"
                              ? RouterScore::Softmax
                              : RouterScore::Sigmoid;
    config_.moeRenormalize = reader_.orDefault(
        "moe_renormalize", reader_.boolean(text_, "moe_renormalize"), true, "true");
    config_.routedScalingFactor = reader_.orDefault(
        "routed_scaling_factor", reader_.number(text_, "routed_scaling_factor", 0), 1.0, "1.0");
  }

  void readNumbers() {
    config_.vocabSize = reader_.required(text_, "vocab_size", kVocab);
    config_.hiddenSize = reader_.required(text_, "hidden_size", kWidth);
    config_.rmsNormEps =
        reader_.orDefault("rms_norm_eps", reader_.number(text_, "rms_norm_eps", 0), 1e-6, "1e-06");
    std::optional<std::string> act = reader_.choice(text_, "hidden_act", {"silu", "situ"});
    config_.hiddenAct = reader_.orDefault("hidden_act", act, std::string("silu"), "silu") == "situ"
                            ? Activation::Situ
                            : Activation::Silu;
    std::optional<double> beta = reader_.number(text_, "activation_situ_beta", 0);
    std::optional<double> linearBeta = reader_.number(text_, "activation_situ_linear_beta", 0);
    if (config_.hiddenAct == Activation::Situ) {
      if (!beta)
        reader_.note("activation_situ_beta is absent and taken as 1.0");
      if (!linearBeta)
        reader_.note("activation_situ_linear_beta is absent: the up projection is not squashed");
      config_.situBeta = beta.value_or(1.0);
      config_.situLinearBeta = linearBeta;
    } else if (beta || linearBeta) {
      reader_.note(
          "activation_situ_beta and activation_situ_linear_beta are not used: hidden_act is silu");
    }
    std::optional<bool> tie = reader_.boolean(text_, "tie_word_embeddings");
    std::optional<bool> outer =
        text_ == &root_ ? std::nullopt : reader_.boolean(&root_, "tie_word_embeddings");
    config_.tieWordEmbeddings =
        reader_.orDefault("tie_word_embeddings", tie ? tie : outer, false, "false");
    std::optional<int64_t> context =
        reader_.integer(text_, "max_position_embeddings", {1, int64_t(1) << 40});
    std::optional<int64_t> other =
        reader_.integer(text_, "model_max_length", {1, int64_t(1) << 40});
    config_.maxPositionEmbeddings = context ? context : other;
    if (reader_.integer(text_, "num_nextn_predict_layers", kCount).value_or(0) > 0)
      reader_.note("num_nextn_predict_layers: the extra layers for drafts are not compiled");
  }

  const Node *tokenKey(std::string_view key) {
    const Node *inner = reader_.find(text_, key);
    const Node *outer = text_ == &root_ ? nullptr : reader_.find(&root_, key);
    return inner ? inner : outer;
  }

  void readTokens() {
    auto one = [&](const Node *node) -> std::optional<int64_t> {
      if (!node)
        return std::nullopt;
      return reader_.integer(node->parent, node->key, kToken);
    };
    config_.bosTokenId = one(tokenKey("bos_token_id"));
    config_.padTokenId = one(tokenKey("pad_token_id"));
    const Node *eos = tokenKey("eos_token_id");
    if (!eos || !eos->isArray()) {
      if (std::optional<int64_t> id = one(eos))
        config_.eosTokenIds.push_back(*id);
      return;
    }
    for (const Node *entry : eos->children) {
      if (entry->kind != json::Kind::Integer || entry->integer < 0 ||
          entry->integer > kToken.high) {
        reader_.refuse(*entry, "expected a token id (got " + entry->describe() + ")");
        return;
      }
      config_.eosTokenIds.push_back(entry->integer);
    }
  }

  void readVision() {
    const Node *vision = reader_.object(&root_, "vision_config");
    if (!vision)
      return;
    config_.hasVision = true;
    for (const Node *child : vision->children) {
      if (child->kind == json::Kind::Integer)
        config_.vision[child->path()] = child->integer;
      for (const Node *entry : child->children)
        if (child->isArray() && entry->kind == json::Kind::Integer)
          config_.vision[entry->path()] = entry->integer;
    }
  }

  const Node &at(std::string_view key) const {
    const Node *node = text_->find(key);
    return node ? *node : *text_;
  }

  /// What only shows when several keys are seen together.
  void checkTogether() {
    if (config_.hasLayer(FfnKind::Moe))
      checkExperts();
    for (int64_t id : config_.eosTokenIds)
      if (id >= config_.vocabSize)
        reader_.refuse(*text_, "eos_token_id lies outside the vocabulary (got " +
                                   std::to_string(id) + ", expected less than " +
                                   std::to_string(config_.vocabSize) + ")");
    if (config_.bosTokenId && *config_.bosTokenId >= config_.vocabSize)
      reader_.refuse(*text_, "bos_token_id lies outside the vocabulary (got " +
                                 std::to_string(*config_.bosTokenId) + ", expected less than " +
                                 std::to_string(config_.vocabSize) + ")");
  }

  void checkExperts() {
    int64_t experts = config_.numExperts, chosen = config_.numExpertsPerToken;
    std::string of = std::to_string(chosen) + " of " + std::to_string(experts) + " experts";
    if (chosen < 1 || chosen > experts)
      reader_.refuse(at("num_experts_per_token"),
                     "cannot choose " + of + " (expected 1 to " + std::to_string(experts) + ")");
    if (experts % config_.numExpertGroup != 0)
      reader_.refuse(at("num_expert_group"), "num_experts is not a multiple of it (got " +
                                                 std::to_string(config_.numExpertGroup) +
                                                 " groups of " + std::to_string(experts) +
                                                 " experts)");
    else if (config_.topkGroup > config_.numExpertGroup)
      reader_.refuse(at("topk_group"),
                     "more groups than there are (got " + std::to_string(config_.topkGroup) +
                         ", expected at most " + std::to_string(config_.numExpertGroup) + ")");
    else if (chosen > config_.topkGroup * (experts / config_.numExpertGroup))
      reader_.refuse(at("topk_group"),
                     "the kept groups hold too few experts (got " +
                         std::to_string(config_.topkGroup * (experts / config_.numExpertGroup)) +
                         ", expected at least " + std::to_string(chosen) + ")");
    if (config_.expertFormat != ExpertFormat::Mxfp4)
      return;
    if (config_.moeIntermediateSize % kMxfp4Group != 0)
      reader_.refuse(at("moe_intermediate_size"), "MXFP4 groups hold 32 columns (got " +
                                                      std::to_string(config_.moeIntermediateSize) +
                                                      ", expected a multiple of 32)");
    int64_t width = config_.routedExpertHiddenSize.value_or(config_.hiddenSize);
    if (width % kMxfp4Group != 0)
      reader_.refuse(
          at(config_.routedExpertHiddenSize ? "routed_expert_hidden_size" : "hidden_size"),
          "MXFP4 groups hold 32 columns (got " + std::to_string(width) +
              ", expected a multiple of 32)");
  }

  ConfigReader reader_;
  ModelConfig &config_;
  const Node &root_;
  const Node *text_ = nullptr;
  const Node *linear_ = nullptr;
};

} // namespace

Result<ModelConfig> parseConfig(std::string_view text, const std::string &file) {
  K3_ASSIGN_OR_RETURN(json::Document document, json::Document::parse(text, file));
  ModelConfig config;
  config.file = file;
  K3_RETURN_IF_ERROR(TextReader(document, config).read());
  return config;
}

int64_t ModelConfig::countLayers(AttentionKind kind) const {
  return std::count_if(layers.begin(), layers.end(),
                       [&](const LayerConfig &l) { return l.attention == kind; });
}

int64_t ModelConfig::countLayers(FfnKind kind) const {
  return std::count_if(layers.begin(), layers.end(),
                       [&](const LayerConfig &l) { return l.ffn == kind; });
}

KeyLocation ModelConfig::locationOf(std::string_view key) const {
  if (auto found = locations.find(key); found != locations.end())
    return found->second;
  if (size_t dot = key.rfind('.'); dot != key.npos)
    return locationOf(key.substr(0, dot));
  if (auto found = locations.find("text_config"); nested && found != locations.end())
    return found->second;
  return {{1, 1}, ""};
}

int64_t ModelConfig::latentCacheBytesPerToken(int64_t elementBytes) const {
  return countLayers(AttentionKind::Mla) * (kvLoraRank + qkRopeHeadDim) * elementBytes;
}

int64_t ModelConfig::stateBytesPerSequence(int64_t elementBytes) const {
  int64_t recurrent = kdaWidth() * linearAttn.headDim * kStateBytes;
  int64_t conv = kConvs * (linearAttn.shortConvKernelSize - 1) * kdaWidth() * elementBytes;
  return countLayers(AttentionKind::Kda) * (recurrent + conv);
}

} // namespace k3
