// RUN: k3-opt %s --k3-pack | FileCheck %s
// A param that has the packed name by chance is not taken for the packed one: its pieces differ.

// CHECK-DAG: k3.param @"p.a+b" : tensor<5x24xbf16> from [#k3.piece<"other", rows = 5, cols = 24>]
// CHECK-DAG: k3.param @[[NEW:.*]] : tensor<5x24xbf16> from [#k3.piece<"p.a", rows = 2, cols = 24>, #k3.piece<"p.b", rows = 3, cols = 24, at = 48>]
k3.param @"p.a+b" : tensor<5x24xbf16> from [#k3.piece<"other", rows = 5, cols = 24>]
k3.param @"p.a" : tensor<2x24xbf16>
k3.param @"p.b" : tensor<3x24xbf16>
// CHECK: %[[W:.*]] = k3.weight @[[NEW]] :
// CHECK-NEXT: k3.linear %{{.*}}, %[[W]]
func.func private @f(%x: tensor<3x24xbf16>, %y: tensor<3x24xbf16>) -> (tensor<3x2xbf16>, tensor<3x3xbf16>, tensor<3x5xbf16>) {
  %a = k3.weight @"p.a" : tensor<2x24xbf16>
  %b = k3.weight @"p.b" : tensor<3x24xbf16>
  %w = k3.weight @"p.a+b" : tensor<5x24xbf16>
  %0 = k3.linear %x, %a : tensor<3x24xbf16>, tensor<2x24xbf16> -> tensor<3x2xbf16>
  %1 = k3.linear %x, %b : tensor<3x24xbf16>, tensor<3x24xbf16> -> tensor<3x3xbf16>
  %2 = k3.linear %y, %w : tensor<3x24xbf16>, tensor<5x24xbf16> -> tensor<3x5xbf16>
  return %0, %1, %2 : tensor<3x2xbf16>, tensor<3x3xbf16>, tensor<3x5xbf16>
}
