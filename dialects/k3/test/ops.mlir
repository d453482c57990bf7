// RUN: k3-opt %s | k3-opt | FileCheck %s
// RUN: k3-opt %s --mlir-print-op-generic | k3-opt | FileCheck %s
// Every op of the k3 dialect with odd sizes and K != V: 3 heads, key 16, value 24, 5 experts of width 6, top 2.

!seq = !k3.batch<"T", "S">
!ids = tensor<?xi32, #k3.sym<"T">>
!h = tensor<?x40xbf16, #k3.sym<"T">>
!h32 = tensor<?x40xf32, #k3.sym<"T">>

k3.symbol @T <= 130
k3.symbol @S <= 3
k3.symbol @R <= 7
k3.param @table : tensor<101x40xbf16>
k3.param @gain : tensor<40xf32>
k3.state @"layers.{L}.kda" : !k3.kda_state<3x16x24xf32, kv>

// CHECK-LABEL: func.func private @names
func.func private @names(%batch: !seq) -> (!ids, index) {
  // CHECK: k3.weight @table : tensor<101x40xbf16>
  %table = k3.weight @table : tensor<101x40xbf16>
  // CHECK: k3.ref @"layers.{L}.kda" : !k3.kda_state<3x16x24xf32, kv>
  %kda = k3.ref @"layers.{L}.kda" : !k3.kda_state<3x16x24xf32, kv>
  // CHECK: k3.dim @T
  %dim = k3.dim @T
  // CHECK: k3.batch_field %{{.*}} "token_seq" : <"T", "S"> -> tensor<?xi32, #k3.sym<"T">>
  %seq = k3.batch_field %batch "token_seq" : !seq -> !ids
  // CHECK: k3.batch_field %{{.*}} "seq_offsets" : <"T", "S"> -> tensor<?xi32, #k3.sym<"S">>
  %offsets = k3.batch_field %batch "seq_offsets" : !seq -> tensor<?xi32, #k3.sym<"S">>
  // CHECK: k3.batch_field %{{.*}} "page_table" : <"T", "S"> -> tensor<?x9xi32, #k3.sym<"S">>
  %pages = k3.batch_field %batch "page_table" : !seq -> tensor<?x9xi32, #k3.sym<"S">>
  return %seq, %dim : !ids, index
}

// CHECK-LABEL: func.func private @static_batch
func.func private @static_batch(%batch: !k3.batch<3>) -> tensor<4xi32> {
  // CHECK: k3.batch_field %{{.*}} "token_pos" : <3> -> tensor<3xi32>
  %pos = k3.batch_field %batch "token_pos" : !k3.batch<3> -> tensor<3xi32>
  // CHECK: k3.batch_field %{{.*}} "seq_offsets" : <3> -> tensor<4xi32>
  %offsets = k3.batch_field %batch "seq_offsets" : !k3.batch<3> -> tensor<4xi32>
  // CHECK: k3.batch_field %{{.*}} "seq_slots" : <3> -> tensor<3xi32>
  %slots = k3.batch_field %batch "seq_slots" : !k3.batch<3> -> tensor<3xi32>
  // CHECK: k3.batch_field %{{.*}} "seq_context" : <3> -> tensor<3xi32>
  %context = k3.batch_field %batch "seq_context" : !k3.batch<3> -> tensor<3xi32>
  return %offsets : tensor<4xi32>
}

