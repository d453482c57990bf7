//===- PlanOps.td - Ops of the plan dialect ----------------*- tablegen -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declarations and commands of a rank's program, in the order and with the meaning of runtime/schema/plan.fbs.
//
//===----------------------------------------------------------------------===//

#ifndef K3_DIALECTS_PLAN_OPS_TD
#define K3_DIALECTS_PLAN_OPS_TD

include "dialects/plan/PlanDialect.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;
class Plan_Declaration<string mnemonic, list<Trait> traits = []> : Plan_Op<mnemonic, !listconcat([Symbol], traits)>;
/// A command of an entry; checks the symbols it names.
class Plan_Command<string mnemonic> : Plan_Op<mnemonic, [HasParent<"EntryOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]>;

// --------------------------------------------------------------------------------------------------- declarations

def Plan_SymbolOp : Plan_Declaration<"symbol"> {
  let summary = "an extent known at each step, with its upper bound; the i-th one is s_i of every expression";
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$upper);
  let assemblyFormat = "$sym_name `<` `=` $upper attr-dict";
  let hasVerifier = 1;
}

def Plan_ArenaOp : Plan_Declaration<"arena"> {
  let summary = "one allocation of a rank, in bytes";
  let arguments = (ins SymbolNameAttr:$sym_name, Plan_ArenaClassAttr:$cls, I64Attr:$size, DefaultValuedAttr<I64Attr, "64">:$alignment);
  let assemblyFormat = "$sym_name $cls `size` $size attr-dict";
  let hasVerifier = 1;
}

def Plan_BufferOp : Plan_Declaration<"buffer", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a byte range of an arena with a type and a shape of expressions";
  let description = [{ `plan.buffer @h in @scratch at 4096 size 524288 : bf16 affine_map<()[s0, s1] -> (s0, 7168)>` }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$arena, I64Attr:$offset, I64Attr:$size,
                       TypeAttr:$element, AffineMapAttr:$shape);
  let assemblyFormat = "$sym_name `in` $arena `at` $offset `size` $size `:` $element $shape attr-dict";
}

def Plan_StateOp : Plan_Declaration<"state", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a state or cache: its buffer is slots (or pages) of `shape`";
  let arguments = (ins SymbolNameAttr:$sym_name, Plan_StateKindAttr:$kind, FlatSymbolRefAttr:$buffer,
                       DenseI64ArrayAttr:$shape, OptionalAttr<StrAttr>:$order, I64Attr:$slot_bytes);
  let assemblyFormat = "$sym_name $kind `in` $buffer `shape` $shape `slot` $slot_bytes (`order` $order^)? attr-dict";
}

def Plan_WeightOp : Plan_Declaration<"weight", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a weight and the pieces of the checkpoint that fill it";
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$buffer, ArrayAttr:$pieces);
  let assemblyFormat = "$sym_name `in` $buffer `from` $pieces attr-dict";
}

def Plan_KernelOp : Plan_Declaration<"kernel"> {
  let summary = "a kernel: the symbol of an image, with `true` for each parameter that is an address";
  let arguments = (ins SymbolNameAttr:$sym_name, DenseBoolArrayAttr:$params);
  let assemblyFormat = "$sym_name $params attr-dict";
}

def Plan_EntryOp : Plan_Declaration<"entry", [NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "one callable step: named inputs and outputs, then commands in order";
  let description = [{ `inputs` and `outputs` map a name to a buffer; `symbols` are the indices that must be given. }];
  let arguments = (ins SymbolNameAttr:$sym_name, Plan_EntryKindAttr:$kind, DefaultValuedAttr<I64Attr, "0">:$bucket,
                       DenseI64ArrayAttr:$symbols, DictionaryAttr:$inputs, DictionaryAttr:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name $kind `bucket` $bucket `symbols` $symbols `inputs` $inputs `outputs` $outputs $body attr-dict";
  let hasVerifier = 1;
}

// ------------------------------------------------------------------------------------------------------- commands

def Plan_LaunchOp : Plan_Command<"launch"> {
  let summary = "runs a kernel; an argument is a buffer symbol or a scalar expression";
  let arguments = (ins FlatSymbolRefAttr:$kernel, AffineMapAttr:$grid, ArrayAttr:$args);
  let assemblyFormat = "$kernel `grid` $grid `args` $args attr-dict";
}
def Plan_CopyOp : Plan_Command<"copy"> {
  let summary = "copies bytes between buffers";
  let arguments = (ins FlatSymbolRefAttr:$src, I64Attr:$src_offset, FlatSymbolRefAttr:$dst, I64Attr:$dst_offset, AffineMapAttr:$bytes);
  let assemblyFormat = "$src `at` $src_offset `to` $dst `at` $dst_offset `bytes` $bytes attr-dict";
}
def Plan_FillOp : Plan_Command<"fill"> {
  let summary = "sets bytes of a buffer to one value";
  let arguments = (ins FlatSymbolRefAttr:$dst, I64Attr:$dst_offset, AffineMapAttr:$bytes, I64Attr:$value);
  let assemblyFormat = "$dst `at` $dst_offset `bytes` $bytes `with` $value attr-dict";
}
def Plan_CollectiveOp : Plan_Command<"collective"> {
  let summary = "a collective over one axis of the mesh; count elements of this rank";
  let arguments = (ins Plan_CollectiveKindAttr:$kind, FlatSymbolRefAttr:$src, FlatSymbolRefAttr:$dst, AffineMapAttr:$count,
                       TypeAttr:$element, StrAttr:$axis, DefaultValuedAttr<I64Attr, "0">:$peer);
  let assemblyFormat = "$kind $src `to` $dst `count` $count `:` $element `over` $axis attr-dict";
}
def Plan_RecordOp : Plan_Command<"record"> {
  let summary = "marks a point of a stream";
  let arguments = (ins I64Attr:$event);
  let assemblyFormat = "$event attr-dict";
}
def Plan_WaitOp : Plan_Command<"wait"> {
  let summary = "waits for a marked point";
  let arguments = (ins I64Attr:$event);
  let assemblyFormat = "$event attr-dict";
}
def Plan_HostCallOp : Plan_Command<"host_call"> {
  let summary = "a named function of the runtime";
  let arguments = (ins StrAttr:$name, ArrayAttr:$args);
  let assemblyFormat = "$name `args` $args attr-dict";
}
def Plan_TapOp : Plan_Command<"tap"> {
  let summary = "names a buffer as it is after the command before, so that a run can dump it";
  let arguments = (ins StrAttr:$name, FlatSymbolRefAttr:$buffer);
  let assemblyFormat = "$name $buffer attr-dict";
}

#endif // K3_DIALECTS_PLAN_OPS_TD
