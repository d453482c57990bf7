// RUN: k3-opt %s --k3-fuse | FileCheck %s --check-prefixes=TAIL,ROW
// RUN: k3-opt %s --k3-fuse=no-fuse=tail | FileCheck %s --check-prefixes=NOTAIL,ROW
// RUN: k3-opt %s --k3-fuse=no-fuse=row | FileCheck %s --check-prefixes=TAIL,NOROW
// RUN: k3-opt %s --k3-fuse=no-fuse=tail,row | FileCheck %s --check-prefixes=NOTAIL,NOROW
// RUN: not k3-opt %s --k3-fuse=no-fuse=tail,loop 2>&1 | FileCheck %s --check-prefix=RULE
// Without a rule its ops are groups of their own; the other rules do not notice.

// RULE: error: no-fuse: unknown rule (got 'loop', expected scan, tail or row)

func.func private @f(%x: tensor<3x24xbf16>, %w: tensor<24x24xbf16>, %gain: tensor<24xf32>) -> tensor<3x24xbf16> {
  %0 = k3.linear %x, %w : tensor<3x24xbf16>, tensor<24x24xbf16> -> tensor<3x24xbf16>
  // TAIL: k3.fused "contraction" {
  // TAIL-NEXT: k3.linear
  // TAIL-NEXT: k3.gate
  // TAIL-NEXT: k3.yield
  // NOTAIL: k3.fused "contraction" {
  // NOTAIL-NEXT: k3.linear
  // NOTAIL-NEXT: k3.yield
  %1 = k3.gate %0, %x : tensor<3x24xbf16>, tensor<3x24xbf16> -> tensor<3x24xbf16>
  // An op that no tail takes joins the row-wise ones.
  // NOTAIL: k3.fused "row" {
  // NOTAIL-NEXT: k3.gate
  // The norm and the cast behind it:
  // ROW: k3.rms_norm
  // ROW-NEXT: k3.cast
  // ROW-NEXT: k3.yield
  // NOROW: k3.fused "row" {
  // NOROW-NEXT: k3.rms_norm
  // NOROW-NEXT: k3.yield
  // NOROW: k3.fused "row" {
  // NOROW-NEXT: k3.cast
  // NOROW-NEXT: k3.yield
  %2 = k3.rms_norm %1, %gain {eps = 1.0e-5} : tensor<3x24xbf16>, tensor<24xf32> -> tensor<3x24xf32>
  %3 = k3.cast %2 : tensor<3x24xf32> -> tensor<3x24xbf16>
  return %3 : tensor<3x24xbf16>
}
