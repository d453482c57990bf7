//===- K3Ops.cpp - Declarations and structure of the k3 dialect -----------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifies the ops that declare (symbols, weights, states), that name what is declared, that group
// ops into kernels and that move rows between ranks.
//
//===----------------------------------------------------------------------===//

#include "dialects/k3/K3Ops.h"
#include "dialects/k3/K3Check.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace k3::model;

#define GET_OP_CLASSES
#include "dialects/k3/K3Ops.cpp.inc"

// ---------------------------------------------------------------------------------- declarations

LogicalResult SymbolOp::verify() {
  Check check(*this);
  check.atLeast("the upper bound of @" + getSymName(), getUpper(), 1);
  return check.result();
}

/// One past the last element that a piece writes.
static int64_t endOfPiece(PieceAttr piece) {
  int64_t rows = piece.getTranspose() ? piece.getCols() : piece.getRows();
  int64_t length = piece.getTranspose() ? piece.getRows() : piece.getCols();
  int64_t stride = piece.getDstStride() == 0 ? length : piece.getDstStride();
  int64_t end = plus(times(piece.getCount() - 1, piece.getIndexStride()), piece.getAt());
  return plus(plus(end, times(rows - 1, stride)), length);
}

SmallVector<PieceAttr> ParamOp::getPieceList() {
  if (ArrayAttr pieces = getPiecesAttr())
    return llvm::to_vector(pieces.getAsRange<PieceAttr>());
  auto type = cast<RankedTensorType>(getType());
  int64_t columns = type.getShape().back();
  return {PieceAttr::get(getContext(), getSymName(), type.getNumElements() / columns, columns, 0, 0,
                         0, 0, 1, 0, false)};
}

LogicalResult ParamOp::verify() {
  Check check(*this);
  auto type = dyn_cast<RankedTensorType>(getType());
  if (!type || !type.hasStaticShape() || type.getEncoding())
    return emitOpError() << "expected @" << getSymName()
                         << " to be a tensor of static extents (got " << getType() << ")";
  Type element = type.getElementType();
  if (!element.isF32() && !element.isBF16() && !element.isInteger(8))
    return emitOpError() << "expected elements of type f32, bf16, or i8 for MXFP4 (got " << element
                         << ")";
  if (std::optional<std::string> fault = findShapeFault(type))
    return emitOpError() << "@" << getSymName() << ": " << *fault;
  if (!getPieces())
    return success();
  if (getPieces()->empty())
    return emitOpError() << "expected at least 1 piece after 'from' (got 0)";
  int64_t elements = 1;
  for (int64_t extent : type.getShape())
    elements = times(elements, extent);
  for (auto [index, attr] : llvm::enumerate(*getPieces())) {
    auto piece = dyn_cast<PieceAttr>(attr);
    if (!piece)
      return emitOpError() << "expected piece " << index << " to be a #k3.piece (got " << attr
                           << ")";
    if (piece.getSource().contains(kLayerPlaceholder) && !getSymName().contains(kLayerPlaceholder))
      return emitOpError() << "piece '" << piece.getSource() << "' is one for each layer, but @"
                           << getSymName() << " is one for all; put {L} into its name";
    check.atMost("the end of piece " + Twine(index) + " ('" + piece.getSource() + "')",
                 endOfPiece(piece), "the elements of the weight", elements);
  }
  return check.result();
}

LogicalResult StateOp::verify() {
  if (isa<KdaStateType, ConvStateType, LatentCacheType>(getType()))
    return success();
  return emitOpError() << "expected @" << getSymName()
                       << " to be a kda_state, a conv_state or a latent_cache (got " << getType()
                       << ")";
}

/// Finds the declaration that `symbol` names and compares its type with that of the result.
template <typename Declaration>
static LogicalResult verifyUse(Operation *op, FlatSymbolRefAttr symbol, Type type,
                               SymbolTableCollection &symbols) {
  auto declaration = symbols.lookupNearestSymbolFrom<Declaration>(op, symbol);
  if (!declaration)
    return op->emitOpError() << symbol << " is not declared; add "
                             << Declaration::getOperationName() << ' ' << symbol;
  if (type != declaration.getType())
    return op->emitOpError() << "expected the type of " << symbol << " as declared, "
                             << declaration.getType() << " (got " << type << ")";
  return success();
}

LogicalResult WeightOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyUse<ParamOp>(*this, getParamAttr(), getResult().getType(), symbols);
}

LogicalResult RefOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyUse<StateOp>(*this, getStateAttr(), getResult().getType(), symbols);
}

LogicalResult DimOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (symbols.lookupNearestSymbolFrom<SymbolOp>(*this, getSymbolAttr()))
    return success();
  return emitOpError() << getSymbolAttr() << " is not declared; add k3.symbol " << getSymbolAttr()
                       << " <= N";
}

