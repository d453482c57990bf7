// RUN: k3-opt %s --k3-fuse --k3-to-tile=shared-bytes=232448 --cse --canonicalize | FileCheck %s
// Contractions for a GPU: a loop however short the inner extent. Up to 64 rows a block has, and narrow blocks where there
// would be few; where there may be more rows, a block has 128 rows and columns, the halves of a gate sharing them.

module {
  k3.symbol @T <= 130
  k3.symbol @F <= 64

  // 264 blocks of 32 columns are enough; of 16 there are 144.
  // CHECK-LABEL: func.func @wide(
  // CHECK: tile.launch @mm_n8448_k64_m3_bf16 grid(%c264, %c1, %c1)
  func.func @wide(%x: tensor<3x64xbf16>, %w: tensor<8448x64xbf16>) -> tensor<3x8448xbf16> {
    %y = k3.linear %x, %w : tensor<3x64xbf16>, tensor<8448x64xbf16> -> tensor<3x8448xbf16>
    return %y : tensor<3x8448xbf16>
  }
  // CHECK-LABEL: func.func @narrow(
  // CHECK: tile.launch @mm_n2304_k64_m64_bf16 grid(%c144, %{{.*}}, %c1)
  func.func @narrow(%x: tensor<?x64xbf16, #k3.sym<"F">>, %w: tensor<2304x64xbf16>) -> tensor<?x2304xbf16, #k3.sym<"F">> {
    %y = k3.linear %x, %w : tensor<?x64xbf16, #k3.sym<"F">>, tensor<2304x64xbf16> -> tensor<?x2304xbf16, #k3.sym<"F">>
    return %y : tensor<?x2304xbf16, #k3.sym<"F">>
  }
  // CHECK-LABEL: func.func @many(
  // CHECK: tile.launch @mm_n2304_k64_m128_bf16 grid(%c18, %{{.*}}, %c1)
  func.func @many(%x: tensor<?x64xbf16, #k3.sym<"T">>, %w: tensor<2304x64xbf16>) -> tensor<?x2304xbf16, #k3.sym<"T">> {
    %y = k3.linear %x, %w : tensor<?x64xbf16, #k3.sym<"T">>, tensor<2304x64xbf16> -> tensor<?x2304xbf16, #k3.sym<"T">>
    return %y : tensor<?x2304xbf16, #k3.sym<"T">>
  }
  // CHECK-LABEL: func.func @gated(
  // CHECK: tile.launch @mm_glu_n2304_k64_m128_bf16 grid(%c18, %{{.*}}, %c1)
  func.func @gated(%x: tensor<?x64xbf16, #k3.sym<"T">>, %w: tensor<2304x64xbf16>) -> tensor<?x1152xbf16, #k3.sym<"T">> {
    %y = k3.linear %x, %w : tensor<?x64xbf16, #k3.sym<"T">>, tensor<2304x64xbf16> -> tensor<?x2304xbf16, #k3.sym<"T">>
    %g = k3.slice %y[0] : tensor<?x2304xbf16, #k3.sym<"T">> -> tensor<?x1152xbf16, #k3.sym<"T">>
    %u = k3.slice %y[1152] : tensor<?x2304xbf16, #k3.sym<"T">> -> tensor<?x1152xbf16, #k3.sym<"T">>
    %h = k3.glu swiglu %g, %u : tensor<?x1152xbf16, #k3.sym<"T">>, tensor<?x1152xbf16, #k3.sym<"T">> -> tensor<?x1152xbf16, #k3.sym<"T">>
    return %h : tensor<?x1152xbf16, #k3.sym<"T">>
  }
  // f32 numbers are tiles as any.
  // CHECK-LABEL: func.func @exact(
  // CHECK: tile.launch @mm_n2304_k64_m64_f32 grid(%c144, %{{.*}}, %c1)
  func.func @exact(%x: tensor<?x64xf32, #k3.sym<"T">>, %w: tensor<2304x64xf32>) -> tensor<?x2304xf32, #k3.sym<"T">> {
    %y = k3.linear %x, %w : tensor<?x64xf32, #k3.sym<"T">>, tensor<2304x64xf32> -> tensor<?x2304xf32, #k3.sym<"T">>
    return %y : tensor<?x2304xf32, #k3.sym<"T">>
  }
}
// CHECK-LABEL: tile.kernel @mm_n8448_k64_m3_bf16(
// CHECK: tile.for %{{.*}} = %c0 to %c64 step %c64
// CHECK: tile.load {{.*}} -> !tile.tile<32x64xf32>
// CHECK-LABEL: tile.kernel @mm_n2304_k64_m64_bf16(
// CHECK: tile.for %{{.*}} = %c0 to %c64 step %c64
// CHECK: tile.load {{.*}} -> !tile.tile<16x64xf32>
// CHECK-LABEL: tile.kernel @mm_n2304_k64_m128_bf16(
// CHECK: tile.load {{.*}} -> !tile.tile<128x64xf32>
// CHECK: tile.load {{.*}} -> !tile.tile<128x64xf32>
// CHECK-LABEL: tile.kernel @mm_glu_n2304_k64_m128_bf16(
// CHECK: tile.load {{.*}} -> !tile.tile<64x64xf32>
