// RUN: k3-opt %s --k3-fuse --k3-to-tile --cse --canonicalize | FileCheck %s
// Row-wise chains: a block a row. Odd widths.

// CHECK: tile.launch @row_embed_norm_w24_bf16 grid(%[[T:[^,]*]], %c1, %c1) ins(%[[T]],
// Rows picked: the grid is that of the picked rows.
// CHECK: %[[R:.*]] = k3.dim @R
// CHECK: tile.launch @row_take_w24_bf16 grid(%[[R]], %c1, %c1)
// CHECK: tile.launch @row_push_mix_w24_bf16
// CHECK: tile.launch @row_route_w2_i32 grid(%c3, %c1, %c1)
// CHECK: tile.launch @row_route_w1_i32
// CHECK: tile.launch @row_combine_add_w24_bf16 grid(%c3, %c1, %c1)

// An id outside the table reads a row of zeros. The eps is on the mean of squares, the result rounded once.
// CHECK-LABEL: tile.kernel @row_embed_norm_w24_bf16(
// CHECK-DAG: %[[EPS:.*]] = arith.constant 9.99999974E-6
// CHECK-DAG: %[[WIDTH:.*]] = arith.constant 2.400000e+01
// CHECK: %[[ROW:.*]] = tile.block_id x
// CHECK: %[[ID:.*]] = tile.read %{{.*}}[%[[ROW]]] bound(%[[T:.*]]) : !tile.view<?xi32> -> index
// CHECK: %[[X:.*]] = tile.load %{{.*}}[%[[ID]], %c0] bound(%c11, %c24)
// CHECK: %[[SUM:.*]] = tile.reduce add
// CHECK: %[[Y:.*]] = tile.map(%[[X]], %[[SUM]], %{{.*}})
// CHECK-NEXT: ^bb0(%[[YX:.*]]: f32, %[[YS:.*]]: f32, %[[YG:.*]]: f32):
// CHECK-NEXT: %[[MEAN:.*]] = arith.divf %[[YS]], %[[WIDTH]]
// CHECK-NEXT: %[[ME:.*]] = arith.addf %[[MEAN]], %[[EPS]]
// CHECK-NEXT: math.sqrt %[[ME]]
// CHECK-NEXT: arith.divf
// CHECK-NEXT: arith.mulf %[[YX]]
// CHECK-NEXT: arith.mulf %{{.*}}, %[[YG]]
// CHECK-NEXT: arith.truncf
// CHECK: tile.store %[[Y]], %{{.*}}[%[[ROW]], %c0] bound(%[[T]], %c24)

// CHECK-LABEL: tile.kernel @row_take_w24_bf16(
// CHECK-SAME: %[[R:[^:]*]]: index, %[[IDS:[^:]*]]: !tile.view<?xi32>, %[[T:[^:]*]]: index, %[[X:[^:]*]]: !tile.view<?x24xbf16>, %[[OUT:[^:]*]]:
// CHECK: %[[ROW:.*]] = tile.block_id x
// CHECK: %[[FROM:.*]] = tile.read %[[IDS]][%[[ROW]]] bound(%[[R]])
// CHECK: %[[V:.*]] = tile.load %[[X]][%[[FROM]], %c0] bound(%[[T]], %c24)
// CHECK: tile.store %[[V]], %[[OUT]][%[[ROW]], %c0] bound(%[[R]], %c24)