// CHECK-LABEL: func.func private @rows
func.func private @rows(%ids: !ids, %picked: tensor<?xi32, #k3.sym<"R">>,
                        %table: tensor<101x40xbf16>, %w: tensor<96x40xbf16>, %gain: tensor<40xf32>) {
  // CHECK: k3.embed %{{.*}}, %{{.*}} : tensor<?xi32, #k3.sym<"T">>, tensor<101x40xbf16> -> tensor<?x40xbf16, #k3.sym<"T">>
  %x = k3.embed %ids, %table : !ids, tensor<101x40xbf16> -> !h
  // CHECK: k3.take_rows %{{.*}}, %{{.*}} : tensor<?x40xbf16, #k3.sym<"T">>, tensor<?xi32, #k3.sym<"R">> -> tensor<?x40xbf16, #k3.sym<"R">>
  %taken = k3.take_rows %x, %picked : !h, tensor<?xi32, #k3.sym<"R">> -> tensor<?x40xbf16, #k3.sym<"R">>
  // CHECK: k3.linear %{{.*}}, %{{.*}} : tensor<?x40xbf16, #k3.sym<"R">>, tensor<101x40xbf16> -> tensor<?x101xf32, #k3.sym<"R">>
  %logits = k3.linear %taken, %table : tensor<?x40xbf16, #k3.sym<"R">>, tensor<101x40xbf16> -> tensor<?x101xf32, #k3.sym<"R">>
  // CHECK: k3.sample %{{.*}} : tensor<?x101xf32, #k3.sym<"R">> -> tensor<?xi32, #k3.sym<"R">>
  %next = k3.sample %logits : tensor<?x101xf32, #k3.sym<"R">> -> tensor<?xi32, #k3.sym<"R">>
  %y = k3.linear %x, %w : !h, tensor<96x40xbf16> -> tensor<?x96xbf16, #k3.sym<"T">>
  // CHECK: k3.slice %{{.*}}[56] : tensor<?x96xbf16, #k3.sym<"T">> -> tensor<?x40xbf16, #k3.sym<"T">>
  %cut = k3.slice %y[56] : tensor<?x96xbf16, #k3.sym<"T">> -> !h
  // CHECK: k3.cast %{{.*}} : tensor<?x40xbf16, #k3.sym<"T">> -> tensor<?x40xf32, #k3.sym<"T">>
  %cast = k3.cast %cut : !h -> !h32
  // CHECK: k3.rms_norm %{{.*}}, %{{.*}} {eps = 1.000000e-05 : f64} : tensor<?x40xf32, #k3.sym<"T">>, tensor<40xf32> -> tensor<?x40xbf16, #k3.sym<"T">>
  %norm = k3.rms_norm %cast, %gain {eps = 1.0e-5} : !h32, tensor<40xf32> -> !h
  // CHECK: k3.add %{{.*}}, %{{.*}} : tensor<?x40xbf16, #k3.sym<"T">>, tensor<?x40xf32, #k3.sym<"T">> -> tensor<?x40xf32, #k3.sym<"T">>
  %sum = k3.add %norm, %cast : !h, !h32 -> !h32
  // CHECK: k3.gate %{{.*}}, %{{.*}} : tensor<?x40xf32, #k3.sym<"T">>, tensor<?x40xbf16, #k3.sym<"T">> -> tensor<?x40xbf16, #k3.sym<"T">>
  %gated = k3.gate %sum, %norm : !h32, !h -> !h
  // CHECK: k3.glu situ %{{.*}}, %{{.*}} {beta = 4.000000e+00 : f64, linear_beta = 2.500000e+01 : f64} : tensor<?x40xbf16, #k3.sym<"T">>, tensor<?x40xbf16, #k3.sym<"T">> -> tensor<?x40xbf16, #k3.sym<"T">>
  %situ = k3.glu situ %gated, %norm {beta = 4.0, linear_beta = 25.0} : !h, !h -> !h
  // CHECK: k3.glu swiglu %{{.*}}, %{{.*}} : tensor<?x40xbf16, #k3.sym<"T">>, tensor<?x40xbf16, #k3.sym<"T">> -> tensor<?x40xbf16, #k3.sym<"T">>
  %swiglu = k3.glu swiglu %gated, %norm : !h, !h -> !h
  // CHECK: k3.tap %{{.*}} as "layers.{L}.h" : tensor<?x40xbf16, #k3.sym<"T">>
  k3.tap %swiglu as "layers.{L}.h" : !h
  return
}

