// RUN: k3-opt %s --k3-fuse --k3-to-tile | FileCheck %s --implicit-check-not="tile.kernel @row_add_w24_bf16_v3"
// Equal bodies share a kernel, whatever they are called with; another body of the same name gets a number, also beside a
// kernel that was there before.

// CHECK: tile.kernel @row_cast_w24_f32(
tile.kernel @row_cast_w24_f32() {
  tile.return
}
// CHECK-LABEL: func.func private @a(
func.func private @a(%x: tensor<3x24xbf16>, %y: tensor<3x24xbf16>) -> tensor<3x24xbf16> {
  // CHECK: %[[Z:.*]] = tile.launch @row_add_w24_bf16 {{.*}} ins(%arg0, %arg1 :
  %z = k3.add %x, %y : tensor<3x24xbf16>, tensor<3x24xbf16> -> tensor<3x24xbf16>
  k3.tap %z as "z" : tensor<3x24xbf16>
  // CHECK: tile.launch @row_add_w24_bf16 {{.*}} ins(%[[Z]], %arg0 :
  %w = k3.add %z, %x : tensor<3x24xbf16>, tensor<3x24xbf16> -> tensor<3x24xbf16>
  return %w : tensor<3x24xbf16>
}
// CHECK-LABEL: func.func private @b(
func.func private @b(%x: tensor<3x24xbf16>, %y: tensor<3x24xf32>) -> (tensor<3x24xbf16>, tensor<3x24xf32>) {
  // CHECK: tile.launch @row_add_w24_bf16_v2
  %z = k3.add %x, %y : tensor<3x24xbf16>, tensor<3x24xf32> -> tensor<3x24xbf16>
  k3.tap %z as "z" : tensor<3x24xbf16>
  // CHECK: tile.launch @row_cast_w24_f32_v2
  %w = k3.cast %x : tensor<3x24xbf16> -> tensor<3x24xf32>
  return %z, %w : tensor<3x24xbf16>, tensor<3x24xf32>
}
// CHECK: tile.kernel @row_add_w24_bf16(
// CHECK: tile.kernel @row_add_w24_bf16_v2(
// CHECK: tile.kernel @row_cast_w24_f32_v2(
