//===- PlanOps.td - Ops of the plan dialect -----------------*- tablegen -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the host knows and does: symbols, arenas, buffers, states, weights, kernels, entries and their commands. One op
// stands for one table of runtime/schema/plan.fbs.
//
//===----------------------------------------------------------------------===//

#ifndef K3_DIALECTS_PLAN_OPS_TD
#define K3_DIALECTS_PLAN_OPS_TD

include "dialects/plan/PlanDialect.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;

/// What stands inside a program: checked when the symbols of the program are known.
class Plan_Declaration<string mnemonic, list<Trait> traits = []>
    : Plan_Op<mnemonic, !listconcat([HasParent<"ProgramOp">], traits)>;
class Plan_Command<string mnemonic, string text>
    : Plan_Op<mnemonic, [HasParent<"EntryOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = text;
}
def Plan_Users : DeclareOpInterfaceMethods<SymbolUserOpInterface>;

// --------------------------------------------------------------------------------------------------------- module

def Plan_SymbolOp : Plan_Op<"symbol", [Symbol]> {
  let summary = "an extent known at each step only, with its upper bound";
  let description = [{ `plan.symbol @T <= 512` }];
  let arguments = (ins SymbolNameAttr:$sym_name, ConfinedAttr<I64Attr, [IntPositive]>:$upper);
  let assemblyFormat = "$sym_name ` ` `<` `=` $upper attr-dict";
}

