//===- ConfigKeys.cpp - Keys that are known and not read ---------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two tables. The first one is sorted, because it is searched by halving; the compiler checks the
// order.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/ConfigKeys.h"

#include <algorithm>
#include <array>
#include <utility>

namespace k3 {
namespace {

constexpr std::array kUnused = std::to_array<std::string_view>({
    "_attn_implementation",
    "_attn_implementation_autoset",
    "_name_or_path",
    "add_cross_attention",
    "architectures",
    "attention_bias",
    "attention_dropout",
    "auto_map",
    "bad_words_ids",
    "begin_suppress_tokens",
    "chunk_size_feed_forward",
    "cross_attention_hidden_size",
    "decoder_start_token_id",
    "device",
    "diversity_penalty",
    "do_sample",
    "dtype",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "exponential_decay_length_penalty",
    "finetuning_task",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "head_dim",
    "id2label",
    "ignore_index",
    "image_placeholder",
    "initializer_range",
    "is_decoder",
    "is_encoder_decoder",
    "label2id",
    "length_penalty",
    "max_length",
    "media_placeholder_token_id",
    "min_length",
    "mla_use_rope",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_nextn_predict_layers",
    "num_return_sequences",
    "output_attentions",
    "output_hidden_states",
    "output_scores",
    "prefix",
    "pretraining_tp",
    "problem_type",
    "pruned_heads",
    "remove_invalid_values",
    "repetition_penalty",
    "return_dict",
    "return_dict_in_generate",
    "rope_parameters",
    "rope_scaling",
    "rope_theta",
    "sep_token_id",
    "suppress_tokens",
    "task_specific_params",
    "temperature",
    "tf_legacy_loss",
    "tie_encoder_decoder",
    "tokenizer_class",
    "top_k",
    "top_p",
    "topk_method",
    "torch_dtype",
    "torchscript",
    "transformers_version",
    "typical_p",
    "use_bfloat16",
    "use_cache",
    "use_grouped_topk",
});

constexpr std::array kUnsupported = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"deepseek_v3", "rotary MLA, no linear attention"},
    {"deepseek_v32", "sparse attention, rotary MLA"},
    {"glm5_next", "sparse attention, mHC"},
    {"glm5_next_text", "sparse attention, mHC"},
    {"kimi_k2", "rotary MLA, no linear attention"},
    {"kimi_k25", "rotary MLA, no linear attention"},
    {"qwen3_next", "gated delta rule without a decay per channel, rotary attention"},
});

static_assert(std::is_sorted(kUnused.begin(), kUnused.end()));

} // namespace

bool isKnownUnusedKey(std::string_view key) {
  return std::binary_search(kUnused.begin(), kUnused.end(), key);
}

std::string_view unsupportedReason(std::string_view modelType) {
  for (auto [name, reason] : kUnsupported)
    if (name == modelType)
      return reason;
  return {};
}

} // namespace k3
