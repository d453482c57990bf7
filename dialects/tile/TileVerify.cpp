//===- TileVerify.cpp - Rules of the ops that compute ---------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shape, space and element rules, checked so early that no code generator has to. Every message
// carries the numbers that were found and those that were expected.
//
//===----------------------------------------------------------------------===//

#include "dialects/tile/TileOps.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace k3::tile;

static TileType tileOf(Value value) { return cast<TileType>(value.getType()); }
static ViewType viewOf(Value value) { return cast<ViewType>(value.getType()); }
static bool isI32(Type type) { return type.isSignlessInteger(32); }
static bool isI8(Type type) { return type.isSignlessInteger(8); }
static bool isF32OrBF16(Type type) { return type.isF32() || type.isBF16(); }

// ---------------------------------------------------------------------------------------------------
// shared rules

static LogicalResult checkSpace(Operation *op, StringRef what, TileType type, Space space) {
  if (type.getSpace() == space)
    return success();
  return op->emitOpError() << what << ": must be in space " << stringifySpace(space) << " (got "
                           << type << ")";
}

/// Every tile operand and result is a fragment: the rule of ops that compute in registers.
static LogicalResult checkFragments(Operation *op) {
  for (auto [index, type] : llvm::enumerate(op->getOperandTypes()))
    if (auto tile = dyn_cast<TileType>(type); tile && tile.getSpace() != Space::Fragment)
      return op->emitOpError() << "operand " << index << ": must be in space fragment (got " << tile
                               << "); fetch it first";
  for (auto [index, type] : llvm::enumerate(op->getResultTypes()))
    if (auto tile = dyn_cast<TileType>(type); tile && tile.getSpace() != Space::Fragment)
      return op->emitOpError() << "result " << index << ": must be in space fragment (got " << tile
                               << ")";
  return success();
}

static LogicalResult checkShape(Operation *op, StringRef what, TileType type,
                                ArrayRef<int64_t> shape) {
  if (type.getShape() == shape)
    return success();
  InFlightDiagnostic error = op->emitOpError() << what << ": wrong shape (got ";
  llvm::interleave(type.getShape(), error, "x");
  error << ", expected ";
  llvm::interleave(shape, error, "x");
  return error << ")";
}

static LogicalResult checkRank(Operation *op, StringRef what, TileType type, int64_t rank) {
  if (type.getRank() == rank)
    return success();
  return op->emitOpError() << what << ": wrong rank (got " << type.getRank() << ", expected "
                           << rank << ")";
}

static LogicalResult checkElement(Operation *op, StringRef what, TileType type, bool ok,
                                  StringRef expected) {
  if (ok)
    return success();
  return op->emitOpError() << what << ": wrong element type (got " << type.getElementType()
                           << ", expected " << expected << ")";
}

static LogicalResult checkAxis(Operation *op, int64_t axis, TileType type) {
  if (axis >= 0 && axis < type.getRank())
    return success();
  return op->emitOpError() << "axis: out of range (got " << axis << ", expected 0 to "
                           << type.getRank() - 1 << ")";
}

static LogicalResult checkSameElement(Operation *op, TileType from, TileType to) {
  if (from.getElementType() == to.getElementType())
    return success();
  return op->emitOpError() << "element type: must stay (got " << from.getElementType() << " and "
                           << to.getElementType() << ")";
}

/// One offset and one bound a dimension, and no constant bound past a static extent of the view.
static LogicalResult checkAccess(Operation *op, ViewType view, OperandRange offsets,
                                 OperandRange bounds) {
  size_t rank = view.getShape().size();
  if (offsets.size() != rank)
    return op->emitOpError() << "offsets: one a dimension of the view (got " << offsets.size()
                             << ", expected " << rank << ")";
  if (bounds.size() != rank)
    return op->emitOpError() << "bounds: one a dimension of the view (got " << bounds.size()
                             << ", expected " << rank << ")";
  for (auto [axis, bound, extent] : llvm::enumerate(bounds, view.getShape())) {
    APInt value;
    if (!ShapedType::isDynamic(extent) && matchPattern(bound, m_ConstantInt(&value)) &&
        value.getSExtValue() > extent)
      return op->emitOpError() << "bound " << axis << ": lies past the view (got "
                               << value.getSExtValue() << ", extent is " << extent << ")";
  }
  return success();
}

