// RUN: k3-opt %s --k3-entry | FileCheck %s --implicit-check-not=decode_4
// RUN: k3-opt %s --k3-entry | FileCheck %s --check-prefix=COUNT
// RUN: k3-opt %s --k3-entry --k3-verify
// Three sequences at most: buckets of 1, 2 and 3, the last of them no power of two.

module attributes {k3.limits = {max_tokens = 130 : i64, max_seqs = 3 : i64, max_context = 200 : i64, max_logit_rows = 7 : i64, page_tokens = 64 : i64}} {
  k3.symbol @T <= 130
  k3.symbol @S <= 3
  k3.symbol @R <= 7
  k3.param @embed : tensor<11x24xbf16>
  k3.param @"layers.{L}.w" : tensor<24x24xbf16>
  k3.param @"layers.{L}.conv" : tensor<24x4xf32>
  k3.param @norm : tensor<24xf32>
  k3.param @query : tensor<1x24xf32>
  k3.state @"layers.{L}.conv_state.q" : !k3.conv_state<3x24xbf16>

  // Weights and states belong to all entries: no copy of a declaration is made. Four entries call two bodies.
  // COUNT-COUNT-5: k3.param
  // COUNT-NOT: k3.param
  // COUNT: k3.state
  // COUNT-NOT: k3.state
  // COUNT-COUNT-4: attributes {{.*}}k3.entry

