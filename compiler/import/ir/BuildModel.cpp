//===- BuildModel.cpp - A model as k3 IR ----------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The prefill entry and the calls of the layer bodies; equal kinds of layers share one body.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/ir/BuildModel.h"

#include "compiler/import/ir/LayerBuilder.h"

using namespace mlir;

namespace k3 {

DictionaryAttr makeLimitsAttr(MLIRContext *context, const PlanLimits &limits) {
  Builder b(context);
  return b.getDictionaryAttr(
      {b.getNamedAttr("max_tokens", b.getI64IntegerAttr(limits.maxTokens)),
       b.getNamedAttr("max_seqs", b.getI64IntegerAttr(limits.maxSeqs)),
       b.getNamedAttr("max_context", b.getI64IntegerAttr(limits.maxContext)),
       b.getNamedAttr("max_logit_rows", b.getI64IntegerAttr(limits.maxLogitRows)),
       b.getNamedAttr("page_tokens", b.getI64IntegerAttr(limits.pageTokens))});
}

namespace {

class ModelBuilder {
public:
  ModelBuilder(ModuleOp module, const ImportedModel &model, const PlanLimits &limits)
      : module(module), model(model), c(model.config), limits(limits),
        declarations(module, model, limits.pageTokens),
        b(module.getLoc(), OpBuilder::atBlockEnd(module.getBody())) {}

  void build();

private:
  ModuleOp module;
  const ImportedModel &model;
  const ModelConfig &c;
  PlanLimits limits;
  Declarations declarations;
  ImplicitLocOpBuilder b;
  llvm::StringMap<func::FuncOp> bodies;

