//===- Passes.td - Passes of the compiler ------------------*- tablegen -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every pass by name, in the order of the phases that run it (compiler/tools/k3c/Phases.h lists the phases).
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_PASSES_TD
#define K3_COMPILER_PASSES_TD

include "mlir/Pass/PassBase.td"

// ---------------------------------------------------------------------------------------------------------- entry

def EntryPass : Pass<"k3-entry", "::mlir::ModuleOp"> {
  let summary = "adds decode entries, made from the prefill entry";
  let description = [{
    For each bucket of 1, 2, 4, ... max_seqs sequences a copy of the prefill entry with static rows becomes
    `@decode_N`, with copies of the layer bodies it calls. Buckets that are powers of two bound the waste of padding.
  }];
}

// ------------------------------------------------------------------------------------------------------- simplify

def AbsorbPass : Pass<"k3-absorb", "::mlir::ModuleOp"> {
  let summary = "rewrites k3.mla to attention over the latent rows themselves";
  let description = [{
    q' = q_n W_UK, attention of q' against the cache rows, o = u W_UV. All heads then share one key, and no key or value
    is ever made. For prefill it also costs less than making keys anew for each query block of up to about 120 rows
    (400 keys) to 171 (many keys); docs/architecture.md has the count.
  }];
}
def SplitExpertsPass : Pass<"k3-split-experts", "::mlir::ModuleOp"> {
  let summary = "splits k3.experts into expert_up, expert_down and combine";
}
def PackPass : Pass<"k3-pack", "::mlir::ModuleOp"> {
  let summary = "packs projections that read the same input into one, and gate with up";
  let description = [{
    The packed weight is a new param whose pieces are those of the old ones, row block after row block; users read slices.
  }];
}

// ---------------------------------------------------------------------------------------------------------- shard

def ShardPass : Pass<"k3-shard", "::mlir::ModuleOp"> {
  let summary = "places weights and states on the ranks of a mesh";
  let description = [{
    Sets `k3.mesh = {tp, ep, pp}` on the module. One rank changes nothing else; more ranks are refused here, before any
    other phase works for them.
  }];
  let options = [Option<"tp", "tp", "int64_t", "1", "ranks that share every layer">,
                 Option<"ep", "ep", "int64_t", "1", "ranks that share the experts">,
                 Option<"pp", "pp", "int64_t", "1", "stages of layers">];
}

// ------------------------------------------------------------------------------------------------------- numerics

def NumericsPass : Pass<"k3-numerics", "::mlir::ModuleOp"> {
  let summary = "chooses the element type of activations, conv states, caches and the stack";
  let description = [{
    `bf16` leaves what the importer wrote. `f32` computes and stores everything in f32, the mode that is compared tightly
    with the reference. Weights keep the type of the checkpoint in both.
  }];
  let options = [Option<"dtype", "dtype", "std::string", "\"bf16\"", "bf16 or f32">];
}

// ----------------------------------------------------------------------------------------------------------- fuse

def FusePass : Pass<"k3-fuse", "::mlir::ModuleOp"> {
  let summary = "groups ops that become one kernel";
  let description = [{
    Rules, in this order: the recurrence with its convolutions (static batch) and its gated norm; a contraction with the
    elementwise ops behind it; chains of row-wise ops. Whatever stays alone is a group of one. `--no-fuse=RULE` leaves
    one rule out; the result of the program does not change by a bit.
  }];
  let options = [ListOption<"disabled", "no-fuse", "std::string", "rules to leave out: scan, tail, row">];
}

// ----------------------------------------------------------------------------------------------------------- tile

def LowerToTilePass : Pass<"k3-to-tile", "::mlir::ModuleOp"> {
  let summary = "lowers every fused group to tile kernels and launches";
  let options = [Option<"sharedBytes", "shared-bytes", "int64_t", "0",
                        "shared memory of a GPU's block, for which tiles are chosen; 0: a CPU">];
  let dependentDialects = ["::k3::tile::TileDialect", "::mlir::arith::ArithDialect"];
}

// ----------------------------------------------------------------------------------------------------------- plan

def PlanPass : Pass<"k3-plan", "::mlir::ModuleOp"> {
  let summary = "writes down what the host does: buffers with places, and the commands of every entry";
  let description = [{
    Follows each entry through its calls, with the layer of a call in place of `{L}`. Weights and states become buffers
    that all entries share, inputs and outputs keep their names, and values of a step share one arena by liveness. The
    functions and declarations of the k3 dialect are replaced; kernels stay for the code generator, launched ones only.
  }];
  let dependentDialects = ["::k3::host::PlanDialect"];
}

// --------------------------------------------------------------------------------------------- end of every phase

def VerifyPass : Pass<"k3-verify", "::mlir::ModuleOp"> {
  let summary = "checks what no single op can: bounds of symbols, layers of names, calls";
}

#endif // K3_COMPILER_PASSES_TD