LogicalResult BatchFieldOp::verify() {
  BatchType batch = getBatch().getType();
  Rows tokens{batch.getTokens(), batch.getRows()};
  Rows seqs{batch.getSeqs(), batch.getRows()};
  StringRef field = getField();
  bool perToken = field == "token_seq" || field == "token_pos";
  bool offsets = field == "seq_offsets";
  bool pages = field == "page_table";
  if (!perToken && !offsets && !pages && field != "seq_slots" && field != "seq_context")
    return emitOpError() << "expected token_seq, token_pos, seq_offsets, seq_slots, seq_context or "
                            "page_table (got '"
                         << field << "')";
  auto type = dyn_cast<RankedTensorType>(getResult().getType());
  if (!type || type.getRank() != (pages ? 2 : 1))
    return emitOpError() << "expected " << field << " to have rank " << (pages ? 2 : 1) << " (got "
                         << getResult().getType() << ")";
  if (std::optional<std::string> fault = findShapeFault(type))
    return emitOpError() << field << ": " << *fault;
  Rows want = perToken ? tokens : seqs;
  // A ragged batch keeps the symbol of its sequences for S + 1 offsets; counted ones say the
  // number.
  if (offsets && want.symbol.empty())
    want.count += 1;
  if (rowsOf(type) != want)
    return emitOpError() << "expected " << field << " rows " << rowsOf(type).str()
                         << " to equal batch rows " << want.str();
  return success();
}

// ------------------------------------------------------------------------------------- structure

LogicalResult TapOp::verify() {
  if (getName().empty())
    return emitOpError() << "expected a name (got an empty one)";
  if (std::optional<std::string> fault = findShapeFault(getValue().getType()))
    return emitOpError() << *fault;
  return success();
}

LogicalResult FusedOp::verify() {
  static constexpr StringLiteral families[] = {"row",  "contraction", "head_contraction", "conv",
                                               "scan", "attention",   "experts"};
  if (!llvm::is_contained(families, getFamily()))
    return emitOpError() << "expected one of the families "
                         << llvm::join(llvm::ArrayRef(families), ", ") << " (got '" << getFamily()
                         << "')";
  auto yield =
      dyn_cast_or_null<YieldOp>(getBody().front().empty() ? nullptr : &getBody().front().back());
  if (!yield)
    return emitOpError() << "expected its body to end in k3.yield";
  if (yield.getNumOperands() != getNumResults())
    return emitOpError() << "expected k3.yield to give " << getNumResults() << " values (got "
                         << yield.getNumOperands() << ")";
  for (unsigned index = 0; index < getNumResults(); ++index) {
    if (yield.getOperand(index).getType() != getResult(index).getType())
      return emitOpError() << "expected value " << index << " of k3.yield to have type "
                           << getResult(index).getType() << " (got "
                           << yield.getOperand(index).getType() << ")";
    if (yield.getOperand(index).getParentBlock() != &getBody().front())
      return emitOpError() << "expected value " << index
                           << " of k3.yield to be computed in its body (got one from outside)";
  }
  return success();
}

// ----------------------------------------------------------------------------------- collectives

/// Which of the two extents a collective changes, if any, is the business of the mesh; types and
/// axis are checked here.
static LogicalResult verifyCollective(Operation *op, Value x, Value result, StringRef axis,
                                      bool sameShape) {
  Check in(op);
  int64_t columns = in.columns("x", x);
  if (failed(in.result()))
    return failure();
  if (!llvm::is_contained({"tp", "ep", "pp"}, axis))
    in.fail("expected a mesh axis tp, ep or pp (got '" + axis + "')");
  if (failed(in.result()))
    return failure();
  // Rows are compared within one check; where they may differ the result gets a check of its own.
  Check own(op);
  Check &out = sameShape ? in : own;
  out.equal("result columns", out.columns("result", result), "x columns", columns);
  out.elementType("result", result, getElementTypeOrSelf(x));
  return out.result();
}

LogicalResult AllReduceOp::verify() {
  return verifyCollective(*this, getX(), getResult(), getAxis(), /*sameShape=*/true);
}
LogicalResult ReduceScatterOp::verify() {
  return verifyCollective(*this, getX(), getResult(), getAxis(), /*sameShape=*/false);
}
LogicalResult AllGatherOp::verify() {
  return verifyCollective(*this, getX(), getResult(), getAxis(), /*sameShape=*/false);
}
LogicalResult AllToAllOp::verify() {
  return verifyCollective(*this, getX(), getResult(), getAxis(), /*sameShape=*/false);
}

LogicalResult SendOp::verify() {
  Check check(*this);
  check.columns("x", getX());
  check.atLeast("peer", getPeer(), 0);
  return check.result();
}

LogicalResult RecvOp::verify() {
  Check check(*this);
  check.columns("result", getResult());
  check.atLeast("peer", getPeer(), 0);
  return check.result();
}
