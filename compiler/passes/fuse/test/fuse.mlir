// RUN: k3-opt %s --k3-fuse | FileCheck %s
// RUN: k3-opt %s --k3-fuse --k3-verify
// The three rules at work: which ops share a group, where it stands, and what it gives.

k3.symbol @T <= 130
k3.symbol @S <= 3
k3.symbol @R <= 7

!h = tensor<?x24xbf16, #k3.sym<"T">>
!wide = tensor<?x48xbf16, #k3.sym<"T">>
!batch = !k3.batch<"T", "S">

// A contraction takes the elementwise ops behind it, one after the other, and no norm.
// CHECK-LABEL: func.func private @tail(
// CHECK-SAME: %[[X:[^:]*]]: tensor<{{[^,]*}}, #k3.sym<"T">>, %[[Y:[^:]*]]: tensor<{{[^,]*}}, #k3.sym<"T">>, %[[W:[^:]*]]:
func.func private @tail(%x: !h, %y: !h, %w: tensor<24x24xbf16>, %gain: tensor<24xf32>) -> !h {
  // CHECK-NEXT: %[[C:.*]] = k3.fused "contraction" {
  // CHECK-NEXT: %[[L:.*]] = k3.linear %[[X]], %[[W]]
  // CHECK-NEXT: %[[G:.*]] = k3.gate %[[L]], %[[Y]]
  // CHECK-NEXT: %[[A:.*]] = k3.add %[[Y]], %[[G]]
  // CHECK-NEXT: k3.yield %[[A]]
  // CHECK-NEXT: } -> tensor<?x24xbf16, #k3.sym<"T">>
  // CHECK-NEXT: %[[N:.*]] = k3.fused "row" {
  // CHECK-NEXT: k3.rms_norm %[[C]]
  // CHECK-NEXT: k3.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: return %[[N]]
  %0 = k3.linear %x, %w : !h, tensor<24x24xbf16> -> !h
  %1 = k3.gate %0, %y : !h, !h -> !h
  %2 = k3.add %y, %1 : !h, !h -> !h
  %3 = k3.rms_norm %2, %gain {eps = 1.0e-5} : !h, tensor<24xf32> -> !h
  return %3 : !h
}

// A projection a head takes a tail too. Of two contractions that meet in one add, the first takes it and stands behind
// the second, whose result it reads.
// CHECK-LABEL: func.func private @two_anchors(
func.func private @two_anchors(%u: tensor<?x60xbf16, #k3.sym<"T">>, %kv: tensor<90x20xbf16>, %x: !h, %w: tensor<42x24xbf16>) -> tensor<?x42xbf16, #k3.sym<"T">> {
  // CHECK: %[[L:.*]] = k3.fused "contraction" {
  // CHECK-NEXT: k3.linear
  // CHECK-NEXT: k3.yield
  // CHECK: k3.fused "head_contraction" {
  // CHECK-NEXT: %[[H:.*]] = k3.head_linear
  // CHECK-NEXT: k3.add %[[H]], %[[L]]
  // CHECK-NEXT: k3.yield
  %0 = k3.head_linear %u, %kv {heads = 3, stride_rows = 30, row_begin = 16, rows = 14} : tensor<?x60xbf16, #k3.sym<"T">>, tensor<90x20xbf16> -> tensor<?x42xbf16, #k3.sym<"T">>
  %1 = k3.linear %x, %w : !h, tensor<42x24xbf16> -> tensor<?x42xbf16, #k3.sym<"T">>
  %2 = k3.add %0, %1 : tensor<?x42xbf16, #k3.sym<"T">>, tensor<?x42xbf16, #k3.sym<"T">> -> tensor<?x42xbf16, #k3.sym<"T">>
  return %2 : tensor<?x42xbf16, #k3.sym<"T">>
}