static LogicalResult checkTileOfView(Operation *op, TileType tile, ViewType view) {
  int64_t rank = view.getShape().size();
  if (tile.getRank() > rank)
    return op->emitOpError() << "tile: has more dimensions than the view (got " << tile.getRank()
                             << ", expected at most " << rank << ")";
  return success();
}

/// Elements keep their type between memory and tile, but f32 tiles may be read from and written to
/// bf16 views.
static LogicalResult checkMemoryElement(Operation *op, TileType tile, ViewType view) {
  Type inTile = tile.getElementType(), inView = view.getElementType();
  if (inTile == inView || (inTile.isF32() && inView.isBF16()))
    return success();
  return op->emitOpError() << "element type: no conversion between view and tile (got view of "
                           << inView << " and tile of " << inTile << ", expected " << inView
                           << (inView.isBF16() ? " or f32)" : ")");
}

/// Constant offsets of a part must leave it inside the whole; the others are the kernel's duty.
static LogicalResult checkPart(Operation *op, TileType part, TileType whole, OperandRange offsets) {
  if (failed(checkSameElement(op, part, whole)))
    return failure();
  if (part.getRank() != whole.getRank())
    return op->emitOpError() << "part: rank differs from the whole (got " << part.getRank()
                             << ", expected " << whole.getRank() << ")";
  if (static_cast<int64_t>(offsets.size()) != whole.getRank())
    return op->emitOpError() << "offsets: one a dimension (got " << offsets.size() << ", expected "
                             << whole.getRank() << ")";
  for (auto [axis, offset, extent, size] :
       llvm::enumerate(offsets, part.getShape(), whole.getShape())) {
    APInt value;
    int64_t start = matchPattern(offset, m_ConstantInt(&value)) ? value.getSExtValue() : 0;
    if (start < 0 || start > size - extent)
      return op->emitOpError() << "dimension " << axis << ": part lies outside (got offset "
                               << start << " and extent " << extent << ", whole has " << size
                               << ")";
  }
  return success();
}

// ---------------------------------------------------------------------------------------------------------
// memory

LogicalResult LoadOp::verify() {
  ViewType view = viewOf(getView());
  TileType tile = tileOf(getResult());
  return failure(failed(checkFragments(*this)) ||
                 failed(checkAccess(*this, view, getOffsets(), getBounds())) ||
                 failed(checkTileOfView(*this, tile, view)) ||
                 failed(checkMemoryElement(*this, tile, view)));
}

LogicalResult StoreOp::verify() {
  ViewType view = viewOf(getView());
  TileType tile = tileOf(getValue());
  return failure(failed(checkFragments(*this)) ||
                 failed(checkAccess(*this, view, getOffsets(), getBounds())) ||
                 failed(checkTileOfView(*this, tile, view)) ||
                 failed(checkMemoryElement(*this, tile, view)));
}

static LogicalResult checkRows(Operation *op, TileType tile, ViewType view, TileType rows) {
  if (failed(checkFragments(op)))
    return failure();
  if (view.getShape().size() != 2)
    return op->emitOpError() << "view: rows need a matrix (got rank " << view.getShape().size()
                             << ", expected 2)";
  if (failed(checkRank(op, "rows", rows, 1)) ||
      failed(checkElement(op, "rows", rows, isI32(rows.getElementType()), "i32")) ||
      failed(checkRank(op, "tile", tile, 2)))
    return failure();
  if (tile.getShape()[0] != rows.getShape()[0])
    return op->emitOpError() << "tile: one row an index (got " << tile.getShape()[0]
                             << " rows, expected " << rows.getShape()[0] << ")";
  return checkMemoryElement(op, tile, view);
}

