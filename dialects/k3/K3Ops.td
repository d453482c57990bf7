//===- K3Ops.td - Ops of the k3 dialect --------------------*- tablegen -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the model computes: declarations, rows and projections, KDA, MLA, attention residuals, experts, collectives.
// Formulas follow docs/model.md; T is the number of token rows, H the hidden size.
//
//===----------------------------------------------------------------------===//

#ifndef K3_DIALECTS_K3_OPS_TD
#define K3_DIALECTS_K3_OPS_TD

include "dialects/k3/K3Dialect.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// States and caches live outside SSA: an op that updates one says so, or CSE and DCE would merge or drop it.
def K3_StateResource : Resource<"::k3::model::StateResource">;

class K3_Op<string mnemonic, list<Trait> traits = []> : Op<K3_Dialect, mnemonic, traits>;
class K3_PureOp<string mnemonic, list<Trait> traits = []> : K3_Op<mnemonic, !listconcat([Pure], traits)>;
class K3_StatefulOp<string mnemonic, list<Trait> traits = []>
    : K3_Op<mnemonic, !listconcat([MemoryEffects<[MemRead<K3_StateResource>, MemWrite<K3_StateResource>]>], traits)>;

// --------------------------------------------------------------------------------------------------- declarations

def K3_SymbolOp : K3_Op<"symbol", [Symbol]> {
  let summary = "an extent known at each step only, with its upper bound";
  let description = [{ `k3.symbol @T <= 512` }];
  let arguments = (ins SymbolNameAttr:$sym_name, K3_Int:$upper);
  let assemblyFormat = "$sym_name ` ` `<` `=` $upper attr-dict";
  let hasVerifier = 1;
}

def K3_ParamOp : K3_Op<"param", [Symbol]> {
  let summary = "a weight: its type in memory and the pieces of the checkpoint that fill it";
  let description = [{
    `k3.param @"kda.qkv" : tensor<36864x7168xbf16> from [#k3.piece<...>, ...]`. MXFP4 matrices are two params of i8:
    codes [.., K/2] and scales [.., K/32]. Without pieces (a hand-written file) the checkpoint tensor has the param's name.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<AnyType>:$type, OptionalAttr<ArrayAttr>:$pieces);
  let assemblyFormat = "$sym_name `:` $type (`from` $pieces^)? attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The pieces, or the one that copies the whole tensor of the param's name.
    ::llvm::SmallVector<::k3::model::PieceAttr> getPieceList();
  }];
}

def K3_StateOp : K3_Op<"state", [Symbol]> {
  let summary = "a recurrent state, conv state or latent cache that lives across steps";
  let description = [{ `k3.state @"layers.{L}.kda_state" : !k3.kda_state<96x128x128xf32, kv>` }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<AnyType>:$type);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
  let hasVerifier = 1;
}

def K3_WeightOp : K3_PureOp<"weight", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a weight";
  let arguments = (ins FlatSymbolRefAttr:$param);
  let results = (outs K3_Weight:$result);
  let assemblyFormat = "$param attr-dict `:` type($result)";
}

def K3_RefOp : K3_PureOp<"ref", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the handle of a state or cache";
  let arguments = (ins FlatSymbolRefAttr:$state);
  let results = (outs AnyTypeOf<[K3_AnyKdaState, K3_AnyConvState, K3_AnyLatentCache]>:$result);
  let assemblyFormat = "$state attr-dict `:` type($result)";
}

def K3_DimOp : K3_PureOp<"dim", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a symbol in this step";
  let arguments = (ins FlatSymbolRefAttr:$symbol);
  let results = (outs Index:$result);
  let assemblyFormat = "$symbol attr-dict";
}

def K3_BatchFieldOp : K3_PureOp<"batch_field"> {
  let summary = "one i32 array of a batch: token_seq [T], token_pos [T], seq_offsets [S+1], seq_slots [S], seq_context [S], page_table [S, pages]";
  let description = [{ The first extent of the result is dynamic for a ragged batch (symbol T or S; S+1 keeps symbol S). }];
  let arguments = (ins K3_AnyBatch:$batch, StrAttr:$field);
  let results = (outs K3_Ids:$result);
  let assemblyFormat = "$batch $field attr-dict `:` type($batch) `->` type($result)";
  let hasVerifier = 1;
}

