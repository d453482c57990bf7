//===- TileDialect.cpp - The tile dialect and its types -------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers the dialect and holds what TableGen cannot say: how views and tiles are written
// (`16x64xf32`), and which of them are legal.
//
//===----------------------------------------------------------------------===//

#include "dialects/tile/TileDialect.h"
#include "dialects/tile/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace k3::tile;

#include "dialects/tile/TileDialect.cpp.inc"
#include "dialects/tile/TileEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/tile/TileAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/tile/TileTypes.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/tile/TileAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/tile/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/tile/TileOps.cpp.inc"
      >();
}

// --------------------------------------------------------------------------------------------------------
// helpers

int64_t k3::tile::elementBytes(Type elementType) {
  return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
}

int64_t k3::tile::tileBytes(TileType type) {
  return type.getNumElements() * elementBytes(type.getElementType());
}

Type k3::tile::scalarTypeOf(Type elementType) {
  return elementType.isBF16() ? Float32Type::get(elementType.getContext()) : elementType;
}

TileType k3::tile::withSpace(TileType type, Space space, Attribute layout) {
  return TileType::get(type.getContext(), type.getShape(), type.getElementType(), space, layout);
}

// -----------------------------------------------------------------------------------------------------
// attributes

LogicalResult SwizzleAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t bytes) {
  if (bytes != 32 && bytes != 64 && bytes != 128)
    return emitError() << "swizzle: no such period (got " << bytes
                       << " bytes, expected 32, 64 or 128)";
  return success();
}

LogicalResult MmaLayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t m,
                                    int64_t n, int64_t k, MmaOperand operand) {
  if (m < 1 || n < 1 || k < 1)
    return emitError() << "mma_layout: extents must be positive (got " << m << ", " << n << ", "
                       << k << ")";
  return success();
}

// ----------------------------------------------------------------------------------------------------------
// types

/// Parses `16x64xf32`; a `?` is accepted where the caller's verifier accepts it.
static ParseResult parseShapeAndElement(AsmParser &parser, SmallVectorImpl<int64_t> &shape,
                                        Type &elementType, bool allowDynamic) {
  return failure(parser.parseDimensionList(shape, allowDynamic) || parser.parseType(elementType));
}

static LogicalResult verifyShape(function_ref<InFlightDiagnostic()> emitError, StringRef what,
                                 ArrayRef<int64_t> shape, int64_t maxRank, bool dynamicFirst) {
  if (shape.empty() || static_cast<int64_t>(shape.size()) > maxRank)
    return emitError() << what << ": rank is out of range (got " << shape.size()
                       << ", expected 1 to " << maxRank << ")";
  for (auto [axis, extent] : llvm::enumerate(shape)) {
    if (ShapedType::isDynamic(extent)) {
      if (dynamicFirst && axis == 0)
        continue;
      return emitError() << what << ": extent " << axis << " must be static"
                         << (dynamicFirst ? " (only extent 0 may be '?')" : "");
    }
    if (extent < 1)
      return emitError() << what << ": extent " << axis << " must be positive (got " << extent
                         << ")";
  }
  return success();
}

Type ViewType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  if (parser.parseLess() ||
      parseShapeAndElement(parser, shape, elementType, /*allowDynamic=*/true) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<ViewType>(parser.getContext(), shape, elementType);
}

void ViewType::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printDimensionList(getShape());
  printer << 'x' << getElementType() << '>';
}

LogicalResult ViewType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type elementType) {
  if (failed(verifyShape(emitError, "view", shape, /*maxRank=*/6, /*dynamicFirst=*/true)))
    return failure();
  if (!elementType.isF32() && !elementType.isBF16() && !elementType.isSignlessInteger(32) &&
      !elementType.isSignlessInteger(8))
    return emitError() << "view: element type is not storable (got " << elementType
                       << ", expected f32, bf16, i32 or i8)";
  return success();
}

Type TileType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  if (parser.parseLess() ||
      parseShapeAndElement(parser, shape, elementType, /*allowDynamic=*/false))
    return {};
  Space space = Space::Fragment;
  Attribute layout;
  while (succeeded(parser.parseOptionalComma())) {
    StringRef keyword;
    SMLoc loc = parser.getCurrentLocation();
    if (failed(parser.parseOptionalKeyword(&keyword))) {
      if (parser.parseAttribute(layout))
        return {};
      break;
    }
    std::optional<Space> named = symbolizeSpace(keyword);
    if (!named) {
      parser.emitError(loc) << "tile: no such space (got '" << keyword
                            << "', expected fragment or shared)";
      return {};
    }
    space = *named;
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<TileType>(parser.getContext(), shape, elementType, space, layout);
}

void TileType::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printDimensionList(getShape());
  printer << 'x' << getElementType();
  if (getSpace() != Space::Fragment)
    printer << ", " << stringifySpace(getSpace());
  if (getLayout())
    printer << ", " << getLayout();
  printer << '>';
}

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type elementType, Space space,
                               Attribute layout) {
  if (failed(verifyShape(emitError, "tile", shape, /*maxRank=*/4, /*dynamicFirst=*/false)))
    return failure();
  if (!elementType.isF32() && !elementType.isBF16() && !elementType.isSignlessInteger(32) &&
      !elementType.isSignlessInteger(8) && !elementType.isSignlessInteger(1))
    return emitError() << "tile: element type is not computable (got " << elementType
                       << ", expected f32, bf16, i32, i8 or i1)";
  if (!layout)
    return success();
  if (auto swizzle = dyn_cast<SwizzleAttr>(layout)) {
    if (space != Space::Shared)
      return emitError() << "tile: a swizzle permutes shared memory (got space "
                         << stringifySpace(space) << ", expected shared)";
    int64_t rowBytes = shape.back() * elementBytes(elementType);
    if (rowBytes % swizzle.getBytes() != 0)
      return emitError() << "tile: rows do not fill the swizzle (got " << rowBytes
                         << " bytes a row, expected a multiple of " << swizzle.getBytes() << ")";
    return success();
  }
  if (isa<MmaLayoutAttr>(layout)) {
    if (space != Space::Fragment)
      return emitError() << "tile: mma_layout spreads a fragment over threads (got space "
                         << stringifySpace(space) << ", expected fragment)";
    return success();
  }
  return emitError() << "tile: unknown layout (got " << layout
                     << ", expected #tile.swizzle or #tile.mma_layout)";
}

ShapedType TileType::cloneWith(std::optional<ArrayRef<int64_t>> shape, Type elementType) const {
  return cast<ShapedType>(TileType::get(getContext(), shape.value_or(getShape()), elementType,
                                        getSpace(), getLayout()));
}

bool TileType::hasRank() const { return true; }