// The raw sum is pushed before the mix; the mix is of raw sums, by scores of normed ones, over `count` blocks and h.
// CHECK-LABEL: tile.kernel @row_push_mix_w24_bf16(
// CHECK-SAME: %[[T:[^:]*]]: index, %[[HV:[^:]*]]: !tile.view<?x24xbf16>, %[[COUNT:[^:]*]]: index, %[[STACK:[^:]*]]: !tile.view<?x5x24xbf16>,
// CHECK: %[[ROW:.*]] = tile.block_id x
// CHECK: %[[H:.*]] = tile.load %[[HV]][%[[ROW]], %c0] bound(%[[T]], %c24)
// CHECK: tile.store %{{.*}}, %[[STACK]][%[[ROW]], %[[COUNT]], %c0] bound(%[[T]], %c5, %c24)
// CHECK: %[[U:.*]] = tile.map({{.*}}) : (!tile.tile<1x24xf32>, !tile.tile<1x24xf32>)
// CHECK: tile.map(%[[U]], %[[H]])
// CHECK: %[[SCORE:.*]] = tile.map({{.*}}) : (!tile.tile<1x1xf32>, !tile.tile<1x1xf32>)
// CHECK: math.sqrt
// CHECK-NEXT: arith.divf
// CHECK: %[[MIX:.*]]:3 = tile.for %[[B:.*]] = %c0 to %[[COUNT]] step %c1 iter(%[[ACC:.*]] = %[[H]], %[[TOP:.*]] = %[[SCORE]], %[[TOTAL:.*]] = %{{.*}}) :
// CHECK: tile.load %[[STACK]][%[[ROW]], %[[B]], %c0] bound(%[[T]], %c5, %c24)
// CHECK: %[[V:.*]] = tile.reshape
// CHECK: %[[S:.*]] = tile.map({{.*}}) : (!tile.tile<1x1xf32>, !tile.tile<1x1xf32>)
// CHECK: %[[NEXT:.*]] = tile.map(%[[TOP]], %[[S]])
// CHECK: %[[KEEP:.*]] = tile.map(%[[TOP]], %[[NEXT]])
// CHECK: %[[SHARE:.*]] = tile.map(%[[S]], %[[NEXT]])
// CHECK: %[[SUM:.*]] = tile.map(%[[ACC]], %[[KEEP]], %[[V]], %[[SHARE]])
// CHECK: tile.yield %[[SUM]], %[[NEXT]],
// CHECK: tile.map(%[[MIX]]#0, %[[MIX]]#2)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.divf
// CHECK-NOT: arith.truncf
// CHECK: tile.store

// The bias chooses, but a weight is the score alone; renormalised by the sum + 1e-20, then scaled.
// CHECK-LABEL: tile.kernel @row_route_w2_i32(
// CHECK-DAG: %[[SCALE:.*]] = arith.constant 2.500000e+00
// CHECK-DAG: %[[TINY:.*]] = arith.constant 9.99999968E-21
// CHECK: %[[LOGITS:.*]] = tile.load %{{.*}} bound(%c3, %c6)
// CHECK: %[[SCORES:.*]] = tile.map(%[[LOGITS]])
// CHECK: math.exp
// CHECK: %[[BIASED:.*]] = tile.map(%[[SCORES]], %{{.*}})
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.addf
// A NaN among the scores would lose its expert in silence; it joins every weight instead.
// CHECK: tile.map(%[[BIASED]])
// CHECK: arith.cmpf uno
// CHECK: %[[FAULT:.*]] = tile.reduce add
// CHECK: %{{.*}}, %[[IDS:.*]] = tile.top_k %[[BIASED]] : !tile.tile<1x6xf32> -> !tile.tile<1x2xf32>, !tile.tile<1x2xi32>
// CHECK: %[[PICKED:.*]] = tile.for %[[J:.*]] = %c0 to %c2 step %c1
// CHECK: %[[ID:.*]] = tile.extract %[[IDS]][%c0, %[[J]]]
// CHECK: tile.map(%{{.*}}, %[[ID]], %[[SCORES]])
// CHECK: %[[ALL:.*]] = tile.map(%[[PICKED]], %[[FAULT]])
// CHECK: %[[SUM:.*]] = tile.reduce add %[[ALL]] axis 1
// CHECK: %[[W:.*]] = tile.map(%[[ALL]], %[[SUM]])
// CHECK: %[[D:.*]] = arith.addf %{{.*}}, %[[TINY]]
// CHECK-NEXT: arith.divf %{{.*}}, %[[D]]
// CHECK-NEXT: arith.mulf %{{.*}}, %[[SCALE]]
// CHECK: tile.store %[[IDS]], %{{.*}} bound(%c3, %c2)
// CHECK: tile.store %[[W]], %{{.*}} bound(%c3, %c2)

// Softmax, and a single choice that is not divided by itself though the config says renormalize.
// CHECK-LABEL: tile.kernel @row_route_w1_i32(
// CHECK: tile.reduce max
// CHECK: arith.divf
// CHECK: tile.top_k
// CHECK-NOT: arith.divf
// CHECK: tile.return