def Plan_ProgramOp : Plan_Op<"program", [HasParent<"::mlir::ModuleOp">, SymbolTable, SingleBlock, NoTerminator,
                                         NoRegionArguments, IsolatedFromAbove]> {
  let summary = "what one rank has and does";
  let description = [{ `plan.program rank 0 events 0 { ... }`. Arenas, buffers and kernels are its symbols. }];
  let arguments = (ins Plan_Count:$rank, Plan_Count:$events);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`rank` $rank `events` $events attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

// --------------------------------------------------------------------------------------------------------- memory

def Plan_ArenaOp : Plan_Declaration<"arena", [Symbol]> {
  let summary = "one allocation of a rank";
  let description = [{ `plan.arena @scratch scratch size 65536 align 4096` }];
  let arguments = (ins SymbolNameAttr:$sym_name, Plan_ArenaClassAttr:$kind, Plan_Count:$size, Plan_Count:$alignment);
  let assemblyFormat = "$sym_name `` $kind `size` $size `align` $alignment attr-dict";
  let hasVerifier = 1;
}

def Plan_BufferOp : Plan_Declaration<"buffer", [Symbol, Plan_Users]> {
  let summary = "a byte range of an arena with a shape";
  let description = [{
    `plan.buffer @"layers.0.h" in @scratch at 4096 size 131072 : bf16 [T, 128]`. The size holds the shape at the upper
    bounds of its symbols. Scratch buffers that are not live together may overlap.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$arena, Plan_Count:$offset, Plan_Count:$size,
                       TypeAttrOf<AnyTypeOf<[F32, BF16, I32, I64, I8]>>:$dtype, Plan_ExprArray:$shape);
  let assemblyFormat = "$sym_name `in` $arena `at` $offset `size` $size `:` $dtype custom<Exprs>($shape) attr-dict";
}

def Plan_StateOp : Plan_Declaration<"state", [Plan_Users]> {
  let summary = "a state or cache that lives across steps, in slots or pages";
  let description = [{ `plan.state kda_state "layers.0.kda_state" in @"layers.0.kda_state" slot [2, 16, 16] bytes 2048 order "kv"` }];
  let arguments = (ins Plan_StateKindAttr:$kind, StrAttr:$name, FlatSymbolRefAttr:$buffer, DenseI64ArrayAttr:$shape,
                       Plan_Count:$slot_bytes, OptionalAttr<StrAttr>:$order);
  let assemblyFormat = "`` $kind $name `in` $buffer `slot` $shape `bytes` $slot_bytes (`order` $order^)? attr-dict";
}

def Plan_WeightOp : Plan_Declaration<"weight", [Plan_Users]> {
  let summary = "a weight and the pieces of the checkpoint that fill it";
  let description = [{ `plan.weight "embed" in @embed from [#plan.piece<...>]` }];
  let arguments = (ins StrAttr:$name, FlatSymbolRefAttr:$buffer, Plan_PieceArray:$pieces);
  let assemblyFormat = "$name `in` $buffer `from` $pieces attr-dict";
}

// --------------------------------------------------------------------------------------------------------- kernels

def Plan_KernelOp : Plan_Declaration<"kernel", [Symbol]> {
  let summary = "a kernel: the exported symbol of an image, its parameters and resources";
  let description = [{
    `plan.kernel @row_add_h128 params (buffer, buffer, scalar)`. The name is the symbol in the image. `block` is threads
    a block on a GPU, [1, 1, 1] on a CPU; shared memory, registers and spills are reported by the code generator.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, DenseI32ArrayAttr:$params,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1, 1}">:$block, DefaultValuedAttr<Plan_Count, "0">:$shared_bytes,
                       DefaultValuedAttr<Plan_Count, "0">:$registers, DefaultValuedAttr<Plan_Count, "0">:$spill_bytes);
  let assemblyFormat = "$sym_name `params` custom<Params>($params) attr-dict";
  let hasVerifier = 1;
}

// --------------------------------------------------------------------------------------------------------- entries

def Plan_EntryOp : Plan_Declaration<"entry", [SingleBlock, NoTerminator, NoRegionArguments, Plan_Users]> {
  let summary = "one callable step: symbols to give, inputs to fill, commands, outputs to read";
  let description = [{
    `plan.entry decode "decode_4" bucket 4 symbols [] inputs ["ids" = @ids] outputs ["logits" = @logits] { ... }`
  }];
  let arguments = (ins Plan_EntryKindAttr:$kind, StrAttr:$name, OptionalAttr<Plan_Count>:$bucket, FlatSymbolRefArrayAttr:$symbols,
                       Plan_BindingArray:$inputs, Plan_BindingArray:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{ `` $kind $name (`bucket` $bucket^)? `symbols` $symbols `inputs` custom<Bindings>($inputs)
    `outputs` custom<Bindings>($outputs) attr-dict-with-keyword $body }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Plan_LaunchOp : Plan_Command<"launch", "runs a kernel over a grid"> {
  let description = [{ `plan.launch @k grid [ceildiv(T, 16), 4, 1] args (@x, @w + 64, T)`; a zero in the grid means nothing to do. }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Plan_ExprArray:$grid, ArrayAttr:$args, DefaultValuedAttr<Plan_Count, "0">:$stream);
  let assemblyFormat = "$kernel `grid` custom<Exprs>($grid) `args` custom<Args>($args) attr-dict";
}

def Plan_CopyOp : Plan_Command<"copy", "copies bytes from one buffer to another"> {
  let description = [{ `plan.copy @x to @y bytes mul(T, 256)` }];
  let arguments = (ins Plan_AtAttr:$src, Plan_AtAttr:$dst, Plan_ExprAttr:$bytes, DefaultValuedAttr<Plan_Count, "0">:$stream);
  let assemblyFormat = "custom<At>($src) `to` custom<At>($dst) `bytes` custom<Expr>($bytes) attr-dict";
}

def Plan_FillOp : Plan_Command<"fill", "sets bytes of a buffer to one value"> {
  let description = [{ `plan.fill @x with 0 bytes mul(T, 256)` }];
  let arguments = (ins Plan_AtAttr:$dst, Plan_Count:$value, Plan_ExprAttr:$bytes, DefaultValuedAttr<Plan_Count, "0">:$stream);
  let assemblyFormat = "custom<At>($dst) `with` $value `bytes` custom<Expr>($bytes) attr-dict";
}

def Plan_CollectiveOp : Plan_Command<"collective", "a collective over one axis of the mesh"> {
  let description = [{
    `plan.collective all_reduce @x to @y over "tp" count mul(T, 128) : bf16`. `count` is what this rank contributes, in
    elements. Send and recv name their `peer`; both name a source and a destination, of which they use one.
  }];
  let arguments = (ins Plan_CollectiveAttr:$kind, FlatSymbolRefAttr:$src, FlatSymbolRefAttr:$dst, StrAttr:$axis,
                       Plan_ExprAttr:$count, TypeAttrOf<AnyTypeOf<[F32, BF16, I32, I64, I8]>>:$dtype,
                       DefaultValuedAttr<Plan_Count, "0">:$peer, DefaultValuedAttr<Plan_Count, "0">:$stream);
  let assemblyFormat = "`` $kind $src `to` $dst `over` $axis `count` custom<Expr>($count) `:` $dtype attr-dict";
}

def Plan_RecordOp : Plan_Command<"record", "marks a point in the order of a stream"> {
  let arguments = (ins Plan_Count:$event, DefaultValuedAttr<Plan_Count, "0">:$stream);
  let assemblyFormat = "$event attr-dict";
}

def Plan_WaitOp : Plan_Command<"wait", "holds a stream until a recorded point is reached"> {
  let arguments = (ins Plan_Count:$event, DefaultValuedAttr<Plan_Count, "0">:$stream);
  let assemblyFormat = "$event attr-dict";
}

def Plan_HostCallOp : Plan_Command<"host_call", "calls a function of the runtime by name"> {
  let arguments = (ins StrAttr:$name, ArrayAttr:$args, DefaultValuedAttr<Plan_Count, "0">:$stream);
  let assemblyFormat = "$name `args` custom<Args>($args) attr-dict";
}

def Plan_TapOp : Plan_Command<"tap", "a value that can be copied out right after the command before it"> {
  let arguments = (ins StrAttr:$name, FlatSymbolRefAttr:$buffer);
  let assemblyFormat = "$name `=` $buffer attr-dict";
}

#endif // K3_DIALECTS_PLAN_OPS_TD
