//===- Config.h - The configuration of a model -------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A config.json, nested or flat, read into typed fields and checked: sizes are never guessed,
// defaults are those of the official classes and are reported. Every field remembers where in the
// file it came from.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_IMPORT_CONFIG_H
#define K3_COMPILER_IMPORT_CONFIG_H

#include "compiler/import/Expr.h"
#include "compiler/import/Json.h"
#include "support/Status.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k3 {

enum class Activation { Silu, Situ };
enum class RouterScore { Sigmoid, Softmax };
enum class AttentionKind { Kda, Mla };
enum class FfnKind { Dense, Moe };
enum class ExpertFormat { Plain, Mxfp4 };

/// Where a key stands: the position of its value and its full path.
struct KeyLocation {
  json::Location location;
  std::string path;
};

struct LayerConfig {
  AttentionKind attention = AttentionKind::Mla;
  FfnKind ffn = FfnKind::Dense;
  /// The entry of the layer list, or `num_hidden_layers` for a layer in neither list.
  KeyLocation location;
};

struct LinearAttnConfig {
  int64_t numHeads = 0;
  int64_t headDim = 0;
  int64_t shortConvKernelSize = 0;
  /// Set: g = bound * sigmoid(...); not set: the softplus gate.
  std::optional<double> gateLowerBound;
  bool useFullRankGate = false;
};

/// The text model, defaults filled in. Sizes that no layer needs are 0.
struct ModelConfig {
  std::string file;
  /// `kimi_k3` or `kimi_linear`: the folder of model-defs.
  std::string family;
  /// The text keys lie in `text_config`.
  bool nested = false;

  int64_t vocabSize = 0;
  int64_t hiddenSize = 0;
  int64_t numHiddenLayers = 0;
  int64_t intermediateSize = 0;
  std::optional<int64_t> maxPositionEmbeddings;

  int64_t numAttentionHeads = 0;
  std::optional<int64_t> qLoraRank;
  int64_t kvLoraRank = 0;
  int64_t qkNopeHeadDim = 0;
  int64_t qkRopeHeadDim = 0;
  int64_t vHeadDim = 0;
  bool mlaUseOutputGate = false;

  LinearAttnConfig linearAttn;
  std::optional<int64_t> attnResBlockSize;

  int64_t numExperts = 0;
  int64_t numExpertsPerToken = 0;
  int64_t numSharedExperts = 0;
  int64_t moeIntermediateSize = 0;
  int64_t firstKDenseReplace = 0;
  int64_t moeLayerFreq = 1;
  int64_t numExpertGroup = 1;
  int64_t topkGroup = 1;
  std::optional<int64_t> routedExpertHiddenSize;
  bool latentMoeUseNorm = false;
  RouterScore routerScore = RouterScore::Sigmoid;
  bool moeRenormalize = true;
  double routedScalingFactor = 1.0;

  Activation hiddenAct = Activation::Silu;
  double situBeta = 1.0;
  /// Not set: the up projection is not squashed.
  std::optional<double> situLinearBeta;
  double rmsNormEps = 1e-6;
  /// eps of q_a_layernorm and kv_a_layernorm; a key of ours, no released configuration has it.
  double mlaNormEps = 1e-6;
  bool tieWordEmbeddings = false;

  std::optional<int64_t> bosTokenId;
  std::optional<int64_t> padTokenId;
  std::vector<int64_t> eosTokenIds;

  /// What `quantization_config` says of the routed experts; the names of a checkpoint decide where
  /// there is one.
  ExpertFormat expertFormat = ExpertFormat::Plain;
  bool hasVision = false;

  std::vector<LayerConfig> layers;

  /// Sentences for the report: what was assumed, read in an unusual way, or is not used.
  std::vector<std::string> notes;
  /// `rms_norm_eps 1e-06`: defaults that were taken.
  std::vector<std::string> defaults;
  /// Keys that neither the importer nor the official classes know.
  std::vector<std::string> unknownKeys;

  /// By key as the official class spells it (`hidden_size`, `linear_attn_config.num_heads`),
  /// present keys only.
  std::map<std::string, KeyLocation, std::less<>> locations;
  /// Every integer under `vision_config`, by path (`vision_config.merge_kernel_size[0]`).
  std::map<std::string, int64_t, std::less<>> vision;

  int64_t countLayers(AttentionKind kind) const;
  int64_t countLayers(FfnKind kind) const;
  bool hasLayer(AttentionKind kind) const { return countLayers(kind) > 0; }
  bool hasLayer(FfnKind kind) const { return countLayers(kind) > 0; }
  /// KDA heads times head dim.
  int64_t kdaWidth() const { return linearAttn.numHeads * linearAttn.headDim; }

  /// Where KEY stands, or where the object that lacks it stands.
  KeyLocation locationOf(std::string_view key) const;
  /// Bytes of latent cache a token over all MLA layers, and of KDA and conv state a sequence over
  /// all KDA layers; CACHEBYTES is the size of an element of cache and conv state (2 for bf16), the
  /// recurrent state is f32.
  int64_t latentCacheBytesPerToken(int64_t elementBytes) const;
  int64_t stateBytesPerSequence(int64_t elementBytes) const;
  /// The value of a key for an expression of the model definitions; LAYER is -1 outside of layers.
  Result<ExprValue> value(std::string_view name, int64_t layer) const;
};

/// Reads and checks the text of a config.json; FILE names it in messages.
Result<ModelConfig> parseConfig(std::string_view text, const std::string &file);

} // namespace k3

#endif // K3_COMPILER_IMPORT_CONFIG_H