// CHECK-LABEL: func.func private @heads
func.func private @heads(%q: tensor<5x66xbf16>, %w: tensor<90x20xbf16>, %u: tensor<5x60xbf16>) {
  // Three heads of 16 + 6 columns meet the first 16 of 30 weight rows each; the 6 follow unchanged.
  // CHECK: k3.head_linear %{{.*}}, %{{.*}} {heads = 3 : i64, pass_begin = 16 : i64, pass_count = 6 : i64, row_begin = 0 : i64, rows = 16 : i64, stride_rows = 30 : i64, transpose} : tensor<5x66xbf16>, tensor<90x20xbf16> -> tensor<5x78xbf16>
  %absorbed = k3.head_linear %q, %w {heads = 3, stride_rows = 30, row_begin = 0, rows = 16, transpose,
      pass_begin = 16, pass_count = 6} : tensor<5x66xbf16>, tensor<90x20xbf16> -> tensor<5x78xbf16>
  // CHECK: k3.head_linear %{{.*}}, %{{.*}} {heads = 3 : i64, row_begin = 16 : i64, rows = 14 : i64, stride_rows = 30 : i64} : tensor<5x60xbf16>, tensor<90x20xbf16> -> tensor<5x42xbf16>
  %values = k3.head_linear %u, %w {heads = 3, stride_rows = 30, row_begin = 16, rows = 14}
      : tensor<5x60xbf16>, tensor<90x20xbf16> -> tensor<5x42xbf16>
  return
}

// CHECK-LABEL: func.func private @kda
func.func private @kda(%q: tensor<?x48xbf16, #k3.sym<"T">>, %v: tensor<?x72xbf16, #k3.sym<"T">>,
                       %beta: tensor<?x3xf32, #k3.sym<"T">>, %conv_w: tensor<48x4xbf16>,
                       %a_log: tensor<32xf32>, %dt_bias: tensor<48xf32>, %gain: tensor<24xf32>,
                       %conv: !k3.conv_state<3x48xbf16>, %state: !k3.kda_state<3x16x24xf32, kv>, %batch: !seq) {
  // CHECK: k3.short_conv %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x48xbf16, #k3.sym<"T">>, tensor<48x4xbf16>, <3x48xbf16>, <"T", "S"> -> tensor<?x48xbf16, #k3.sym<"T">>
  %k = k3.short_conv %q, %conv_w, %conv, %batch : tensor<?x48xbf16, #k3.sym<"T">>, tensor<48x4xbf16>,
      !k3.conv_state<3x48xbf16>, !seq -> tensor<?x48xbf16, #k3.sym<"T">>
  // CHECK: k3.kda(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {lower_bound = -5.000000e+00 : f64} :
  // CHECK-SAME: tensor<32xf32>, tensor<48xf32>, <3x16x24xf32, kv>, <"T", "S"> -> tensor<?x72xbf16, #k3.sym<"T">>
  %o = k3.kda(%q, %k, %v, %q, %beta, %a_log, %dt_bias, %state, %batch) {lower_bound = -5.0}
      : tensor<?x48xbf16, #k3.sym<"T">>, tensor<?x48xbf16, #k3.sym<"T">>, tensor<?x72xbf16, #k3.sym<"T">>,
        tensor<?x48xbf16, #k3.sym<"T">>, tensor<?x3xf32, #k3.sym<"T">>, tensor<32xf32>, tensor<48xf32>,
        !k3.kda_state<3x16x24xf32, kv>, !seq -> tensor<?x72xbf16, #k3.sym<"T">>
  // CHECK: k3.gated_rms_norm %{{.*}}, %{{.*}}, %{{.*}} {eps = 1.000000e-05 : f64} : tensor<?x72xbf16, #k3.sym<"T">>, tensor<?x72xbf16, #k3.sym<"T">>, tensor<24xf32> -> tensor<?x72xbf16, #k3.sym<"T">>
  %y = k3.gated_rms_norm %o, %v, %gain {eps = 1.0e-5} : tensor<?x72xbf16, #k3.sym<"T">>,
      tensor<?x72xbf16, #k3.sym<"T">>, tensor<24xf32> -> tensor<?x72xbf16, #k3.sym<"T">>
  return
}

