//===- TileOps.td - Ops of the tile dialect ----------------*- tablegen -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of one kernel, in groups: structure, memory, elementwise and layout, contraction and solve, staging.
//
//===----------------------------------------------------------------------===//

#ifndef K3_DIALECTS_TILE_OPS_TD
#define K3_DIALECTS_TILE_OPS_TD

include "dialects/tile/TileDialect.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/LoopLikeInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;
/// Computes a tile from tiles and touches no memory.
class Tile_PureOp<string mnemonic, list<Trait> traits = []> : Tile_Op<mnemonic, !listconcat([Pure], traits)>;

defvar boundText = [{
    One offset and one bound a dimension of the view. The tile covers the last dimensions of the view (tile rank <=
    view rank); leading dimensions are single indices. Element e of a dimension exists if offset >= 0 and offset + e < bound.
}];

// ------------------------------------------------------------------------------------------------------ structure

def Tile_KernelOp : Tile_Op<"kernel", [IsolatedFromAbove, FunctionOpInterface,
                                       SingleBlockImplicitTerminator<"::k3::tile::ReturnOp">]> {
  let summary = "one kernel: a function of views and indices, run for each block of a grid";
  let description = [{
    Arguments are views (inputs, outputs and states alike) and `index` scalars. The grid belongs to the launch.
    `schedule` names what the schedule phase chose, for people and for the kernel's name.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility, OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs, OptionalAttr<DictionaryAttr>:$schedule);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::llvm::ArrayRef<::mlir::Type>":$argumentTypes)>];
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "ends a kernel";
  let assemblyFormat = "attr-dict";
}

def Tile_BlockIdOp : Tile_PureOp<"block_id"> {
  let summary = "index of this block along one axis of the grid";
  let arguments = (ins Tile_AxisAttr:$axis);
  let results = (outs Index:$result);
  let assemblyFormat = "`` $axis attr-dict";
}

def Tile_ForOp : Tile_Op<"for", [DeclareOpInterfaceMethods<LoopLikeOpInterface, ["getInitsMutable", "getYieldedValuesMutable", "getRegionIterArgs", "getLoopResults"]>,
                                 SingleBlockImplicitTerminator<"::k3::tile::YieldOp">, RecursiveMemoryEffects]> {
  let summary = "counted loop with carried tiles or scalars; with `stages` its copies are pipelined";
  let description = [{
    `%r = tile.for %i = %lb to %ub step %s iter(%acc = %init) : type stages 3 { ... tile.yield %next : type }`.
    Runs for lb, lb+s, ... < ub, in order. `stages` (default 1) lets the schedule keep that many iterations of
    staged copies in flight; it never changes the result.
  }];
  let arguments = (ins Index:$lower, Index:$upper, Index:$step, Variadic<AnyType>:$inits,
                       DefaultValuedAttr<I64Attr, "1">:$stages);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$lower, "::mlir::Value":$upper, "::mlir::Value":$step, "::mlir::ValueRange":$inits,
      CArg<"::llvm::function_ref<void(::mlir::OpBuilder &, ::mlir::Location, ::mlir::Value, ::mlir::ValueRange)>", "nullptr">:$body)>];
  let extraClassDeclaration = [{
    ::mlir::Value getInductionVar() { return getBody().getArgument(0); }
  }];
}

def Tile_IfOp : Tile_Op<"if", [SingleBlockImplicitTerminator<"::k3::tile::YieldOp">, RecursiveMemoryEffects, NoRegionArguments]> {
  let summary = "runs its region when a condition, the same for the whole block, holds";
  let arguments = (ins I1:$condition);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$condition $body attr-dict";
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$condition, "::llvm::function_ref<void(::mlir::OpBuilder &, ::mlir::Location)>":$body)>];
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["ForOp", "IfOp", "MapOp", "RoleOp"]>]> {
  let summary = "gives the values of a region to its op";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange{}); }]>];
}

