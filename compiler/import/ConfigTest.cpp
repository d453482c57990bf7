//===- ConfigTest.cpp - Tests of the configuration reader -------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every file of tests/data/configs ends as its table says, each rule has a case of its own, and
// positions point at the value in the user's file.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/Config.h"
#include "compiler/import/Checkpoint.h"
#include "compiler/import/Report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <fstream>
#include <sstream>

using namespace k3;
using nlohmann::ordered_json;
using testing::Contains;
using testing::HasSubstr;

namespace {

const std::string kConfigs = std::string(K3_SOURCE_DIR) + "/tests/data/configs/";

std::string readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> split(const std::string &line, char by) {
  std::vector<std::string> parts(1);
  for (char c : line)
    if (c == by)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

/// NAMES joined by `&` (all of them) or `|` (one of them).
bool mentions(const std::string &text, const std::string &names) {
  auto has = [&](const std::string &name) { return text.find(name) != std::string::npos; };
  std::vector<std::string> any = split(names, '|');
  if (any.size() > 1)
    return std::any_of(any.begin(), any.end(), has);
  std::vector<std::string> all = split(names, '&');
  return std::all_of(all.begin(), all.end(), has);
}

std::string joined(const ImportedModel &model) {
  std::string text;
  for (const std::string &note : model.notes)
    text += note + "\n";
  return text;
}

ordered_json k3Tiny() {
  return ordered_json::parse(
      R"({"model_type": "kimi_k3", "text_config": {"model_type": "kimi_linear", "vocab_size": 128,
    "hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 2, "num_key_value_heads": 2, "intermediate_size": 96,
    "rms_norm_eps": 1e-05, "hidden_act": "situ", "activation_situ_beta": 4.0, "activation_situ_linear_beta": 25.0,
    "linear_attn_config": {"kda_layers": [1, 2, 3], "full_attn_layers": [4], "num_heads": 2, "head_dim": 32,
    "short_conv_kernel_size": 4, "gate_lower_bound": -5.0, "use_full_rank_gate": true}, "num_experts": 8,
    "moe_intermediate_size": 32, "q_lora_rank": 24, "kv_lora_rank": 16, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8,
    "v_head_dim": 16, "mla_use_nope": true, "mla_use_output_gate": true, "num_experts_per_token": 2,
    "num_shared_experts": 1, "first_k_dense_replace": 1, "routed_expert_hidden_size": 32, "latent_moe_use_norm": true,
    "attn_res_block_size": 2, "tie_word_embeddings": false}})");
}

Result<ModelConfig> parse(const ordered_json &json) { return parseConfig(json.dump(1), "c.json"); }

std::string refusal(const ordered_json &json) {
  Result<ModelConfig> config = parse(json);
  EXPECT_FALSE(config.isOk());
  if (config.isOk())
    return "";
  EXPECT_EQ(config.status().exitCode(), 2);
  return config.status().message();
}

TEST(Config, EveryFileEndsAsItsTableSays) {
  std::ifstream table(kConfigs + "expected.tsv");
  std::string line;
  int rows = 0;
  while (std::getline(table, line)) {
    if (line.empty() || line[0] == '#')
      continue;
    std::vector<std::string> row = split(line, '\t');
    ASSERT_EQ(row.size(), 6u) << line;
    SCOPED_TRACE(row[0]);
    ++rows;
    auto start = std::chrono::steady_clock::now();
    Result<ImportedModel> model = importModel(kConfigs + row[0]);
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    EXPECT_LT(seconds.count(), 1.0);
    ASSERT_EQ(model.isOk(), row[1] == "compiles") << (model.isOk() ? "" : model.status().message());
    if (!model.isOk()) {
      EXPECT_EQ(model.status().exitCode(), 2);
      EXPECT_TRUE(mentions(model.status().message(), row[2])) << model.status().message();
      continue;
    }
    EXPECT_TRUE(mentions(joined(*model), row[2])) << joined(*model);
    ModelReport report = makeReport(*model, 2);
    EXPECT_EQ(std::to_string(report.textParameters), row[3]);
    EXPECT_EQ(std::to_string(report.latentCacheBytesPerToken), row[4]);
    EXPECT_EQ(std::to_string(report.stateBytesPerSequence), row[5]);
  }
  EXPECT_EQ(rows, 25);
}

