//===- PlanDialect.td - The plan dialect and its attributes -*- tablegen -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the dialect of the host: enums and attributes, one for one with the enums and small tables of
// runtime/schema/plan.fbs.
//
//===----------------------------------------------------------------------===//

#ifndef K3_DIALECTS_PLAN_DIALECT_TD
#define K3_DIALECTS_PLAN_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::k3::host";
  let summary = "What the host does, in order: buffers, launches, collectives, events";
  let description = [{
    The last form before the file. A module holds `plan.symbol` ops and one `plan.program` a rank; a program holds
    arenas, buffers that are ranges of them, states, weights, kernels and entries; an entry is a list of commands.
    Every op, attribute and enum stands for one table or enum of the schema, so a model op never changes the format.
  }];
  let useDefaultAttributePrinterParser = 1;
}

// ---------------------------------------------------------------------------------------------------------- enums

class Plan_Enum<string name, string text, list<I32EnumAttrCase> cases> : I32EnumAttr<name, text, cases> {
  let cppNamespace = "::k3::host";
  let genSpecializedAttr = 0;
}
class Plan_EnumAttr<EnumAttrInfo info, string mnemonic> : EnumAttr<Plan_Dialect, info, mnemonic> {
  let assemblyFormat = "$value";
}

def Plan_ExprOpEnum : Plan_Enum<"ExprOp", "node of an integer expression",
    [I32EnumAttrCase<"Const", 0, "const">, I32EnumAttrCase<"Symbol", 1, "symbol">, I32EnumAttrCase<"Add", 2, "add">,
     I32EnumAttrCase<"Sub", 3, "sub">, I32EnumAttrCase<"Mul", 4, "mul">, I32EnumAttrCase<"CeilDiv", 5, "ceildiv">,
     I32EnumAttrCase<"FloorDiv", 6, "floordiv">, I32EnumAttrCase<"Min", 7, "min">, I32EnumAttrCase<"Max", 8, "max">]>;
def Plan_ArenaClassEnum : Plan_Enum<"ArenaClass", "what an arena holds",
    [I32EnumAttrCase<"Weights", 0, "weights">, I32EnumAttrCase<"State", 1, "state">, I32EnumAttrCase<"Cache", 2, "cache">,
     I32EnumAttrCase<"Scratch", 3, "scratch">, I32EnumAttrCase<"Io", 4, "io">, I32EnumAttrCase<"Peer", 5, "peer">]>;
def Plan_ArenaClassAttr : Plan_EnumAttr<Plan_ArenaClassEnum, "arena_class">;
def Plan_ArgKindEnum : Plan_Enum<"ArgKind", "parameter of a kernel",
    [I32EnumAttrCase<"Buffer", 0, "buffer">, I32EnumAttrCase<"Scalar", 1, "scalar">]>;
def Plan_CollectiveEnum : Plan_Enum<"CollectiveKind", "collective over one axis of the mesh",
    [I32EnumAttrCase<"AllReduce", 0, "all_reduce">, I32EnumAttrCase<"ReduceScatter", 1, "reduce_scatter">,
     I32EnumAttrCase<"AllGather", 2, "all_gather">, I32EnumAttrCase<"AllToAll", 3, "all_to_all">,
     I32EnumAttrCase<"Send", 4, "send">, I32EnumAttrCase<"Recv", 5, "recv">]>;
def Plan_CollectiveAttr : Plan_EnumAttr<Plan_CollectiveEnum, "collective_kind">;
def Plan_EntryKindEnum : Plan_Enum<"EntryKind", "who calls an entry",
    [I32EnumAttrCase<"Generic", 0, "generic">, I32EnumAttrCase<"Prefill", 1, "prefill">, I32EnumAttrCase<"Decode", 2, "decode">]>;
def Plan_EntryKindAttr : Plan_EnumAttr<Plan_EntryKindEnum, "entry_kind">;
def Plan_StateKindEnum : Plan_Enum<"StateKind", "kind of a state",
    [I32EnumAttrCase<"KdaState", 0, "kda_state">, I32EnumAttrCase<"ConvState", 1, "conv_state">, I32EnumAttrCase<"LatentCache", 2, "latent_cache">]>;
