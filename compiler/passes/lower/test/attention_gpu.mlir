// RUN: k3-opt %s --k3-fuse --k3-to-tile=shared-bytes=232448 --cse --canonicalize | FileCheck %s
// Attention for a GPU. Few rows: the pages of a row are dealt out to several blocks, and a second kernel joins what they
// came to. Many rows: one block a row, as on a CPU.

module attributes {k3.limits = {max_tokens = 130 : i64, max_seqs = 2 : i64, max_context = 200 : i64, max_logit_rows = 7 : i64, page_tokens = 64 : i64}} {
  k3.symbol @T <= 130
  k3.symbol @S <= 2

  // Four pages at most, so four shares, of 48 heads in blocks of 32.
  // CHECK-LABEL: func.func @step(
  // CHECK: %[[SHARES:.*]]:3 = tile.launch @attention_share_h48_w40_r32_s4_bf16 grid(%c2, %c2, %c4)
  // CHECK-SAME: -> tensor<2x4x1536xf32>, tensor<2x4x48xf32>, tensor<2x4x48xf32>
  // CHECK: tile.launch @attention_join_h48_w40_r32_s4_bf16 grid(%c48, %c2, %c1)
  func.func @step(%q: tensor<2x1920xbf16>, %cache: !k3.latent_cache<64x40xbf16>, %batch: !k3.batch<2>) -> tensor<2x1536xbf16> {
    %u = k3.latent_attention %q, %cache, %batch {heads = 48, latent = 32, scale = 0.25} : tensor<2x1920xbf16>, !k3.latent_cache<64x40xbf16>, !k3.batch<2> -> tensor<2x1536xbf16>
    return %u : tensor<2x1536xbf16>
  }

  // CHECK-LABEL: func.func @prefill(
  // CHECK: tile.launch @attention_h96_w576_r512_bf16 grid(%c3, %{{.*}}, %c1)
  func.func @prefill(%q: tensor<?x55296xbf16, #k3.sym<"T">>, %cache: !k3.latent_cache<64x576xbf16>, %batch: !k3.batch<"T", "S">) -> tensor<?x49152xbf16, #k3.sym<"T">> {
    %u = k3.latent_attention %q, %cache, %batch {heads = 96, latent = 512, scale = 0.25} : tensor<?x55296xbf16, #k3.sym<"T">>, !k3.latent_cache<64x576xbf16>, !k3.batch<"T", "S"> -> tensor<?x49152xbf16, #k3.sym<"T">>
    return %u : tensor<?x49152xbf16, #k3.sym<"T">>
  }

  // CHECK-LABEL: func.func @prefill_f32(
  // CHECK: tile.launch @attention_h96_w576_r512_f32 grid(%c3, %{{.*}}, %c1)
  func.func @prefill_f32(%q: tensor<?x55296xf32, #k3.sym<"T">>, %cache: !k3.latent_cache<64x576xf32>, %batch: !k3.batch<"T", "S">) -> tensor<?x49152xf32, #k3.sym<"T">> {
    %u = k3.latent_attention %q, %cache, %batch {heads = 96, latent = 512, scale = 0.25} : tensor<?x55296xf32, #k3.sym<"T">>, !k3.latent_cache<64x576xf32>, !k3.batch<"T", "S"> -> tensor<?x49152xf32, #k3.sym<"T">>
    return %u : tensor<?x49152xf32, #k3.sym<"T">>
  }
}

// CHECK-LABEL: tile.kernel @attention_share_h48_w40_r32_s4_bf16(
// CHECK: %[[SHARE:.*]] = tile.block_id z
// CHECK: %[[SHARE1:.*]] = arith.addi %[[SHARE]], %c1
// CHECK: %[[SEEN:.*]] = arith.addi %[[POS:.*]], %c1
// Whole pages a share, as few as hold the row's keys in four.
// CHECK: %[[UP:.*]] = arith.addi %[[POS]], %c256
// CHECK: %[[PAGES:.*]] = arith.divsi %[[UP]], %c256
// CHECK: %[[COUNT:.*]] = arith.muli %[[PAGES]], %c64
// CHECK: %[[BEGIN:.*]] = arith.muli %[[SHARE]], %[[COUNT]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[BEGIN]], %[[COUNT]]
// CHECK: %[[END:.*]] = arith.minsi %[[NEXT]], %[[SEEN]]
// An empty share, or slot -1: nothing is written.
// CHECK-DAG: %[[SOME:.*]] = arith.cmpi slt, %[[BEGIN]], %[[END]]
// CHECK-DAG: %[[HELD:.*]] = arith.cmpi sge, %{{.*}}, %c0
// CHECK: %[[WORK:.*]] = arith.andi %[[HELD]], %[[SOME]]
// CHECK: tile.if %[[WORK]] {
// CHECK: %[[R:.*]]:3 = tile.for %{{.*}} = %[[BEGIN]] to %[[END]] step %c64
// Both products have operands of bf16; the sum of the weights is of those before rounding.
// CHECK: %[[W:.*]] = tile.map
// CHECK: math.exp
// CHECK: tile.reduce add %[[EXACT:.*]] axis 1
// CHECK: %[[P:.*]] = tile.cast %[[EXACT]] : !tile.tile<32x64xf32> -> !tile.tile<32x64xbf16>
// CHECK: tile.mma %{{.*}}, %[[P]], %{{.*}} : !tile.tile<32x32xf32>, !tile.tile<32x64xbf16>
// CHECK: tile.store %{{.*}}[%{{.*}}, %[[SHARE]], %{{.*}}] bound(%{{.*}}, %[[SHARE1]], %c1536) : !tile.tile<1x1024xf32> -> !tile.view<2x4x1536xf32>

// CHECK-LABEL: tile.kernel @attention_join_h48_w40_r32_s4_bf16(
// The shares that are used are counted as they were dealt out; the others were never written.
// CHECK: %[[COUNT:.*]] = arith.muli %{{.*}}, %c64
// CHECK: %[[USED:.*]] = arith.divsi %{{.*}}, %[[COUNT]]
// CHECK: %[[USED32:.*]] = arith.index_cast %[[USED]] : index to i32
// CHECK: tile.load %{{.*}} bound(%{{.*}}, %[[USED]], %{{.*}}) : !tile.view<2x4x48xf32> -> !tile.tile<4x1xf32>
// CHECK: %[[IN:.*]] = arith.cmpi slt, %{{.*}}, %[[USED32]]
// CHECK: arith.select %[[IN]], %{{.*}}, %{{.*}} : f32
// CHECK: tile.reduce max %{{.*}} axis 0
// CHECK: tile.load %{{.*}} bound(%{{.*}}, %[[USED]], %{{.*}}) : !tile.view<2x4x1536xf32> -> !tile.tile<4x32xf32>

// Two rounded numbers fit a page beside 32 heads; in f32 it takes steps of 16 keys.
// CHECK-LABEL: tile.kernel @attention_h96_w576_r512_bf16(
// CHECK: tile.load %{{.*}} : !tile.view<?x64x576xbf16> -> !tile.tile<64x576xf32>
// CHECK-LABEL: tile.kernel @attention_h96_w576_r512_f32(
// CHECK: %[[IN:.*]] = arith.remsi %{{.*}}, %c64
// CHECK: tile.load %{{.*}}[%{{.*}}, %[[IN]], %c0] {{.*}} : !tile.view<?x64x576xf32> -> !tile.tile<16x576xf32>