TEST(Config, MessagesOfTheBadFiles) {
  auto message = [](const std::string &name) {
    Result<ModelConfig> config = parseConfig(readFile(kConfigs + name), "c.json");
    return config.isOk() ? "" : config.status().message();
  };
  EXPECT_EQ(message("bad/string-heads.json"), "c.json:181:26: text_config.num_attention_heads: "
                                              "expected an integer (got the string \"96\")");
  EXPECT_EQ(message("bad/huge-layers-overflow.json"),
            "c.json:187:24: text_config.num_hidden_layers: too many layers (got 4294967296, "
            "expected 1 to 4096; the layer "
            "lists end at 93)");
  EXPECT_EQ(message("bad/layer-list-0-based.json"),
            "c.json:96:5: text_config.linear_attn_config.kda_layers[0]: kda_layers holds 0; lists "
            "count from 1 to 93");
  EXPECT_EQ(message("bad/topk-gt-experts.json"),
            "c.json:186:28: text_config.num_experts_per_token: cannot choose 897 of 896 experts "
            "(expected 1 to 896)");
  EXPECT_EQ(
      message("bad/quant-group-64.json"),
      "c.json:215:21: text_config.quantization_config.config_groups.group_0.weights.group_size: "
      "MXFP4 groups hold 32 "
      "columns (got 64, expected 32)");
  EXPECT_EQ(message("bad/unknown-model-type.json"),
            "c.json:16:16: model_type: this model is not supported (got the string \"kimi_k9\", "
            "expected one of kimi_k3, "
            "kimi_linear)");
  EXPECT_THAT(message("odd/glm5-next-mini-0based.json"),
              HasSubstr("(got the string \"glm5_next_text\": sparse attention, mHC, expected one "
                        "of kimi_k3, kimi_linear)"));
  EXPECT_EQ(message("odd/xllm-kimi-k3-2l-top1.json"),
            "c.json:1:1: model_type, text_config.linear_attn_config.num_heads, "
            "text_config.linear_attn_config.short_conv_kernel_size: these 3 keys are missing and "
            "have no default; add them "
            "to the configuration");
  EXPECT_EQ(message("partial/tiny-random-kimi-linear.head.json"),
            "c.json:1:1: qk_rope_head_dim, v_head_dim, vocab_size: these 3 keys are missing and "
            "have no default; add them "
            "to the configuration");
}

TEST(Config, FieldsOfTheOfficialModel) {
  Result<ImportedModel> model =
      importModel(std::string(K3_SOURCE_DIR) + "/model-defs/kimi_k3/config.json");
  ASSERT_TRUE(model.isOk()) << model.status().message();
  const ModelConfig &config = model->config;
  EXPECT_EQ(config.family, "kimi_k3");
  EXPECT_TRUE(config.nested);
  EXPECT_EQ(config.numHiddenLayers, 93);
  EXPECT_EQ(config.countLayers(AttentionKind::Kda), 69);
  EXPECT_EQ(config.countLayers(AttentionKind::Mla), 24);
  EXPECT_EQ(config.countLayers(FfnKind::Dense), 1);
  EXPECT_EQ(config.layers[2].attention, AttentionKind::Kda);
  EXPECT_EQ(config.layers[3].attention, AttentionKind::Mla);
  EXPECT_EQ(config.layers[91].attention, AttentionKind::Mla);
  EXPECT_EQ(config.layers[92].attention, AttentionKind::Mla);
  EXPECT_EQ(config.layers[0].ffn, FfnKind::Dense);
  EXPECT_EQ(config.hiddenAct, Activation::Situ);
  EXPECT_EQ(config.situLinearBeta, 25.0);
  EXPECT_EQ(config.linearAttn.gateLowerBound, -5.0);
  EXPECT_EQ(config.rmsNormEps, 1e-5);
  EXPECT_EQ(config.mlaNormEps, 1e-6);
  EXPECT_EQ(config.attnResBlockSize, 12);
  EXPECT_EQ(config.qLoraRank, 1536);
  EXPECT_EQ(config.bosTokenId, 163584);
  EXPECT_THAT(config.eosTokenIds, testing::ElementsAre(163586));
  EXPECT_EQ(config.expertFormat, ExpertFormat::Mxfp4);
  EXPECT_EQ(config.maxPositionEmbeddings, 1048576);
  EXPECT_TRUE(config.hasVision);
  EXPECT_TRUE(config.notes.empty());
  EXPECT_TRUE(config.unknownKeys.empty());
  EXPECT_THAT(config.defaults, testing::ElementsAre("mla_norm_eps 1e-06"));
}

