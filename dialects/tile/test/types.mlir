// RUN: k3-opt %s | k3-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @views(
// CHECK-SAME: !tile.view<?x7168xbf16>
// CHECK-SAME: !tile.view<3x96x128x112xf32>
// CHECK-SAME: !tile.view<?xi32>
// CHECK-SAME: !tile.view<64x48xi8>
tile.kernel @views(%a: !tile.view<?x7168xbf16>, %b: !tile.view<3x96x128x112xf32>, %c: !tile.view<?xi32>, %d: !tile.view<64x48xi8>) {
  tile.return
}

// CHECK-LABEL: tile.kernel @layouts
tile.kernel @layouts() {
  // CHECK: tile.alloc : !tile.tile<64x128xbf16, shared, #tile.swizzle<128>>
  %a = tile.alloc : !tile.tile<64x128xbf16, shared, #tile.swizzle<128>>
  // CHECK: tile.alloc {offset = 256 : i64} : !tile.tile<3x5xi8, shared>
  %b = tile.alloc {offset = 256} : !tile.tile<3x5xi8, shared>
  %zero = arith.constant 0.0 : f32
  // CHECK: tile.splat %{{.*}} : f32 -> !tile.tile<16x8xf32, #tile.mma_layout<16, 8, 16, c>>
  %c = tile.splat %zero : f32 -> !tile.tile<16x8xf32, fragment, #tile.mma_layout<16, 8, 16, c>>
  // CHECK: tile.splat %{{.*}} : f32 -> !tile.tile<2x3x4x5xf32>
  %d = tile.splat %zero : f32 -> !tile.tile<2x3x4x5xf32, fragment>
}
