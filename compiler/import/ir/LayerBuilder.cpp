//===- LayerBuilder.cpp - The body of one kind of layer -------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// KDA, MLA, dense MLP and mixture of experts, each as the sequence of k3 ops that its formulas
// name.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/ir/LayerBuilder.h"

using namespace mlir;

namespace k3 {

RankedTensorType LayerBuilder::like(Value x, int64_t columns, Type element) {
  auto type = cast<RankedTensorType>(x.getType());
  return RankedTensorType::get({type.getDimSize(0), columns},
                               element ? element : Type(b.getBF16Type()), type.getEncoding());
}

Value LayerBuilder::weight(StringRef role) {
  Type type;
  FlatSymbolRefAttr param = declarations.param(role, layer, type);
  return model::WeightOp::create(b, type, param);
}

Value LayerBuilder::linear(Value x, StringRef role, bool f32) {
  Value w = weight(role);
  int64_t columns = cast<RankedTensorType>(w.getType()).getDimSize(0);
  return model::LinearOp::create(b, like(x, columns, f32 ? Type(b.getF32Type()) : Type()), x, w);
}

Value LayerBuilder::add(Value x, Value y) {
  return model::AddOp::create(b, like(x, cast<RankedTensorType>(x.getType()).getDimSize(1)), x, y);
}

Value LayerBuilder::norm(Value x, StringRef role, double eps) {
  return model::RmsNormOp::create(b, like(x, cast<RankedTensorType>(x.getType()).getDimSize(1)), x,
                                  weight(role), b.getF64FloatAttr(eps));
}

Value LayerBuilder::mix(StringRef site, Value stack, Value count, Value h) {
  if (!c.attnResBlockSize)
    return h;
  return model::AttnResMixOp::create(b, like(h, c.hiddenSize, b.getF32Type()), stack, count, h,
                                     weight((site + ".norm").str()), weight((site + ".proj").str()),
                                     b.getF64FloatAttr(c.rmsNormEps));
}

Value LayerBuilder::state(StringRef name, Type type) {
  std::string full = ("layers.{L}." + name).str();
  return model::RefOp::create(b, type, declarations.state(full, type, b.getLoc()));
}

Value LayerBuilder::attention(Value x) {
  return c.layers[layer].attention == AttentionKind::Kda ? kda(x) : mla(x);
}

Value LayerBuilder::feedForward(Value x) {
  return c.layers[layer].ffn == FfnKind::Moe ? moe(x) : mlp(x, "mlp.");
}

// ---------------------------------------------------------------------------------------------------------
// KDA

Value LayerBuilder::shortConv(Value x, StringRef which) {
  auto type = model::ConvStateType::get(b.getContext(), c.linearAttn.shortConvKernelSize - 1,
                                        c.kdaWidth(), b.getBF16Type());
  return model::ShortConvOp::create(b, like(x, c.kdaWidth()), x,
                                    weight(("kda." + which + "_conv").str()),
                                    state(("conv_state." + which).str(), type), batch);
}

Value LayerBuilder::kda(Value x) {
  int64_t heads = c.linearAttn.numHeads, dim = c.linearAttn.headDim;
  Value q = shortConv(linear(x, "kda.q_proj"), "q");
  Value k = shortConv(linear(x, "kda.k_proj"), "k");
  Value v = shortConv(linear(x, "kda.v_proj"), "v");
  Value gate = linear(linear(x, "kda.f_a_proj"), "kda.f_b_proj");
  Value beta = linear(x, "kda.b_proj", /*f32=*/true);
  Value outputGate = c.linearAttn.useFullRankGate
                         ? linear(x, "kda.g_proj")
                         : linear(linear(x, "kda.g_a_proj"), "kda.g_b_proj");
  auto stateType = model::KdaStateType::get(b.getContext(), heads, dim, dim, b.getF32Type(),
                                            model::StateOrder::KeyValue);
  FloatAttr lower =
      c.linearAttn.gateLowerBound ? b.getF64FloatAttr(*c.linearAttn.gateLowerBound) : FloatAttr();
  Value o =
      model::KdaOp::create(b, like(x, c.kdaWidth()), q, k, v, gate, beta, weight("kda.a_log"),
                           weight("kda.dt_bias"), state("kda_state", stateType), batch, lower);
  Value y = model::GatedRmsNormOp::create(b, like(x, c.kdaWidth()), o, outputGate,
                                          weight("kda.o_norm"), b.getF64FloatAttr(c.rmsNormEps));
  return linear(y, "kda.o_proj");
}

// ---------------------------------------------------------------------------------------------------------
// MLA

Value LayerBuilder::mla(Value x) {
  int64_t heads = c.numAttentionHeads, nope = c.qkNopeHeadDim, rope = c.qkRopeHeadDim,
          value = c.vHeadDim;
  Value q = c.qLoraRank ? linear(norm(linear(x, "mla.q_a_proj"), "mla.q_a_norm", c.mlaNormEps),
                                 "mla.q_b_proj")
                        : linear(x, "mla.q_proj");
  Value kv = linear(x, "mla.kv_a_proj");
  auto cacheType = model::LatentCacheType::get(b.getContext(), declarations.pageTokens,
                                               c.kvLoraRank + rope, b.getBF16Type());
  Value cache = state("latent_cache", cacheType);
  model::LatentAppendOp::create(b, kv, weight("mla.kv_a_norm"), cache, batch,
                                b.getF64FloatAttr(c.mlaNormEps));
  // All channels count in the scale, also those that other models rotate.
  double scale = 1.0 / std::sqrt(double(nope + rope));
  Value o = model::MlaOp::create(b, like(x, heads * value), q, weight("mla.kv_b_proj"), cache,
                                 batch, b.getI64IntegerAttr(heads), b.getI64IntegerAttr(nope),
                                 b.getI64IntegerAttr(rope), b.getI64IntegerAttr(value),
                                 b.getF64FloatAttr(scale));
  if (c.mlaUseOutputGate)
    o = model::GateOp::create(b, like(x, heads * value), o, linear(x, "mla.g_proj"));
  return linear(o, "mla.o_proj");
}

// ----------------------------------------------------------------------------------------------------------
// FFN

model::ActivationAttr LayerBuilder::activation() {
  return model::ActivationAttr::get(b.getContext(), c.hiddenAct == Activation::Situ
                                                        ? model::Activation::SiTU
                                                        : model::Activation::SwiGLU);
}

FloatAttr LayerBuilder::linearBeta() {
  return c.situLinearBeta ? b.getF64FloatAttr(*c.situLinearBeta) : FloatAttr();
}

Value LayerBuilder::mlp(Value x, StringRef prefix) {
  Value gate = linear(x, (prefix + "gate_proj").str()), up = linear(x, (prefix + "up_proj").str());
  int64_t width = cast<RankedTensorType>(gate.getType()).getDimSize(1);
  Value y = model::GluOp::create(b, like(x, width), gate, up, activation(),
                                 b.getF64FloatAttr(c.situBeta), linearBeta());
  return linear(y, (prefix + "down_proj").str());
}

Value LayerBuilder::moe(Value x) {
  // The router and the shared experts see the whole input, the routed experts the latent.
  Value logits = linear(x, "moe.router", /*f32=*/true);
  auto score = model::RouterScoreAttr::get(b.getContext(), c.routerScore == RouterScore::Softmax
                                                               ? model::RouterScore::Softmax
                                                               : model::RouterScore::Sigmoid);
  int64_t topK = c.numExpertsPerToken;
  auto router = model::RouterOp::create(
      b, TypeRange{like(x, topK, b.getI32Type()), like(x, topK, b.getF32Type())}, logits,
      weight("moe.router_bias"), b.getI64IntegerAttr(topK), score, b.getBoolAttr(c.moeRenormalize),
      b.getF64FloatAttr(c.routedScalingFactor), b.getI64IntegerAttr(c.numExpertGroup),
      b.getI64IntegerAttr(c.topkGroup));
  model::TapOp::create(b, router.getIds(), b.getStringAttr("layers.{L}.experts"));

  bool latent = c.routedExpertHiddenSize.has_value();
  Value z = latent ? linear(x, "moe.latent_down") : x;
  bool packed = declarations.model.find("moe.expert.w1", layer)->encoding == Encoding::Mxfp4;
  auto experts = [&](StringRef name, ArrayRef<StringRef> roles, bool scales) -> Value {
    Type type;
    FlatSymbolRefAttr param = declarations.experts(name, roles, layer, scales, type);
    return model::WeightOp::create(b, type, param);
  };
  Value gateUp = experts("moe.experts.w13", {"moe.expert.w1", "moe.expert.w3"}, false);
  Value down = experts("moe.experts.w2", {"moe.expert.w2"}, false);
  Value gateUpScale =
      packed ? experts("moe.experts.w13", {"moe.expert.w1", "moe.expert.w3"}, true) : Value();
  Value downScale = packed ? experts("moe.experts.w2", {"moe.expert.w2"}, true) : Value();
  int64_t width = cast<RankedTensorType>(z.getType()).getDimSize(1);
  Value y = model::ExpertsOp::create(b, like(x, width), z, router.getIds(), router.getWeights(),
                                     gateUp, down, gateUpScale, downScale, activation(),
                                     b.getF64FloatAttr(c.situBeta), linearBeta());
  if (latent) {
    if (c.latentMoeUseNorm)
      y = norm(y, "moe.latent_norm", c.rmsNormEps);
    y = linear(y, "moe.latent_up");
  }
  if (c.numSharedExperts > 0)
    y = add(y, mlp(x, "moe.shared."));
  return y;
}

} // namespace k3