// CHECK-LABEL: func.func private @mla
func.func private @mla(%kv: tensor<?x26xbf16, #k3.sym<"T">>, %gain: tensor<20xf32>,
                       %q: tensor<?x66xbf16, #k3.sym<"T">>, %absorbed: tensor<?x78xbf16, #k3.sym<"T">>,
                       %kv_b: tensor<90x20xbf16>, %cache: !k3.latent_cache<64x26xbf16>, %batch: !seq) {
  // CHECK: k3.latent_append %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {eps = 1.000000e-05 : f64} : tensor<?x26xbf16, #k3.sym<"T">>, tensor<20xf32>, <64x26xbf16>, <"T", "S">
  k3.latent_append %kv, %gain, %cache, %batch {eps = 1.0e-5} : tensor<?x26xbf16, #k3.sym<"T">>, tensor<20xf32>,
      !k3.latent_cache<64x26xbf16>, !seq
  // CHECK: k3.mla %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {heads = 3 : i64, nope = 16 : i64, rope = 6 : i64, scale = 2.500000e-01 : f64, value = 14 : i64} : tensor<?x66xbf16, #k3.sym<"T">>, tensor<90x20xbf16>, <64x26xbf16>, <"T", "S"> -> tensor<?x42xbf16, #k3.sym<"T">>
  %o = k3.mla %q, %kv_b, %cache, %batch {heads = 3, nope = 16, rope = 6, value = 14, scale = 0.25}
      : tensor<?x66xbf16, #k3.sym<"T">>, tensor<90x20xbf16>, !k3.latent_cache<64x26xbf16>, !seq -> tensor<?x42xbf16, #k3.sym<"T">>
  // CHECK: k3.latent_attention %{{.*}}, %{{.*}}, %{{.*}} {heads = 3 : i64, latent = 20 : i64, scale = 2.500000e-01 : f64} : tensor<?x78xbf16, #k3.sym<"T">>, <64x26xbf16>, <"T", "S"> -> tensor<?x60xbf16, #k3.sym<"T">>
  %u = k3.latent_attention %absorbed, %cache, %batch {heads = 3, latent = 20, scale = 0.25}
      : tensor<?x78xbf16, #k3.sym<"T">>, !k3.latent_cache<64x26xbf16>, !seq -> tensor<?x60xbf16, #k3.sym<"T">>
  return
}

// CHECK-LABEL: func.func private @attn_res
func.func private @attn_res(%h: !h, %norm: tensor<40xf32>, %query: tensor<1x40xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: k3.stack : <8x40xbf16, "T">
  %stack = k3.stack : !k3.stack<8x40xbf16, "T">
  // CHECK: k3.attn_res.push %{{.*}}[%c0], %{{.*}} : <8x40xbf16, "T">, tensor<?x40xbf16, #k3.sym<"T">>
  k3.attn_res.push %stack[%c0], %h : !k3.stack<8x40xbf16, "T">, !h
  // CHECK: k3.attn_res.mix %{{.*}}[%c1], %{{.*}}, %{{.*}}, %{{.*}} {eps = 1.000000e-05 : f64} : <8x40xbf16, "T">, tensor<?x40xbf16, #k3.sym<"T">>, tensor<40xf32>, tensor<1x40xbf16> -> tensor<?x40xf32, #k3.sym<"T">>
  %mixed = k3.attn_res.mix %stack[%c1], %h, %norm, %query {eps = 1.0e-5}
      : !k3.stack<8x40xbf16, "T">, !h, tensor<40xf32>, tensor<1x40xbf16> -> !h32
  return
}

