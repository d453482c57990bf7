//===- TileDialect.h - The tile dialect and its types -----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect class, enums, attributes and types of one kernel's language. Ops are in TileOps.h, so
// that code which only reasons about types and layouts needs no op.
//
//===----------------------------------------------------------------------===//

#ifndef K3_DIALECTS_TILE_TILEDIALECT_H
#define K3_DIALECTS_TILE_TILEDIALECT_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/Types.h"

#include "dialects/tile/TileDialect.h.inc"
#include "dialects/tile/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/tile/TileAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/tile/TileTypes.h.inc"

namespace k3::tile {

/// Alignment of every buffer in shared memory: one row of the widest swizzle, and what bulk copies
/// ask for.
inline constexpr int64_t sharedAlignment = 128;

/// Bytes of one element in memory; an i1 takes a byte.
int64_t elementBytes(mlir::Type elementType);

/// Bytes of all elements of a tile.
int64_t tileBytes(TileType type);

/// The type in which a region of `tile.map` sees an element: f32 for bf16, else the element type
/// itself.
mlir::Type scalarTypeOf(mlir::Type elementType);

/// The same tile in another space or layout.
TileType withSpace(TileType type, Space space, mlir::Attribute layout = {});

} // namespace k3::tile

#endif // K3_DIALECTS_TILE_TILEDIALECT_H
