// RUN: k3-opt %s --k3-fuse --k3-to-tile --cse --canonicalize | FileCheck %s
// Ragged rows in chunks of 16 a block of one head and one sequence.

// CHECK-LABEL: func.func @bounded(
// CHECK: %[[S:.*]] = k3.dim @S
// CHECK: tile.launch @delta_chunk16_h2_k16_v24_bf16 grid(%c2, %[[S]], %c1) ins(%[[S]], %{{.*}}, %{{.*}}, %arg7, %arg0, %arg1, %arg2, %arg4, %arg3, %arg6, %arg5 :

// CHECK-LABEL: tile.kernel @delta_chunk16_h2_k16_v24_bf16(
// CHECK-SAME: %[[SEQS:[^:]*]]: index, %[[SLOTS:[^:]*]]: !tile.view<?xi32>, %[[OFFSETS:[^:]*]]: !tile.view<?xi32>, %[[STATE:[^:]*]]: !tile.view<?x2x16x24xf32>,
// CHECK-SAME: %[[QV:[^:]*]]: !tile.view<?x32xbf16>, %[[KV:[^:]*]]: !tile.view<?x32xbf16>, %[[VV:[^:]*]]: !tile.view<?x48xbf16>, %[[BV:[^:]*]]: !tile.view<?x2xf32>,
// CHECK-SAME: %[[OUT:[^:]*]]: !tile.view<?x48xbf16>) {
// CHECK: %[[HEAD:.*]] = tile.block_id x
// CHECK-NEXT: %[[SEQ:.*]] = tile.block_id y
// CHECK-NEXT: %[[SLOT:.*]] = tile.read %[[SLOTS]][%[[SEQ]]] bound(%[[SEQS]])
// CHECK-NEXT: %[[ENTRIES:.*]] = arith.addi %[[SEQS]], %c1
// CHECK-NEXT: %[[BEGIN:.*]] = tile.read %[[OFFSETS]][%[[SEQ]]] bound(%[[ENTRIES]])
// CHECK-NEXT: %[[SEQ1:.*]] = arith.addi %[[SEQ]], %c1
// CHECK-NEXT: %[[END:.*]] = tile.read %[[OFFSETS]][%[[SEQ1]]] bound(%[[ENTRIES]])

// Slot -1: zero rows, no state.
// CHECK-NEXT: %[[NONE:.*]] = arith.cmpi slt, %[[SLOT]], %c0
// CHECK-NEXT: tile.if %[[NONE]] {
// CHECK-NEXT: tile.for %[[ROW:.*]] = %[[BEGIN]] to %[[END]] step %c16 {
// CHECK: tile.store %{{.*}}, %[[OUT]][%[[ROW]], %{{.*}}] bound(%[[END]], %{{.*}}) : !tile.tile<16x24xf32>
// CHECK-NOT: %[[STATE]]
// CHECK: %[[SOME:.*]] = arith.cmpi sge, %[[SLOT]], %c0
// CHECK-NEXT: tile.if %[[SOME]] {

// The state stays in a tile over all chunks. Every load of rows ends at the sequence's end.
// CHECK: %[[S0:.*]] = tile.load %[[STATE]][%[[SLOT]], %[[HEAD]], %c0, %c0] bound(%{{.*}}, %c2, %c16, %c24)
// CHECK: %[[LAST:.*]] = tile.for %[[ROW:.*]] = %[[BEGIN]] to %[[END]] step %c16 iter(%[[S:.*]] = %[[S0]]) : !tile.tile<16x24xf32> {
// CHECK: tile.load %[[QV]][%[[ROW]], %{{.*}}] bound(%[[END]], %{{.*}}) : {{.*}} -> !tile.tile<16x16xf32>
// CHECK: %[[Q:.*]] = tile.map(%{{.*}}, %{{.*}}) : (!tile.tile<16x16xf32>, !tile.tile<16x1xf32>) -> !tile.tile<16x16xf32>
// CHECK: tile.load %[[KV]][%[[ROW]], %{{.*}}] bound(%[[END]], %{{.*}})
// CHECK: %[[K:.*]] = tile.map(%{{.*}}, %{{.*}}) : (!tile.tile<16x16xf32>, !tile.tile<16x1xf32>) -> !tile.tile<16x16xf32>
// CHECK: %[[V:.*]] = tile.load %[[VV]][%[[ROW]], %{{.*}}] bound(%[[END]], %{{.*}}) : {{.*}} -> !tile.tile<16x24xf32>
// CHECK: tile.load %[[BV]][%[[ROW]], %[[HEAD]]] bound(%[[END]], %{{.*}}) : {{.*}} -> !tile.tile<16x1xf32>
// CHECK-NEXT: %[[B:.*]] = tile.map

