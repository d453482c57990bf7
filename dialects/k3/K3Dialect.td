//===- K3Dialect.td - The k3 dialect, its types and attributes -*- tablegen -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the dialect that says what a model computes: states, caches and the residual stack as types of their own.
//
//===----------------------------------------------------------------------===//

#ifndef K3_DIALECTS_K3_DIALECT_TD
#define K3_DIALECTS_K3_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def K3_Dialect : Dialect {
  let name = "k3";
  let cppNamespace = "::k3::model";
  let summary = "What the model computes, in the words of its papers";
  let description = [{
    Values are tensors whose first extent may be dynamic; such an extent is a declared symbol with an upper bound,
    `tensor<?x7168xbf16, #k3.sym<"T">>`. Weights, states and caches are declared at module level and named by symbol.
    Inside a layer body a declaration whose name or source holds `{L}` stands for one instance a layer; the calls of
    the body carry the layer number in `k3.layer`.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerTypes();
  }];
}

// ---------------------------------------------------------------------------------------------------------- enums

def K3_StateOrderEnum : I32EnumAttr<"StateOrder", "order of the two inner axes of a recurrent state",
    [I32EnumAttrCase<"KeyValue", 0, "kv">, I32EnumAttrCase<"ValueKey", 1, "vk">]> {
  let cppNamespace = "::k3::model";
}
def K3_ActivationEnum : I32EnumAttr<"Activation", "gated activation of an MLP or an expert",
    [I32EnumAttrCase<"SiTU", 0, "situ">, I32EnumAttrCase<"SwiGLU", 1, "swiglu">]> {
  let cppNamespace = "::k3::model";
  let genSpecializedAttr = 0;
}
def K3_ActivationAttr : EnumAttr<K3_Dialect, K3_ActivationEnum, "activation"> { let assemblyFormat = "$value"; }
def K3_ScoreEnum : I32EnumAttr<"RouterScore", "how router logits become scores",
    [I32EnumAttrCase<"Sigmoid", 0, "sigmoid">, I32EnumAttrCase<"Softmax", 1, "softmax">]> {
  let cppNamespace = "::k3::model";
  let genSpecializedAttr = 0;
}
def K3_ScoreAttr : EnumAttr<K3_Dialect, K3_ScoreEnum, "score"> { let assemblyFormat = "$value"; }

// ----------------------------------------------------------------------------------------------------- attributes

def K3_SymAttr : AttrDef<K3_Dialect, "Sym"> {
  let mnemonic = "sym";
  let summary = "encoding of a tensor whose first extent is dynamic: the symbol that names the extent";
  let parameters = (ins StringRefParameter<"declared by k3.symbol">:$name);
  let assemblyFormat = "`<` $name `>`";
}

def K3_PieceAttr : AttrDef<K3_Dialect, "Piece"> {
  let mnemonic = "piece";
  let summary = "a rectangle of a checkpoint tensor and where it goes in a weight";
  let description = [{
    `#k3.piece<"model.layers.{L}.self_attn.q_proj.weight", rows = 12288, cols = 7168, at = 0>`. The source is a
    row-major matrix of its last axis. In `source`, `{L}` is the layer and `{E}` an index 0 .. count-1; `index_stride`
    elements of the weight lie between two indices. All offsets and strides count elements. `transpose` stores the
    rectangle as [cols, rows]; then `dst_stride` is the distance of the rows of the result.
  }];
  let parameters = (ins StringRefParameter<"tensor name">:$source, "int64_t":$rows, "int64_t":$cols,
    DefaultValuedParameter<"int64_t", "0">:$begin, DefaultValuedParameter<"int64_t", "0">:$src_stride,
    DefaultValuedParameter<"int64_t", "0">:$at, DefaultValuedParameter<"int64_t", "0">:$dst_stride,
    DefaultValuedParameter<"int64_t", "1">:$count, DefaultValuedParameter<"int64_t", "0">:$index_stride,
    DefaultValuedParameter<"bool", "false">:$transpose);
  let assemblyFormat = "`<` $source `,` struct($rows, $cols, $begin, $src_stride, $at, $dst_stride, $count, $index_stride, $transpose) `>`";
  let genVerifyDecl = 1;
}

// ---------------------------------------------------------------------------------------------------------- types

class K3_Type<string name, string typeMnemonic> : TypeDef<K3_Dialect, name> { let mnemonic = typeMnemonic; }

def K3_KdaState : K3_Type<"KdaState", "kda_state"> {
  let summary = "recurrent state of one KDA layer, one slot a sequence";
  let description = [{ `!k3.kda_state<96x128x128xf32, kv>`: heads x key x value, and the order in memory. }];
  let parameters = (ins "int64_t":$heads, "int64_t":$key, "int64_t":$value, "::mlir::Type":$elementType, "::k3::model::StateOrder":$order);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def K3_ConvState : K3_Type<"ConvState", "conv_state"> {
  let summary = "last inputs of a short convolution, oldest first, one slot a sequence";
  let description = [{ `!k3.conv_state<3x12288xbf16>`: (width - 1) x channels. }];
  let parameters = (ins "int64_t":$taps, "int64_t":$channels, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def K3_LatentCache : K3_Type<"LatentCache", "latent_cache"> {
  let summary = "paged cache of MLA rows [latent | shared key part]";
  let description = [{ `!k3.latent_cache<64x576xbf16>`: tokens of a page x width. }];
  let parameters = (ins "int64_t":$page, "int64_t":$width, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def K3_Stack : K3_Type<"Stack", "stack"> {
  let summary = "residual stack: the raw sums of finished blocks, a buffer of this step";
  let description = [{ `!k3.stack<8x7168xbf16, "T">`: capacity x hidden, a row of every block for each of T tokens. }];
  let parameters = (ins "int64_t":$capacity, "int64_t":$hidden, "::mlir::Type":$elementType, StringRefParameter<"symbol or empty">:$tokens, "int64_t":$rows);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def K3_Batch : K3_Type<"Batch", "batch"> {
  let summary = "which sequence, slot and pages the rows of this step belong to";
  let description = [{
    `!k3.batch<"T", "S">` ragged (tokens and sequences are symbols), `!k3.batch<4>` one token for each of 4 sequences.
    Carries, as i32 arrays: token_seq, token_pos, seq_offsets, seq_slots, seq_context, page_table.
  }];
  let parameters = (ins StringRefParameter<"symbol of the tokens or empty">:$tokens, StringRefParameter<"symbol of the sequences or empty">:$seqs, "int64_t":$rows);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

class K3_IsA<string cls, string text> : Type<CPred<"::llvm::isa<::k3::model::" # cls # ">($_self)">, text, "::k3::model::" # cls>;
def K3_AnyKdaState : K3_IsA<"KdaStateType", "KDA state">;
def K3_AnyConvState : K3_IsA<"ConvStateType", "conv state">;
def K3_AnyLatentCache : K3_IsA<"LatentCacheType", "latent cache">;
def K3_AnyStack : K3_IsA<"StackType", "residual stack">;
def K3_AnyBatch : K3_IsA<"BatchType", "batch">;
/// Read as a signed number: an absent column is -1.
def K3_Int : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit integer attribute">;
def K3_Float : TensorOf<[F32, BF16]>;
def K3_Ids : TensorOf<[I32]>;
def K3_Weight : AnyTypeOf<[TensorOf<[F32, BF16, I8]>], "weight tensor">;

#endif // K3_DIALECTS_K3_DIALECT_TD