LogicalResult GatherOp::verify() {
  return checkRows(*this, tileOf(getResult()), viewOf(getView()), tileOf(getRows()));
}

LogicalResult ScatterOp::verify() {
  return checkRows(*this, tileOf(getValue()), viewOf(getView()), tileOf(getRows()));
}

LogicalResult ReadOp::verify() {
  ViewType view = viewOf(getView());
  if (failed(checkAccess(*this, view, getOffsets(), getBounds())))
    return failure();
  Type from = view.getElementType(), to = getResult().getType();
  bool ok = isF32OrBF16(from) ? to.isF32() : isI32(from) && (isI32(to) || to.isIndex());
  if (!ok)
    return emitOpError() << "result: this view cannot be read so (got " << to << " from " << from
                         << ", expected f32 from f32 or bf16, i32 or index from i32)";
  return success();
}

// -----------------------------------------------------------------------------------------
// elementwise and layout

LogicalResult SplatOp::verify() {
  TileType tile = tileOf(getResult());
  Type scalar = getScalar().getType();
  Type expected = scalar.isIndex() ? IntegerType::get(getContext(), 32) : scalar;
  bool ok = tile.getElementType() == expected;
  if (failed(checkFragments(*this)))
    return failure();
  if (!ok)
    return emitOpError() << "result: wrong element type (got " << tile.getElementType()
                         << ", expected " << expected << ")";
  return success();
}

LogicalResult IotaOp::verify() {
  TileType tile = tileOf(getResult());
  return failure(failed(checkFragments(*this)) ||
                 failed(checkElement(*this, "result", tile, isI32(tile.getElementType()), "i32")) ||
                 failed(checkAxis(*this, static_cast<int64_t>(getAxis()), tile)));
}

LogicalResult ReduceOp::verify() {
  TileType from = tileOf(getInput()), to = tileOf(getResult());
  Type element = from.getElementType();
  int64_t axis = getAxis();
  if (failed(checkFragments(*this)) || failed(checkAxis(*this, axis, from)) ||
      failed(checkSameElement(*this, from, to)) ||
      failed(checkElement(*this, "input", from, element.isF32() || isI32(element), "f32 or i32")))
    return failure();
  SmallVector<int64_t> shape(from.getShape());
  shape[axis] = 1;
  return checkShape(*this, "result", to, shape);
}

LogicalResult ScanOp::verify() {
  TileType type = tileOf(getInput());
  Type element = type.getElementType();
  return failure(
      failed(checkFragments(*this)) ||
      failed(checkAxis(*this, static_cast<int64_t>(getAxis()), type)) ||
      failed(checkElement(*this, "input", type, element.isF32() || isI32(element), "f32 or i32")));
}

LogicalResult BroadcastOp::verify() {
  TileType from = tileOf(getInput()), to = tileOf(getResult());
  if (failed(checkFragments(*this)) || failed(checkSameElement(*this, from, to)) ||
      failed(checkRank(*this, "result", to, from.getRank())))
    return failure();
  for (auto [axis, got, want] : llvm::enumerate(from.getShape(), to.getShape()))
    if (got != want && got != 1)
      return emitOpError() << "dimension " << axis << ": does not broadcast (got " << got
                           << ", expected 1 or " << want << ")";
  return success();
}

LogicalResult TransposeOp::verify() {
  TileType from = tileOf(getInput()), to = tileOf(getResult());
  if (failed(checkFragments(*this)) || failed(checkSameElement(*this, from, to)) ||
      failed(checkRank(*this, "input", from, 2)))
    return failure();
  return checkShape(*this, "result", to, {from.getShape()[1], from.getShape()[0]});
}

LogicalResult ReshapeOp::verify() {
  TileType from = tileOf(getInput()), to = tileOf(getResult());
  if (failed(checkFragments(*this)) || failed(checkSameElement(*this, from, to)))
    return failure();
  if (from.getNumElements() != to.getNumElements())
    return emitOpError() << "result: number of elements changes (got " << to.getNumElements()
                         << ", expected " << from.getNumElements() << ")";
  return success();
}