// Rows past the end do not decay the state.
// CHECK: %[[LEFT:.*]] = arith.subi %[[END]], %[[ROW]]
// CHECK: %[[LEFT32:.*]] = arith.index_cast %[[LEFT]] : index to i32
// CHECK: %[[ROWS:.*]] = tile.iota %c0 axis 0 : !tile.tile<16x1xi32>
// CHECK: %[[G:.*]] = tile.map(%{{.*}}, %[[ROWS]])
// CHECK: %[[IN:.*]] = arith.cmpi slt, %{{.*}}, %[[LEFT32]]
// CHECK-NEXT: arith.select %[[IN]],
// CHECK: %[[SUM:.*]] = tile.scan %[[G]] axis 0
// CHECK: %[[GROWN:.*]] = tile.map(%[[SUM]])

// Scores as one product around the middle row. Below the diagonal, times beta of the row, for the keys; with the diagonal
// for the queries.
// CHECK: %[[MIDDLE:.*]] = tile.extract %[[SUM]][%c8, %c0]
// CHECK: %[[KL:.*]] = tile.map(%[[K]], %[[SUM]], %[[MIDDLE]])
// CHECK: %[[KR:.*]] = tile.map(%[[K]], %[[SUM]], %[[MIDDLE]])
// CHECK: %[[KK:.*]] = tile.mma %{{.*}}, %[[KL]], %[[KR]] {transpose_b}
// CHECK: %[[L:.*]] = tile.map(%[[KK]], %[[B]], %[[ROWS]], %[[COLUMNS:[^ ]*]])
// CHECK-NEXT: ^bb0(%[[L_S:.*]]: f32, %[[L_B:.*]]: f32, %[[L_R:.*]]: i32, %[[L_C:.*]]: i32):
// CHECK-NEXT: %[[L_SB:.*]] = arith.mulf %[[L_S]], %[[L_B]]
// CHECK-NEXT: %[[BELOW:.*]] = arith.cmpi slt, %[[L_C]], %[[L_R]]
// CHECK-NEXT: arith.select %[[BELOW]], %[[L_SB]],
// CHECK: %[[QL:.*]] = tile.map(%[[Q]], %[[SUM]], %[[MIDDLE]])
// CHECK: %[[QK:.*]] = tile.mma %{{.*}}, %[[QL]], %[[KR]] {transpose_b}
// CHECK: %[[READS:.*]] = tile.map(%[[QK]], %[[ROWS]], %[[COLUMNS]])
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %[[R_R:.*]]: i32, %[[R_C:.*]]: i32):
// CHECK-NEXT: arith.cmpi sle, %[[R_C]], %[[R_R]]

// The unit lower triangle is solved by substitution, never inverted.
// CHECK: %[[KG:.*]] = tile.map(%[[K]], %[[GROWN]])
// CHECK: %[[RECALL:.*]] = tile.mma %{{.*}}, %[[KG]], %[[S]]
// CHECK: %[[RHS:.*]] = tile.map(%[[V]], %[[RECALL]], %[[B]])
// CHECK: arith.subf
// CHECK-NEXT: arith.mulf
// CHECK: %[[FRESH:.*]] = tile.tri_solve %[[L]], %[[RHS]] : !tile.tile<16x16xf32>, !tile.tile<16x24xf32>
// CHECK: %[[QG:.*]] = tile.map(%[[Q]], %[[GROWN]])
// CHECK: %[[FAR:.*]] = tile.mma %{{.*}}, %[[QG]], %[[S]]
// CHECK: %[[O:.*]] = tile.mma %[[FAR]], %[[READS]], %[[FRESH]]
// CHECK: tile.store %{{.*}}, %[[OUT]][%[[ROW]], %{{.*}}] bound(%[[END]], %{{.*}}) : !tile.tile<16x24xf32>

