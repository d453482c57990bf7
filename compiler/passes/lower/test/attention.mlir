// RUN: k3-opt %s --k3-fuse --k3-to-tile --cse --canonicalize | FileCheck %s
// Attention over latent rows: 18 heads in blocks of 16, cache rows of 26 of which 20 are the value; pages of 64 tokens.

// CHECK-LABEL: func.func @attention(
// CHECK: k3.batch_field %{{.*}} "page_table" : <"T", "S"> -> tensor<?x4xi32, #k3.sym<"S">>
// CHECK: tile.launch @attention_h18_w26_r20_bf16 grid(%c2, %{{.*}}, %c1)
// CHECK-LABEL: func.func @append(
// CHECK: k3.batch_field %{{.*}} "page_table" : <2> -> tensor<2x4xi32>
// CHECK: tile.launch @row_append_w26_bf16 grid(%c2, %c1, %c1)

// CHECK-LABEL: tile.kernel @attention_h18_w26_r20_bf16(
// CHECK-SAME: %[[T:[^:]*]]: index, %[[S:[^:]*]]: index, %[[TSEQ:[^:]*]]: !tile.view<?xi32>, %[[TPOS:[^:]*]]: !tile.view<?xi32>, %[[SLOTS:[^:]*]]: !tile.view<?xi32>,
// CHECK-SAME: %[[TABLE:[^:]*]]: !tile.view<?x4xi32>, %[[QV:[^:]*]]: !tile.view<?x468xbf16>, %[[CACHE:[^:]*]]: !tile.view<?x64x26xbf16>, %[[OUT:[^:]*]]: !tile.view<?x360xbf16>) {
// CHECK-DAG: %[[SCALE:.*]] = arith.constant 2.500000e-01 : f32
// CHECK-DAG: %[[NEG:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[HEADS:.*]] = tile.block_id x
// CHECK: %[[ROW:.*]] = tile.block_id y
// CHECK: %[[ROW1:.*]] = arith.addi %[[ROW]], %c1
// CHECK: %[[SEQ:.*]] = tile.read %[[TSEQ]][%[[ROW]]] bound(%[[T]])
// CHECK: %[[POS:.*]] = tile.read %[[TPOS]][%[[ROW]]] bound(%[[T]])
// CHECK: %[[SLOT:.*]] = tile.read %[[SLOTS]][%[[SEQ]]] bound(%[[S]])
// Slot -1: zero, and neither page table nor cache is read. The last block has 2 of its 16 heads inside the bound.
// CHECK: %[[OUT0:.*]] = arith.muli %[[HEADS]], %c320
// CHECK: %[[NONE:.*]] = arith.cmpi slt, %[[SLOT]], %c0
// CHECK: tile.if %[[NONE]] {
// CHECK: tile.store %{{.*}}, %[[OUT]][%[[ROW]], %[[OUT0]]] bound(%[[ROW1]], %c360)
// CHECK: %[[SOME:.*]] = arith.cmpi sge, %[[SLOT]], %c0
// CHECK: tile.if %[[SOME]] {
// CHECK: tile.load %[[QV]][%[[ROW]], %{{.*}}] bound(%[[ROW1]], %c468)
// CHECK: %[[Q:.*]] = tile.reshape %{{.*}} : !tile.tile<1x416xf32> -> !tile.tile<16x26xf32>
// A token sees itself and all before it; of the last page only so many rows are read.
// CHECK: %[[SEEN:.*]] = arith.addi %[[POS]], %c1
// CHECK: %[[R:.*]]:3 = tile.for %[[FIRST:.*]] = %c0 to %[[SEEN]] step %c64 iter(%[[ACC:.*]] = %{{.*}}, %[[TOP:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}}) :
// CHECK: %[[LEFT:.*]] = arith.subi %[[SEEN]], %[[FIRST]]
// CHECK: %[[PLACE:.*]] = arith.divsi %[[FIRST]], %c64
// CHECK: %[[PAGE:.*]] = tile.read %[[TABLE]][%[[SEQ]], %[[PLACE]]] bound(%[[S]], %c4)
// CHECK: %[[PAGE1:.*]] = arith.addi %[[PAGE]], %c1
// CHECK: %[[ROWS:.*]] = arith.minsi %[[LEFT]], %c64
// CHECK: %[[KEYS:.*]] = tile.load %[[CACHE]][%[[PAGE]], %c0, %c0] bound(%[[PAGE1]], %[[ROWS]], %c26)
// CHECK: %[[RAW:.*]] = tile.mma %{{.*}}, %[[Q]], %[[KEYS]] {transpose_b}
// CHECK: %[[LEFT32:.*]] = arith.index_cast %[[LEFT]]
// CHECK: %[[SCORES:.*]] = tile.map(%[[RAW]],
// CHECK: %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[SCALE]]
// CHECK: %[[IN:.*]] = arith.cmpi slt, %{{.*}}, %[[LEFT32]]
// CHECK: arith.select %[[IN]], %[[SCALED]], %[[NEG]]
// CHECK: %[[MAX:.*]] = tile.reduce max %[[SCORES]] axis 1
// CHECK: %[[NEXT:.*]] = tile.map(%[[TOP]], %[[MAX]])
// CHECK: %[[KEEP:.*]] = tile.map(%[[TOP]], %[[NEXT]])
// CHECK: %[[P:.*]] = tile.map(%[[SCORES]], %[[NEXT]])
// CHECK: %[[FADED:.*]] = tile.map(%[[ACC]], %[[KEEP]])
// The values are the latent part of the same rows.
// CHECK: %[[LATENT:.*]] = tile.extract %[[KEYS]][%c0, %c0] : !tile.tile<64x26xf32> -> !tile.tile<64x20xf32>
// CHECK: %[[TOTAL:.*]] = tile.map(%[[SUM]], %[[KEEP]], %{{.*}})
// CHECK: %[[NEWACC:.*]] = tile.mma %[[FADED]], %[[P]], %[[LATENT]]
// CHECK: tile.yield %[[NEWACC]], %[[NEXT]], %[[TOTAL]]
// CHECK: tile.map(%[[R]]#0, %[[R]]#2)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.divf
// CHECK: tile.store %{{.*}}, %[[OUT]][%[[ROW]], %[[OUT0]]] bound(%[[ROW1]], %c360)