// --------------------------------------------------------------------------------------------- rows and projections

def K3_EmbedOp : K3_PureOp<"embed"> {
  let summary = "rows of the embedding table: ids [T] i32, table [V, H] -> [T, H]";
  let arguments = (ins K3_Ids:$ids, K3_Weight:$table);
  let results = (outs K3_Float:$result);
  let assemblyFormat = "$ids `,` $table attr-dict `:` type($ids) `,` type($table) `->` type($result)";
  let hasVerifier = 1;
}

def K3_TakeRowsOp : K3_PureOp<"take_rows"> {
  let summary = "rows named by ids: x [T, H], rows [R] i32 -> [R, H]";
  let arguments = (ins K3_Float:$x, K3_Ids:$rows);
  let results = (outs K3_Float:$result);
  let assemblyFormat = "$x `,` $rows attr-dict `:` type($x) `,` type($rows) `->` type($result)";
  let hasVerifier = 1;
}

def K3_LinearOp : K3_PureOp<"linear"> {
  let summary = "x Wᵀ: x [T, K], W [N, K] -> [T, N], accumulated in f32, rounded once to the result's type";
  let arguments = (ins K3_Float:$x, K3_Weight:$weight);
  let results = (outs K3_Float:$result);
  let assemblyFormat = "$x `,` $weight attr-dict `:` type($x) `,` type($weight) `->` type($result)";
  let hasVerifier = 1;
}

def K3_HeadLinearOp : K3_PureOp<"head_linear"> {
  let summary = "a projection of its own for each head: x [T, heads * K] -> [T, heads * N]";
  let description = [{
    The weight is [heads * stride_rows, C]; head h uses its rows h * stride_rows + row_begin, `rows` of them.
    Plain: y_h = x_h W_hᵀ (K = C, N = rows). `transpose`: y_h = x_h W_h (K = rows, N = C): absorption of W_UK.
    x_h is columns h * x_stride .. +K of x; y_h goes to columns h * out_stride .. +N. Columns of the result outside stay
    as `pass` says: with pass_begin >= 0, columns pass_begin .. pass_begin + pass_count - 1 of x_h follow y_h unchanged.
  }];
  let arguments = (ins K3_Float:$x, K3_Weight:$weight, K3_Int:$heads, K3_Int:$stride_rows, K3_Int:$row_begin, K3_Int:$rows,
                       UnitAttr:$transpose, DefaultValuedAttr<K3_Int, "-1">:$pass_begin, DefaultValuedAttr<K3_Int, "0">:$pass_count);
  let results = (outs K3_Float:$result);
  let assemblyFormat = "$x `,` $weight attr-dict `:` type($x) `,` type($weight) `->` type($result)";
  let hasVerifier = 1;
}