TEST(Config, LocationsPointIntoTheFile) {
  Result<ModelConfig> config =
      parseConfig(readFile(std::string(K3_SOURCE_DIR) + "/model-defs/kimi_k3/config.json"), "c");
  ASSERT_TRUE(config.isOk());
  KeyLocation heads = config->locationOf("linear_attn_config.num_heads");
  EXPECT_EQ(heads.path, "text_config.linear_attn_config.num_heads");
  EXPECT_EQ(heads.location.line, 166u);
  EXPECT_EQ(heads.location.column, 20u);
  EXPECT_EQ(config->layers[0].location.path, "text_config.linear_attn_config.kda_layers[0]");
  EXPECT_EQ(config->layers[3].location.path, "text_config.linear_attn_config.full_attn_layers[0]");
  EXPECT_EQ(config->layers[4].location.path, "text_config.linear_attn_config.kda_layers[3]");
  // A key that is not there stands where the object stands that lacks it.
  EXPECT_EQ(config->locationOf("linear_attn_config.missing").path,
            "text_config.linear_attn_config");
  EXPECT_EQ(config->locationOf("mla_norm_eps").path, "text_config");
}

TEST(Config, FlatAndNestedAgree) {
  ordered_json flat = k3Tiny()["text_config"];
  Result<ModelConfig> config = parse(flat);
  ASSERT_TRUE(config.isOk()) << config.status().message();
  EXPECT_EQ(config->family, "kimi_linear");
  EXPECT_FALSE(config->nested);
  EXPECT_EQ(config->locationOf("kv_lora_rank").path, "kv_lora_rank");
  EXPECT_EQ(config->stateBytesPerSequence(2), parse(k3Tiny())->stateBytesPerSequence(2));
}

TEST(Config, StateAndCacheFollowTheDtype) {
  Result<ModelConfig> config = parse(k3Tiny());
  ASSERT_TRUE(config.isOk());
  EXPECT_EQ(config->latentCacheBytesPerToken(2), 48);
  EXPECT_EQ(config->latentCacheBytesPerToken(4), 96);
  EXPECT_EQ(config->stateBytesPerSequence(2), 28032);
  EXPECT_EQ(config->stateBytesPerSequence(4), 3 * (64 * 32 * 4 + 3 * 3 * 64 * 4));
}