LogicalResult ExtractOp::verify() {
  return failure(failed(checkFragments(*this)) ||
                 failed(checkPart(*this, tileOf(getResult()), tileOf(getInput()), getOffsets())));
}

LogicalResult InsertOp::verify() {
  if (failed(checkFragments(*this)) ||
      failed(checkPart(*this, tileOf(getPart()), tileOf(getDest()), getOffsets())))
    return failure();
  if (getResult().getType() != getDest().getType())
    return emitOpError() << "result: must have the type of the whole (got " << getResult().getType()
                         << ", expected " << getDest().getType() << ")";
  return success();
}

LogicalResult CastOp::verify() {
  TileType from = tileOf(getInput()), to = tileOf(getResult());
  if (failed(checkFragments(*this)) || failed(checkShape(*this, "result", to, from.getShape())))
    return failure();
  Type a = from.getElementType(), b = to.getElementType();
  bool ok = (a.isF32() && b.isBF16()) ||
            (b.isF32() && (a.isBF16() || isI32(a) || a.isSignlessInteger(1)));
  if (!ok)
    return emitOpError() << "no such conversion (got " << a << " to " << b
                         << ", expected f32 to bf16, or bf16, i32 or i1 to f32)";
  return success();
}

// ------------------------------------------------------------------------------------------
// contraction and solve

void MmaOp::build(OpBuilder &builder, OperationState &state, Value acc, Value a, Value b,
                  bool transposeA, bool transposeB) {
  state.addOperands({acc, a, b});
  state.addTypes(acc.getType());
  if (transposeA)
    state.addAttribute(getTransposeAAttrName(state.name), builder.getUnitAttr());
  if (transposeB)
    state.addAttribute(getTransposeBAttrName(state.name), builder.getUnitAttr());
}

int64_t MmaOp::getM() { return tileOf(getAcc()).getShape()[0]; }
int64_t MmaOp::getN() { return tileOf(getAcc()).getShape()[1]; }
int64_t MmaOp::getK() { return tileOf(getA()).getShape()[getTransposeA() ? 0 : 1]; }

LogicalResult MmaOp::verify() {
  TileType acc = tileOf(getAcc()), a = tileOf(getA()), b = tileOf(getB());
  // Operands may be read straight from shared memory, which is what the widest instructions want.
  if (failed(checkSpace(*this, "acc", acc, Space::Fragment)) ||
      failed(checkRank(*this, "acc", acc, 2)) || failed(checkRank(*this, "a", a, 2)) ||
      failed(checkRank(*this, "b", b, 2)) ||
      failed(checkElement(*this, "acc", acc, acc.getElementType().isF32(), "f32")) ||
      failed(checkElement(*this, "a", a, isF32OrBF16(a.getElementType()), "f32 or bf16")) ||
      failed(checkElement(*this, "b", b, isF32OrBF16(b.getElementType()), "f32 or bf16")))
    return failure();
  int64_t m = getM(), n = getN(), k = getK();
  SmallVector<int64_t> shapeA{m, k}, shapeB{k, n};
  if (getTransposeA())
    shapeA = {k, m};
  if (getTransposeB())
    shapeB = {n, k};
  return failure(failed(checkShape(*this, "a", a, shapeA)) ||
                 failed(checkShape(*this, "b", b, shapeB)));
}

LogicalResult DequantizeOp::verify() {
  TileType packed = tileOf(getPacked()), scale = tileOf(getScale()), to = tileOf(getResult());
  if (failed(checkSpace(*this, "result", to, Space::Fragment)) ||
      failed(checkRank(*this, "result", to, 2)) ||
      failed(checkElement(*this, "packed", packed, isI8(packed.getElementType()), "i8")) ||
      failed(checkElement(*this, "scale", scale, isI8(scale.getElementType()), "i8")) ||
      failed(checkElement(*this, "result", to, isF32OrBF16(to.getElementType()), "f32 or bf16")))
    return failure();
  int64_t n = to.getShape()[0], k = to.getShape()[1];
  if (k % 32 != 0)
    return emitOpError() << "result: columns must be whole groups of 32 (got " << k << ")";
  return failure(failed(checkShape(*this, "packed", packed, {n, k / 2})) ||
                 failed(checkShape(*this, "scale", scale, {n, k / 32})));
}

