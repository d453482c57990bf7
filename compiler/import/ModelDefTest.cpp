//===- ModelDefTest.cpp - Tests of the model definitions --------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The built-in definitions are read and expanded, and the reader refuses what is not a definition.
// Numbers are those of the published checkpoints.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/ModelDef.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

using namespace k3;
using testing::HasSubstr;

namespace {

ModelConfig config(const std::string &path) {
  std::ifstream in(std::string(K3_SOURCE_DIR) + "/" + path);
  std::ostringstream text;
  text << in.rdbuf();
  Result<ModelConfig> result = parseConfig(text.str(), path);
  EXPECT_TRUE(result.isOk()) << result.status().message();
  return std::move(*result);
}

const ExpectedTensor *find(const ExpectedTensors &tensors, const std::string &role, int64_t layer) {
  for (const ExpectedTensor &tensor : tensors.tensors)
    if (tensor.def->role == role && tensor.layer == layer)
      return &tensor;
  return nullptr;
}

std::string refusal(const std::string &text) {
  Result<ModelDef> def = parseModelDef(text, "d.json");
  EXPECT_FALSE(def.isOk());
  return def.isOk() ? "" : def.status().message();
}

TEST(ModelDef, FamiliesAreBuiltIn) {
  EXPECT_THAT(modelFamilies(), testing::ElementsAre("kimi_k3", "kimi_linear"));
  EXPECT_EQ(loadModelDef("llama").status().message(),
            "model family 'llama': not known (expected one of kimi_k3, kimi_linear)");
}

TEST(ModelDef, OfficialK3) {
  Result<ModelDef> def = loadModelDef("kimi_k3");
  ASSERT_TRUE(def.isOk()) << def.status().message();
  ModelConfig k3 = config("model-defs/kimi_k3/config.json");
  Result<ExpectedTensors> tensors = expectedTensors(*def, k3);
  ASSERT_TRUE(tensors.isOk()) << tensors.status().message();
  using Shape = std::vector<int64_t>;
  EXPECT_EQ(find(*tensors, "kda.q_proj", 0)->shape, (Shape{12288, 7168}));
  EXPECT_EQ(find(*tensors, "kda.q_conv", 0)->shape, (Shape{12288, 1, 4}));
  EXPECT_EQ(find(*tensors, "kda.a_log", 0)->shape, (Shape{96}));
  EXPECT_EQ(find(*tensors, "kda.f_b_proj", 0)->shape, (Shape{12288, 128}));
  EXPECT_EQ(find(*tensors, "kda.q_proj", 3), nullptr);
  EXPECT_EQ(find(*tensors, "mla.q_b_proj", 3)->shape, (Shape{18432, 1536}));
  EXPECT_EQ(find(*tensors, "mla.kv_a_proj", 3)->shape, (Shape{576, 7168}));
  EXPECT_EQ(find(*tensors, "mla.kv_b_proj", 3)->shape, (Shape{24576, 512}));
  EXPECT_EQ(find(*tensors, "mla.q_proj", 3), nullptr);
  EXPECT_EQ(find(*tensors, "mlp.gate_proj", 0)->shape, (Shape{33792, 7168}));
  EXPECT_EQ(find(*tensors, "mlp.gate_proj", 1), nullptr);
  EXPECT_EQ(find(*tensors, "moe.shared.down_proj", 1)->shape, (Shape{7168, 6144}));
  const ExpectedTensor *w2 = find(*tensors, "moe.expert.w2", 92);
  EXPECT_EQ(w2->shape, (Shape{3584, 3072}));
  EXPECT_EQ(w2->copies, 896);
  EXPECT_EQ(find(*tensors, "vision.qkv", -1)->copies, 27);
  EXPECT_EQ(find(*tensors, "vision.projector.0", -1)->shape, (Shape{4096, 4096}));
  Result<std::vector<Shape>> others = otherShapes(*find(*tensors, "kda.q_conv", 0)->def, k3, 0);
  ASSERT_TRUE(others.isOk());
  EXPECT_THAT(*others, testing::ElementsAre(Shape{12288, 4}));
}

TEST(ModelDef, KimiLinear) {
  Result<ModelDef> def = loadModelDef("kimi_linear");
  ASSERT_TRUE(def.isOk());
  ModelConfig linear = config("model-defs/kimi_linear/config.json");
  Result<ExpectedTensors> tensors = expectedTensors(*def, linear);
  ASSERT_TRUE(tensors.isOk());
  using Shape = std::vector<int64_t>;
  EXPECT_EQ(find(*tensors, "mla.q_proj", 3)->shape, (Shape{6144, 2304}));
  EXPECT_EQ(find(*tensors, "kda.g_a_proj", 0)->shape, (Shape{128, 2304}));
  EXPECT_EQ(find(*tensors, "kda.g_b_proj", 0)->shape, (Shape{4096, 128}));
  EXPECT_EQ(find(*tensors, "moe.expert.w1", 1)->shape, (Shape{1024, 2304}));
  for (const char *absent :
       {"kda.g_proj", "moe.latent_down", "attn_res.norm", "mla.q_a_proj", "mla.g_proj"})
    for (int64_t layer = 0; layer < 27; ++layer)
      EXPECT_EQ(find(*tensors, absent, layer), nullptr) << absent;
  EXPECT_EQ(find(*tensors, "output_res.norm", -1), nullptr);
}

TEST(ModelDef, TheSliceIsTheOfficialModelCut) {
  ModelConfig slice = config("model-defs/kimi_k3_slice4/config.json");
  EXPECT_EQ(slice.numHiddenLayers, 4);
  EXPECT_EQ(slice.countLayers(AttentionKind::Kda), 3);
  EXPECT_EQ(slice.layers[3].attention, AttentionKind::Mla);
  EXPECT_EQ(slice.attnResBlockSize, 2);
  EXPECT_EQ(slice.hiddenSize, 7168);
}

TEST(ModelDef, TiedEmbeddingsHaveNoHead) {
  ModelConfig linear = config("model-defs/kimi_linear/config.json");
  linear.tieWordEmbeddings = true;
  Result<ModelDef> def = loadModelDef("kimi_linear");
  EXPECT_EQ(find(*expectedTensors(*def, linear), "lm_head", -1), nullptr);
}

TEST(ModelDef, NoTwoTensorsOfALayerShareARoleOrName) {
  for (const char *path : {"model-defs/kimi_k3/config.json", "model-defs/kimi_linear/config.json",
                           "tests/data/configs/odd/mlxs-kimi-linear-2l-dense.json"}) {
    ModelConfig model = config(path);
    Result<ModelDef> def = loadModelDef(model.family);
    Result<ExpectedTensors> tensors = expectedTensors(*def, model);
    ASSERT_TRUE(tensors.isOk());
    std::set<std::pair<std::string, int64_t>> roles, names;
    for (const ExpectedTensor &tensor : tensors->tensors) {
      EXPECT_TRUE(roles.insert({tensor.def->role, tensor.layer}).second) << tensor.def->role;
      EXPECT_TRUE(names.insert({tensor.def->name, tensor.layer}).second) << tensor.def->name;
    }
  }
}

TEST(ModelDef, VisionThatIsNotDescribedIsLeftOut) {
  ModelConfig k3 = config("model-defs/kimi_k3/config.json");
  k3.vision.erase("vision_config.patch_size");
  Result<ModelDef> def = loadModelDef("kimi_k3");
  Result<ExpectedTensors> tensors = expectedTensors(*def, k3);
  ASSERT_TRUE(tensors.isOk());
  EXPECT_EQ(find(*tensors, "vision.qkv", -1), nullptr);
  ASSERT_EQ(tensors->notes.size(), 1u);
  EXPECT_THAT(tensors->notes[0],
              HasSubstr("'vision_config.patch_size' is not a key that the configuration has"));
}

TEST(ModelDef, Refusals) {
  EXPECT_THAT(refusal("[]"), HasSubstr("d.json:1:1: expected an object"));
  EXPECT_THAT(refusal("{}"), HasSubstr("family, prefixes and tensors are needed"));
  auto tensor = [](const std::string &fields) {
    return refusal(R"({"family": "f", "prefixes": [""], "tensors": [{)" + fields + "}]}");
  };
  EXPECT_THAT(tensor(R"("role": "a", "name": "n", "shape": ["1 +"], "dtype": ["BF16"])"),
              HasSubstr("tensors[0].shape[0]: expression '1 +', column 4"));
  EXPECT_THAT(tensor(R"("role": "a", "name": "n", "shape": ["1"], "dtype": ["F64"])"),
              HasSubstr("a dtype is BF16 or F32"));
  EXPECT_THAT(tensor(R"("role": "a", "name": "n", "shape": ["1"])"),
              HasSubstr("role, name, shape and dtype are needed"));
  EXPECT_THAT(tensor(R"("role": "a", "name": "n.{B}", "shape": ["1"], "dtype": ["BF16"])"),
              HasSubstr("{B} and repeat belong together"));
  EXPECT_THAT(
      tensor(
          R"("role": "a", "name": "n.weight", "shape": ["1"], "dtype": ["BF16"], "mxfp4": true)"),
      HasSubstr("mxfp4 needs a matrix"));
  EXPECT_THAT(tensor(R"("colour": 1)"), HasSubstr("tensors[0].colour: unknown key"));
  EXPECT_THAT(refusal(R"({"family": "f", "extends": "llama"})"),
              HasSubstr("model family 'llama': not known"));
}

TEST(ModelDef, Bytes) {
  EXPECT_EQ(encodedBytes(Encoding::Bf16, 10), 20);
  EXPECT_EQ(encodedBytes(Encoding::F32, 10), 40);
  EXPECT_EQ(3 * encodedBytes(Encoding::Mxfp4, 3584 * 3072), 17547264);
}

} // namespace