TEST(Config, WrongTypesAndRanges) {
  auto with = [](const char *key, ordered_json value) {
    ordered_json json = k3Tiny();
    json["text_config"][key] = std::move(value);
    return refusal(json);
  };
  EXPECT_THAT(with("hidden_size", 64.0),
              HasSubstr("text_config.hidden_size: expected an integer (got 64.0)"));
  EXPECT_THAT(with("hidden_size", 0), HasSubstr("out of range (got 0, expected 1 to 4194304)"));
  EXPECT_THAT(with("hidden_size", -1), HasSubstr("out of range (got -1"));
  EXPECT_THAT(with("hidden_size", UINT64_MAX), HasSubstr("out of range (got 18446744073709551615"));
  EXPECT_THAT(with("hidden_size", nullptr),
              HasSubstr("text_config.hidden_size: this key is missing"));
  EXPECT_THAT(with("rms_norm_eps", "x"),
              HasSubstr("rms_norm_eps: expected a number (got the string \"x\")"));
  EXPECT_THAT(with("rms_norm_eps", 0), HasSubstr("rms_norm_eps: out of range (got 0"));
  EXPECT_THAT(with("moe_renormalize", 1),
              HasSubstr("moe_renormalize: expected true or false (got 1)"));
  EXPECT_THAT(
      with("hidden_act", "gelu"),
      HasSubstr("hidden_act: not supported (got the string \"gelu\", expected one of silu, situ)"));
  EXPECT_THAT(with("moe_router_activation_func", 3), HasSubstr("expected a string (got 3)"));
  EXPECT_THAT(with("linear_attn_config", 3),
              HasSubstr("linear_attn_config: expected an object (got 3)"));
  EXPECT_THAT(with("mla_use_nope", false), HasSubstr("rotary MLA does not exist in this family"));
  EXPECT_THAT(with("num_key_value_heads", 1),
              HasSubstr("as many key-value heads as heads (got 1, expected 2)"));
  EXPECT_THAT(with("eos_token_id", 128),
              HasSubstr("eos_token_id lies outside the vocabulary (got 128"));
  EXPECT_THAT(with("num_expert_group", 3),
              HasSubstr("num_expert_group: num_experts is not a multiple of it"));
  EXPECT_THAT(with("topk_group", 2),
              HasSubstr("topk_group: more groups than there are (got 2, expected at most 1)"));
  EXPECT_THAT(with("model_type", "llama"),
              HasSubstr("text_config.model_type: this model is not supported"));
  EXPECT_THAT(refusal(ordered_json::array()),
              HasSubstr("c.json:1:1: expected an object (got an array of 0)"));
}

TEST(Config, LayerLists) {
  auto with = [](ordered_json kda, ordered_json mla) {
    ordered_json json = k3Tiny();
    json["text_config"]["linear_attn_config"]["kda_layers"] = std::move(kda);
    json["text_config"]["linear_attn_config"]["full_attn_layers"] = std::move(mla);
    return json;
  };
  EXPECT_THAT(refusal(with({1, 2, 5}, {4})),
              HasSubstr("kda_layers[2]: kda_layers holds 5; lists count from 1 to 4"));
  EXPECT_THAT(refusal(with({1, 2, 3}, {3, 4})),
              HasSubstr("full_attn_layers[0]: layer 3 is listed twice (first in "
                        "text_config.linear_attn_config.kda_layers[2])"));
  EXPECT_THAT(refusal(with({1, "2"}, {4})),
              HasSubstr("kda_layers[1]: expected an integer (got the string \"2\")"));
  EXPECT_THAT(refusal(with(nullptr, {4})),
              HasSubstr("linear_attn_config.kda_layers: this key is missing"));
  Result<ModelConfig> gap = parse(with({1}, {4}));
  ASSERT_TRUE(gap.isOk());
  EXPECT_THAT(gap->notes,
              Contains("layer 2 (index 1), layer 3 (index 2) are in neither list and become MLA"));
  EXPECT_EQ(gap->layers[1].location.path, "text_config.num_hidden_layers");
  // Without KDA layers their sizes are not needed, and without the whole block every layer is MLA.
  ordered_json json = k3Tiny();
  json["text_config"].erase("linear_attn_config");
  Result<ModelConfig> mla = parse(json);
  ASSERT_TRUE(mla.isOk()) << mla.status().message();
  EXPECT_EQ(mla->countLayers(AttentionKind::Mla), 4);
  EXPECT_EQ(mla->stateBytesPerSequence(2), 0);
}

