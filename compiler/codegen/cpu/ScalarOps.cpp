//===- ScalarOps.cpp - Ops of a map's region on scalars and vectors -------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Widens the scalar ops that tile.map may hold to vectors. bf16 values are kept as f32 that are
// rounded after each op.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cpu/Math.h"
#include "compiler/codegen/cpu/Tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace k3::cpu {

static Value cloneConstant(Code &c, arith::ConstantOp op, int64_t width) {
  TypedAttr attribute = op.getValue();
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return c.f32(number.getValueAsDouble(), width);
  if (width == 1)
    return arith::ConstantOp::create(c.b, c.loc, attribute);
  auto type = VectorType::get({width}, op.getType());
  return arith::ConstantOp::create(c.b, c.loc, DenseElementsAttr::get(type, Attribute(attribute)));
}

bool isSupportedScalarOp(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0)
    return false;
  // These would need a library.
  if (isa<arith::ArithDialect>(op->getDialect()))
    return !isa<arith::RemFOp, arith::ScalingExtFOp, arith::ScalingTruncFOp>(op);
  return isa<math::ExpOp, math::Exp2Op, math::LogOp, math::Log1pOp, math::TanhOp, math::RsqrtOp,
             math::SqrtOp, math::AbsFOp, math::FloorOp, math::CeilOp, math::RoundEvenOp,
             math::CopySignOp, math::FmaOp>(op);
}

Value cloneScalarOp(Code &c, Operation *op, ArrayRef<Value> operands, int64_t width) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return cloneConstant(c, constant, width);
  if (isa<arith::ExtFOp>(op))
    return operands[0];
  if (isa<arith::TruncFOp>(op))
    return c.roundToBf16(operands[0]);
  Type type = op->getResult(0).getType();
  Value result;
  if (isa<math::MathDialect>(op->getDialect())) {
    result = expandMath(c, op, operands);
  } else {
    OperationState state(c.loc, op->getName());
    state.addOperands(operands);
    state.addTypes(withWidth(computeType(type), width));
    state.addAttributes(op->getAttrs());
    result = c.b.create(state)->getResult(0);
  }
  return type.isBF16() ? c.roundToBf16(result) : result;
}

} // namespace k3::cpu