// Only the latent part is normed; a row goes to its page, and a row of slot -1 nowhere.
// CHECK-LABEL: tile.kernel @row_append_w26_bf16(
// CHECK-SAME: %[[TABLE:[^:]*]]: !tile.view<2x4xi32>, %[[CACHE:[^:]*]]: !tile.view<?x64x26xbf16>) {
// CHECK: %[[POS:.*]] = tile.read
// CHECK: %[[POS:.*]] = tile.read
// CHECK: %[[SLOT:.*]] = tile.read
// CHECK: %[[KV:.*]] = tile.load %{{.*}} bound(%c2, %c26)
// CHECK: %[[L:.*]] = tile.extract %[[KV]][%c0, %c0] : !tile.tile<1x26xf32> -> !tile.tile<1x20xf32>
// CHECK: %[[N:.*]] = tile.map(%[[L]], %{{.*}}, %{{.*}})
// CHECK: arith.truncf
// CHECK: %[[SOME:.*]] = arith.cmpi sge, %[[SLOT]], %c0
// CHECK-NEXT: tile.if %[[SOME]] {
// CHECK: %[[PLACE:.*]] = arith.divsi %[[POS]], %c64
// CHECK: %[[PAGE:.*]] = tile.read %[[TABLE]][%{{.*}}, %[[PLACE]]] bound(%c2, %c4)
// CHECK: %[[IN:.*]] = arith.remsi %[[POS]], %c64
// CHECK: %[[PAGE1:.*]] = arith.addi %[[PAGE]], %c1
// CHECK: tile.reshape %[[N]]
// CHECK: tile.store %{{.*}}, %[[CACHE]][%[[PAGE]], %[[IN]], %c0] bound(%[[PAGE1]], %c64, %c20)
// CHECK: tile.extract %[[KV]][%c0, %c20] : !tile.tile<1x26xf32> -> !tile.tile<1x6xf32>
// CHECK: tile.store %{{.*}}, %[[CACHE]][%[[PAGE]], %[[IN]], %c20] bound(%[[PAGE1]], %c64, %c26)
// CHECK-NEXT: }
// CHECK-NEXT: tile.return

module attributes {k3.limits = {max_tokens = 130 : i64, max_seqs = 3 : i64, max_context = 200 : i64, max_logit_rows = 7 : i64, page_tokens = 64 : i64}} {
  k3.symbol @T <= 130
  k3.symbol @S <= 3
  func.func @attention(%q: tensor<?x468xbf16, #k3.sym<"T">>, %cache: !k3.latent_cache<64x26xbf16>, %batch: !k3.batch<"T", "S">) -> tensor<?x360xbf16, #k3.sym<"T">> {
    %u = k3.latent_attention %q, %cache, %batch {heads = 18, latent = 20, scale = 0.25} : tensor<?x468xbf16, #k3.sym<"T">>, !k3.latent_cache<64x26xbf16>, !k3.batch<"T", "S"> -> tensor<?x360xbf16, #k3.sym<"T">>
    return %u : tensor<?x360xbf16, #k3.sym<"T">>
  }
  func.func @append(%kv: tensor<2x26xbf16>, %gain: tensor<20xf32>, %cache: !k3.latent_cache<64x26xbf16>, %batch: !k3.batch<2>) {
    k3.latent_append %kv, %gain, %cache, %batch {eps = 1.0e-6} : tensor<2x26xbf16>, tensor<20xf32>, !k3.latent_cache<64x26xbf16>, !k3.batch<2>
    return
  }
}