LogicalResult TriSolveOp::verify() {
  TileType l = tileOf(getL()), b = tileOf(getB());
  if (failed(checkFragments(*this)) || failed(checkRank(*this, "l", l, 2)) ||
      failed(checkRank(*this, "b", b, 2)) ||
      failed(checkElement(*this, "l", l, l.getElementType().isF32(), "f32")) ||
      failed(checkElement(*this, "b", b, b.getElementType().isF32(), "f32")))
    return failure();
  int64_t c = b.getShape()[0];
  return checkShape(*this, "l", l, {c, c});
}

LogicalResult TopKOp::verify() {
  TileType input = tileOf(getInput()), values = tileOf(getValues()), ids = tileOf(getIds());
  if (failed(checkFragments(*this)) || failed(checkRank(*this, "input", input, 2)) ||
      failed(checkElement(*this, "input", input, input.getElementType().isF32(), "f32")) ||
      failed(checkElement(*this, "values", values, values.getElementType().isF32(), "f32")) ||
      failed(checkElement(*this, "ids", ids, isI32(ids.getElementType()), "i32")) ||
      failed(checkShape(*this, "input", input, {1, input.getShape()[1]})) ||
      failed(checkRank(*this, "values", values, 2)))
    return failure();
  int64_t k = values.getShape()[1];
  if (k > input.getShape()[1])
    return emitOpError() << "values: more than the row holds (got " << k << ", expected at most "
                         << input.getShape()[1] << ")";
  return failure(failed(checkShape(*this, "values", values, {1, k})) ||
                 failed(checkShape(*this, "ids", ids, {1, k})));
}

// --------------------------------------------------------------------------------------------------------
// staging

LogicalResult AllocOp::verify() {
  if (failed(checkSpace(*this, "result", tileOf(getResult()), Space::Shared)))
    return failure();
  if (std::optional<uint64_t> offset = getOffset())
    if (int64_t value = *offset; value < 0 || value % sharedAlignment != 0)
      return emitOpError() << "offset: must be a multiple of " << sharedAlignment << " (got "
                           << value << ")";
  return success();
}

LogicalResult CopyOp::verify() {
  ViewType view = viewOf(getView());
  TileType dest = tileOf(getDest());
  if (failed(checkSpace(*this, "destination", dest, Space::Shared)) ||
      failed(checkAccess(*this, view, getOffsets(), getBounds())) ||
      failed(checkTileOfView(*this, dest, view)))
    return failure();
  if (dest.getElementType() != view.getElementType())
    return emitOpError() << "element type: a copy moves bytes (got view of "
                         << view.getElementType() << " and buffer of " << dest.getElementType()
                         << ")";
  return success();
}

LogicalResult StageOp::verify() {
  TileType value = tileOf(getValue()), dest = tileOf(getDest());
  return failure(failed(checkSpace(*this, "value", value, Space::Fragment)) ||
                 failed(checkSpace(*this, "destination", dest, Space::Shared)) ||
                 failed(checkSameElement(*this, value, dest)) ||
                 failed(checkShape(*this, "destination", dest, value.getShape())));
}

LogicalResult FetchOp::verify() {
  TileType source = tileOf(getSource()), result = tileOf(getResult());
  if (failed(checkSpace(*this, "source", source, Space::Shared)) ||
      failed(checkSpace(*this, "result", result, Space::Fragment)))
    return failure();
  if (!getOffsets().empty())
    return checkPart(*this, result, source, getOffsets());
  return failure(failed(checkSameElement(*this, source, result)) ||
                 failed(checkShape(*this, "result", result, source.getShape())));
}