// The state after the chunk: decayed by the whole chunk, plus each key by what decays behind it.
// CHECK: %[[TOTAL:.*]] = tile.extract %[[SUM]][%c15, %c0]
// CHECK: %[[FADED:.*]] = tile.map(%[[S]], %{{.*}}) : (!tile.tile<16x24xf32>, !tile.tile<16x1xf32>)
// CHECK: %[[LATE:.*]] = tile.map(%[[K]], %[[TOTAL]], %[[SUM]])
// CHECK-NEXT: ^bb0(%[[T_K:.*]]: f32, %[[T_T:.*]]: f32, %[[T_S:.*]]: f32):
// CHECK-NEXT: arith.subf %[[T_T]], %[[T_S]]
// CHECK: %[[NEXT:.*]] = tile.mma %[[FADED]], %[[LATE]], %[[FRESH]] {transpose_a}
// CHECK: tile.yield %[[NEXT]] : !tile.tile<16x24xf32>
// CHECK: tile.store %[[LAST]], %[[STATE]][%[[SLOT]], %[[HEAD]], %c0, %c0] bound(%{{.*}}, %c2, %c16, %c24)

// Without a bound on the gate the scores are explicit pairs, whose exponents are kept <= 0.
// CHECK-LABEL: tile.kernel @delta_chunk16_h2_k16_v24_f32(
// CHECK-NOT: {transpose_b}
// CHECK: %[[SCORES:.*]] = tile.for %[[I:.*]] = %c0 to %c16 step %c1 iter(%[[ACC:.*]] = %{{.*}}) : !tile.tile<16x16xf32> {
// CHECK: %[[XI:.*]] = tile.extract %[[K:[^ ]*]][%[[I]], %c0] : !tile.tile<16x16xf32> -> !tile.tile<1x16xf32>
// CHECK: %[[GI:.*]] = tile.extract %[[SUM:[^ ]*]][%[[I]], %c0]
// CHECK: tile.map(%[[XI]], %[[GI]], %[[K]], %[[SUM]])
// CHECK: %[[D:.*]] = arith.subf
// CHECK-NEXT: arith.minimumf %[[D]], %{{.*}}
// CHECK-NEXT: math.exp
// CHECK: tile.insert %{{.*}} into %[[ACC]][%[[I]], %c0]
// CHECK: tile.map(%[[SCORES]],
// CHECK: tile.tri_solve

k3.symbol @T <= 130
k3.symbol @S <= 3

func.func @bounded(%q: tensor<?x32xbf16, #k3.sym<"T">>, %k: tensor<?x32xbf16, #k3.sym<"T">>, %v: tensor<?x48xbf16, #k3.sym<"T">>, %raw: tensor<?x32xbf16, #k3.sym<"T">>,
                   %beta: tensor<?x2xf32, #k3.sym<"T">>, %a_log: tensor<2xf32>, %dt: tensor<32xf32>, %state: !k3.kda_state<2x16x24xf32, kv>,
                   %batch: !k3.batch<"T", "S">) -> tensor<?x48xbf16, #k3.sym<"T">> {
  %o = k3.kda(%q, %k, %v, %raw, %beta, %a_log, %dt, %state, %batch) {lower_bound = -5.0} : tensor<?x32xbf16, #k3.sym<"T">>, tensor<?x32xbf16, #k3.sym<"T">>,
      tensor<?x48xbf16, #k3.sym<"T">>, tensor<?x32xbf16, #k3.sym<"T">>, tensor<?x2xf32, #k3.sym<"T">>, tensor<2xf32>, tensor<32xf32>,
      !k3.kda_state<2x16x24xf32, kv>, !k3.batch<"T", "S"> -> tensor<?x48xbf16, #k3.sym<"T">>
  return %o : tensor<?x48xbf16, #k3.sym<"T">>
}
func.func @unbounded(%q: tensor<?x32xf32, #k3.sym<"T">>, %k: tensor<?x32xf32, #k3.sym<"T">>, %v: tensor<?x48xf32, #k3.sym<"T">>, %raw: tensor<?x32xf32, #k3.sym<"T">>,
                   %beta: tensor<?x2xf32, #k3.sym<"T">>, %a_log: tensor<2xf32>, %dt: tensor<32xf32>, %state: !k3.kda_state<2x16x24xf32, kv>,
                   %batch: !k3.batch<"T", "S">) -> tensor<?x48xf32, #k3.sym<"T">> {
  %o = k3.kda(%q, %k, %v, %raw, %beta, %a_log, %dt, %state, %batch) : tensor<?x32xf32, #k3.sym<"T">>, tensor<?x32xf32, #k3.sym<"T">>,
      tensor<?x48xf32, #k3.sym<"T">>, tensor<?x32xf32, #k3.sym<"T">>, tensor<?x2xf32, #k3.sym<"T">>, tensor<2xf32>, tensor<32xf32>,
      !k3.kda_state<2x16x24xf32, kv>, !k3.batch<"T", "S"> -> tensor<?x48xf32, #k3.sym<"T">>
  return %o : tensor<?x48xf32, #k3.sym<"T">>
}