  RankedTensorType rows(StringRef symbol, int64_t columns, Type element) {
    return RankedTensorType::get({ShapedType::kDynamic, columns}, element,
                                 model::SymAttr::get(b.getContext(), symbol));
  }
  model::StackType stackType() {
    int64_t blocks = llvm::divideCeil(c.numHiddenLayers, *c.attnResBlockSize);
    return model::StackType::get(b.getContext(), blocks, c.hiddenSize, b.getBF16Type(), "T", 0);
  }
  model::BatchType batchType() { return model::BatchType::get(b.getContext(), "T", "S", 0); }
  bool pushes(int64_t layer) const {
    return c.attnResBlockSize && layer % *c.attnResBlockSize == 0;
  }
  func::FuncOp body(int64_t layer);
};

} // namespace

/// The body of a layer's kind: attention, feed-forward, whether it starts a block, and how its
/// tensors are stored.
func::FuncOp ModelBuilder::body(int64_t layer) {
  const LayerConfig &kind = c.layers[layer];
  std::string name = kind.attention == AttentionKind::Kda ? "kda" : "mla";
  name += kind.ffn == FfnKind::Moe ? "_moe" : "_dense";
  if (pushes(layer))
    name += "_push";
  func::FuncOp &known = bodies[name + "|" + declarations.signature(layer)];
  if (known)
    return known;
  int sameName = 0;
  for (auto &entry : bodies)
    sameName += entry.getKey().starts_with(name + "|");
  if (sameName > 1)
    name += "_" + std::to_string(sameName);

  Type h = rows("T", c.hiddenSize, b.getBF16Type());
  SmallVector<Type> inputs{h, batchType()};
  if (c.attnResBlockSize)
    inputs.append({stackType(), b.getIndexType()});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(module.getBody());
  Location loc = declarations.loc(kind.location);
  b.setLoc(loc);
  known = func::FuncOp::create(b, loc, name, b.getFunctionType(inputs, {h}));
  known.setPrivate();
  Block *block = known.addEntryBlock();
  b.setInsertionPointToEnd(block);
  Value sum = block->getArgument(0), batch = block->getArgument(1);
  Value stack = c.attnResBlockSize ? block->getArgument(2) : Value();
  Value count = c.attnResBlockSize ? block->getArgument(3) : Value();

  LayerBuilder l(b, declarations, layer, batch);
  // With no finished block the mix over {h} alone is h itself, exactly, so layer 0 needs no form of
  // its own.
  Value x = l.norm(l.mix("attn_res", stack, count, sum), "input_norm", c.rmsNormEps);
  if (pushes(layer)) {
    model::AttnResPushOp::create(b, stack, count, sum);
    count = arith::AddIOp::create(b, count, arith::ConstantIndexOp::create(b, loc, 1));
  }
  Value attended = l.attention(x);
  // A pushed sum starts anew from the attention output.
  sum = pushes(layer) ? attended : l.add(sum, attended);
  x = l.norm(l.mix("mlp_res", stack, count, sum), "post_attention_norm", c.rmsNormEps);
  sum = l.add(sum, l.feedForward(x));
  model::TapOp::create(b, sum, b.getStringAttr("layers.{L}.h"));
  func::ReturnOp::create(b, sum);
  return known;
}

void ModelBuilder::build() {
  for (auto [name, upper] : {std::pair<StringRef, int64_t>{"T", limits.maxTokens},
                             {"S", limits.maxSeqs},
                             {"R", limits.maxLogitRows}})
    model::SymbolOp::create(b, b.getStringAttr(name), b.getI64IntegerAttr(upper));

  auto sym = [&](StringRef name) { return model::SymAttr::get(b.getContext(), name); };
  auto ids = [&](StringRef name) {
    return RankedTensorType::get({ShapedType::kDynamic}, b.getI32Type(), sym(name));
  };
  Type logits = rows("R", c.vocabSize, b.getF32Type());
  auto entry = func::FuncOp::create(b, b.getLoc(), "prefill",
                                    b.getFunctionType({ids("T"), batchType(), ids("R")}, {logits}));
  entry->setAttr(model::kEntryAttr, b.getStringAttr("prefill"));
  entry.setArgAttr(0, model::kNameAttr, b.getStringAttr("ids"));
  entry.setArgAttr(2, model::kNameAttr, b.getStringAttr("logit_rows"));
  entry.setResultAttr(0, model::kNameAttr, b.getStringAttr("logits"));
  Block *block = entry.addEntryBlock();
  b.setInsertionPointToEnd(block);
  Value batch = block->getArgument(1);

  LayerBuilder global(b, declarations, -1, batch);
  Value h = model::EmbedOp::create(b, rows("T", c.hiddenSize, b.getBF16Type()),
                                   block->getArgument(0), global.weight("embed"));
  Value stack = c.attnResBlockSize ? Value(model::StackOp::create(b, stackType())) : Value();
  for (int64_t layer = 0; layer < c.numHiddenLayers; ++layer) {
    func::FuncOp callee = body(layer);
    b.setLoc(declarations.loc(c.layers[layer].location));
    SmallVector<Value> operands{h, batch};
    if (stack)
      operands.append({stack, arith::ConstantIndexOp::create(
                                  b, b.getLoc(), llvm::divideCeil(layer, *c.attnResBlockSize))});
    auto call = func::CallOp::create(b, callee, operands);
    call->setAttr(model::kLayerAttr, b.getI64IntegerAttr(layer));
    h = call.getResult(0);
  }
  b.setLoc(module.getLoc());
  if (stack)
    h = global.mix("output_res", stack,
                   arith::ConstantIndexOp::create(
                       b, b.getLoc(), llvm::divideCeil(c.numHiddenLayers, *c.attnResBlockSize)),
                   h);
  Value normed = global.norm(h, "final_norm", c.rmsNormEps);
  Value wanted = model::TakeRowsOp::create(b, rows("R", c.hiddenSize, b.getBF16Type()), normed,
                                           block->getArgument(2));
  func::ReturnOp::create(
      b, global.linear(wanted, c.tieWordEmbeddings ? "embed" : "lm_head", /*f32=*/true));
}

OwningOpRef<ModuleOp> buildModel(MLIRContext *context, const ImportedModel &model,
                                 const PlanLimits &limits) {
  context->loadDialect<model::K3Dialect, func::FuncDialect, arith::ArithDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(FileLineColLoc::get(context, kConfigName, 1, 1));
  (*module)->setAttr(model::kLimitsAttr, makeLimitsAttr(context, limits));
  ModelBuilder(*module, model, limits).build();
  return module;
}

} // namespace k3