// Both halves of a packed gate and up projection and their activation are one kernel, gate first.
// CHECK-LABEL: func.func private @gated(
func.func private @gated(%x: !h, %w: tensor<18x24xbf16>) -> tensor<?x9xbf16, #k3.sym<"T">> {
  // CHECK-NEXT: %[[Y:.*]] = k3.fused "contraction" {
  // CHECK-NEXT: %[[L:.*]] = k3.linear
  // CHECK-NEXT: %[[G:.*]] = k3.slice %[[L]][0]
  // CHECK-NEXT: %[[U:.*]] = k3.slice %[[L]][9]
  // CHECK-NEXT: %[[A:.*]] = k3.glu swiglu %[[G]], %[[U]]
  // CHECK-NEXT: k3.yield %[[A]]
  // CHECK: return %[[Y]]
  %0 = k3.linear %x, %w : !h, tensor<18x24xbf16> -> tensor<?x18xbf16, #k3.sym<"T">>
  %1 = k3.slice %0[9] : tensor<?x18xbf16, #k3.sym<"T">> -> tensor<?x9xbf16, #k3.sym<"T">>
  %2 = k3.slice %0[0] : tensor<?x18xbf16, #k3.sym<"T">> -> tensor<?x9xbf16, #k3.sym<"T">>
  %3 = k3.glu swiglu %2, %1 : tensor<?x9xbf16, #k3.sym<"T">>, tensor<?x9xbf16, #k3.sym<"T">> -> tensor<?x9xbf16, #k3.sym<"T">>
  return %3 : tensor<?x9xbf16, #k3.sym<"T">>
}

// Not a pair: gate behind up; halves that leave columns out; a half that something else reads. The projection is stored.
// CHECK-LABEL: func.func private @no_pair(
func.func private @no_pair(%x: !h, %w: tensor<18x24xbf16>) -> (tensor<?x9xbf16, #k3.sym<"T">>, tensor<?x5xbf16, #k3.sym<"T">>, tensor<?x9xbf16, #k3.sym<"T">>) {
  // CHECK-COUNT-3: k3.fused "contraction" {{[{][[:space:]]*}}%{{.*}} = k3.linear {{[^%]*}}%{{.*[[:space:]]*}}k3.yield
  // CHECK-NOT: contraction
  %0 = k3.linear %x, %w : !h, tensor<18x24xbf16> -> tensor<?x18xbf16, #k3.sym<"T">>
  %1 = k3.slice %0[0] : tensor<?x18xbf16, #k3.sym<"T">> -> tensor<?x9xbf16, #k3.sym<"T">>
  %2 = k3.slice %0[9] : tensor<?x18xbf16, #k3.sym<"T">> -> tensor<?x9xbf16, #k3.sym<"T">>
  %3 = k3.glu swiglu %2, %1 : tensor<?x9xbf16, #k3.sym<"T">>, tensor<?x9xbf16, #k3.sym<"T">> -> tensor<?x9xbf16, #k3.sym<"T">>
  %4 = k3.linear %x, %w : !h, tensor<18x24xbf16> -> tensor<?x18xbf16, #k3.sym<"T">>
  %5 = k3.slice %4[1] : tensor<?x18xbf16, #k3.sym<"T">> -> tensor<?x5xbf16, #k3.sym<"T">>
  %6 = k3.slice %4[7] : tensor<?x18xbf16, #k3.sym<"T">> -> tensor<?x5xbf16, #k3.sym<"T">>
  %7 = k3.glu swiglu %5, %6 : tensor<?x5xbf16, #k3.sym<"T">>, tensor<?x5xbf16, #k3.sym<"T">> -> tensor<?x5xbf16, #k3.sym<"T">>
  %8 = k3.linear %x, %w : !h, tensor<18x24xbf16> -> tensor<?x18xbf16, #k3.sym<"T">>
  %9 = k3.slice %8[0] : tensor<?x18xbf16, #k3.sym<"T">> -> tensor<?x9xbf16, #k3.sym<"T">>
  %10 = k3.slice %8[9] : tensor<?x18xbf16, #k3.sym<"T">> -> tensor<?x9xbf16, #k3.sym<"T">>
  k3.tap %10 as "up" : tensor<?x9xbf16, #k3.sym<"T">>
  %11 = k3.glu swiglu %9, %10 : tensor<?x9xbf16, #k3.sym<"T">>, tensor<?x9xbf16, #k3.sym<"T">> -> tensor<?x9xbf16, #k3.sym<"T">>
  return %3, %7, %11 : tensor<?x9xbf16, #k3.sym<"T">>, tensor<?x5xbf16, #k3.sym<"T">>, tensor<?x9xbf16, #k3.sym<"T">>
}