// CHECK-LABEL: func.func private @experts
func.func private @experts(%logits: tensor<4x6xf32>, %bias: tensor<6xf32>, %z: tensor<4x32xbf16>,
                           %gate_up: tensor<6x14x32xbf16>, %down: tensor<6x32x7xbf16>) {
  // CHECK: %[[IDS:.*]], %[[W:.*]] = k3.router sigmoid %{{.*}}, %{{.*}} {groups = 3 : i64, renormalize = true, scale = 2.500000e+00 : f64, top_k = 2 : i64, topk_groups = 2 : i64} : tensor<4x6xf32>, tensor<6xf32> -> tensor<4x2xi32>, tensor<4x2xf32>
  %ids, %weights = k3.router sigmoid %logits, %bias {top_k = 2, renormalize = true, scale = 2.5, groups = 3, topk_groups = 2}
      : tensor<4x6xf32>, tensor<6xf32> -> tensor<4x2xi32>, tensor<4x2xf32>
  // CHECK: k3.router softmax %{{.*}}, %{{.*}} {renormalize = false, scale = 1.000000e+00 : f64, top_k = 1 : i64} : tensor<4x6xf32>, tensor<6xf32> -> tensor<4x1xi32>, tensor<4x1xf32>
  %id, %weight = k3.router softmax %logits, %bias {top_k = 1, renormalize = false, scale = 1.0}
      : tensor<4x6xf32>, tensor<6xf32> -> tensor<4x1xi32>, tensor<4x1xf32>
  // CHECK: k3.experts swiglu %{{.*}}, %[[IDS]], %[[W]], %{{.*}}, %{{.*}} : tensor<4x32xbf16>, tensor<4x2xi32>, tensor<4x2xf32>, tensor<6x14x32xbf16>, tensor<6x32x7xbf16> -> tensor<4x32xbf16>
  %y = k3.experts swiglu %z, %ids, %weights, %gate_up, %down
      : tensor<4x32xbf16>, tensor<4x2xi32>, tensor<4x2xf32>, tensor<6x14x32xbf16>, tensor<6x32x7xbf16> -> tensor<4x32xbf16>
  // CHECK: %[[UP:.*]] = k3.expert_up situ %{{.*}}, %[[IDS]], %{{.*}} {beta = 4.000000e+00 : f64, linear_beta = 2.500000e+01 : f64} : tensor<4x32xbf16>, tensor<4x2xi32>, tensor<6x14x32xbf16> -> tensor<4x14xbf16>
  %up = k3.expert_up situ %z, %ids, %gate_up {beta = 4.0, linear_beta = 25.0}
      : tensor<4x32xbf16>, tensor<4x2xi32>, tensor<6x14x32xbf16> -> tensor<4x14xbf16>
  // CHECK: %[[DOWN:.*]] = k3.expert_down %[[UP]], %[[IDS]], %{{.*}} : tensor<4x14xbf16>, tensor<4x2xi32>, tensor<6x32x7xbf16> -> tensor<4x64xbf16>
  %out = k3.expert_down %up, %ids, %down
      : tensor<4x14xbf16>, tensor<4x2xi32>, tensor<6x32x7xbf16> -> tensor<4x64xbf16>
  // CHECK: k3.combine %[[DOWN]], %[[W]] : tensor<4x64xbf16>, tensor<4x2xf32> -> tensor<4x32xbf16>
  %sum = k3.combine %out, %weights : tensor<4x64xbf16>, tensor<4x2xf32> -> tensor<4x32xbf16>
  return
}

