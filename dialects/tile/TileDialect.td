//===- TileDialect.td - The tile dialect and its types -----*- tablegen -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the dialect of one kernel: the types that carry space and layout, and the attributes they use.
//
//===----------------------------------------------------------------------===//

#ifndef K3_DIALECTS_TILE_DIALECT_TD
#define K3_DIALECTS_TILE_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::k3::tile";
  let summary = "How one kernel computes its part, on any target";
  let description = [{
    A kernel runs once for each block of a three-dimensional grid. It reads and writes global memory through *views*
    and computes on *tiles* of static shape. A tile has a space: `fragment` (spread over the threads of the block, or
    a local buffer on the CPU) or `shared` (visible to the whole block, addressable). Every access to a view carries
    a bound: elements at or past it read as zero and are never written, so padding rows cannot be touched.

    No op names a model. Barriers and shared-memory offsets are results of analyses, never of printing.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

// ---------------------------------------------------------------------------------------------------------- enums

def Tile_Fragment : I32EnumAttrCase<"Fragment", 0, "fragment">;
def Tile_Shared : I32EnumAttrCase<"Shared", 1, "shared">;
def Tile_SpaceEnum : I32EnumAttr<"Space", "where the elements of a tile live", [Tile_Fragment, Tile_Shared]> {
  let cppNamespace = "::k3::tile";
}

def Tile_AxisEnum : I32EnumAttr<"GridAxis", "axis of the launch grid",
    [I32EnumAttrCase<"X", 0, "x">, I32EnumAttrCase<"Y", 1, "y">, I32EnumAttrCase<"Z", 2, "z">]> {
  let cppNamespace = "::k3::tile";
  let genSpecializedAttr = 0;
}
def Tile_AxisAttr : EnumAttr<Tile_Dialect, Tile_AxisEnum, "axis"> { let assemblyFormat = "$value"; }

def Tile_ReduceEnum : I32EnumAttr<"ReduceKind", "how elements are combined",
    [I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Max", 1, "max">]> {
  let cppNamespace = "::k3::tile";
  let genSpecializedAttr = 0;
}
def Tile_ReduceAttr : EnumAttr<Tile_Dialect, Tile_ReduceEnum, "reduce_kind"> { let assemblyFormat = "$value"; }

def Tile_MmaOperandEnum : I32EnumAttr<"MmaOperand", "operand of a tensor-core instruction",
    [I32EnumAttrCase<"A", 0, "a">, I32EnumAttrCase<"B", 1, "b">, I32EnumAttrCase<"C", 2, "c">]> {
  let cppNamespace = "::k3::tile";
  let genSpecializedAttr = 0;
}

// ----------------------------------------------------------------------------------------------------- attributes

def Tile_SwizzleAttr : AttrDef<Tile_Dialect, "Swizzle"> {
  let mnemonic = "swizzle";
  let summary = "shared-memory layout that permutes 16-byte units of a row by XOR with the row, `bytes` a period";
  let parameters = (ins "int64_t":$bytes);
  let assemblyFormat = "`<` $bytes `>`";
  let genVerifyDecl = 1;
}

def Tile_MmaLayoutAttr : AttrDef<Tile_Dialect, "MmaLayout"> {
  let mnemonic = "mma_layout";
  let summary = "fragment layout of operand a, b or accumulator c of an m x n x k tensor-core instruction";
  let parameters = (ins "int64_t":$m, "int64_t":$n, "int64_t":$k, EnumParameter<Tile_MmaOperandEnum>:$operand);
  let assemblyFormat = "`<` $m `,` $n `,` $k `,` $operand `>`";
  let genVerifyDecl = 1;
}

// ---------------------------------------------------------------------------------------------------------- types

class Tile_Type<string name, string typeMnemonic, list<Trait> traits = []> : TypeDef<Tile_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

def Tile_View : Tile_Type<"View", "view"> {
  let summary = "a row-major matrix or array in global memory";
  let description = [{
    `!tile.view<?x7168xbf16>`. All extents but the first are static; the first may be dynamic (`?`). Elements are
    f32, bf16, i32 or i8 (bytes, for packed codes and scales). Rows are contiguous, without padding.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_Tile : Tile_Type<"Tile", "tile", [DeclareTypeInterfaceMethods<ShapedTypeInterface, ["cloneWith", "hasRank", "getShape", "getElementType"]>]> {
  let summary = "a value of static shape, spread over a block";
  let description = [{
    `!tile.tile<16x64xf32>`, `!tile.tile<64x128xbf16, shared, #tile.swizzle<128>>`. Space defaults to `fragment`,
    layout to none (the schedule has not chosen one). Rank 1 to 4; elements f32, bf16, i32, i8 or i1.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        DefaultValuedParameter<"::k3::tile::Space", "::k3::tile::Space::Fragment">:$space,
                        OptionalParameter<"::mlir::Attribute">:$layout);
  let builders = [TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType), [{
    return $_get(elementType.getContext(), shape, elementType, ::k3::tile::Space::Fragment, ::mlir::Attribute());
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    using ::mlir::ShapedType::Trait<TileType>::getRank;
    using ::mlir::ShapedType::Trait<TileType>::getNumElements;
    using ::mlir::ShapedType::Trait<TileType>::getDimSize;
  }];
}

def Tile_Token : Tile_Type<"Token", "token"> {
  let summary = "a staged copy in flight; awaited by tile.wait";
}

def Tile_AnyTile : Type<CPred<"::llvm::isa<::k3::tile::TileType>($_self)">, "tile">;
def Tile_AnyView : Type<CPred<"::llvm::isa<::k3::tile::ViewType>($_self)">, "view">;
def Tile_Scalar : AnyTypeOf<[Index, I32, F32], "index, i32 or f32">;

#endif // K3_DIALECTS_TILE_DIALECT_TD