// Shares in f32, one sum over the choices, rounded; then the sum with the slice, which starts at column 6.
// CHECK-LABEL: tile.kernel @row_combine_add_w24_bf16(
// CHECK: %[[X:.*]] = tile.reshape %{{.*}} : !tile.tile<1x48xf32> -> !tile.tile<2x24xf32>
// CHECK: %[[P:.*]] = tile.reshape %{{.*}} : !tile.tile<1x2xf32> -> !tile.tile<2x1xf32>
// CHECK: %[[XP:.*]] = tile.map(%[[X]], %[[P]])
// CHECK: %[[SUM:.*]] = tile.reduce add %[[XP]] axis 0
// CHECK: %[[C:.*]] = tile.map(%[[SUM]])
// CHECK: arith.truncf
// CHECK: %[[Y:.*]] = tile.load %{{.*}}[%{{.*}}, %c6] bound(%c3, %c30)
// CHECK: tile.map(%[[Y]], %[[C]])

k3.symbol @T <= 130
k3.symbol @R <= 7

func.func @embed(%ids: tensor<?xi32, #k3.sym<"T">>, %table: tensor<11x24xbf16>, %gain: tensor<24xf32>) -> tensor<?x24xbf16, #k3.sym<"T">> {
  %x = k3.embed %ids, %table : tensor<?xi32, #k3.sym<"T">>, tensor<11x24xbf16> -> tensor<?x24xbf16, #k3.sym<"T">>
  %y = k3.rms_norm %x, %gain {eps = 1.0e-5} : tensor<?x24xbf16, #k3.sym<"T">>, tensor<24xf32> -> tensor<?x24xbf16, #k3.sym<"T">>
  return %y : tensor<?x24xbf16, #k3.sym<"T">>
}
func.func @take(%x: tensor<?x24xbf16, #k3.sym<"T">>, %rows: tensor<?xi32, #k3.sym<"R">>) -> tensor<?x24xbf16, #k3.sym<"R">> {
  %y = k3.take_rows %x, %rows : tensor<?x24xbf16, #k3.sym<"T">>, tensor<?xi32, #k3.sym<"R">> -> tensor<?x24xbf16, #k3.sym<"R">>
  return %y : tensor<?x24xbf16, #k3.sym<"R">>
}
func.func @residuals(%h: tensor<?x24xbf16, #k3.sym<"T">>, %stack: !k3.stack<5x24xbf16, "T">, %norm: tensor<24xf32>, %query: tensor<1x24xf32>, %count: index) -> tensor<?x24xf32, #k3.sym<"T">> {
  k3.attn_res.push %stack[%count], %h : !k3.stack<5x24xbf16, "T">, tensor<?x24xbf16, #k3.sym<"T">>
  %mix = k3.attn_res.mix %stack[%count], %h, %norm, %query {eps = 1.0e-5} : !k3.stack<5x24xbf16, "T">, tensor<?x24xbf16, #k3.sym<"T">>, tensor<24xf32>, tensor<1x24xf32> -> tensor<?x24xf32, #k3.sym<"T">>
  return %mix : tensor<?x24xf32, #k3.sym<"T">>
}
func.func @router(%logits: tensor<3x6xf32>, %bias: tensor<6xf32>) -> (tensor<3x2xi32>, tensor<3x2xf32>) {
  %ids, %weights = k3.router sigmoid %logits, %bias {top_k = 2, renormalize = true, scale = 2.5} : tensor<3x6xf32>, tensor<6xf32> -> tensor<3x2xi32>, tensor<3x2xf32>
  return %ids, %weights : tensor<3x2xi32>, tensor<3x2xf32>
}
func.func @top1(%logits: tensor<3x7xf32>, %bias: tensor<7xf32>) -> (tensor<3x1xi32>, tensor<3x1xf32>) {
  %ids, %weights = k3.router softmax %logits, %bias {top_k = 1, renormalize = true, scale = 1.0} : tensor<3x7xf32>, tensor<7xf32> -> tensor<3x1xi32>, tensor<3x1xf32>
  return %ids, %weights : tensor<3x1xi32>, tensor<3x1xf32>
}
func.func @combine(%x: tensor<3x48xbf16>, %weights: tensor<3x2xf32>, %y: tensor<3x30xbf16>) -> tensor<3x24xbf16> {
  %s = k3.slice %y[6] : tensor<3x30xbf16> -> tensor<3x24xbf16>
  %c = k3.combine %x, %weights : tensor<3x48xbf16>, tensor<3x2xf32> -> tensor<3x24xbf16>
  %z = k3.add %s, %c : tensor<3x24xbf16>, tensor<3x24xbf16> -> tensor<3x24xbf16>
  return %z : tensor<3x24xbf16>
}