def Plan_StateKindAttr : Plan_EnumAttr<Plan_StateKindEnum, "state_kind">;

// ----------------------------------------------------------------------------------------------------- attributes

def Plan_ExprAttr : AttrDef<Plan_Dialect, "Expr"> {
  let mnemonic = "expr";
  let summary = "integer expression over the symbols of a step";
  let description = [{
    `#plan.expr<ceildiv(add(T, 15), 16)>`: a number, a symbol, or one of add, sub, mul, ceildiv, floordiv, min, max of
    two expressions; all values are non-negative. A name that is one of these words is quoted.

    An attribute of its own and no AffineMap: grids need min and max, which affine expressions lack, and symbols have
    names here, so that equal expressions of different ops are one attribute and become one node of the file.
  }];
  let parameters = (ins "::k3::host::ExprOp":$op, "int64_t":$value, StringRefParameter<"name of a symbol">:$symbol,
                        OptionalParameter<"::k3::host::ExprAttr">:$lhs, OptionalParameter<"::k3::host::ExprAttr">:$rhs);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static ExprAttr getConstant(::mlir::MLIRContext *context, int64_t value);
    static ExprAttr getSymbol(::mlir::MLIRContext *context, ::llvm::StringRef name);
    /// The operation, simplified where a result is known. Null if its value is no non-negative 64-bit number.
    static ExprAttr getBinary(::k3::host::ExprOp op, ExprAttr lhs, ExprAttr rhs);
    /// The value, if it depends on no symbol.
    std::optional<int64_t> getConstantValue() const;
  }];
}

def Plan_AtAttr : AttrDef<Plan_Dialect, "At"> {
  let mnemonic = "at";
  let summary = "address argument: a buffer and bytes added to its address";
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$buffer, DefaultValuedParameter<"int64_t", "0">:$offset);
  let assemblyFormat = "`<` $buffer (`,` $offset^)? `>`";
  let genVerifyDecl = 1;
}

def Plan_BindingAttr : AttrDef<Plan_Dialect, "Binding"> {
  let mnemonic = "binding";
  let summary = "name under which a run sees a buffer as input or output of an entry";
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::FlatSymbolRefAttr":$buffer);
  let assemblyFormat = "`<` $name `,` $buffer `>`";
}

def Plan_PieceAttr : AttrDef<Plan_Dialect, "Piece"> {
  let mnemonic = "piece";
  let summary = "a rectangle of a checkpoint tensor and where it goes in a weight";
  let description = [{
    The fields of the schema's table Piece, all in elements: rectangle rows x cols of the flattened source from
    `src_begin`, rows `src_stride` apart; in the weight from `dst_begin`, rows `dst_stride` apart. `{}` in the source
    stands for the indices first .. first+count-1, whose rectangles lie `index_stride` apart.
  }];
  let parameters = (ins "::mlir::StringAttr":$source, "int64_t":$rows, "int64_t":$cols, "int64_t":$src_begin,
    "int64_t":$src_stride, "int64_t":$dst_begin, "int64_t":$dst_stride, DefaultValuedParameter<"int64_t", "0">:$first,
    DefaultValuedParameter<"int64_t", "1">:$count, DefaultValuedParameter<"int64_t", "0">:$index_stride,
    DefaultValuedParameter<"bool", "false">:$transpose);
  let assemblyFormat = "`<` $source `,` struct($rows, $cols, $src_begin, $src_stride, $dst_begin, $dst_stride, $first, $count, $index_stride, $transpose) `>`";
  let genVerifyDecl = 1;
}

def Plan_Count : ConfinedAttr<I64Attr, [IntNonNegative]>;
def Plan_ExprArray : TypedArrayAttrBase<Plan_ExprAttr, "array of expressions">;
def Plan_BindingArray : TypedArrayAttrBase<Plan_BindingAttr, "array of bindings">;
def Plan_PieceArray : TypedArrayAttrBase<Plan_PieceAttr, "array of pieces">;

#endif // K3_DIALECTS_PLAN_DIALECT_TD
