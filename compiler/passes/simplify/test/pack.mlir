// RUN: k3-opt %s --k3-pack | FileCheck %s
// RUN: k3-opt %s --k3-pack | FileCheck %s --check-prefix=PARAM --implicit-check-not="k3.param @\"p.alone_unused" --implicit-check-not="k3.param @\"layers.{L}.q\"" --implicit-check-not="k3.param @\"layers.{L}.v\""
// RUN: k3-opt %s --k3-pack --k3-verify
// Projections of one input become one; 24 columns in, 10, 6 and 14 rows out.

k3.symbol @T <= 130

!h = tensor<?x24xbf16, #k3.sym<"T">>

k3.param @"layers.{L}.q" : tensor<10x24xbf16> from [#k3.piece<"m.{L}.q", rows = 10, cols = 24>]
// Two pieces already: rows 0 .. 3 and 4 .. 5, the second from the middle of its source.
k3.param @"layers.{L}.k" : tensor<6x24xbf16> from [#k3.piece<"m.{L}.ka", rows = 4, cols = 24>, #k3.piece<"m.{L}.kb", rows = 2, cols = 24, begin = 48, at = 96>]
k3.param @"layers.{L}.v" : tensor<14x24xbf16>
k3.param @"layers.{L}.b" : tensor<3x24xbf16>
k3.param @"layers.{L}.f" : tensor<5x24xf32>
k3.param @"layers.{L}.gate" : tensor<9x24xbf16>
k3.param @"layers.{L}.up" : tensor<9x24xbf16>
k3.param @"p.alone_unused" : tensor<2x24xbf16>
k3.param @a : tensor<2x24xbf16>
k3.param @b : tensor<3x24xbf16>
k3.param @c : tensor<3x24xbf16>

// The packed weight stands behind its last part and takes over all pieces, offset by the elements before: 10 x 24 = 240,
// then 16 x 24 = 384. Parts that nothing reads are gone, one that a function reads alone stays.
// PARAM: k3.param @"layers.{L}.k" : tensor<6x24xbf16> from
// PARAM: k3.param @"layers.{L}.q+k+v" : tensor<30x24xbf16> from [
// PARAM-SAME: #k3.piece<"m.{L}.q", rows = 10, cols = 24>,
// PARAM-SAME: #k3.piece<"m.{L}.ka", rows = 4, cols = 24, at = 240>,
// PARAM-SAME: #k3.piece<"m.{L}.kb", rows = 2, cols = 24, begin = 48, at = 336>,
// PARAM-SAME: #k3.piece<"layers.{L}.v", rows = 14, cols = 24, at = 384>]
// PARAM: k3.param @"layers.{L}.b" : tensor<3x24xbf16>
// PARAM: k3.param @"layers.{L}.f" : tensor<5x24xf32>
// The gate lies first, though the program computes it second.
// PARAM: k3.param @"layers.{L}.gate+up" : tensor<18x24xbf16> from [#k3.piece<"layers.{L}.gate", rows = 9, cols = 24>, #k3.piece<"layers.{L}.up", rows = 9, cols = 24, at = 216>]
// Without a common prefix the whole names are told apart.
// PARAM: k3.param @"a+b" : tensor<5x24xbf16>
// PARAM: k3.param @"a+c" : tensor<5x24xbf16>
// PARAM-NOT: k3.param

// One projection where the first stood, then the parts in program order. Results in f32 and weights in f32 are apart.
// CHECK-LABEL: func.func private @qkv(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x24xbf16
// CHECK-NEXT: %[[W:.*]] = k3.weight @"layers.{L}.q+k+v" : tensor<30x24xbf16>
// CHECK-NEXT: %[[ALL:.*]] = k3.linear %[[X]], %[[W]] : tensor<?x24xbf16, #k3.sym<"T">>, tensor<30x24xbf16> -> tensor<?x30xbf16, #k3.sym<"T">>
// CHECK-NEXT: %[[Q:.*]] = k3.slice %[[ALL]][0] : tensor<?x30xbf16, #k3.sym<"T">> -> tensor<?x10xbf16, #k3.sym<"T">>
// CHECK-NEXT: %[[K:.*]] = k3.slice %[[ALL]][10] : tensor<?x30xbf16, #k3.sym<"T">> -> tensor<?x6xbf16, #k3.sym<"T">>
// CHECK-NEXT: %[[V:.*]] = k3.slice %[[ALL]][16] : tensor<?x30xbf16, #k3.sym<"T">> -> tensor<?x14xbf16, #k3.sym<"T">>
// CHECK-NEXT: k3.tap %[[Q]]
// CHECK-NEXT: %[[WB:.*]] = k3.weight @"layers.{L}.b"
// CHECK-NEXT: %[[B:.*]] = k3.linear %[[X]], %[[WB]] : tensor<?x24xbf16, #k3.sym<"T">>, tensor<3x24xbf16> -> tensor<?x3xf32, #k3.sym<"T">>
// CHECK-NEXT: %[[WF:.*]] = k3.weight @"layers.{L}.f"
// CHECK-NEXT: %[[F:.*]] = k3.linear %[[X]], %[[WF]] : tensor<?x24xbf16, #k3.sym<"T">>, tensor<5x24xf32> -> tensor<?x5xbf16, #k3.sym<"T">>
// CHECK-NEXT: return %[[Q]], %[[K]], %[[V]], %[[B]], %[[F]]
func.func private @qkv(%x: !h) -> (tensor<?x10xbf16, #k3.sym<"T">>, tensor<?x6xbf16, #k3.sym<"T">>, tensor<?x14xbf16, #k3.sym<"T">>, tensor<?x3xf32, #k3.sym<"T">>, tensor<?x5xbf16, #k3.sym<"T">>) {
  %wq = k3.weight @"layers.{L}.q" : tensor<10x24xbf16>
  %q = k3.linear %x, %wq : !h, tensor<10x24xbf16> -> tensor<?x10xbf16, #k3.sym<"T">>
  k3.tap %q as "layers.{L}.q" : tensor<?x10xbf16, #k3.sym<"T">>
  %wk = k3.weight @"layers.{L}.k" : tensor<6x24xbf16>
  %k = k3.linear %x, %wk : !h, tensor<6x24xbf16> -> tensor<?x6xbf16, #k3.sym<"T">>
  %wb = k3.weight @"layers.{L}.b" : tensor<3x24xbf16>
  %b = k3.linear %x, %wb : !h, tensor<3x24xbf16> -> tensor<?x3xf32, #k3.sym<"T">>
  %wf = k3.weight @"layers.{L}.f" : tensor<5x24xf32>
  %f = k3.linear %x, %wf : !h, tensor<5x24xf32> -> tensor<?x5xbf16, #k3.sym<"T">>
  %wv = k3.weight @"layers.{L}.v" : tensor<14x24xbf16>
  %v = k3.linear %x, %wv : !h, tensor<14x24xbf16> -> tensor<?x14xbf16, #k3.sym<"T">>
  return %q, %k, %v, %b, %f : tensor<?x10xbf16, #k3.sym<"T">>, tensor<?x6xbf16, #k3.sym<"T">>, tensor<?x14xbf16, #k3.sym<"T">>, tensor<?x3xf32, #k3.sym<"T">>, tensor<?x5xbf16, #k3.sym<"T">>
}

// The copy of a body for decode reads the same packed weight; @"layers.{L}.k" of another input stays alone.
// CHECK-LABEL: func.func private @qkv_3(
// CHECK-NEXT: k3.weight @"layers.{L}.q+k+v" : tensor<30x24xbf16>
// CHECK-NEXT: k3.linear %{{.*}} : tensor<3x24xbf16>, tensor<30x24xbf16> -> tensor<3x30xbf16>
// CHECK: k3.weight @"layers.{L}.k" : tensor<6x24xbf16>
// CHECK-NEXT: k3.linear %{{.*}} : tensor<3x24xbf16>, tensor<6x24xbf16> -> tensor<3x6xbf16>
func.func private @qkv_3(%x: tensor<3x24xbf16>, %other: tensor<3x24xbf16>) -> (tensor<3x10xbf16>, tensor<3x6xbf16>, tensor<3x14xbf16>, tensor<3x6xbf16>) {
  %wq = k3.weight @"layers.{L}.q" : tensor<10x24xbf16>
  %q = k3.linear %x, %wq : tensor<3x24xbf16>, tensor<10x24xbf16> -> tensor<3x10xbf16>
  %wk = k3.weight @"layers.{L}.k" : tensor<6x24xbf16>
  %k = k3.linear %x, %wk : tensor<3x24xbf16>, tensor<6x24xbf16> -> tensor<3x6xbf16>
  %wv = k3.weight @"layers.{L}.v" : tensor<14x24xbf16>
  %v = k3.linear %x, %wv : tensor<3x24xbf16>, tensor<14x24xbf16> -> tensor<3x14xbf16>
  %wo = k3.weight @"layers.{L}.k" : tensor<6x24xbf16>
  %o = k3.linear %other, %wo : tensor<3x24xbf16>, tensor<6x24xbf16> -> tensor<3x6xbf16>
  return %q, %k, %v, %o : tensor<3x10xbf16>, tensor<3x6xbf16>, tensor<3x14xbf16>, tensor<3x6xbf16>
}

// A gate and its up projection are a pair of their own, whatever else reads the input.
// CHECK-LABEL: func.func private @gated(
// CHECK: k3.weight @"layers.{L}.gate+up" : tensor<18x24xbf16>
// CHECK-NEXT: %[[BOTH:.*]] = k3.linear %{{.*}} : tensor<?x24xbf16, #k3.sym<"T">>, tensor<18x24xbf16> -> tensor<?x18xbf16, #k3.sym<"T">>
// CHECK-NEXT: %[[GATE:.*]] = k3.slice %[[BOTH]][0]
// CHECK-NEXT: %[[UP:.*]] = k3.slice %[[BOTH]][9]
// CHECK: k3.weight @"layers.{L}.k"
// CHECK: k3.glu situ %[[GATE]], %[[UP]]
func.func private @gated(%x: !h) -> (tensor<?x9xbf16, #k3.sym<"T">>, tensor<?x6xbf16, #k3.sym<"T">>) {
  %wu = k3.weight @"layers.{L}.up" : tensor<9x24xbf16>
  %u = k3.linear %x, %wu : !h, tensor<9x24xbf16> -> tensor<?x9xbf16, #k3.sym<"T">>
  %wk = k3.weight @"layers.{L}.k" : tensor<6x24xbf16>
  %k = k3.linear %x, %wk : !h, tensor<6x24xbf16> -> tensor<?x6xbf16, #k3.sym<"T">>
  %wg = k3.weight @"layers.{L}.gate" : tensor<9x24xbf16>
  %g = k3.linear %x, %wg : !h, tensor<9x24xbf16> -> tensor<?x9xbf16, #k3.sym<"T">>
  %y = k3.glu situ %g, %u {beta = 4.0} : tensor<?x9xbf16, #k3.sym<"T">>, tensor<?x9xbf16, #k3.sym<"T">> -> tensor<?x9xbf16, #k3.sym<"T">>
  return %y, %k : tensor<?x9xbf16, #k3.sym<"T">>, tensor<?x6xbf16, #k3.sym<"T">>
}

// CHECK-LABEL: func.func private @names(
// CHECK: k3.weight @"a+b"
// CHECK: k3.weight @"a+c"
func.func private @names(%x: tensor<3x24xbf16>, %y: tensor<3x24xbf16>) -> (tensor<3x2xbf16>, tensor<3x3xbf16>, tensor<3x2xbf16>, tensor<3x3xbf16>) {
  %a = k3.weight @a : tensor<2x24xbf16>
  %b = k3.weight @b : tensor<3x24xbf16>
  %c = k3.weight @c : tensor<3x24xbf16>
  %0 = k3.linear %x, %a : tensor<3x24xbf16>, tensor<2x24xbf16> -> tensor<3x2xbf16>
  %1 = k3.linear %x, %b : tensor<3x24xbf16>, tensor<3x24xbf16> -> tensor<3x3xbf16>
  %2 = k3.linear %y, %a : tensor<3x24xbf16>, tensor<2x24xbf16> -> tensor<3x2xbf16>
  %3 = k3.linear %y, %c : tensor<3x24xbf16>, tensor<3x24xbf16> -> tensor<3x3xbf16>
  return %0, %1, %2, %3 : tensor<3x2xbf16>, tensor<3x3xbf16>, tensor<3x2xbf16>, tensor<3x3xbf16>
}