// --------------------------------------------------------------------------------------------------------- memory

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments, MemoryEffects<[MemRead]>]> {
  let summary = "reads a tile; elements past the bound are zero";
  let description = boundText # [{
    The element type of the tile is that of the view, or f32 for a bf16 view (widening is exact).
    `%t = tile.load %v[%i, %j] bound(%n, %m) : !tile.view<?x64xbf16> -> !tile.tile<16x64xf32>`
  }];
  let arguments = (ins Tile_AnyView:$view, Variadic<Index>:$offsets, Variadic<Index>:$bounds);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "$view `[` $offsets `]` `bound` `(` $bounds `)` attr-dict `:` type($view) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [AttrSizedOperandSegments, MemoryEffects<[MemWrite]>]> {
  let summary = "writes a tile; elements past the bound are not written";
  let description = boundText # [{
    A f32 tile stored to a bf16 view is rounded to nearest, ties to even.
  }];
  let arguments = (ins Tile_AnyTile:$value, Tile_AnyView:$view, Variadic<Index>:$offsets, Variadic<Index>:$bounds);
  let assemblyFormat = "$value `,` $view `[` $offsets `]` `bound` `(` $bounds `)` attr-dict `:` type($value) `->` type($view)";
  let hasVerifier = 1;
}

def Tile_GatherOp : Tile_Op<"gather", [MemoryEffects<[MemRead]>]> {
  let summary = "reads rows named by an index tile";
  let description = [{
    rows: [M] i32, result [M, N]: row rows[m] of a rank-2 view, columns column .. column+N-1. Rows outside
    0 .. row_bound-1 and columns at or past column_bound read as zero.
  }];
  let arguments = (ins Tile_AnyView:$view, Tile_AnyTile:$rows, Index:$row_bound, Index:$column, Index:$column_bound);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "$view `[` $rows `,` $column `]` `bound` `(` $row_bound `,` $column_bound `)` attr-dict `:` type($view) `,` type($rows) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ScatterOp : Tile_Op<"scatter", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes rows named by an index tile; rows outside the bound are not written";
  let arguments = (ins Tile_AnyTile:$value, Tile_AnyView:$view, Tile_AnyTile:$rows, Index:$row_bound, Index:$column, Index:$column_bound);
  let assemblyFormat = "$value `,` $view `[` $rows `,` $column `]` `bound` `(` $row_bound `,` $column_bound `)` attr-dict `:` type($value) `,` type($view) `,` type($rows)";
  let hasVerifier = 1;
}

def Tile_ReadOp : Tile_Op<"read", [AttrSizedOperandSegments, MemoryEffects<[MemRead]>]> {
  let summary = "reads one element, the same for the whole block; zero past the bound";
  let description = [{ The result is the element type; i32 may be read as index, bf16 as f32. }];
  let arguments = (ins Tile_AnyView:$view, Variadic<Index>:$offsets, Variadic<Index>:$bounds);
  let results = (outs Tile_Scalar:$result);
  let assemblyFormat = "$view `[` $offsets `]` `bound` `(` $bounds `)` attr-dict `:` type($view) `->` type($result)";
  let hasVerifier = 1;
}

// ----------------------------------------------------------------------------------------- elementwise and layout

def Tile_SplatOp : Tile_PureOp<"splat"> {
  let summary = "a tile of one scalar";
  let arguments = (ins AnyTypeOf<[Index, I1, I32, F32]>:$scalar);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "$scalar attr-dict `:` type($scalar) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_IotaOp : Tile_PureOp<"iota"> {
  let summary = "i32 tile whose elements are start + index along `axis`";
  let arguments = (ins Index:$start, I64Attr:$axis);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "$start `axis` $axis attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_MapOp : Tile_Op<"map", [SingleBlockImplicitTerminator<"::k3::tile::YieldOp">, Pure]> {
  let summary = "applies a scalar region to every element";
  let description = [{
    Operands broadcast like NumPy, to the shape of the results: same rank, each extent equal or 1. The region takes
    one scalar an operand (bf16 operands arrive as f32) and yields one scalar a result; it may use scalars from
    outside (uniform over the block) and arith and math ops only.
    `%y = tile.map(%x, %g) : (!tile.tile<4x64xf32>, !tile.tile<1x64xf32>) -> !tile.tile<4x64xf32> { ^bb0(%a: f32, %b: f32): ... tile.yield %c : f32 }`
  }];
  let arguments = (ins Variadic<Tile_AnyTile>:$inputs);
  let results = (outs Variadic<Tile_AnyTile>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$results, "::mlir::ValueRange":$inputs,
      "::llvm::function_ref<::llvm::SmallVector<::mlir::Value>(::mlir::OpBuilder &, ::mlir::Location, ::mlir::ValueRange)>":$body)>];
}

