// RUN: k3-opt %s --k3-fuse --k3-to-tile=shared-bytes=232448 --cse --canonicalize | FileCheck %s
// The recurrence in chunks for a GPU: two blocks share the 64 value columns of a head, and the norm over all of them is a
// kernel of its own.

// CHECK-LABEL: func.func @unbounded(
// CHECK: %[[S:.*]] = k3.dim @S
// CHECK: %[[O:.*]] = tile.launch @delta_chunk16_h2_k16_v64_bf16 grid(%c2, %[[S]], %c2) {{.*}} -> tensor<?x128xbf16
// CHECK: tile.launch @delta_norm_h2_k16_v64_bf16 grid(%c2, %{{.*}}, %c1) ins({{.*}}%[[O]]

// CHECK-LABEL: tile.kernel @delta_chunk16_h2_k16_v64_bf16(
// CHECK: %[[Z:.*]] = tile.block_id z
// CHECK: %[[FIRST:.*]] = arith.muli %[[Z]], %c32
// CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}, %c0, %[[FIRST]]] bound(%{{.*}}, %c2, %c16, %c64) : {{.*}} -> !tile.tile<16x32xf32>

// Scores by halves, here those of rows that part in groups of four: around row 1 of each, no exponent is positive, and the
// operands of the products are bf16 numbers and what those rounded away.
// CHECK: %[[GROUPS:.*]] = tile.reshape %[[SUM:.*]] : !tile.tile<16x16xf32> -> !tile.tile<4x4x16xf32>
// CHECK: %[[LAST:.*]] = tile.extract %[[GROUPS]][%c0, %c1, %c0] : !tile.tile<4x4x16xf32> -> !tile.tile<4x1x16xf32>
// CHECK: tile.map(%[[GROUPS]], %[[LAST]])
// CHECK: arith.minimumf
// CHECK-NEXT: math.exp
// CHECK: %[[LOW:.*]] = tile.mma %{{.*}}, %[[L:.*]], %[[R:.*]] {transpose_b} : !tile.tile<16x16xf32>, !tile.tile<16x16xbf16>, !tile.tile<16x16xbf16>
// CHECK: %[[BOTH:.*]] = tile.mma %[[LOW]], %[[R]], %[[L]] {transpose_b}
// CHECK: tile.mma %[[BOTH]], %[[R]], %[[R]] {transpose_b}
// CHECK: arith.xori

// The keys recall from a state in two parts; the solve and what it adds to the carried state stay f32.
// CHECK: tile.mma %{{.*}} : !tile.tile<16x32xf32>, !tile.tile<16x16xbf16>, !tile.tile<16x32xbf16>
// CHECK: tile.tri_solve %{{.*}} : !tile.tile<16x16xf32>, !tile.tile<16x32xf32>
// CHECK: tile.mma %{{.*}} {transpose_a} : !tile.tile<16x32xf32>, !tile.tile<16x16xf32>, !tile.tile<16x32xf32>
// CHECK: tile.yield %{{.*}} : !tile.tile<16x32xf32>

k3.symbol @T <= 130
k3.symbol @S <= 3

!k = tensor<?x32xbf16, #k3.sym<"T">>
!v = tensor<?x128xbf16, #k3.sym<"T">>
!beta = tensor<?x2xf32, #k3.sym<"T">>

func.func @unbounded(%q: !k, %k: !k, %v: !v, %raw: !k, %beta: !beta, %a_log: tensor<2xf32>, %dt: tensor<32xf32>,
                     %state: !k3.kda_state<2x16x64xf32, kv>, %batch: !k3.batch<"T", "S">, %gate: !v, %gain: tensor<64xf32>) -> !v {
  %o = k3.kda(%q, %k, %v, %raw, %beta, %a_log, %dt, %state, %batch) : !k, !k, !v, !k, !beta, tensor<2xf32>, tensor<32xf32>,
      !k3.kda_state<2x16x64xf32, kv>, !k3.batch<"T", "S"> -> !v
  %y = k3.gated_rms_norm %o, %gate, %gain {eps = 1.0e-5} : !v, !v, tensor<64xf32> -> !v
  return %y : !v
}
