//===- OfficialIndexTest.cpp - Tests with the index of Kimi K3 --*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The released index, 497,220 names in 59 MB, is matched one to one, and one fault in it is found
// by name. The build unpacks it; the test is apart because it reads the file again for every fault.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/Checkpoint.h"
#include "compiler/import/Report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace k3;
using testing::Contains;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

const std::string kLayer4 = "language_model.model.layers.4.";

std::string readFile(const fs::path &path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

class OfficialIndex : public testing::Test {
protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              ("k3-official-" +
               std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    useConfig("/tests/data/kimi-k3/config.json");
    fs::create_symlink(K3_OFFICIAL_INDEX, index());
  }
  void TearDown() override { fs::remove_all(folder_); }

  void useConfig(const std::string &path) {
    fs::copy_file(K3_SOURCE_DIR + path, folder_ / "config.json",
                  fs::copy_options::overwrite_existing);
  }
  fs::path index() const { return folder_ / "model.safetensors.index.json"; }
  /// Puts a changed copy of the index in its place.
  void change(const std::string &what, const std::string &with) {
    std::string text = readFile(K3_OFFICIAL_INDEX);
    size_t at = text.find(what);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, what.size(), with);
    fs::remove(index());
    std::ofstream(index(), std::ios::binary) << text;
  }
  std::string refusal() {
    Result<ImportedModel> model = importModel(folder_.string());
    EXPECT_FALSE(model.isOk());
    if (model.isOk())
      return "";
    EXPECT_EQ(model.status().exitCode(), 2);
    return model.status().message();
  }

  fs::path folder_;
};

TEST_F(OfficialIndex, MatchesOneToOne) {
  // Time of the processor: what else the machine does is not the importer's.
  std::clock_t start = std::clock();
  Result<ImportedModel> model = importModel(folder_.string());
  [[maybe_unused]] double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  ASSERT_TRUE(model.isOk()) << model.status().message();
#ifndef __SANITIZE_ADDRESS__ // the limit is for what users run; checks on every byte are not
  EXPECT_LT(seconds, 5.0);
#endif
  EXPECT_EQ(model->nameCount(), 497220);
  EXPECT_EQ(model->shardCount, 96);
  EXPECT_EQ(model->shardsPresent, 0);
  ModelReport report = makeReport(*model, 2);
  EXPECT_EQ(report.checkpointBytes, 1560860324864);
  EXPECT_EQ(report.textParameters, 2779484476000);
  EXPECT_EQ(report.visionParameters, 447358976);
  EXPECT_EQ(report.parametersTotal(), 2779931834976);
  EXPECT_EQ(report.parametersStored(), 2779931837184);
  EXPECT_EQ(model->find("kda.a_log", 0)->stored, std::vector<int64_t>{128});
  EXPECT_EQ(model->find("moe.expert.w1", 92)->encoding, Encoding::Mxfp4);
  EXPECT_EQ(model->find("moe.latent_down", 1)->encoding, Encoding::Bf16);
  EXPECT_THAT(
      model->notes,
      testing::ElementsAre("8832 bytes of the index total are padding: A_log is stored with 128 "
                           "entries, of which 96 count, in 69 layers"));
  std::map<std::string, int64_t> bytes;
  for (const WeightKind &kind : report.weights)
    bytes[kind.name] = kind.bytes;
  EXPECT_EQ(bytes["routed experts"], 1446456066048);
  EXPECT_EQ(bytes["kda"], 61258257408);
  EXPECT_EQ(bytes["mla"], 11145412608);
  EXPECT_EQ(bytes["vision"], 894717952);
  EXPECT_EQ(bytes["norms and residual mix"], 8042496);
}

TEST_F(OfficialIndex, RenamedTensor) {
  change("layers.12.block_sparse_moe.experts.895.w3.weight_scale",
         "layers.12.block_sparse_moe.experts.895.w3.weight_size");
  EXPECT_THAT(
      refusal(),
      HasSubstr(
          "(1 unexpected tensors: "
          "language_model.model.layers.12.block_sparse_moe.experts.895.w3.weight_size; 1 missing "
          "tensors: language_model.model.layers.12.block_sparse_moe.experts.895.w3.weight_scale)"));
}

TEST_F(OfficialIndex, MissingTensor) {
  change("    \"language_model.model.layers.12.block_sparse_moe.experts.895.w3.weight_scale\": "
         "\"model-00013-of-000096.safetensors\",\n",
         "");
  EXPECT_THAT(
      refusal(),
      HasSubstr("(1 missing tensors: "
                "language_model.model.layers.12.block_sparse_moe.experts.895.w3.weight_scale)"));
}

TEST_F(OfficialIndex, ExtraTensor) {
  change("\"weight_map\": {",
         "\"weight_map\": {\n    \"language_model.model.layers.93.eh_proj.weight\": "
         "\"x.safetensors\",");
  EXPECT_THAT(refusal(),
              HasSubstr("(1 unexpected tensors: language_model.model.layers.93.eh_proj.weight)"));
}

TEST_F(OfficialIndex, TotalSizeOffByOne) {
  change("1560860324864", "1560860324865");
  EXPECT_THAT(
      refusal(),
      HasSubstr(
          "metadata.total_size: not the sum of the tensors (got 1560860324865 bytes, expected "
          "1560860316032, difference 8833)"));
}

TEST_F(OfficialIndex, LayerInNeitherList) {
  useConfig("/tests/data/configs/bad/layer-in-neither-list.json");
  std::string message = refusal();
  EXPECT_THAT(message, HasSubstr("12 unexpected tensors"));
  EXPECT_THAT(message, HasSubstr(kLayer4 + "self_attn.q_conv1d.weight"));
  EXPECT_THAT(message, HasSubstr("6 missing tensors"));
  EXPECT_THAT(message, HasSubstr(kLayer4 + "self_attn.kv_b_proj.weight"));
}

TEST_F(OfficialIndex, PlainResiduals) {
  useConfig("/tests/data/configs/bad/block-size-null.json");
  std::string message = refusal();
  EXPECT_THAT(message, HasSubstr("374 unexpected tensors"));
  EXPECT_THAT(message, HasSubstr("layers.0.self_attention_res_norm.weight and 92 alike"));
}

TEST_F(OfficialIndex, VisionIsThereOrNot) {
  std::string text = readFile(K3_OFFICIAL_INDEX);
  std::string kept;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.find("\"vision_tower.") == line.npos && line.find("\"mm_projector.") == line.npos)
      kept += line + "\n";
  kept.replace(kept.find("1560860324864"), 13, "1559965606912");
  fs::remove(index());
  std::ofstream(index(), std::ios::binary) << kept;
  Result<ImportedModel> model = importModel(folder_.string());
  ASSERT_TRUE(model.isOk()) << model.status().message();
  EXPECT_EQ(model->nameCount(), 497052);
  EXPECT_THAT(model->notes, Contains("the checkpoint has no vision tensors: text only"));
  change("    \"vision_tower.encoder.final_layernorm.weight\": "
         "\"model-00096-of-000096.safetensors\",\n",
         "");
  EXPECT_THAT(refusal(),
              HasSubstr("(1 missing tensors: vision_tower.encoder.final_layernorm.weight)"));
}

} // namespace
