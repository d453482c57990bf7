//===- K3ExpertOps.cpp - Router and experts of the k3 dialect -------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifies the router and the experts, whose matrices are bf16 or f32, or MXFP4 codes with a scale
// for 32 of them.
//
//===----------------------------------------------------------------------===//

#include "dialects/k3/K3Check.h"
#include "dialects/k3/K3Ops.h"

using namespace mlir;
using namespace k3::model;

/// Number of values that share one scale of MXFP4.
static constexpr int64_t kGroup = 32;

/// Extents [experts, rows, columns] of the matrices of all experts; `scale` may be null.
static SmallVector<int64_t> expertMatrix(Check &check, StringRef name, Value matrix, Value scale) {
  if (!scale)
    return check.weight(name, matrix, 3);
  SmallVector<int64_t> codes = check.packed(name, matrix, 3);
  SmallVector<int64_t> scales = check.packed((name + "_scale").str(), scale, 3);
  check.equal(name + "_scale experts", scales[0], name + " experts", codes[0]);
  check.equal(name + "_scale rows", scales[1], name + " rows", codes[1]);
  codes[2] = times(codes[2], 2);
  check.equal(name + "_scale columns * 32", times(scales[2], kGroup), name + " columns * 2",
              codes[2]);
  return codes;
}

/// Width of one expert's activation, half of the rows of gate_up.
static int64_t expertWidth(Check &check, ArrayRef<int64_t> gateUp) {
  if (gateUp[1] % 2 != 0)
    check.fail("expected gate_up rows " + Twine(gateUp[1]) + " to be even, gate then up");
  return gateUp[1] / 2;
}

LogicalResult RouterOp::verify() {
  Check check(*this);
  Type f32 = Float32Type::get(getContext());
  int64_t experts = check.columns("logits", getLogits());
  check.elementType("logits", getLogits(), f32);
  check.equal("bias elements", check.weight("bias", getBias(), 1)[0], "logits columns", experts);
  int64_t groups = getGroups(), chosen = getTopkGroups();
  check.atLeast("groups", groups, 1);
  check.atLeast("topk_groups", chosen, 1);
  check.atMost("topk_groups", chosen, "groups", groups);
  check.atLeast("top_k", getTopK(), 1);
  if (failed(check.result()))
    return failure();
  if (experts % groups != 0)
    check.fail("expected logits columns " + Twine(experts) + " to be a multiple of groups " +
               Twine(groups));
  check.atMost("top_k", getTopK(), "experts of the chosen groups", times(experts / groups, chosen));
  check.equal("ids columns", check.columns("ids", getIds()), "top_k", getTopK());
  check.equal("weights columns", check.columns("weights", getWeights()), "top_k", getTopK());
  check.elementType("weights", getWeights(), f32);
  check.positive("scale", getScale().convertToDouble());
  return check.result();
}

LogicalResult ExpertsOp::verify() {
  Check check(*this);
  int64_t z = check.columns("z", getZ());
  int64_t topK = check.columns("ids", getIds());
  check.equal("weights columns", check.columns("weights", getWeights()), "ids columns", topK);
  check.elementType("weights", getWeights(), Float32Type::get(getContext()));
  if (!getGateUpScale() != !getDownScale())
    check.fail("expected scales of gate_up and of down, or neither");
  auto gateUp = expertMatrix(check, "gate_up", getGateUp(), getGateUpScale());
  auto down = expertMatrix(check, "down", getDown(), getDownScale());
  check.equal("gate_up columns", gateUp[2], "z columns", z);
  check.equal("down experts", down[0], "gate_up experts", gateUp[0]);
  check.equal("down columns", down[2], "half of the gate_up rows,", expertWidth(check, gateUp));
  check.equal("result columns", check.columns("result", getResult()), "down rows", down[1]);
  check.atMost("ids columns", topK, "gate_up experts", gateUp[0]);
  check.activation(getActivation(), getBetaAttr(), getLinearBetaAttr());
  return check.result();
}

LogicalResult ExpertUpOp::verify() {
  Check check(*this);
  int64_t z = check.columns("z", getZ());
  int64_t topK = check.columns("ids", getIds());
  auto gateUp = expertMatrix(check, "gate_up", getGateUp(), getScale());
  check.equal("gate_up columns", gateUp[2], "z columns", z);
  check.atMost("ids columns", topK, "gate_up experts", gateUp[0]);
  check.equal("result columns", check.columns("result", getResult()),
              "ids columns * half of the gate_up rows,", times(topK, expertWidth(check, gateUp)));
  check.activation(getActivation(), getBetaAttr(), getLinearBetaAttr());
  return check.result();
}

LogicalResult ExpertDownOp::verify() {
  Check check(*this);
  int64_t x = check.columns("x", getX());
  int64_t topK = check.columns("ids", getIds());
  auto down = expertMatrix(check, "down", getDown(), getScale());
  check.equal("x columns", x, "ids columns * down columns", times(topK, down[2]));
  check.atMost("ids columns", topK, "down experts", down[0]);
  check.equal("result columns", check.columns("result", getResult()), "ids columns * down rows",
              times(topK, down[1]));
  return check.result();
}

LogicalResult CombineOp::verify() {
  Check check(*this);
  int64_t x = check.columns("x", getX());
  int64_t topK = check.columns("weights", getWeights());
  check.elementType("weights", getWeights(), Float32Type::get(getContext()));
  int64_t columns = check.columns("result", getResult());
  check.equal("x columns", x, "weights columns * result columns", times(topK, columns));
  return check.result();
}