// CHECK-LABEL: func.func private @mxfp4
func.func private @mxfp4(%z: tensor<4x64xbf16>, %ids: tensor<4x2xi32>, %weights: tensor<4x2xf32>,
                         %gate_up: tensor<5x64x32xi8>, %gate_up_scale: tensor<5x64x2xi8>,
                         %down: tensor<5x64x16xi8>, %down_scale: tensor<5x64x1xi8>) {
  // CHECK: k3.experts situ %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} scales(%{{.*}}, %{{.*}}) {beta = 4.000000e+00 : f64} : tensor<4x64xbf16>, tensor<4x2xi32>, tensor<4x2xf32>, tensor<5x64x32xi8>, tensor<5x64x16xi8> scales(tensor<5x64x2xi8>, tensor<5x64x1xi8>) -> tensor<4x64xbf16>
  %y = k3.experts situ %z, %ids, %weights, %gate_up, %down scales(%gate_up_scale, %down_scale) {beta = 4.0}
      : tensor<4x64xbf16>, tensor<4x2xi32>, tensor<4x2xf32>, tensor<5x64x32xi8>, tensor<5x64x16xi8>
        scales(tensor<5x64x2xi8>, tensor<5x64x1xi8>) -> tensor<4x64xbf16>
  // CHECK: k3.expert_up swiglu %{{.*}}, %{{.*}}, %{{.*}} scale %{{.*}} : tensor<4x64xbf16>, tensor<4x2xi32>, tensor<5x64x32xi8> scale tensor<5x64x2xi8> -> tensor<4x64xbf16>
  %up = k3.expert_up swiglu %z, %ids, %gate_up scale %gate_up_scale
      : tensor<4x64xbf16>, tensor<4x2xi32>, tensor<5x64x32xi8> scale tensor<5x64x2xi8> -> tensor<4x64xbf16>
  // CHECK: k3.expert_down %{{.*}}, %{{.*}}, %{{.*}} scale %{{.*}} : tensor<4x64xbf16>, tensor<4x2xi32>, tensor<5x64x16xi8> scale tensor<5x64x1xi8> -> tensor<4x128xbf16>
  %out = k3.expert_down %up, %ids, %down scale %down_scale
      : tensor<4x64xbf16>, tensor<4x2xi32>, tensor<5x64x16xi8> scale tensor<5x64x1xi8> -> tensor<4x128xbf16>
  return
}

// CHECK-LABEL: func.func private @groups
func.func private @groups(%x: !h, %y: !h32) -> !h {
  // CHECK: %[[G:.*]]:2 = k3.fused "row" {
  // CHECK: k3.yield %{{.*}}, %{{.*}} : tensor<?x40xbf16, #k3.sym<"T">>, tensor<?x40xf32, #k3.sym<"T">>
  // CHECK: } -> tensor<?x40xbf16, #k3.sym<"T">>, tensor<?x40xf32, #k3.sym<"T">>
  %g:2 = k3.fused "row" {
    %sum = k3.add %x, %y : !h, !h32 -> !h32
    %low = k3.cast %sum : !h32 -> !h
    k3.yield %low, %sum : !h, !h32
  } -> !h, !h32
  // CHECK: k3.fused "row" {
  // CHECK-NEXT: k3.yield
  // CHECK-NEXT: }
  k3.fused "row" {
    k3.yield
  }
  return %g#0 : !h
}

// CHECK-LABEL: func.func private @collectives
func.func private @collectives(%x: tensor<8x40xbf16>) {
  // CHECK: k3.all_reduce %{{.*}} over "tp" : tensor<8x40xbf16> -> tensor<8x40xbf16>
  %sum = k3.all_reduce %x over "tp" : tensor<8x40xbf16> -> tensor<8x40xbf16>
  // CHECK: k3.reduce_scatter %{{.*}} over "tp" : tensor<8x40xbf16> -> tensor<2x40xbf16>
  %part = k3.reduce_scatter %x over "tp" : tensor<8x40xbf16> -> tensor<2x40xbf16>
  // CHECK: k3.all_gather %{{.*}} over "tp" : tensor<2x40xbf16> -> tensor<8x40xbf16>
  %all = k3.all_gather %part over "tp" : tensor<2x40xbf16> -> tensor<8x40xbf16>
  // CHECK: k3.all_to_all %{{.*}} over "ep" : tensor<8x40xbf16> -> tensor<8x40xbf16>
  %turned = k3.all_to_all %x over "ep" : tensor<8x40xbf16> -> tensor<8x40xbf16>
  // CHECK: k3.send %{{.*}} to 1 : tensor<8x40xbf16>
  k3.send %x to 1 : tensor<8x40xbf16>
  // CHECK: k3.recv 0 : tensor<8x40xbf16>
  %got = k3.recv 0 : tensor<8x40xbf16>
  return
}