// Row-wise ops in a row are one group. Weights and slices of other values move in front of it, and what is read behind it
// becomes a result of its own.
// CHECK-LABEL: func.func private @rows(
// CHECK-SAME: %[[H:[^:]*]]: tensor<?x24xbf16, #k3.sym<"T">>, %[[Y:[^:]*]]: tensor<?x48xbf16, #k3.sym<"T">>, %[[STACK:[^:]*]]: !k3.stack
func.func private @rows(%h: !h, %y: !wide, %stack: !k3.stack<2x24xbf16, "T">, %norm: tensor<24xf32>, %query: tensor<1x24xf32>) -> (!h, !h) {
  // CHECK: %[[PART:.*]] = k3.slice %[[Y]][24]
  // CHECK-NEXT: %[[R:.*]]:2 = k3.fused "row" {
  // CHECK-NEXT: %[[SUM:.*]] = k3.add %[[H]], %[[PART]]
  // CHECK-NEXT: k3.attn_res.push %[[STACK]][%{{.*}}], %[[SUM]]
  // CHECK-NEXT: %[[MIX:.*]] = k3.attn_res.mix %[[STACK]][%{{.*}}], %[[SUM]]
  // CHECK-NEXT: %[[NORM:.*]] = k3.rms_norm %[[MIX]]
  // CHECK-NEXT: k3.yield %[[SUM]], %[[NORM]]
  // CHECK: return %[[R]]#0, %[[R]]#1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %part = k3.slice %y[24] : !wide -> !h
  %sum = k3.add %h, %part : !h, !h -> !h
  k3.attn_res.push %stack[%c0], %sum : !k3.stack<2x24xbf16, "T">, !h
  %mix = k3.attn_res.mix %stack[%c1], %sum, %norm, %query {eps = 1.0e-5} : !k3.stack<2x24xbf16, "T">, !h, tensor<24xf32>, tensor<1x24xf32> -> tensor<?x24xf32, #k3.sym<"T">>
  %n = k3.rms_norm %mix, %norm {eps = 1.0e-5} : tensor<?x24xf32, #k3.sym<"T">>, tensor<24xf32> -> !h
  return %sum, %n : !h, !h
}

// A chain ends where the rows change, at a slice of a value of its own, which has to lie in memory, and at a tap of one.
// CHECK-LABEL: func.func private @breaks(
func.func private @breaks(%y: !wide, %gain: tensor<48xf32>, %rows: tensor<?xi32, #k3.sym<"R">>) -> tensor<?x24xbf16, #k3.sym<"R">> {
  // CHECK: %[[N:.*]] = k3.fused "row" {
  // CHECK-NEXT: k3.rms_norm
  // CHECK-NEXT: k3.yield
  // CHECK: %[[S:.*]] = k3.slice %[[N]][24]
  // CHECK-NEXT: %[[A:.*]] = k3.fused "row" {
  // CHECK-NEXT: k3.add %[[S]], %[[S]]
  // CHECK-NEXT: k3.yield
  // CHECK: k3.tap %[[A]] as "a"
  // CHECK-NEXT: %[[B:.*]] = k3.fused "row" {
  // CHECK-NEXT: k3.add %[[A]], %[[S]]
  // CHECK-NEXT: k3.yield
  // CHECK: k3.fused "row" {
  // CHECK-NEXT: %[[TAKEN:.*]] = k3.take_rows %[[B]]
  // CHECK-NEXT: k3.add %[[TAKEN]], %[[TAKEN]]
  // CHECK-NEXT: k3.yield
  %n = k3.rms_norm %y, %gain {eps = 1.0e-5} : !wide, tensor<48xf32> -> !wide
  %s = k3.slice %n[24] : !wide -> !h
  %a = k3.add %s, %s : !h, !h -> !h
  k3.tap %a as "a" : !h
  %b = k3.add %a, %s : !h, !h -> !h
  %taken = k3.take_rows %b, %rows : !h, tensor<?xi32, #k3.sym<"R">> -> tensor<?x24xbf16, #k3.sym<"R">>
  %c = k3.add %taken, %taken : tensor<?x24xbf16, #k3.sym<"R">>, tensor<?x24xbf16, #k3.sym<"R">> -> tensor<?x24xbf16, #k3.sym<"R">>
  return %c : tensor<?x24xbf16, #k3.sym<"R">>
}

