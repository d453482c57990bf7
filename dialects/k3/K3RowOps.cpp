//===- K3RowOps.cpp - Rows and projections of the k3 dialect --------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifies the ops that work on rows alone: embedding, projections, norms, gates and activations.
//
//===----------------------------------------------------------------------===//

#include "dialects/k3/K3Check.h"
#include "dialects/k3/K3Ops.h"

using namespace mlir;
using namespace k3::model;

LogicalResult EmbedOp::verify() {
  Check check(*this);
  check.list("ids", getIds());
  auto table = check.weight("table", getTable(), 2);
  check.equal("result columns", check.columns("result", getResult()), "table columns", table[1]);
  return check.result();
}

LogicalResult TakeRowsOp::verify() {
  Check in(*this);
  int64_t columns = in.columns("x", getX());
  in.elementType("result", getResult(), getElementTypeOrSelf(getX()));
  if (failed(in.result()))
    return failure();
  Check out(*this);
  out.list("row numbers", getRows());
  out.equal("result columns", out.columns("result", getResult()), "x columns", columns);
  return out.result();
}

LogicalResult LinearOp::verify() {
  Check check(*this);
  int64_t inputs = check.columns("x", getX());
  auto weight = check.weight("weight", getWeight(), 2);
  check.equal("weight columns", weight[1], "input columns", inputs);
  check.equal("result columns", check.columns("result", getResult()), "weight rows", weight[0]);
  return check.result();
}

LogicalResult HeadLinearOp::verify() {
  Check check(*this);
  int64_t heads = getHeads(), rows = getRows();
  check.atLeast("heads", heads, 1);
  check.atLeast("rows", rows, 1);
  check.atLeast("row_begin", getRowBegin(), 0);
  check.atMost("the end of the rows", plus(getRowBegin(), rows), "stride_rows", getStrideRows());
  auto weight = check.weight("weight", getWeight(), 2);
  check.equal("weight rows", weight[0], "heads * stride_rows", times(heads, getStrideRows()));
  int64_t x = check.columns("x", getX()), y = check.columns("result", getResult());
  if (failed(check.result()))
    return failure();
  if (x % heads != 0)
    check.fail("expected x columns " + Twine(x) + " to be a multiple of heads " + Twine(heads));
  int64_t inputs = getTranspose() ? rows : weight[1];
  int64_t outputs = getTranspose() ? weight[1] : rows;
  check.atMost("inputs of a head", inputs, "x columns of a head", x / heads);
  check.atLeast("pass_begin", getPassBegin(), -1);
  check.atLeast("pass_count", getPassCount(), getPassBegin() < 0 ? 0 : 1);
  if (getPassBegin() < 0)
    check.equal("pass_count", getPassCount(), "the count without pass_begin,", 0);
  else
    check.atMost("the end of the passed columns", plus(getPassBegin(), getPassCount()),
                 "x columns of a head", x / heads);
  check.equal("result columns", y, "heads * columns of a head",
              times(heads, plus(outputs, getPassCount())));
  return check.result();
}

LogicalResult SliceOp::verify() {
  Check check(*this);
  int64_t x = check.columns("x", getX()), y = check.columns("result", getResult());
  check.atLeast("begin", getBegin(), 0);
  check.atMost("the end of the slice", plus(getBegin(), y), "x columns", x);
  check.elementType("result", getResult(), getElementTypeOrSelf(getX()));
  return check.result();
}

LogicalResult CastOp::verify() {
  Check check(*this);
  int64_t x = check.columns("x", getX());
  check.equal("result columns", check.columns("result", getResult()), "x columns", x);
  return check.result();
}

LogicalResult RmsNormOp::verify() {
  Check check(*this);
  int64_t x = check.columns("x", getX());
  check.equal("gain elements", check.weight("gain", getGain(), 1)[0], "x columns", x);
  check.equal("result columns", check.columns("result", getResult()), "x columns", x);
  check.positive("eps", getEps().convertToDouble());
  return check.result();
}

LogicalResult AddOp::verify() {
  Check check(*this);
  int64_t x = check.columns("x", getX());
  check.equal("y columns", check.columns("y", getY()), "x columns", x);
  check.equal("result columns", check.columns("result", getResult()), "x columns", x);
  return check.result();
}

LogicalResult GateOp::verify() {
  Check check(*this);
  int64_t x = check.columns("x", getX());
  check.equal("gate columns", check.columns("gate", getGate()), "x columns", x);
  check.equal("result columns", check.columns("result", getResult()), "x columns", x);
  return check.result();
}

LogicalResult GluOp::verify() {
  Check check(*this);
  int64_t gate = check.columns("gate", getGate());
  check.equal("up columns", check.columns("up", getUp()), "gate columns", gate);
  check.equal("result columns", check.columns("result", getResult()), "gate columns", gate);
  check.activation(getActivation(), getBetaAttr(), getLinearBetaAttr());
  return check.result();
}

LogicalResult GatedRmsNormOp::verify() {
  Check check(*this);
  int64_t x = check.columns("x", getX());
  check.equal("gate columns", check.columns("gate", getGate()), "x columns", x);
  check.equal("result columns", check.columns("result", getResult()), "x columns", x);
  int64_t gain = check.weight("gain", getGain(), 1)[0];
  if (succeeded(check.result()) && x % gain != 0)
    check.fail("expected x columns " + Twine(x) + " to be a multiple of gain elements " +
               Twine(gain));
  check.positive("eps", getEps().convertToDouble());
  return check.result();
}

LogicalResult SampleOp::verify() {
  Check check(*this);
  check.columns("logits", getLogits());
  check.elementType("logits", getLogits(), Float32Type::get(getContext()));
  check.list("ids", getIds());
  return check.result();
}
