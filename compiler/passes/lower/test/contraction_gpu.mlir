// RUN: k3-opt %s --k3-fuse --k3-to-tile=shared-bytes=232448 --cse --canonicalize | FileCheck %s
// Contractions for a GPU: a loop however short the inner extent, up to 64 rows a block, and narrow blocks where there
// would be few.

module {
  k3.symbol @T <= 130

  // 264 blocks of 32 columns are enough; of 16 there are 144.
  // CHECK-LABEL: func.func @wide(
  // CHECK: tile.launch @mm_n8448_k64_m3_bf16 grid(%c264, %c1, %c1)
  func.func @wide(%x: tensor<3x64xbf16>, %w: tensor<8448x64xbf16>) -> tensor<3x8448xbf16> {
    %y = k3.linear %x, %w : tensor<3x64xbf16>, tensor<8448x64xbf16> -> tensor<3x8448xbf16>
    return %y : tensor<3x8448xbf16>
  }
  // CHECK-LABEL: func.func @narrow(
  // CHECK: tile.launch @mm_n2304_k64_m64_bf16 grid(%c144, %{{.*}}, %c1)
  func.func @narrow(%x: tensor<?x64xbf16, #k3.sym<"T">>, %w: tensor<2304x64xbf16>) -> tensor<?x2304xbf16, #k3.sym<"T">> {
    %y = k3.linear %x, %w : tensor<?x64xbf16, #k3.sym<"T">>, tensor<2304x64xbf16> -> tensor<?x2304xbf16, #k3.sym<"T">>
    return %y : tensor<?x2304xbf16, #k3.sym<"T">>
  }
}
// CHECK-LABEL: tile.kernel @mm_n8448_k64_m3_bf16(
// CHECK: tile.for %{{.*}} = %c0 to %c64 step %c64
// CHECK: tile.load {{.*}} -> !tile.tile<32x64xf32>
// CHECK-LABEL: tile.kernel @mm_n2304_k64_m64_bf16(
// CHECK: tile.for %{{.*}} = %c0 to %c64 step %c64
// CHECK: tile.load {{.*}} -> !tile.tile<16x64xf32>
