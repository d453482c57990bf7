//===- K3MixerOps.cpp - KDA, MLA and attention residuals of k3 ------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifies the ops that mix rows: those that read and write states, caches and the residual stack.
//
//===----------------------------------------------------------------------===//

#include "dialects/k3/K3Check.h"
#include "dialects/k3/K3Ops.h"

using namespace mlir;
using namespace k3::model;

LogicalResult ShortConvOp::verify() {
  Check check(*this);
  ConvStateType state = getState().getType();
  int64_t x = check.columns("x", getX());
  auto weight = check.weight("weight", getWeight(), 2);
  check.equal("weight rows", weight[0], "x columns", x);
  check.equal("weight columns - 1", weight[1] - 1, "state taps", state.getTaps());
  check.equal("state channels", state.getChannels(), "x columns", x);
  check.equal("result columns", check.columns("result", getResult()), "x columns", x);
  check.batch(getBatch().getType());
  return check.result();
}

LogicalResult KdaOp::verify() {
  Check check(*this);
  KdaStateType state = getState().getType();
  int64_t heads = state.getHeads();
  int64_t keys = times(heads, state.getKey()), values = times(heads, state.getValue());
  check.equal("q columns", check.columns("q", getQ()), "state heads * key", keys);
  check.equal("k columns", check.columns("k", getK()), "state heads * key", keys);
  check.equal("v columns", check.columns("v", getV()), "state heads * value", values);
  check.equal("gate columns", check.columns("gate", getGate()), "state heads * key", keys);
  check.equal("beta columns", check.columns("beta", getBeta()), "state heads", heads);
  check.atLeast("a_log elements", check.elements("a_log", getALog()), heads);
  check.equal("dt_bias elements", check.elements("dt_bias", getDtBias()), "state heads * key",
              keys);
  check.equal("result columns", check.columns("result", getResult()), "state heads * value",
              values);
  check.batch(getBatch().getType());
  if (getLowerBound())
    check.negative("lower_bound", getLowerBound()->convertToDouble());
  return check.result();
}

LogicalResult LatentAppendOp::verify() {
  Check check(*this);
  int64_t width = getCache().getType().getWidth();
  check.equal("kv columns", check.columns("kv", getKv()), "cache width", width);
  check.atMost("gain elements", check.weight("gain", getGain(), 1)[0], "cache width", width);
  check.batch(getBatch().getType());
  check.positive("eps", getEps().convertToDouble());
  return check.result();
}

LogicalResult MlaOp::verify() {
  Check check(*this);
  int64_t heads = getHeads(), nope = getNope(), rope = getRope(), value = getValue();
  check.atLeast("heads", heads, 1);
  check.atLeast("nope", nope, 1);
  check.atLeast("rope", rope, 0);
  check.atLeast("value", value, 1);
  check.equal("q columns", check.columns("q", getQ()), "heads * (nope + rope)",
              times(heads, plus(nope, rope)));
  auto kvB = check.weight("kv_b", getKvB(), 2);
  check.equal("kv_b rows", kvB[0], "heads * (nope + value)", times(heads, plus(nope, value)));
  check.equal("kv_b columns + rope", plus(kvB[1], rope), "cache width",
              getCache().getType().getWidth());
  check.equal("result columns", check.columns("result", getResult()), "heads * value",
              times(heads, value));
  check.batch(getBatch().getType());
  check.positive("scale", getScale().convertToDouble());
  return check.result();
}

LogicalResult LatentAttentionOp::verify() {
  Check check(*this);
  int64_t width = getCache().getType().getWidth();
  check.atLeast("heads", getHeads(), 1);
  check.atLeast("latent", getLatent(), 1);
  check.atMost("latent", getLatent(), "cache width", width);
  check.equal("q columns", check.columns("q", getQ()), "heads * cache width",
              times(getHeads(), width));
  check.equal("result columns", check.columns("result", getResult()), "heads * latent",
              times(getHeads(), getLatent()));
  check.batch(getBatch().getType());
  check.positive("scale", getScale().convertToDouble());
  return check.result();
}

LogicalResult AttnResPushOp::verify() {
  Check check(*this);
  StackType stack = getStack().getType();
  check.equal("h columns", check.columns("h", getH()), "stack hidden", stack.getHidden());
  check.stack(stack);
  check.constantIn("index", getIndex(), 0, stack.getCapacity() - 1);
  return check.result();
}

LogicalResult AttnResMixOp::verify() {
  Check check(*this);
  StackType stack = getStack().getType();
  int64_t hidden = stack.getHidden();
  check.equal("h columns", check.columns("h", getH()), "stack hidden", hidden);
  check.stack(stack);
  check.equal("norm elements", check.elements("norm", getNorm()), "stack hidden", hidden);
  check.equal("query elements", check.elements("query", getQuery()), "stack hidden", hidden);
  check.equal("result columns", check.columns("result", getResult()), "stack hidden", hidden);
  check.elementType("result", getResult(), Float32Type::get(getContext()));
  check.constantIn("count", getCount(), 0, stack.getCapacity());
  check.positive("eps", getEps().convertToDouble());
  return check.result();
}