def Tile_ReduceOp : Tile_PureOp<"reduce"> {
  let summary = "combines the elements along `axis`; the extent becomes 1";
  let arguments = (ins Tile_ReduceAttr:$kind, Tile_AnyTile:$input, I64Attr:$axis);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "`` $kind $input `axis` $axis attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ScanOp : Tile_PureOp<"scan", [SameOperandsAndResultType]> {
  let summary = "inclusive running sum along `axis`, in order";
  let arguments = (ins Tile_AnyTile:$input, I64Attr:$axis);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "$input `axis` $axis attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_PureOp<"broadcast"> {
  let summary = "repeats extents of 1 to the result's shape";
  let arguments = (ins Tile_AnyTile:$input);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_TransposeOp : Tile_PureOp<"transpose"> {
  let summary = "[M, N] becomes [N, M]";
  let arguments = (ins Tile_AnyTile:$input);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ReshapeOp : Tile_PureOp<"reshape"> {
  let summary = "the same elements in row-major order under another shape";
  let arguments = (ins Tile_AnyTile:$input);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ExtractOp : Tile_PureOp<"extract"> {
  let summary = "a part of a tile, of the result's shape, at the given offsets (which must lie inside)";
  let arguments = (ins Tile_AnyTile:$input, Variadic<Index>:$offsets);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "$input `[` $offsets `]` attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_InsertOp : Tile_PureOp<"insert"> {
  let summary = "a tile with a part replaced, at the given offsets (which must lie inside)";
  let arguments = (ins Tile_AnyTile:$part, Tile_AnyTile:$dest, Variadic<Index>:$offsets);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "$part `into` $dest `[` $offsets `]` attr-dict `:` type($part) `into` type($dest) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_CastOp : Tile_PureOp<"cast"> {
  let summary = "changes the element type: f32 to bf16 rounds to nearest even, bf16 to f32 is exact, i32 to f32, i1 to f32";
  let arguments = (ins Tile_AnyTile:$input);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

// ------------------------------------------------------------------------------------------ contraction and solve

def Tile_MmaOp : Tile_PureOp<"mma", [AllTypesMatch<["acc", "result"]>]> {
  let summary = "acc + a * b, accumulated in f32";
  let description = [{
    acc [M, N] f32. Without flags a is [M, K] and b is [K, N]; `transpose_a`: a is [K, M]; `transpose_b`: b is
    [N, K], which is how weights are stored. Operands are f32 or bf16.
  }];
  let arguments = (ins Tile_AnyTile:$acc, Tile_AnyTile:$a, Tile_AnyTile:$b, UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "$acc `,` $a `,` $b attr-dict `:` type($acc) `,` type($a) `,` type($b)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getM(); int64_t getN(); int64_t getK();
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$acc, "::mlir::Value":$a, "::mlir::Value":$b, CArg<"bool", "false">:$transposeA, CArg<"bool", "false">:$transposeB)>];
}

def Tile_DequantizeOp : Tile_PureOp<"dequantize"> {
  let summary = "MXFP4 codes and scales to numbers";
  let description = [{
    packed [N, K/2] i8: byte j holds column 2j in its low nibble and 2j+1 in its high nibble, each an E2M1 code;
    scale [N, K/32] i8: s means 2^(s-127). Result [N, K] f32 or bf16, both exact (OCP Microscaling 1.0).
  }];
  let arguments = (ins Tile_AnyTile:$packed, Tile_AnyTile:$scale);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "$packed `,` $scale attr-dict `:` type($packed) `,` type($scale) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_TriSolveOp : Tile_PureOp<"tri_solve", [AllTypesMatch<["b", "result"]>]> {
  let summary = "solves (I + L) X = B by forward substitution, L strictly lower";
  let description = [{
    l [C, C] (only elements below the diagonal are read), b [C, N], result [C, N], all f32. Row by row, in order:
    never a product of powers, which cancels on aligned rows.
  }];
  let arguments = (ins Tile_AnyTile:$l, Tile_AnyTile:$b);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "$l `,` $b attr-dict `:` type($l) `,` type($b)";
  let hasVerifier = 1;
}

def Tile_TopKOp : Tile_PureOp<"top_k"> {
  let summary = "the k largest of a row and their indices, largest first, equal values by lower index";
  let description = [{
    input [1, N] f32, values [1, k] f32, ids [1, k] i32. Ids are always distinct, also when every value is -inf;
    NaN sorts below -inf.
  }];
  let arguments = (ins Tile_AnyTile:$input);
  let results = (outs Tile_AnyTile:$values, Tile_AnyTile:$ids);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($values) `,` type($ids)";
  let hasVerifier = 1;
}

// -------------------------------------------------------------------------------------------------------- staging

def Tile_AllocOp : Tile_Op<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "a shared buffer; its offset is set by the allocation analysis";
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_CopyOp : Tile_Op<"copy", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "starts an asynchronous copy from a view into a shared buffer; elements past the bound become zero";
  let arguments = (ins Tile_AnyView:$view, Variadic<Index>:$offsets, Variadic<Index>:$bounds, Tile_AnyTile:$dest);
  let results = (outs Tile_Token:$token);
  let assemblyFormat = "$view `[` $offsets `]` `bound` `(` $bounds `)` `to` $dest attr-dict `:` type($view) `->` type($dest)";
  let hasVerifier = 1;
}

def Tile_WaitOp : Tile_Op<"wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits for staged copies";
  let arguments = (ins Variadic<Tile_Token>:$tokens);
  let assemblyFormat = "$tokens attr-dict";
}

def Tile_BarrierOp : Tile_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "all threads of the block meet; inserted by the barrier analysis";
  let assemblyFormat = "attr-dict";
}

