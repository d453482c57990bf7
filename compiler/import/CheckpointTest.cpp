//===- CheckpointTest.cpp - Tests of the binding of checkpoints -*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small checkpoints are written from a configuration, whole or with one fault each, and imported
// again. The official index is tested in OfficialIndexTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/Checkpoint.h"
#include "compiler/import/Report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace k3;
using nlohmann::ordered_json;
using testing::Contains;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

struct Stored {
  std::string dtype;
  std::vector<int64_t> shape;

  int64_t bytes() const {
    int64_t count = dtype == "F32" ? 4 : dtype == "U8" ? 1 : 2;
    for (int64_t extent : shape)
      count *= extent;
    return count;
  }
};
using Tensors = std::map<std::string, Stored>;

std::string replaced(std::string text, const std::string &what, const std::string &with) {
  size_t at = text.find(what);
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

/// A checkpoint folder with one shard for the first half of the names and one for the rest.
class Checkpoint : public testing::Test {
protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              ("k3-checkpoint-" +
               std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    std::ifstream in(std::string(K3_SOURCE_DIR) + "/tests/data/configs/odd/exo-kimi-k3-4l.json");
    config_ = ordered_json::parse(in);
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// Fills `tensors_` with what the configuration asks for.
  void makeTensors() {
    writeConfig();
    Result<ImportedModel> model = importModel((folder_ / "config.json").string());
    ASSERT_TRUE(model.isOk()) << model.status().message();
    for (const BoundTensor &tensor : model->tensors)
      for (int64_t copy = 0; copy < tensor.copies; ++copy) {
        std::string name = replaced(replaced(tensor.name, "{E}", std::to_string(copy)), "{B}",
                                    std::to_string(copy));
        if (tensor.encoding == Encoding::Mxfp4) {
          tensors_[name + "_packed"] = {"U8", {tensor.shape[0], tensor.shape[1] / 2}};
          tensors_[name + "_scale"] = {"U8", {tensor.shape[0], tensor.shape[1] / 32}};
        } else {
          tensors_[name] = {tensor.encoding == Encoding::F32 ? "F32" : "BF16", tensor.stored};
        }
      }
  }
  void writeConfig() { std::ofstream(folder_ / "config.json") << config_.dump(1); }

  void writeShard(const std::string &file, const Tensors &tensors) {
    ordered_json header;
    int64_t at = 0;
    for (const auto &[name, stored] : tensors) {
      header[name] = {{"dtype", stored.dtype},
                      {"shape", stored.shape},
                      {"data_offsets", {at, at + stored.bytes()}}};
      at += stored.bytes();
    }
    std::string text = header.dump();
    uint64_t size = text.size();
    std::ofstream out(folder_ / file, std::ios::binary);
    out.write(reinterpret_cast<const char *>(&size), sizeof(size));
    out << text << std::string(static_cast<size_t>(at), '\0');
  }

  /// Writes both shards and the index; TOTALCHANGE is added to the true total, WITHSHARDS false
  /// leaves the shards out.
  void write(int64_t totalChange = 0, bool withShards = true) {
    writeConfig();
    Tensors halves[2];
    ordered_json map;
    int64_t total = totalChange;
    size_t i = 0;
    for (const auto &[name, stored] : tensors_) {
      bool second = i++ >= tensors_.size() / 2;
      halves[second][name] = stored;
      map[name] = second ? "b.safetensors" : "a.safetensors";
      total += stored.bytes();
    }
    if (withShards) {
      writeShard("a.safetensors", halves[0]);
      writeShard("b.safetensors", halves[1]);
    }
    std::ofstream(folder_ / "model.safetensors.index.json")
        << ordered_json({{"metadata", {{"total_size", total}}}, {"weight_map", map}}).dump(1);
  }

  ImportedModel imported() {
    Result<ImportedModel> model = importModel(folder_.string());
    EXPECT_TRUE(model.isOk()) << model.status().message();
    return model.isOk() ? std::move(*model) : ImportedModel();
  }
  std::string refusal() {
    Result<ImportedModel> model = importModel(folder_.string());
    EXPECT_FALSE(model.isOk());
    if (model.isOk())
      return "";
    EXPECT_EQ(model.status().exitCode(), 2);
    return model.status().message();
  }

  static std::string layerName(int layer, const std::string &rest) {
    return "language_model.model.layers." + std::to_string(layer) + "." + rest;
  }

  fs::path folder_;
  ordered_json config_;
  Tensors tensors_;
};

TEST_F(Checkpoint, WholeOne) {
  makeTensors();
  write();
  ImportedModel model = imported();
  EXPECT_EQ(model.prefix, "language_model.");
  EXPECT_EQ(model.shardCount, 2);
  EXPECT_EQ(model.shardsPresent, 2);
  EXPECT_EQ(model.nameCount(), static_cast<int64_t>(tensors_.size()));
  ModelReport report = makeReport(model, 2);
  EXPECT_EQ(report.textParameters, 228742);
  EXPECT_EQ(report.parametersStored(), 228742);
  const BoundTensor *gate = model.find("kda.q_proj", 0);
  ASSERT_NE(gate, nullptr);
  EXPECT_EQ(gate->name, layerName(0, "self_attn.q_proj.weight"));
  EXPECT_EQ(gate->shape, (std::vector<int64_t>{64, 64}));
  EXPECT_EQ(gate->encoding, Encoding::Bf16);
  EXPECT_EQ(gate->location.path, "text_config.linear_attn_config.kda_layers[0]");
  const BoundTensor *expert = model.find("moe.expert.w2", 3);
  ASSERT_NE(expert, nullptr);
  EXPECT_EQ(expert->name, layerName(3, "block_sparse_moe.experts.{E}.w2.weight"));
  EXPECT_EQ(expert->copies, 8);
  EXPECT_EQ(model.find("kda.q_proj", 3), nullptr);
  EXPECT_EQ(model.find("embed", -1)->name, "language_model.model.embed_tokens.weight");
}

TEST_F(Checkpoint, SingleFileWithoutIndex) {
  makeTensors();
  writeShard("model.safetensors", tensors_);
  EXPECT_EQ(imported().shardsPresent, 1);
  writeShard("other.safetensors", tensors_);
  EXPECT_THAT(refusal(), HasSubstr("the index is missing (got 2 safetensors files"));
}

TEST_F(Checkpoint, FolderWithoutConfigAndPathsThatDoNotExist) {
  EXPECT_THAT(refusal(), HasSubstr("no config.json in this folder"));
  EXPECT_THAT(importModel((folder_ / "none.json").string()).status().message(),
              HasSubstr("no such file or folder"));
  fs::create_symlink("config.json", folder_ / "config.json");
  EXPECT_THAT(refusal(), HasSubstr("config.json: cannot be opened (Too many levels of symbolic "
                                   "links); check the path"));
  EXPECT_THAT(importModel((folder_ / "config.json").string()).status().message(),
              HasSubstr("config.json: cannot be opened (Too many levels of symbolic links)"));
}

TEST_F(Checkpoint, TextOnlyNames) {
  makeTensors();
  Tensors plain;
  for (const auto &[name, stored] : tensors_)
    plain[replaced(name, "language_model.", "")] = stored;
  tensors_ = plain;
  write();
  ImportedModel model = imported();
  EXPECT_EQ(model.prefix, "");
  EXPECT_EQ(model.find("embed", -1)->name, "model.embed_tokens.weight");
}

TEST_F(Checkpoint, MixedPrefixes) {
  makeTensors();
  tensors_["model.norm.weight"] = tensors_["language_model.model.norm.weight"];
  tensors_.erase("language_model.model.norm.weight");
  write();
  EXPECT_THAT(refusal(),
              HasSubstr("two spellings of the text model's names (got 'model.norm.weight'"));
}

TEST_F(Checkpoint, StoredShapesThatAreAccepted) {
  makeTensors();
  tensors_[layerName(0, "self_attn.q_conv1d.weight")].shape = {64, 4};
  tensors_[layerName(0, "self_attn.A_log")].shape = {1, 1, 2, 1};
  tensors_[layerName(1, "self_attn.A_log")].shape = {8};
  tensors_[layerName(2, "self_attn.dt_bias")].dtype = "BF16";
  write();
  ImportedModel model = imported();
  EXPECT_EQ(model.find("kda.q_conv", 0)->stored, (std::vector<int64_t>{64, 4}));
  EXPECT_EQ(model.find("kda.q_conv", 0)->shape, (std::vector<int64_t>{64, 1, 4}));
  EXPECT_EQ(model.find("kda.a_log", 0)->stored, (std::vector<int64_t>{1, 1, 2, 1}));
  EXPECT_EQ(model.find("kda.a_log", 1)->stored, (std::vector<int64_t>{8}));
  EXPECT_EQ(model.find("kda.a_log", 1)->shape, (std::vector<int64_t>{2}));
  EXPECT_EQ(model.find("kda.dt_bias", 2)->encoding, Encoding::Bf16);
  EXPECT_EQ(makeReport(model, 2).textParameters, 228742);
  EXPECT_EQ(makeReport(model, 2).parametersStored(), 228748);
}

TEST_F(Checkpoint, ShapesAndDtypesThatAreNot) {
  makeTensors();
  Tensors good = tensors_;
  std::string name = layerName(3, "self_attn.kv_a_proj_with_mqa.weight");
  tensors_[name].shape = {32, 64};
  write();
  EXPECT_THAT(refusal(), HasSubstr(name + ": the shape does not agree with"));
  EXPECT_THAT(refusal(), HasSubstr("(got [32, 64], expected [24, 64])"));
  tensors_ = good;
  tensors_[name].dtype = "F16";
  write();
  EXPECT_THAT(refusal(), HasSubstr(name + ": wrong dtype (got F16, expected BF16 or F32)"));
  tensors_ = good;
  tensors_[layerName(0, "self_attn.A_log")].shape = {1};
  write();
  EXPECT_THAT(refusal(), HasSubstr("A_log: the shape does not agree with"));
  EXPECT_THAT(refusal(), HasSubstr("(got [1], expected [2] or more entries)"));
  tensors_ = good;
  tensors_[layerName(1, "block_sparse_moe.experts.5.w1.weight")].dtype = "F32";
  write();
  EXPECT_THAT(refusal(), HasSubstr("not stored as its siblings are"));
}

TEST_F(Checkpoint, MissingExtraAndRenamed) {
  makeTensors();
  Tensors good = tensors_;
  std::string name = layerName(2, "mlp_res_norm.weight");
  tensors_.erase(name);
  write();
  EXPECT_THAT(refusal(), HasSubstr("(1 missing tensors: " + name + ")"));
  tensors_ = good;
  tensors_[layerName(4, "mlp_res_norm.weight")] = good[name];
  write();
  EXPECT_THAT(refusal(),
              HasSubstr("(1 unexpected tensors: " + layerName(4, "mlp_res_norm.weight") + ")"));
  tensors_ = good;
  tensors_["vision_tower.encoder.final_layernorm.weight"] = {"BF16", {4}};
  write();
  EXPECT_THAT(refusal(),
              HasSubstr("(1 unexpected tensors: vision_tower.encoder.final_layernorm.weight)"));
  tensors_ = good;
  tensors_[layerName(2, "mlp_res_norm.wieght")] = good[name];
  tensors_.erase(name);
  write();
  EXPECT_THAT(refusal(), HasSubstr("(1 unexpected tensors: " + layerName(2, "mlp_res_norm.wieght") +
                                   "; 1 missing tensors: " + name + ")"));
  // The placeholder of a template is no layer: taken as one, it would stand for layer 0.
  tensors_ = good;
  std::string first = layerName(0, "mlp_res_norm.weight"), braces = replaced(first, ".0.", ".{L}.");
  tensors_[braces] = good[first];
  tensors_.erase(first);
  write();
  EXPECT_THAT(refusal(), HasSubstr("(1 unexpected tensors: " + braces +
                                   "; 1 missing tensors: " + first + ")"));
  tensors_ = good;
  for (int expert = 0; expert < 8; ++expert) {
    std::string old = "block_sparse_moe.experts." + std::to_string(expert) + ".w1.weight";
    tensors_[layerName(1, replaced(old, "w1", "w9"))] = good[layerName(1, old)];
    tensors_.erase(layerName(1, old));
  }
  write();
  EXPECT_THAT(
      refusal(),
      HasSubstr("(8 unexpected tensors: " + layerName(1, "block_sparse_moe.experts.0.w9.weight") +
                " and 7 alike; 8 missing tensors: " +
                layerName(1, "block_sparse_moe.experts.0.w1.weight") + " and 7 alike)"));
}

TEST_F(Checkpoint, TotalSize) {
  makeTensors();
  for (int64_t change : {-1, 1, 4, 12}) {
    write(change);
    EXPECT_THAT(refusal(), HasSubstr("metadata.total_size: not the sum of the tensors")) << change;
    EXPECT_THAT(refusal(), HasSubstr("difference " + std::to_string(change))) << change;
  }
}

TEST_F(Checkpoint, PaddingThatOnlyTheTotalShows) {
  makeTensors();
  // Three KDA layers with 2 heads: 24 bytes more are 4 stored entries, 36 are 5, which no writer
  // pads to.
  write(24, false);
  ImportedModel model = imported();
  EXPECT_EQ(model.find("kda.a_log", 2)->stored, (std::vector<int64_t>{4}));
  EXPECT_THAT(
      model.notes,
      Contains(
          "24 bytes of the index total are padding: A_log is stored with 4 entries, of which 2 "
          "count, in 3 layers"));
  write(0, false);
  EXPECT_EQ(imported().find("kda.a_log", 2)->stored, (std::vector<int64_t>{2}));
  for (int64_t change : {-24, 1, 12, 25, 36}) {
    write(change, false);
    EXPECT_THAT(refusal(), HasSubstr("difference " + std::to_string(change))) << change;
  }
}

TEST_F(Checkpoint, ExpertsAreMxfp4ByTheirNames) {
  config_["quantization_config"] = {{"format", "mxfp4-pack-quantized"}};
  makeTensors();
  ASSERT_EQ(tensors_.count(layerName(1, "block_sparse_moe.experts.7.w2.weight_scale")), 1u);
  config_.erase("quantization_config");
  write();
  ImportedModel model = imported();
  EXPECT_EQ(model.find("moe.expert.w1", 1)->encoding, Encoding::Mxfp4);
  EXPECT_EQ(model.find("moe.expert.w1", 1)->name,
            layerName(1, "block_sparse_moe.experts.{E}.w1.weight"));
  EXPECT_THAT(model.notes,
              Contains("the experts are stored as mxfp4, whatever quantization_config says"));
  tensors_.erase(layerName(1, "block_sparse_moe.experts.7.w2.weight_scale"));
  write();
  EXPECT_THAT(refusal(), HasSubstr("(1 missing tensors: " +
                                   layerName(1, "block_sparse_moe.experts.7.w2.weight_scale")));
}

TEST_F(Checkpoint, Mxfp4HeadersAreChecked) {
  config_["quantization_config"] = {{"format", "mxfp4-pack-quantized"}};
  makeTensors();
  for (int expert = 0; expert < 8; ++expert)
    tensors_[layerName(1,
                       "block_sparse_moe.experts." + std::to_string(expert) + ".w1.weight_scale")]
        .shape = {32, 2};
  write();
  EXPECT_THAT(refusal(), HasSubstr("experts.0.w1.weight_scale: the shape does not agree with"));
  EXPECT_THAT(refusal(), HasSubstr("(got [32, 2], expected [32, 1])"));
}

TEST_F(Checkpoint, ShardsThatAreNotThere) {
  makeTensors();
  write();
  fs::remove(folder_ / "b.safetensors");
  ImportedModel model = imported();
  EXPECT_EQ(model.shardsPresent, 1);
  EXPECT_THAT(model.notes,
              Contains("1 of 2 shards are here: the headers of the others were not checked"));
}

TEST_F(Checkpoint, ShardsOfAnotherCheckpoint) {
  makeTensors();
  write();
  Tensors other = {{layerName(0, "self_attn.A_log"), {"F32", {2}}}};
  writeShard("b.safetensors", other);
  EXPECT_THAT(refusal(), HasSubstr("b.safetensors"));
  write();
  fs::resize_file(folder_ / "a.safetensors", fs::file_size(folder_ / "a.safetensors") - 1);
  EXPECT_THAT(refusal(), HasSubstr("a.safetensors"));
}

TEST_F(Checkpoint, IndexThatIsNoIndex) {
  makeTensors();
  auto with = [&](const std::string &text) {
    std::ofstream(folder_ / "model.safetensors.index.json") << text;
    return refusal();
  };
  EXPECT_THAT(with(""), HasSubstr("the file is empty"));
  EXPECT_THAT(with("{}"), HasSubstr("weight_map is missing"));
  EXPECT_THAT(with("[]"), HasSubstr("expected an object (got an array)"));
  EXPECT_THAT(with("7"), HasSubstr("expected an object (got a single value)"));
  EXPECT_THAT(with(R"({"weight_map": {"a": 1}})"),
              HasSubstr("1:22: weight_map: expected the name of a shard file"));
  EXPECT_THAT(with(R"({"weight_map": {"a": "../b"}})"), HasSubstr("(got \"../b\")"));
  EXPECT_THAT(with(R"({"weight_map": {"a": {"b": "c"}}})"), HasSubstr("(got an object)"));
  EXPECT_THAT(with(R"({"weight_map": []})"), HasSubstr("(got an array)"));
  EXPECT_THAT(with(R"({"metadata": {"total_size": -1}, "weight_map": {}})"),
              HasSubstr("metadata.total_size: expected a number of bytes"));
  std::string norm = "language_model.model.norm.weight";
  EXPECT_THAT(with("{\"weight_map\": {\"" + norm + "\": \"a\",\n\"" + norm + "\": \"a\"}}"),
              HasSubstr("json:2:1: the tensor '" + norm + "' is named twice"));
}

} // namespace
