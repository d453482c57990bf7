// RUN: k3-opt %s --k3-fuse --verify-diagnostics
// RUN: k3-opt %s --k3-fuse 2>/dev/null | FileCheck %s
// A remark says which op could have joined, why it did not, and what that costs. Silence where a rule never applied.

// CHECK-LABEL: func.func private @read_twice(
func.func private @read_twice(%x: tensor<3x24xbf16>, %y: tensor<3x10xbf16>, %w: tensor<10x24xbf16>) -> (tensor<3x10xbf16>, tensor<3x10xbf16>) {
  // The group ends at the value that is stored.
  // CHECK: k3.fused "contraction" {
  // CHECK-NEXT: k3.linear
  // CHECK-NEXT: k3.gate
  // CHECK-NEXT: k3.yield
  // CHECK: k3.fused "row" {
  // CHECK-NEXT: k3.add
  %0 = k3.linear %x, %w : tensor<3x24xbf16>, tensor<10x24xbf16> -> tensor<3x10xbf16>
  // expected-remark @below {{fuse: 'k3.add' stays outside of the contraction, because 2 ops read its input; costs one store and one load of 10 columns a row}}
  %1 = k3.gate %0, %y : tensor<3x10xbf16>, tensor<3x10xbf16> -> tensor<3x10xbf16>
  %2 = k3.add %1, %y : tensor<3x10xbf16>, tensor<3x10xbf16> -> tensor<3x10xbf16>
  return %1, %2 : tensor<3x10xbf16>, tensor<3x10xbf16>
}

func.func private @tapped(%x: tensor<3x24xbf16>, %y: tensor<3x10xbf16>, %w: tensor<10x24xbf16>) -> tensor<3x10xbf16> {
  // expected-remark @below {{fuse: 'k3.gate' stays outside of the contraction, because 3 ops read its input}}
  %0 = k3.linear %x, %w : tensor<3x24xbf16>, tensor<10x24xbf16> -> tensor<3x10xbf16>
  k3.tap %0 as "a" : tensor<3x10xbf16>
  k3.tap %0 as "b" : tensor<3x10xbf16>
  %1 = k3.gate %0, %y : tensor<3x10xbf16>, tensor<3x10xbf16> -> tensor<3x10xbf16>
  return %1 : tensor<3x10xbf16>
}

// No op could join: a norm needs the whole row, an add of a value to itself is not behind one input, a slice is no op.
func.func private @silent(%x: tensor<3x24xbf16>, %w: tensor<10x24xbf16>, %gain: tensor<10xf32>) -> (tensor<3x10xbf16>, tensor<3x10xbf16>, tensor<3x10xbf16>) {
  %0 = k3.linear %x, %w : tensor<3x24xbf16>, tensor<10x24xbf16> -> tensor<3x10xbf16>
  %1 = k3.rms_norm %0, %gain {eps = 1.0e-5} : tensor<3x10xbf16>, tensor<10xf32> -> tensor<3x10xbf16>
  %2 = k3.linear %x, %w : tensor<3x24xbf16>, tensor<10x24xbf16> -> tensor<3x10xbf16>
  %3 = k3.add %2, %2 : tensor<3x10xbf16>, tensor<3x10xbf16> -> tensor<3x10xbf16>
  return %0, %1, %3 : tensor<3x10xbf16>, tensor<3x10xbf16>, tensor<3x10xbf16>
}