def Tile_StageOp : Tile_Op<"stage", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "moves a fragment into a shared buffer, so that every thread can read it";
  let arguments = (ins Tile_AnyTile:$value, Tile_AnyTile:$dest);
  let assemblyFormat = "$value `to` $dest attr-dict `:` type($value) `->` type($dest)";
  let hasVerifier = 1;
}

def Tile_FetchOp : Tile_Op<"fetch", [MemoryEffects<[MemRead]>]> {
  let summary = "reads a shared buffer, or a part at the given offsets, into a fragment";
  let arguments = (ins Tile_AnyTile:$source, Variadic<Index>:$offsets);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "$source (`[` $offsets^ `]`)? attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_RoleOp : Tile_Op<"role", [SingleBlockImplicitTerminator<"::k3::tile::YieldOp">, NoRegionArguments, RecursiveMemoryEffects]> {
  let summary = "work of one group of warps; roles of a block run side by side";
  let arguments = (ins StrAttr:$name, I64Attr:$warps);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name `warps` $warps $body attr-dict";
  let hasVerifier = 1;
}

// --------------------------------------------------------------------------------------------------------- launch

def Tile_LaunchOp : Tile_Op<"launch", [DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                       MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "runs a kernel over a grid, on the values of an entry";
  let description = [{
    The hinge between entry and kernel. Parameters of the kernel, in order: `inputs` (tensors, states, caches,
    scalars), then one view a result. The kernel must write every element of its results that the bounds admit.
    Grid extents are index values made of symbols and constants.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Index:$grid_x, Index:$grid_y, Index:$grid_z, Variadic<AnyType>:$inputs);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$kernel `grid` `(` $grid_x `,` $grid_y `,` $grid_z `)` `ins` `(` ($inputs^ `:` type($inputs))? `)` attr-dict (`->` type($results)^)?";
}

#endif // K3_DIALECTS_TILE_OPS_TD