// A tap of a value from outside does not end a chain and stays where it was.
// CHECK-LABEL: func.func private @tap_outside(
func.func private @tap_outside(%x: !h) -> !h {
  // CHECK-NEXT: k3.tap %{{.*}} as "x"
  // CHECK-NEXT: k3.fused "row" {
  // CHECK-NEXT: k3.add
  // CHECK-NEXT: k3.add
  // CHECK-NEXT: k3.yield
  %a = k3.add %x, %x : !h, !h -> !h
  k3.tap %x as "x" : !h
  %b = k3.add %a, %x : !h, !h -> !h
  return %b : !h
}

// Rows picked from the chain's own value need all its rows first: a group of its own even for as many rows.
// CHECK-LABEL: func.func private @static_take(
func.func private @static_take(%x: tensor<3x24xbf16>, %rows: tensor<3xi32>) -> tensor<3x24xbf16> {
  // CHECK: k3.fused "row" {
  // CHECK-NEXT: k3.add
  // CHECK-NEXT: k3.yield
  // CHECK: k3.fused "row" {
  // CHECK-NEXT: k3.take_rows
  // CHECK-NEXT: k3.yield
  %a = k3.add %x, %x : tensor<3x24xbf16>, tensor<3x24xbf16> -> tensor<3x24xbf16>
  %b = k3.take_rows %a, %rows : tensor<3x24xbf16>, tensor<3xi32> -> tensor<3x24xbf16>
  return %b : tensor<3x24xbf16>
}

// What no rule takes is a group of one.
// CHECK-LABEL: func.func private @others(
func.func private @others(%q: tensor<?x78xbf16, #k3.sym<"T">>, %cache: !k3.latent_cache<64x26xbf16>, %batch: !batch, %x: !wide, %taps: tensor<48x4xbf16>,
                          %conv: !k3.conv_state<3x48xbf16>, %z: !h, %ids: tensor<?x2xi32, #k3.sym<"T">>, %up: tensor<6x14x24xbf16>, %down: tensor<6x24x7xbf16>) -> tensor<?x48xbf16, #k3.sym<"T">> {
  // CHECK: k3.fused "attention" {
  // CHECK-NEXT: k3.latent_attention
  // CHECK-NEXT: k3.yield
  // CHECK: k3.fused "conv" {
  // CHECK-NEXT: k3.short_conv
  // CHECK-NEXT: k3.yield
  // CHECK: k3.fused "experts" {
  // CHECK-NEXT: k3.expert_up
  // CHECK-NEXT: k3.yield
  // CHECK: k3.fused "experts" {
  // CHECK-NEXT: k3.expert_down
  // CHECK-NEXT: k3.yield
  %a = k3.latent_attention %q, %cache, %batch {heads = 3, latent = 20, scale = 0.25} : tensor<?x78xbf16, #k3.sym<"T">>, !k3.latent_cache<64x26xbf16>, !batch -> tensor<?x60xbf16, #k3.sym<"T">>
  k3.tap %a as "a" : tensor<?x60xbf16, #k3.sym<"T">>
  %c = k3.short_conv %x, %taps, %conv, %batch : !wide, tensor<48x4xbf16>, !k3.conv_state<3x48xbf16>, !batch -> !wide
  k3.tap %c as "c" : !wide
  %e = k3.expert_up swiglu %z, %ids, %up : !h, tensor<?x2xi32, #k3.sym<"T">>, tensor<6x14x24xbf16> -> tensor<?x14xbf16, #k3.sym<"T">>
  %d = k3.expert_down %e, %ids, %down : tensor<?x14xbf16, #k3.sym<"T">>, tensor<?x2xi32, #k3.sym<"T">>, tensor<6x24x7xbf16> -> !wide
  return %d : !wide
}
