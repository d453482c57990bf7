//===- PlanDialect.td - The plan dialect and its types -----*- tablegen -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the dialect of the host program, which maps one to one to runtime/schema/plan.fbs.
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
  let summary = "What the host does, in order";
  let description = [{
    Closed and small: declarations (symbols, arenas, buffers, states, weights, kernels) and entries, which are lists of
    commands over buffers. A new model op never adds anything here. Integer expressions are affine maps whose symbol
    s_i is the i-th plan.symbol of the module: grids and sizes only need sums, products with constants and
    ceiling divisions, so affine expressions carry them with folding and a parser for free. (Min and max exist in the
    schema for later; no phase makes them.)
  }];
  let useDefaultAttributePrinterParser = 1;
}

def Plan_ArenaClass : I32EnumAttr<"ArenaClass", "what an arena holds",
    [I32EnumAttrCase<"Weights", 0, "weights">, I32EnumAttrCase<"State", 1, "state">, I32EnumAttrCase<"Cache", 2, "cache">,
     I32EnumAttrCase<"Scratch", 3, "scratch">, I32EnumAttrCase<"Io", 4, "io">, I32EnumAttrCase<"Peer", 5, "peer">]> {
  let cppNamespace = "::k3::host";
  let genSpecializedAttr = 0;
}
def Plan_ArenaClassAttr : EnumAttr<Plan_Dialect, Plan_ArenaClass, "arena_class"> { let assemblyFormat = "$value"; }

def Plan_StateKind : I32EnumAttr<"StateKind", "what a state is",
    [I32EnumAttrCase<"KdaState", 0, "kda_state">, I32EnumAttrCase<"ConvState", 1, "conv_state">,
     I32EnumAttrCase<"LatentCache", 2, "latent_cache">]> {
  let cppNamespace = "::k3::host";
  let genSpecializedAttr = 0;
}
def Plan_StateKindAttr : EnumAttr<Plan_Dialect, Plan_StateKind, "state_kind"> { let assemblyFormat = "$value"; }

def Plan_EntryKind : I32EnumAttr<"EntryKind", "how the runtime calls an entry",
    [I32EnumAttrCase<"Generic", 0, "generic">, I32EnumAttrCase<"Prefill", 1, "prefill">, I32EnumAttrCase<"Decode", 2, "decode">]> {
  let cppNamespace = "::k3::host";
  let genSpecializedAttr = 0;
}
def Plan_EntryKindAttr : EnumAttr<Plan_Dialect, Plan_EntryKind, "entry_kind"> { let assemblyFormat = "$value"; }

def Plan_CollectiveKind : I32EnumAttr<"CollectiveKind", "what ranks do together",
    [I32EnumAttrCase<"AllReduce", 0, "all_reduce">, I32EnumAttrCase<"ReduceScatter", 1, "reduce_scatter">,
     I32EnumAttrCase<"AllGather", 2, "all_gather">, I32EnumAttrCase<"AllToAll", 3, "all_to_all">,
     I32EnumAttrCase<"Send", 4, "send">, I32EnumAttrCase<"Recv", 5, "recv">]> {
  let cppNamespace = "::k3::host";
  let genSpecializedAttr = 0;
}
def Plan_CollectiveKindAttr : EnumAttr<Plan_Dialect, Plan_CollectiveKind, "collective_kind"> { let assemblyFormat = "$value"; }

#endif // K3_DIALECTS_PLAN_DIALECT_TD