  // The prefill entry and its bodies stay as they are; an entry of another kind has no copies.
  func.func @prefill(%ids: tensor<?xi32, #k3.sym<"T">> {k3.name = "ids"}, %batch: !k3.batch<"T", "S">,
                     %rows: tensor<?xi32, #k3.sym<"R">> {k3.name = "logit_rows"})
      -> (tensor<?x11xf32, #k3.sym<"R">> {k3.name = "logits"}) attributes {k3.entry = "prefill"} {
    %c0 = arith.constant 0 : index
    %table = k3.weight @embed : tensor<11x24xbf16>
    %x = k3.embed %ids, %table : tensor<?xi32, #k3.sym<"T">>, tensor<11x24xbf16> -> tensor<?x24xbf16, #k3.sym<"T">>
    %stack = k3.stack : !k3.stack<2x24xbf16, "T">
    %a = func.call @push(%x, %batch, %stack, %c0) {k3.layer = 0 : i64} : (tensor<?x24xbf16, #k3.sym<"T">>, !k3.batch<"T", "S">, !k3.stack<2x24xbf16, "T">, index) -> tensor<?x24xbf16, #k3.sym<"T">>
    %b = func.call @body(%a, %batch) {k3.layer = 1 : i64} : (tensor<?x24xbf16, #k3.sym<"T">>, !k3.batch<"T", "S">) -> tensor<?x24xbf16, #k3.sym<"T">>
    %c = func.call @body(%b, %batch) {k3.layer = 2 : i64} : (tensor<?x24xbf16, #k3.sym<"T">>, !k3.batch<"T", "S">) -> tensor<?x24xbf16, #k3.sym<"T">>
    %wanted = k3.take_rows %c, %rows : tensor<?x24xbf16, #k3.sym<"T">>, tensor<?xi32, #k3.sym<"R">> -> tensor<?x24xbf16, #k3.sym<"R">>
    %logits = k3.linear %wanted, %table : tensor<?x24xbf16, #k3.sym<"R">>, tensor<11x24xbf16> -> tensor<?x11xf32, #k3.sym<"R">>
    return %logits : tensor<?x11xf32, #k3.sym<"R">>
  }
  func.func private @push(%h: tensor<?x24xbf16, #k3.sym<"T">>, %batch: !k3.batch<"T", "S">, %stack: !k3.stack<2x24xbf16, "T">, %count: index) -> tensor<?x24xbf16, #k3.sym<"T">> {
    %norm = k3.weight @norm : tensor<24xf32>
    %query = k3.weight @query : tensor<1x24xf32>
    k3.attn_res.push %stack[%count], %h : !k3.stack<2x24xbf16, "T">, tensor<?x24xbf16, #k3.sym<"T">>
    %m = k3.attn_res.mix %stack[%count], %h, %norm, %query {eps = 1.0e-5} : !k3.stack<2x24xbf16, "T">, tensor<?x24xbf16, #k3.sym<"T">>, tensor<24xf32>, tensor<1x24xf32> -> tensor<?x24xf32, #k3.sym<"T">>
    %y = k3.cast %m : tensor<?x24xf32, #k3.sym<"T">> -> tensor<?x24xbf16, #k3.sym<"T">>
    return %y : tensor<?x24xbf16, #k3.sym<"T">>
  }
  func.func private @body(%h: tensor<?x24xbf16, #k3.sym<"T">>, %batch: !k3.batch<"T", "S">) -> tensor<?x24xbf16, #k3.sym<"T">> {
    %w = k3.weight @"layers.{L}.w" : tensor<24x24xbf16>
    %taps = k3.weight @"layers.{L}.conv" : tensor<24x4xf32>
    %state = k3.ref @"layers.{L}.conv_state.q" : !k3.conv_state<3x24xbf16>
    %tokens = k3.dim @T
    %last = arith.addi %tokens, %tokens : index
    %x = k3.linear %h, %w : tensor<?x24xbf16, #k3.sym<"T">>, tensor<24x24xbf16> -> tensor<?x24xbf16, #k3.sym<"T">>
    %y = k3.short_conv %x, %taps, %state, %batch : tensor<?x24xbf16, #k3.sym<"T">>, tensor<24x4xf32>, !k3.conv_state<3x24xbf16>, !k3.batch<"T", "S"> -> tensor<?x24xbf16, #k3.sym<"T">>
    return %y : tensor<?x24xbf16, #k3.sym<"T">>
  }
}

// CHECK-LABEL: func.func @prefill(
// CHECK-SAME: k3.name = "logit_rows"
// CHECK: call @push({{.*}}k3.layer = 0
// CHECK: call @body({{.*}}k3.layer = 1
// CHECK: call @body({{.*}}k3.layer = 2
// CHECK: k3.take_rows
// CHECK-LABEL: func.func private @body(
// CHECK: k3.dim @T

// CHECK-LABEL: func.func private @push_1(
// CHECK-SAME: !k3.stack<2x24xbf16, 1>
// CHECK-LABEL: func.func private @body_1(
// CHECK-LABEL: func.func @decode_1(
// CHECK-SAME: k3.bucket = 1 : i64, k3.entry = "decode"

// CHECK-LABEL: func.func private @push_2(
// CHECK-LABEL: func.func private @body_2(
// CHECK-LABEL: func.func @decode_2(
// CHECK-SAME: k3.bucket = 2 : i64, k3.entry = "decode"

// Every type of the copies is static, those of declarations are not touched, and the layers are those of the original.
// CHECK-LABEL: func.func private @push_3(
// CHECK-SAME: %{{.*}}: tensor<3x24xbf16>, %{{.*}}: !k3.batch<3>, %{{.*}}: !k3.stack<2x24xbf16, 3>, %{{.*}}: index) -> tensor<3x24xbf16> {
// CHECK-NOT: sym<
// CHECK: k3.attn_res.push %{{.*}} : <2x24xbf16, 3>, tensor<3x24xbf16>
// CHECK: k3.attn_res.mix %{{.*}} : <2x24xbf16, 3>, tensor<3x24xbf16>, tensor<24xf32>, tensor<1x24xf32> -> tensor<3x24xf32>
// CHECK-LABEL: func.func private @body_3(
// CHECK-NOT: k3.dim
// CHECK-NOT: sym<
// CHECK: k3.weight @"layers.{L}.w" : tensor<24x24xbf16>
// CHECK: k3.ref @"layers.{L}.conv_state.q" : !k3.conv_state<3x24xbf16>
// CHECK: %[[ROWS:.*]] = arith.constant 3 : index
// CHECK: arith.addi %[[ROWS]], %[[ROWS]]
// CHECK: k3.linear %{{.*}} : tensor<3x24xbf16>, tensor<24x24xbf16> -> tensor<3x24xbf16>
// CHECK: k3.short_conv %{{.*}} : tensor<3x24xbf16>, tensor<24x4xf32>, <3x24xbf16>, <3> -> tensor<3x24xbf16>

// Rows of logits are those of the sequences: their argument is gone.
// CHECK-LABEL: func.func @decode_3(
// CHECK-SAME: %{{.*}}: tensor<3xi32> {k3.name = "ids"}, %[[BATCH:.*]]: !k3.batch<3>) -> (tensor<3x11xf32> {k3.name = "logits"}) attributes {k3.bucket = 3 : i64, k3.entry = "decode"} {
// CHECK: k3.embed %{{.*}} : tensor<3xi32>, tensor<11x24xbf16> -> tensor<3x24xbf16>
// CHECK: k3.stack : <2x24xbf16, 3>
// CHECK: call @push_3({{.*}}k3.layer = 0
// CHECK: call @body_3({{.*}}k3.layer = 1
// CHECK: %[[LAST:.*]] = call @body_3({{.*}}k3.layer = 2
// CHECK: k3.linear %[[LAST]], %{{.*}} : tensor<3x24xbf16>, tensor<11x24xbf16> -> tensor<3x11xf32>
