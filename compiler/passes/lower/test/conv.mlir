// RUN: k3-opt %s --k3-fuse --k3-to-tile --cse --canonicalize | FileCheck %s
// A ragged convolution is two launches, in this order: rows read the state, then the state takes the last rows.

// CHECK-LABEL: func.func @conv(
// CHECK: %[[C:.*]] = tile.launch @conv_c40_bf16 grid(%{{.*}}, %c1, %c1) ins({{.*}}%arg0
// CHECK-NEXT: tile.launch @conv_state_c40_bf16 grid(%{{.*}}, %c1, %c1)
// CHECK-NEXT: return %[[C]]

// CHECK-LABEL: tile.kernel @conv_c40_bf16(
// CHECK-SAME: %[[TAPS:[^:]*]]: !tile.view<40x3xf32>, %[[Y:[^:]*]]: !tile.view<?x90xbf16>, %[[STATE:[^:]*]]: !tile.view<?x2x40xbf16>, %[[OUT:[^:]*]]: !tile.view<?x40xbf16>) {
// CHECK: %[[TOKEN:.*]] = tile.block_id x
// CHECK: %[[SEQ:.*]] = tile.read %{{.*}}[%[[TOKEN]]]
// CHECK: %[[SLOT:.*]] = tile.read %{{.*}}[%[[SEQ]]]
// CHECK: %[[BEGIN:.*]] = tile.read %{{.*}}[%[[SEQ]]]
// CHECK: %[[END:.*]] = tile.read
// A row of slot -1 is zero.
// CHECK: arith.cmpi slt, %[[SLOT]], %c0
// CHECK-NEXT: tile.if
// CHECK: tile.store %{{.*}}, %[[OUT]][%[[TOKEN]], %{{.*}}] bound(%{{.*}}, %c40)
// CHECK: arith.cmpi sge, %[[SLOT]], %c0
// CHECK-NEXT: tile.if
// Tap 0 meets the input two places before the token: of the piece if it reaches that far, else of the state, and the
// other of the two loads has a bound of no rows. The slice starts at column 50.
// CHECK: tile.load %[[TAPS]][%{{.*}}, %c0] bound(%c40, %c3)
// CHECK: %[[PLACE:.*]] = arith.subi %[[TOKEN]], %[[BEGIN]]
// CHECK-DAG: %[[W0:.*]] = tile.extract %{{.*}}[%c0, %c0] : !tile.tile<3x40xf32>
// CHECK-DAG: %[[P0:.*]] = arith.addi %[[PLACE]], %c-2
// CHECK-DAG: %[[HERE:.*]] = arith.cmpi sge, %[[P0]], %c0
// CHECK-DAG: %[[P0_POS:.*]] = arith.maxsi %[[P0]], %c0
// CHECK-DAG: %[[ROW:.*]] = arith.addi %[[BEGIN]], %[[P0_POS]]
// CHECK-DAG: %[[UPTO:.*]] = arith.select %[[HERE]], %[[END]], %c0
// CHECK-DAG: %[[FROM:.*]] = tile.load %[[Y]][%[[ROW]], %{{.*}}] bound(%[[UPTO]], %c90)
// CHECK-DAG: %[[DEPTH:.*]] = arith.select %[[HERE]], %c0, %c2
// CHECK-DAG: %[[OLD:.*]] = tile.load %[[STATE]][%[[SLOT]], %{{.*}}, %{{.*}}] bound(%{{.*}}, %[[DEPTH]], %c40)
// CHECK-DAG: %[[X0:.*]] = tile.map(%[[FROM]], %[[OLD]])
// CHECK: tile.map(%{{.*}}, %[[W0]], %[[X0]])
// CHECK: tile.extract %{{.*}}[%c1, %c0] : !tile.tile<3x40xf32>
// CHECK: tile.extract %{{.*}}[%c2, %c0] : !tile.tile<3x40xf32>
// CHECK: tile.store %{{.*}}, %[[OUT]][%[[TOKEN]], %{{.*}}] bound(%{{.*}}, %c40)
// CHECK-NOT: tile.store

// The state of a sequence takes its last two inputs, in rising order. A sequence without rows or slot is left alone.
// CHECK-LABEL: tile.kernel @conv_state_c40_bf16(
// CHECK-SAME: %[[STATE:[^:]*]]: !tile.view<?x2x40xbf16>, %[[Y:[^:]*]]: !tile.view<?x90xbf16>) {
// CHECK: %[[SEQ:.*]] = tile.block_id x
// CHECK: %[[SLOT:.*]] = tile.read %{{.*}}[%[[SEQ]]]
// CHECK: %[[COUNT:.*]] = arith.subi
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %[[COUNT]], %c0
// CHECK: %[[SOME:.*]] = arith.cmpi sge, %[[SLOT]], %c0
// CHECK: %[[BOTH:.*]] = arith.andi %[[SOME]], %[[ANY]]
// CHECK-NEXT: tile.if %[[BOTH]] {
// CHECK: arith.addi %[[COUNT]], %c-2
// CHECK: tile.store %{{.*}}, %[[STATE]][%[[SLOT]], %c0, %{{.*}}] bound(%{{.*}}, %c2, %c40)
// CHECK: arith.addi %[[COUNT]], %c-1
// CHECK: tile.store %{{.*}}, %[[STATE]][%[[SLOT]], %c1, %{{.*}}] bound(%{{.*}}, %c2, %c40)
// CHECK-NOT: tile.store

k3.symbol @T <= 130
k3.symbol @S <= 3

func.func @conv(%y: tensor<?x90xbf16, #k3.sym<"T">>, %taps: tensor<40x3xf32>, %state: !k3.conv_state<2x40xbf16>, %batch: !k3.batch<"T", "S">) -> tensor<?x40xbf16, #k3.sym<"T">> {
  %x = k3.slice %y[50] : tensor<?x90xbf16, #k3.sym<"T">> -> tensor<?x40xbf16, #k3.sym<"T">>
  %c = k3.short_conv %x, %taps, %state, %batch : tensor<?x40xbf16, #k3.sym<"T">>, tensor<40x3xf32>, !k3.conv_state<2x40xbf16>, !k3.batch<"T", "S"> -> tensor<?x40xbf16, #k3.sym<"T">>
  return %c : tensor<?x40xbf16, #k3.sym<"T">>
}