TEST(Config, Quantisation) {
  auto with = [](ordered_json block, bool outside) {
    ordered_json json = k3Tiny();
    (outside ? json : json["text_config"])["quantization_config"] = std::move(block);
    return json;
  };
  ordered_json good = {{"format", "mxfp4-pack-quantized"}};
  ordered_json inGroup = {
      {"config_groups",
       {{"g", {{"format", "mxfp4-pack-quantized"}, {"weights", {{"group_size", 32}}}}}}}};
  for (bool outside : {false, true})
    for (const ordered_json &block : {good, inGroup})
      EXPECT_EQ(parse(with(block, outside))->expertFormat, ExpertFormat::Mxfp4);
  EXPECT_EQ(parse(k3Tiny())->expertFormat, ExpertFormat::Plain);
  EXPECT_THAT(
      refusal(with({{"format", "nvfp4-pack-quantized"}}, true)),
      HasSubstr("quantization_config.format: this quantisation is not supported (got the string "
                "\"nvfp4-pack-quantized\", expected mxfp4-pack-quantized)"));
  EXPECT_THAT(refusal(with({{"quant_method", "fp8"}}, false)),
              HasSubstr("text_config.quantization_config.quant_method: this quantisation is not "
                        "supported (got the string "
                        "\"fp8\" without a format"));
  EXPECT_THAT(refusal(with(ordered_json::object(), false)), HasSubstr("no format is named"));
  ordered_json narrow = with(good, false);
  narrow["text_config"]["moe_intermediate_size"] = 48;
  EXPECT_THAT(refusal(narrow),
              HasSubstr("moe_intermediate_size: MXFP4 groups hold 32 columns (got 48"));
  narrow = with(good, false);
  narrow["text_config"]["routed_expert_hidden_size"] = 40;
  EXPECT_THAT(refusal(narrow),
              HasSubstr("routed_expert_hidden_size: MXFP4 groups hold 32 columns (got 40"));
}

TEST(Config, UnknownKeysAreListedOnce) {
  ordered_json json = k3Tiny();
  json["text_config"]["new_feature"] = 1;
  json["text_config"]["linear_attn_config"]["odd"] = nullptr;
  json["extra"] = {{"a", 1}};
  json["text_config"]["rope_theta"] = 10000.0;
  Result<ModelConfig> config = parse(json);
  ASSERT_TRUE(config.isOk());
  EXPECT_THAT(config->unknownKeys, testing::ElementsAre("extra", "text_config.new_feature",
                                                        "text_config.linear_attn_config.odd"));
}

TEST(Config, TokenIds) {
  ordered_json json = k3Tiny();
  json["eos_token_id"] = {5, 6};
  json["bos_token_id"] = 3;
  json["text_config"]["bos_token_id"] = 4;
  Result<ModelConfig> config = parse(json);
  ASSERT_TRUE(config.isOk()) << config.status().message();
  EXPECT_THAT(config->eosTokenIds, testing::ElementsAre(5, 6));
  EXPECT_EQ(config->bosTokenId, 4);
}

TEST(Config, HugeSizesAreCountedOrRefusedAtOnce) {
  ordered_json json = k3Tiny();
  ordered_json &text = json["text_config"];
  text["num_hidden_layers"] = 4096;
  text["num_experts"] = 65536;
  text["hidden_size"] = 1 << 22;
  text["moe_intermediate_size"] = 1 << 22;
  text.erase("routed_expert_hidden_size");
  text["latent_moe_use_norm"] = false;
  std::string path = testing::TempDir() + "k3-huge-config.json";
  std::ofstream(path) << json.dump();
  Result<ImportedModel> model = importModel(path);
  ASSERT_FALSE(model.isOk());
  EXPECT_THAT(model.status().message(), HasSubstr("the model does not fit 64-bit sizes"));
}

} // namespace
