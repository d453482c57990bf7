// RUN: k3-opt %s --k3-fuse | FileCheck %s
// Columns that a head passes through see no tail: the add behind it stays a group of its own.

// CHECK-LABEL: func.func private @f
// CHECK: k3.fused "head_contraction" {
// CHECK-NEXT: k3.head_linear
// CHECK-NEXT: k3.yield
// CHECK: k3.fused "row" {
// CHECK-NEXT: k3.add
func.func private @f(%x: tensor<4x36xf32>, %w: tensor<24x5xbf16>, %y: tensor<4x27xf32>) -> tensor<4x27xf32> {
  %a = k3.head_linear %x, %w {heads = 3 : i64, stride_rows = 8 : i64, row_begin = 0 : i64, rows = 8 : i64, transpose, pass_begin = 8 : i64, pass_count = 4 : i64} : tensor<4x36xf32>, tensor<24x5xbf16> -> tensor<4x27xf32>
  %b = k3.add %a, %y : tensor<4x27xf32>, tensor<4x27xf32> -> tensor<4x27xf32>
  return %b : tensor<4x27xf32>
}

// A declaration has no body to fuse or to lower.
// RUN: k3-opt %s --k3-fuse --k3-to-tile | FileCheck %s --check-prefix=TILE
// TILE: func.func private @elsewhere
func.func private @elsewhere(tensor<4x4xf32>)