def K3_SliceOp : K3_PureOp<"slice"> {
  let summary = "columns begin .. begin + N - 1 of every row: x [T, C] -> [T, N]";
  let arguments = (ins K3_Float:$x, K3_Int:$begin);
  let results = (outs K3_Float:$result);
  let assemblyFormat = "$x `[` $begin `]` attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def K3_CastOp : K3_PureOp<"cast"> {
  let summary = "changes the element type, rounding to nearest even";
  let arguments = (ins K3_Float:$x);
  let results = (outs K3_Float:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def K3_RmsNormOp : K3_PureOp<"rms_norm"> {
  let summary = "x / sqrt(mean(x²) + eps) ⊙ gain, in f32, rounded once: x [T, H], gain [H]";
  let arguments = (ins K3_Float:$x, K3_Weight:$gain, F64Attr:$eps);
  let results = (outs K3_Float:$result);
  let assemblyFormat = "$x `,` $gain attr-dict `:` type($x) `,` type($gain) `->` type($result)";
  let hasVerifier = 1;
}

def K3_AddOp : K3_PureOp<"add"> {
  let summary = "x + y in f32, rounded once to the result's type";
  let arguments = (ins K3_Float:$x, K3_Float:$y);
  let results = (outs K3_Float:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x) `,` type($y) `->` type($result)";
  let hasVerifier = 1;
}

def K3_GateOp : K3_PureOp<"gate"> {
  let summary = "x ⊙ sigmoid(gate), the output gate of MLA";
  let arguments = (ins K3_Float:$x, K3_Float:$gate);
  let results = (outs K3_Float:$result);
  let assemblyFormat = "$x `,` $gate attr-dict `:` type($x) `,` type($gate) `->` type($result)";
  let hasVerifier = 1;
}

def K3_GluOp : K3_PureOp<"glu"> {
  let summary = "gated activation of gate [T, I] and up [T, I]";
  let description = [{
    SiTU: beta tanh(gate / beta) sigmoid(gate) * linear_beta tanh(up / linear_beta), or * up without linear_beta.
    SwiGLU: gate sigmoid(gate) up. In f32, rounded once.
  }];
  let arguments = (ins K3_Float:$gate, K3_Float:$up, K3_ActivationAttr:$activation, DefaultValuedAttr<F64Attr, "1.0">:$beta, OptionalAttr<F64Attr>:$linear_beta);
  let results = (outs K3_Float:$result);
  let assemblyFormat = "$activation $gate `,` $up attr-dict `:` type($gate) `,` type($up) `->` type($result)";
  let hasVerifier = 1;
}

// ------------------------------------------------------------------------------------------------------------ KDA

def K3_ShortConvOp : K3_StatefulOp<"short_conv"> {
  let summary = "causal depthwise convolution, then SiLU; x [T, P], weight [P, W]";
  let description = [{
    y_t = SiLU(sum_i weight[p, i] x_{t-W+1+i}); rows before the piece come from the state, which afterwards holds the
    last W-1 rows of x of each sequence, oldest first. A row of slot -1 gives zero and writes nothing.
  }];
  let arguments = (ins K3_Float:$x, K3_Weight:$weight, K3_AnyConvState:$state, K3_AnyBatch:$batch);
  let results = (outs K3_Float:$result);
  let assemblyFormat = "$x `,` $weight `,` $state `,` $batch attr-dict `:` type($x) `,` type($weight) `,` type($state) `,` type($batch) `->` type($result)";
  let hasVerifier = 1;
}

def K3_KdaOp : K3_StatefulOp<"kda"> {
  let summary = "gated delta rule over the tokens of each sequence (Kimi Delta Attention)";
  let description = [{
    q, k [T, N*K], v [T, N*V] after the convolution; gate [T, N*K] raw decay input; beta [T, N] raw; a_log [>= N],
    dt_bias [N*K]. q and k are L2-normalised a head (eps 1e-6 on the sum), q times K^-0.5.
    z = gate + dt_bias, a = exp(a_log[n]): log decay g = lower_bound sigmoid(a z), or -a softplus(z) without lower_bound.
    beta = sigmoid. State S [N, K, V] in f32, in this order a token: S = diag(exp g) S; e = v - Sᵀ k; S += beta k eᵀ; o = Sᵀ q.
    Result [T, N*V]. A sequence of slot -1 gives zero and writes nothing. (Kimi Linear report, arXiv 2510.26692)
  }];
  let arguments = (ins K3_Float:$q, K3_Float:$k, K3_Float:$v, K3_Float:$gate, K3_Float:$beta, K3_Weight:$a_log, K3_Weight:$dt_bias,
                       K3_AnyKdaState:$state, K3_AnyBatch:$batch, OptionalAttr<F64Attr>:$lower_bound);
  let results = (outs K3_Float:$result);
  let assemblyFormat = [{ `(` $q `,` $k `,` $v `,` $gate `,` $beta `,` $a_log `,` $dt_bias `,` $state `,` $batch `)` attr-dict `:`
    type($q) `,` type($k) `,` type($v) `,` type($gate) `,` type($beta) `,` type($a_log) `,` type($dt_bias) `,` type($state) `,` type($batch) `->` type($result) }];
  let hasVerifier = 1;
}

def K3_GatedRmsNormOp : K3_PureOp<"gated_rms_norm"> {
  let summary = "per head: x / sqrt(mean(x²) + eps) ⊙ gain ⊙ sigmoid(gate); x, gate [T, N*D], gain [D]";
  let arguments = (ins K3_Float:$x, K3_Float:$gate, K3_Weight:$gain, F64Attr:$eps);
  let results = (outs K3_Float:$result);
  let assemblyFormat = "$x `,` $gate `,` $gain attr-dict `:` type($x) `,` type($gate) `,` type($gain) `->` type($result)";
  let hasVerifier = 1;
}

// ------------------------------------------------------------------------------------------------------------ MLA

def K3_LatentAppendOp : K3_StatefulOp<"latent_append"> {
  let summary = "norms the latent part of kv [T, R + P] and appends [norm(latent) | rest] to the cache of each sequence";
  let description = [{ R is the extent of gain. No rotation exists in this family. A row of slot -1 writes nothing. }];
  let arguments = (ins K3_Float:$kv, K3_Weight:$gain, K3_AnyLatentCache:$cache, K3_AnyBatch:$batch, F64Attr:$eps);
  let assemblyFormat = "$kv `,` $gain `,` $cache `,` $batch attr-dict `:` type($kv) `,` type($gain) `,` type($cache) `,` type($batch)";
  let hasVerifier = 1;
}

def K3_MlaOp : K3_StatefulOp<"mla"> {
  let summary = "attention of every token over its sequence, keys and values made from the latent cache by kv_b";
  let description = [{
    q [T, heads * (nope + rope)], kv_b [heads * (nope + value), R], the cache already holds the tokens of this step.
    score = (q_n · W_UK l + q_p · k_p) * scale, causal softmax in f32, result [T, heads * value].
    The simplify phase turns it into head_linear + latent_attention + head_linear (absorption), which keeps one shared key.
  }];
  let arguments = (ins K3_Float:$q, K3_Weight:$kv_b, K3_AnyLatentCache:$cache, K3_AnyBatch:$batch, K3_Int:$heads, K3_Int:$nope, K3_Int:$rope, K3_Int:$value, F64Attr:$scale);
  let results = (outs K3_Float:$result);
  let assemblyFormat = "$q `,` $kv_b `,` $cache `,` $batch attr-dict `:` type($q) `,` type($kv_b) `,` type($cache) `,` type($batch) `->` type($result)";
  let hasVerifier = 1;
}

def K3_LatentAttentionOp : K3_StatefulOp<"latent_attention"> {
  let summary = "absorbed MLA: q [T, heads * width] against cache rows, result the weighted latents [T, heads * latent]";
  let arguments = (ins K3_Float:$q, K3_AnyLatentCache:$cache, K3_AnyBatch:$batch, K3_Int:$heads, K3_Int:$latent, F64Attr:$scale);
  let results = (outs K3_Float:$result);
  let assemblyFormat = "$q `,` $cache `,` $batch attr-dict `:` type($q) `,` type($cache) `,` type($batch) `->` type($result)";
  let hasVerifier = 1;
}

// ---------------------------------------------------------------------------------------------- attention residuals

def K3_StackOp : K3_Op<"stack", [MemoryEffects<[MemAlloc<K3_StateResource>]>]> {
  let summary = "an empty residual stack for this step";
  let results = (outs K3_AnyStack:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def K3_AttnResPushOp : K3_StatefulOp<"attn_res.push"> {
  let summary = "stores the raw running sum h [T, H] as block `index` of the stack";
  let arguments = (ins K3_AnyStack:$stack, Index:$index, K3_Float:$h);
  let assemblyFormat = "$stack `[` $index `]` `,` $h attr-dict `:` type($stack) `,` type($h)";
  let hasVerifier = 1;
}

def K3_AttnResMixOp : K3_StatefulOp<"attn_res.mix"> {
  let summary = "softmax over depth of the first `count` blocks and h; f32 result, not rounded";
  let description = [{
    u = norm ⊙ query; score_s = u · V_s / sqrt(mean(V_s²) + eps); p = softmax(score); result sum_s p_s V_s of the raw V_s.
  }];
  let arguments = (ins K3_AnyStack:$stack, Index:$count, K3_Float:$h, K3_Weight:$norm, K3_Weight:$query, F64Attr:$eps);
  let results = (outs K3_Float:$result);
  let assemblyFormat = "$stack `[` $count `]` `,` $h `,` $norm `,` $query attr-dict `:` type($stack) `,` type($h) `,` type($norm) `,` type($query) `->` type($result)";
  let hasVerifier = 1;
}

// --------------------------------------------------------------------------------------------------------- experts

def K3_RouterOp : K3_PureOp<"router"> {
  let summary = "chooses top_k experts a token: logits [T, E] f32, bias [E] f32 -> ids [T, k] i32, weights [T, k] f32";
  let description = [{
    s = score(logits); the k largest of s + bias, equal ones by lower id; with groups > topk_groups > 0 only experts of the
    topk_groups groups whose two best biased scores sum highest. Weights are the s without bias; if k > 1 and renormalize,
    divided by (their sum + 1e-20); then times scale.
  }];
  let arguments = (ins K3_Float:$logits, K3_Weight:$bias, K3_Int:$top_k, K3_ScoreAttr:$score, BoolAttr:$renormalize, F64Attr:$scale,
                       DefaultValuedAttr<K3_Int, "1">:$groups, DefaultValuedAttr<K3_Int, "1">:$topk_groups);
  let results = (outs K3_Ids:$ids, K3_Float:$weights);
  let assemblyFormat = "$score $logits `,` $bias attr-dict `:` type($logits) `,` type($bias) `->` type($ids) `,` type($weights)";
  let hasVerifier = 1;
}

def K3_ExpertsOp : K3_PureOp<"experts", [AttrSizedOperandSegments]> {
  let summary = "sum over the chosen experts of weight_e * W2 glu(W1 z, W3 z); z [T, Z] -> [T, Z], f32 sum, rounded once";
  let description = [{
    gate_up holds W1 then W3 of every expert, [E, 2*I, Z]; down [E, Z, I]. MXFP4: codes [E, 2*I, Z/2] and [E, Z, I/2] with
    gate_up_scale [E, 2*I, Z/32] and down_scale [E, Z, I/32]. Gate, up, their activation and each expert's output are
    rounded to the activation type, as separate projections would.
  }];
  let arguments = (ins K3_Float:$z, K3_Ids:$ids, K3_Float:$weights, K3_Weight:$gate_up, K3_Weight:$down,
                       Optional<K3_Weight>:$gate_up_scale, Optional<K3_Weight>:$down_scale,
                       K3_ActivationAttr:$activation, DefaultValuedAttr<F64Attr, "1.0">:$beta, OptionalAttr<F64Attr>:$linear_beta);
  let results = (outs K3_Float:$result);
  let assemblyFormat = [{ $activation $z `,` $ids `,` $weights `,` $gate_up `,` $down (`scales` `(` $gate_up_scale^ `,` $down_scale `)`)? attr-dict `:`
    type($z) `,` type($ids) `,` type($weights) `,` type($gate_up) `,` type($down) (`scales` `(` type($gate_up_scale)^ `,` type($down_scale) `)`)? `->` type($result) }];
  let hasVerifier = 1;
}

def K3_ExpertUpOp : K3_PureOp<"expert_up"> {
  let summary = "first half of the chosen experts: z [T, Z], ids [T, k] -> [T, k * I], segment j of a row for its j-th expert";
  let description = [{
    glu(W1 z, W3 z) of experts, with gate_up [E, 2*I, Z] (MXFP4: codes [E, 2*I, Z/2] and scale [E, 2*I, Z/32]).
    The simplify phase splits k3.experts into expert_up, expert_down and combine.
  }];
  let arguments = (ins K3_Float:$z, K3_Ids:$ids, K3_Weight:$gate_up, Optional<K3_Weight>:$scale,
                       K3_ActivationAttr:$activation, DefaultValuedAttr<F64Attr, "1.0">:$beta, OptionalAttr<F64Attr>:$linear_beta);
  let results = (outs K3_Float:$result);
  let assemblyFormat = [{ $activation $z `,` $ids `,` $gate_up (`scale` $scale^)? attr-dict `:`
    type($z) `,` type($ids) `,` type($gate_up) (`scale` type($scale)^)? `->` type($result) }];
  let hasVerifier = 1;
}

def K3_ExpertDownOp : K3_PureOp<"expert_down"> {
  let summary = "second half of the chosen experts: x [T, k * I], ids [T, k], down [E, Z, I] -> [T, k * Z]";
  let arguments = (ins K3_Float:$x, K3_Ids:$ids, K3_Weight:$down, Optional<K3_Weight>:$scale);
  let results = (outs K3_Float:$result);
  let assemblyFormat = [{ $x `,` $ids `,` $down (`scale` $scale^)? attr-dict `:`
    type($x) `,` type($ids) `,` type($down) (`scale` type($scale)^)? `->` type($result) }];
  let hasVerifier = 1;
}

def K3_CombineOp : K3_PureOp<"combine"> {
  let summary = "sum_j weights[t, j] x[t, j * Z ..]: x [T, k * Z], weights [T, k] f32 -> [T, Z], f32 sum, rounded once";
  let arguments = (ins K3_Float:$x, K3_Float:$weights);
  let results = (outs K3_Float:$result);
  let assemblyFormat = "$x `,` $weights attr-dict `:` type($x) `,` type($weights) `->` type($result)";
  let hasVerifier = 1;
}

def K3_SampleOp : K3_PureOp<"sample"> {
  let summary = "arg-max of each row, equal logits by lower id: logits [R, V] f32 -> ids [R] i32";
  let arguments = (ins K3_Float:$logits);
  let results = (outs K3_Ids:$ids);
  let assemblyFormat = "$logits attr-dict `:` type($logits) `->` type($ids)";
  let hasVerifier = 1;
}

// ------------------------------------------------------------------------------------------------------- structure

def K3_TapOp : K3_Op<"tap", [MemoryEffects<[MemRead<K3_StateResource>, MemWrite<K3_StateResource>]>]> {
  let summary = "names a value so that a run can dump it; costs nothing otherwise";
  let description = [{ `k3.tap %h as "layers.{L}.h"`; `{L}` is the layer of the call. }];
  let arguments = (ins AnyRankedTensor:$value, StrAttr:$name);
  let assemblyFormat = "$value `as` $name attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def K3_YieldOp : K3_PureOp<"yield", [Terminator, HasParent<"FusedOp">]> {
  let summary = "gives the results of a fused group";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def K3_FusedOp : K3_Op<"fused", [SingleBlock, RecursiveMemoryEffects, NoRegionArguments]> {
  let summary = "ops that become one kernel (or the few kernels of its anchor)";
  let description = [{
    Made by the fuse phase. `family` is the schedule family that lowers it: "row", "contraction", "head_contraction", "conv", "scan",
    "attention", "experts". Values from outside are captured.
  }];
  let arguments = (ins StrAttr:$family);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$family $body attr-dict (`->` type($results)^)?";
  let hasVerifier = 1;
}

// ----------------------------------------------------------------------------------------------------- collectives

class K3_CollectiveOp<string mnemonic, string text> : K3_PureOp<mnemonic> {
  let summary = text;
  let arguments = (ins K3_Float:$x, StrAttr:$axis);
  let results = (outs K3_Float:$result);
  let assemblyFormat = "$x `over` $axis attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}
def K3_AllReduceOp : K3_CollectiveOp<"all_reduce", "sum over the ranks of a mesh axis">;
def K3_ReduceScatterOp : K3_CollectiveOp<"reduce_scatter", "sum over an axis, each rank keeps its share of the rows">;
def K3_AllGatherOp : K3_CollectiveOp<"all_gather", "rows of all ranks of an axis, in rank order">;
def K3_AllToAllOp : K3_CollectiveOp<"all_to_all", "exchanges equal shares of the rows between all ranks of an axis">;

def K3_SendOp : K3_Op<"send", [MemoryEffects<[MemWrite<K3_StateResource>]>]> {
  let summary = "sends rows to the next pipeline stage `peer`";
  let arguments = (ins K3_Float:$x, K3_Int:$peer);
  let assemblyFormat = "$x `to` $peer attr-dict `:` type($x)";
  let hasVerifier = 1;
}
def K3_RecvOp : K3_Op<"recv", [MemoryEffects<[MemRead<K3_StateResource>]>]> {
  let summary = "receives rows from pipeline stage `peer`";
  let arguments = (ins K3_Int:$peer);
  let results = (outs K3_Float:$result);
  let assemblyFormat = "$peer attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif // K3_DIALECTS_K3_OPS_TD
