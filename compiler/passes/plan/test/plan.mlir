// RUN: k3-opt %s --k3-plan | FileCheck %s
// RUN: k3-opt %s --k3-plan | k3-opt | FileCheck %s

// Two layers share a body; prefill and decode share weights, states and the bytes of inputs and outputs.

module attributes {k3.limits = {max_tokens = 32 : i64, max_seqs = 2 : i64, max_context = 100 : i64, max_logit_rows = 4 : i64, page_tokens = 64 : i64}} {
  k3.symbol @T <= 32
  k3.symbol @S <= 2
  k3.symbol @R <= 4
  k3.param @embed : tensor<8x16xbf16>
  k3.param @"layers.{L}.w" : tensor<16x16xbf16> from [
    #k3.piece<"model.layers.{L}.a.weight", rows = 8, cols = 16>,
    #k3.piece<"model.layers.{L}.b.weight", rows = 16, cols = 8, at = 128, transpose = true>]
  k3.param @"layers.{L}.experts" : tensor<4x2x16xi8> from [
    #k3.piece<"model.layers.{L}.experts.{E}.w", rows = 2, cols = 16, count = 4, index_stride = 32>]
  k3.state @"layers.{L}.kda_state" : !k3.kda_state<1x4x8xf32, vk>
  k3.state @"layers.{L}.conv_state.q" : !k3.conv_state<3x16xbf16>
  k3.state @latent_cache : !k3.latent_cache<64x24xbf16>

  // CHECK: tile.kernel @embed_rows
  tile.kernel @embed_rows(%ids: !tile.view<?xi32>, %table: !tile.view<8x16xbf16>, %out: !tile.view<?x16xbf16>) {
    tile.return
  }
  tile.kernel @layer(%x: !tile.view<?x16xbf16>, %n: index, %w: !tile.view<16x16xbf16>, %e: !tile.view<4x2x16xi8>,
                     %s: !tile.view<?x1x8x4xf32>, %c: !tile.view<?x3x16xbf16>, %k: !tile.view<?x64x24xbf16>, %stack: !tile.view<?x2x16xbf16>,
                     %count: index, %offsets: !tile.view<?xi32>, %table: !tile.view<?x2xi32>, %out: !tile.view<?x16xbf16>) {
    tile.return
  }
  tile.kernel @head(%x: !tile.view<?x16xbf16>, %rows: !tile.view<?xi32>, %out: !tile.view<?x8xf32>) {
    tile.return
  }
  // CHECK-NOT: tile.kernel @unused
  tile.kernel @unused() {
    tile.return
  }

  func.func @prefill(%ids: tensor<?xi32, #k3.sym<"T">> {k3.name = "ids"}, %batch: !k3.batch<"T", "S">,
                     %rows: tensor<?xi32, #k3.sym<"R">> {k3.name = "logit_rows"}) -> (tensor<?x8xf32, #k3.sym<"R">> {k3.name = "logits"})
      attributes {k3.entry = "prefill"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %t = k3.dim @T
    %r = k3.dim @R
    %blocks = arith.ceildivsi %t, %c16 : index
    %table = k3.weight @embed : tensor<8x16xbf16>
    %stack = k3.stack : !k3.stack<2x16xbf16, "T">
    %x0 = tile.launch @embed_rows grid(%blocks, %c1, %c1) ins(%ids, %table : tensor<?xi32, #k3.sym<"T">>, tensor<8x16xbf16>)
        -> tensor<?x16xbf16, #k3.sym<"T">>
    %x1 = func.call @body(%x0, %batch, %stack, %c0) {k3.layer = 0 : i64} : (tensor<?x16xbf16, #k3.sym<"T">>, !k3.batch<"T", "S">, !k3.stack<2x16xbf16, "T">, index) -> tensor<?x16xbf16, #k3.sym<"T">>
    %x2 = func.call @body(%x1, %batch, %stack, %c1) {k3.layer = 1 : i64} : (tensor<?x16xbf16, #k3.sym<"T">>, !k3.batch<"T", "S">, !k3.stack<2x16xbf16, "T">, index) -> tensor<?x16xbf16, #k3.sym<"T">>
    %y = tile.launch @head grid(%r, %c1, %c1) ins(%x2, %rows : tensor<?x16xbf16, #k3.sym<"T">>, tensor<?xi32, #k3.sym<"R">>)
        -> tensor<?x8xf32, #k3.sym<"R">>
    return %y : tensor<?x8xf32, #k3.sym<"R">>
  }

  func.func private @body(%x: tensor<?x16xbf16, #k3.sym<"T">>, %batch: !k3.batch<"T", "S">, %stack: !k3.stack<2x16xbf16, "T">, %count: index) -> tensor<?x16xbf16, #k3.sym<"T">> {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %t = k3.dim @T
    %next = arith.addi %count, %c1 : index
    %gx = arith.minsi %t, %c4 : index
    %gy = arith.muli %next, %c4 : index
    %w = k3.weight @"layers.{L}.w" : tensor<16x16xbf16>
    %e = k3.weight @"layers.{L}.experts" : tensor<4x2x16xi8>
    %s = k3.ref @"layers.{L}.kda_state" : !k3.kda_state<1x4x8xf32, vk>
    %c = k3.ref @"layers.{L}.conv_state.q" : !k3.conv_state<3x16xbf16>
    %k = k3.ref @latent_cache : !k3.latent_cache<64x24xbf16>
    %offsets = k3.batch_field %batch "seq_offsets" : !k3.batch<"T", "S"> -> tensor<?xi32, #k3.sym<"S">>
    %pages = k3.batch_field %batch "page_table" : !k3.batch<"T", "S"> -> tensor<?x2xi32, #k3.sym<"S">>
    %y = tile.launch @layer grid(%gx, %gy, %c1)
        ins(%x, %t, %w, %e, %s, %c, %k, %stack, %next, %offsets, %pages : tensor<?x16xbf16, #k3.sym<"T">>, index, tensor<16x16xbf16>, tensor<4x2x16xi8>,
            !k3.kda_state<1x4x8xf32, vk>, !k3.conv_state<3x16xbf16>, !k3.latent_cache<64x24xbf16>, !k3.stack<2x16xbf16, "T">, index,
            tensor<?xi32, #k3.sym<"S">>, tensor<?x2xi32, #k3.sym<"S">>) -> tensor<?x16xbf16, #k3.sym<"T">>
    k3.tap %y as "layers.{L}.h" : tensor<?x16xbf16, #k3.sym<"T">>
    return %y : tensor<?x16xbf16, #k3.sym<"T">>
  }

  func.func @decode_2(%ids: tensor<2xi32> {k3.name = "ids"}, %batch: !k3.batch<2>) -> (tensor<2x8xf32> {k3.name = "logits"})
      attributes {k3.entry = "decode", k3.bucket = 2 : i64} {
    %c1 = arith.constant 1 : index
    %table = k3.weight @embed : tensor<8x16xbf16>
    %x = tile.launch @embed_rows grid(%c1, %c1, %c1) ins(%ids, %table : tensor<2xi32>, tensor<8x16xbf16>) -> tensor<2x16xbf16>
    %slots = k3.batch_field %batch "seq_slots" : !k3.batch<2> -> tensor<2xi32>
    %y = tile.launch @head grid(%c1, %c1, %c1) ins(%x, %slots : tensor<2x16xbf16>, tensor<2xi32>) -> tensor<2x8xf32>
    return %y : tensor<2x8xf32>
  }
}

// CHECK: plan.symbol @T <= 32
// CHECK-NEXT: plan.symbol @S <= 2
// CHECK-NEXT: plan.symbol @R <= 4
// CHECK-NEXT: plan.program rank 0 events 0 {

// Weights: 256 + 2 x (512 + 128). States: 2 slots x (128 + 96) x 2 layers. Cache: 2 sequences x 2 pages of 3072 bytes.
// CHECK-NEXT: plan.arena @weights weights size 1536 align 4096
// CHECK-NEXT: plan.arena @state state size 896 align 4096
// CHECK-NEXT: plan.arena @cache cache size 12288 align 4096
// Scratch: the stack, 2048 bytes, and three values of 1024, of which two live together.
// CHECK-NEXT: plan.arena @scratch scratch size 4096 align 4096
// CHECK-NEXT: plan.arena @io io size 832 align 4096

// CHECK-DAG: plan.buffer @embed in @weights at 0 size 256 : bf16 [8, 16]
// CHECK-DAG: plan.buffer @layers.0.w in @weights at 256 size 512 : bf16 [16, 16]
// CHECK-DAG: plan.buffer @layers.0.experts in @weights at 768 size 128 : i8 [4, 2, 16]
// CHECK-DAG: plan.buffer @layers.1.w in @weights at 896 size 512 : bf16 [16, 16]
// CHECK-DAG: plan.buffer @layers.1.experts in @weights at 1408 size 128 : i8 [4, 2, 16]
// CHECK-DAG: plan.buffer @layers.0.kda_state in @state at 0 size 256 : f32 [2, 1, 8, 4]
// CHECK-DAG: plan.buffer @layers.0.conv_state.q in @state at 256 size 192 : bf16 [2, 3, 16]
// CHECK-DAG: plan.buffer @layers.1.kda_state in @state at 448 size 256 : f32 [2, 1, 8, 4]
// CHECK-DAG: plan.buffer @layers.1.conv_state.q in @state at 704 size 192 : bf16 [2, 3, 16]
// CHECK-DAG: plan.buffer @latent_cache in @cache at 0 size 12288 : bf16 [4, 64, 24]
// CHECK-DAG: plan.buffer @ids in @io at 0 size 128 : i32 [T]
// CHECK-DAG: plan.buffer @token_seq in @io at 128 size 128 : i32 [T]
// CHECK-DAG: plan.buffer @token_pos in @io at 256 size 128 : i32 [T]
// CHECK-DAG: plan.buffer @seq_offsets in @io at 384 size 12 : i32 [add(S, 1)]
// CHECK-DAG: plan.buffer @seq_slots in @io at 448 size 8 : i32 [S]
// CHECK-DAG: plan.buffer @seq_context in @io at 512 size 8 : i32 [S]
// CHECK-DAG: plan.buffer @page_table in @io at 576 size 16 : i32 [S, 2]
// CHECK-DAG: plan.buffer @logit_rows in @io at 640 size 16 : i32 [R]
// CHECK-DAG: plan.buffer @logits in @io at 704 size 128 : f32 [R, 8]
// CHECK-DAG: plan.buffer @ids_2 in @io at 0 size 8 : i32 [2]
// CHECK-DAG: plan.buffer @seq_offsets_2 in @io at 384 size 12 : i32 [3]
// CHECK-DAG: plan.buffer @logits_2 in @io at 704 size 64 : f32 [2, 8]
// CHECK-DAG: plan.buffer @"prefill/stack" in @scratch at 0 size 2048 : bf16 [T, 2, 16]
// CHECK-DAG: plan.buffer @"prefill/embed_rows" in @scratch at 2048 size 1024 : bf16 [T, 16]
// CHECK-DAG: plan.buffer @"prefill/layers.0.layer" in @scratch at 3072 size 1024 : bf16 [T, 16]
// CHECK-DAG: plan.buffer @"prefill/layers.1.layer" in @scratch at 2048 size 1024 : bf16 [T, 16]
// CHECK-DAG: plan.buffer @"decode_2/embed_rows" in @scratch at 0 size 64 : bf16 [2, 16]

// CHECK: plan.state kda_state "layers.0.kda_state" in @layers.0.kda_state slot [1, 8, 4] bytes 128 order "vk"
// CHECK-NEXT: plan.state conv_state "layers.0.conv_state.q" in @layers.0.conv_state.q slot [3, 16] bytes 96
// CHECK-NEXT: plan.state latent_cache "latent_cache" in @latent_cache slot [64, 24] bytes 3072
// CHECK-NEXT: plan.state kda_state "layers.1.kda_state"
// CHECK-NEXT: plan.state conv_state "layers.1.conv_state.q"
// CHECK-NOT: plan.state

// CHECK: plan.weight "embed" in @embed from [#plan.piece<"embed", rows = 8, cols = 16, src_begin = 0, src_stride = 16, dst_begin = 0, dst_stride = 16>]
// CHECK-NEXT: plan.weight "layers.0.w" in @layers.0.w from [#plan.piece<"model.layers.0.a.weight", rows = 8, cols = 16, src_begin = 0, src_stride = 16, dst_begin = 0, dst_stride = 16>, #plan.piece<"model.layers.0.b.weight", rows = 16, cols = 8, src_begin = 0, src_stride = 8, dst_begin = 128, dst_stride = 16, transpose = true>]
// CHECK-NEXT: plan.weight "layers.0.experts" in @layers.0.experts from [#plan.piece<"model.layers.0.experts.{}.w", rows = 2, cols = 16, src_begin = 0, src_stride = 16, dst_begin = 0, dst_stride = 16, count = 4, index_stride = 32>]
// CHECK-NEXT: plan.weight "layers.1.w" in @layers.1.w from [#plan.piece<"model.layers.1.a.weight"
// CHECK-NEXT: plan.weight "layers.1.experts"

// CHECK-NEXT: plan.kernel @embed_rows params (buffer, buffer, buffer)
// CHECK-NEXT: plan.kernel @layer params (buffer, scalar, buffer, buffer, buffer, buffer, buffer, buffer, scalar, buffer, buffer, buffer)
// CHECK-NEXT: plan.kernel @head params (buffer, buffer, buffer)

// CHECK-NEXT: plan.entry prefill "prefill" symbols [@T, @S, @R]
// CHECK-SAME: inputs ["ids" = @ids, "token_seq" = @token_seq, "token_pos" = @token_pos, "seq_offsets" = @seq_offsets, "seq_slots" = @seq_slots, "seq_context" = @seq_context, "page_table" = @page_table, "logit_rows" = @logit_rows]
// CHECK-SAME: outputs ["logits" = @logits] {
// CHECK-NEXT: plan.launch @embed_rows grid [ceildiv(T, 16), 1, 1] args (@ids, @embed, @"prefill/embed_rows")
// CHECK-NEXT: plan.launch @layer grid [min(T, 4), 4, 1] args (@"prefill/embed_rows", T, @layers.0.w, @layers.0.experts, @layers.0.kda_state, @layers.0.conv_state.q, @latent_cache, @"prefill/stack", 1, @seq_offsets, @page_table, @"prefill/layers.0.layer")
// CHECK-NEXT: plan.tap "layers.0.h" = @"prefill/layers.0.layer"
// CHECK-NEXT: plan.launch @layer grid [min(T, 4), 8, 1] args (@"prefill/layers.0.layer", T, @layers.1.w, @layers.1.experts, @layers.1.kda_state, @layers.1.conv_state.q, @latent_cache, @"prefill/stack", 2, @seq_offsets, @page_table, @"prefill/layers.1.layer")
// CHECK-NEXT: plan.tap "layers.1.h" = @"prefill/layers.1.layer"
// CHECK-NEXT: plan.launch @head grid [R, 1, 1] args (@"prefill/layers.1.layer", @logit_rows, @logits)
// CHECK-NEXT: }
// CHECK-NEXT: plan.entry decode "decode_2" bucket 2 symbols [] inputs ["ids" = @ids_2, "token_seq" = @token_seq_2
// CHECK-SAME: outputs ["logits" = @logits_2] {
// CHECK-NEXT: plan.launch @embed_rows grid [1, 1, 1] args (@ids_2, @embed, @"decode_2/embed_rows")
// CHECK-NEXT: plan.launch @head grid [1, 1, 1] args (@"decode_2/embed_rows", @seq_slots_2, @logits_2)
// CHECK-NEXT: }
