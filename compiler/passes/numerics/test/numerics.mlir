// RUN: k3-opt %s --k3-numerics=dtype=f32 | FileCheck %s --check-prefix=F32
// RUN: k3-opt %s --k3-numerics=dtype=bf16 > %t.bf16
// RUN: k3-opt %s | diff - %t.bf16
// RUN: not k3-opt %s --k3-numerics=dtype=f16 2>&1 | FileCheck %s --check-prefix=BAD
// In f32 everything but weights is f32: signatures, arguments, regions, conv states, caches, stacks. bf16 is the identity.

// BAD: error: --dtype f16: unknown type (got 'f16', expected bf16 or f32); leave --dtype out for bf16

k3.symbol @T <= 130
k3.symbol @S <= 3
// Weights keep their type.
// F32: k3.param @w : tensor<24x24xbf16>
k3.param @w : tensor<24x24xbf16>
// F32: k3.param @gain : tensor<24xf32>
k3.param @gain : tensor<24xf32>
k3.param @conv_w : tensor<24x4xbf16>
// F32: k3.state @conv : !k3.conv_state<3x24xf32>
k3.state @conv : !k3.conv_state<3x24xbf16>
// F32: k3.state @cache : !k3.latent_cache<64x24xf32>
k3.state @cache : !k3.latent_cache<64x24xbf16>
// F32: k3.state @kda : !k3.kda_state<3x8x8xf32, kv>
k3.state @kda : !k3.kda_state<3x8x8xf32, kv>

!h = tensor<?x24xbf16, #k3.sym<"T">>

// F32-LABEL: func.func private @body(
// F32-SAME: %[[H:.*]]: tensor<?x24xf32, #k3.sym<"T">>, %[[S:.*]]: !k3.stack<2x24xf32, "T">, %{{.*}}: !k3.batch<"T", "S">, %{{.*}}: index) -> tensor<?x24xf32, #k3.sym<"T">>
func.func private @body(%h: !h, %stack: !k3.stack<2x24xbf16, "T">, %batch: !k3.batch<"T", "S">, %count: index) -> !h {
  // F32: k3.weight @w : tensor<24x24xbf16>
  %w = k3.weight @w : tensor<24x24xbf16>
  %gain = k3.weight @gain : tensor<24xf32>
  %conv_w = k3.weight @conv_w : tensor<24x4xbf16>
  // F32: k3.ref @conv : !k3.conv_state<3x24xf32>
  %conv = k3.ref @conv : !k3.conv_state<3x24xbf16>
  // F32: k3.linear %[[H]], %{{.*}} : tensor<?x24xf32, #k3.sym<"T">>, tensor<24x24xbf16> -> tensor<?x24xf32, #k3.sym<"T">>
  %x = k3.linear %h, %w : !h, tensor<24x24xbf16> -> !h
  // F32: %[[C:.*]] = k3.short_conv %{{.*}} : tensor<?x24xf32, #k3.sym<"T">>, tensor<24x4xbf16>, <3x24xf32>, <"T", "S"> -> tensor<?x24xf32, #k3.sym<"T">>
  %c = k3.short_conv %x, %conv_w, %conv, %batch : !h, tensor<24x4xbf16>, !k3.conv_state<3x24xbf16>, !k3.batch<"T", "S"> -> !h
  // A cast that changed the type is gone.
  // F32-NOT: k3.cast
  %wide = k3.cast %c : !h -> tensor<?x24xf32, #k3.sym<"T">>
  // F32: %[[F:.*]] = k3.fused "row" {
  // F32-NEXT: %[[N:.*]] = k3.rms_norm %[[C]], %{{.*}} : tensor<?x24xf32, #k3.sym<"T">>, tensor<24xf32> -> tensor<?x24xf32, #k3.sym<"T">>
  // F32-NEXT: k3.yield %[[N]] : tensor<?x24xf32, #k3.sym<"T">>
  // F32-NEXT: } -> tensor<?x24xf32, #k3.sym<"T">>
  %f = k3.fused "row" {
    %n = k3.rms_norm %wide, %gain {eps = 1.0e-5} : tensor<?x24xf32, #k3.sym<"T">>, tensor<24xf32> -> !h
    k3.yield %n : !h
  } -> !h
  // F32: k3.attn_res.mix %[[S]]{{.*}} : <2x24xf32, "T">, tensor<?x24xf32, #k3.sym<"T">>, tensor<24xf32>, tensor<24xf32> -> tensor<?x24xf32, #k3.sym<"T">>
  %m = k3.attn_res.mix %stack[%count], %f, %gain, %gain {eps = 1.0e-5}
      : !k3.stack<2x24xbf16, "T">, !h, tensor<24xf32>, tensor<24xf32> -> tensor<?x24xf32, #k3.sym<"T">>
  %y = k3.cast %m : tensor<?x24xf32, #k3.sym<"T">> -> !h
  return %y : !h
}

// F32-LABEL: func.func @prefill(
// F32-SAME: %{{.*}}: tensor<?xi32, #k3.sym<"T">> {k3.name = "ids"}
// F32-SAME: %{{.*}}: tensor<?x24xf32, #k3.sym<"T">> {k3.name = "x"}
// F32-SAME: -> (tensor<?x24xf32, #k3.sym<"T">> {k3.name = "y"})
func.func @prefill(%ids: tensor<?xi32, #k3.sym<"T">> {k3.name = "ids"}, %batch: !k3.batch<"T", "S">,
                   %x: !h {k3.name = "x"}) -> (!h {k3.name = "y"}) attributes {k3.entry = "prefill"} {
  %c0 = arith.constant 0 : index
  // F32: k3.stack : <2x24xf32, "T">
  %stack = k3.stack : !k3.stack<2x24xbf16, "T">
  // F32: call @body(%{{.*}}) {k3.layer = 7 : i64} : (tensor<?x24xf32, #k3.sym<"T">>, !k3.stack<2x24xf32, "T">, !k3.batch<"T", "S">, index) -> tensor<?x24xf32, #k3.sym<"T">>
  %y = call @body(%x, %stack, %batch, %c0) {k3.layer = 7 : i64}
      : (!h, !k3.stack<2x24xbf16, "T">, !k3.batch<"T", "S">, index) -> !h
  // F32: return %{{.*}} : tensor<?x24xf32, #k3.sym<"T">>
  return %y : !h
}
