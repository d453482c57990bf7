// RUN: k3-opt %s --k3-fuse --k3-to-tile --cse --canonicalize | FileCheck %s
// A block is one choice of one token and 32 columns: 3 choices a token; 6 experts of width 40 over 64 columns.

// CHECK-LABEL: func.func @mxfp4(
// CHECK: %[[T:.*]] = k3.dim @T
// CHECK: %[[PAIRS:.*]] = arith.muli %[[T]], %c3
// CHECK: tile.launch @expert_up_mxfp4_n40_k64_bf16 grid(%c2, %[[PAIRS]], %c1)
// CHECK-LABEL: func.func @down(
// CHECK: tile.launch @expert_down_bf16_n64_k40_bf16 grid(%c2, %c6, %c1)

// Both halves of the expert's matrix: gate rows 0 .. 39, up rows 40 .. 79, of codes (two a byte) and scales (32 columns
// each) alike. Gate and up are rounded before the activation, and its result once.
// CHECK-LABEL: tile.kernel @expert_up_mxfp4_n40_k64_bf16(
// CHECK-SAME: %[[T:[^:]*]]: index, %[[IDS:[^:]*]]: !tile.view<?x3xi32>, %[[CODES:[^:]*]]: !tile.view<6x80x32xi8>, %[[SCALES:[^:]*]]: !tile.view<6x80x2xi8>, %[[Z:[^:]*]]: !tile.view<?x64xbf16>, %[[OUT:[^:]*]]: !tile.view<?x120xbf16>)
// CHECK: %[[N0:.*]] = arith.muli %{{.*}}, %c32
// CHECK: %[[PAIR:.*]] = tile.block_id y
// CHECK: %[[ROW:.*]] = arith.divsi %[[PAIR]], %c3
// CHECK: %[[CHOICE:.*]] = arith.remsi %[[PAIR]], %c3
// CHECK: %[[E:.*]] = tile.read %[[IDS]][%[[ROW]], %[[CHOICE]]] bound(%[[T]], %c3)
// CHECK: %[[ZT:.*]] = tile.load %[[Z]][%[[ROW]], %c0] bound(%[[T]], %c64)
// CHECK: %[[C:.*]] = tile.load %[[CODES]][%[[E]], %[[N0]], %c0] bound(%c6, %c40, %c32) : {{.*}} -> !tile.tile<32x32xi8>
// CHECK: %[[S:.*]] = tile.load %[[SCALES]][%[[E]], %[[N0]], %c0] bound(%c6, %c40, %c2) : {{.*}} -> !tile.tile<32x2xi8>
// CHECK: %[[W:.*]] = tile.dequantize %[[C]], %[[S]]
// CHECK: %[[GATE:.*]] = tile.mma %{{.*}}, %[[ZT]], %[[W]] {transpose_b}
// CHECK: %[[N40:.*]] = arith.addi %[[N0]], %c40
// CHECK: %[[C:.*]] = tile.load %[[CODES]][%[[E]], %[[N40]], %c0] bound(%c6, %c80, %c32)
// CHECK: %[[S:.*]] = tile.load %[[SCALES]][%[[E]], %[[N40]], %c0] bound(%c6, %c80, %c2)
// CHECK: %[[W:.*]] = tile.dequantize %[[C]], %[[S]]
// CHECK: %[[UP:.*]] = tile.mma %{{.*}}, %[[ZT]], %[[W]] {transpose_b}
// CHECK: %[[Y:.*]] = tile.map(%[[GATE]], %[[UP]])
// CHECK-COUNT-2: arith.truncf
// CHECK: math.tanh
// CHECK-NOT: math.tanh
// CHECK: arith.truncf
// CHECK: %[[O0:.*]] = arith.muli %[[CHOICE]], %c40
// CHECK: %[[O40:.*]] = arith.addi %[[O0]], %c40
// CHECK: %[[O:.*]] = arith.addi %[[O0]], %[[N0]]
// CHECK: tile.store %[[Y]], %[[OUT]][%[[ROW]], %[[O]]] bound(%[[T]], %[[O40]])

// The second half reads the segment of its choice and writes one of its own.
// CHECK-LABEL: tile.kernel @expert_down_bf16_n64_k40_bf16(
// CHECK-SAME: %[[IDS:[^:]*]]: !tile.view<2x3xi32>, %[[W:[^:]*]]: !tile.view<6x64x40xbf16>, %[[X:[^:]*]]: !tile.view<2x120xbf16>, %[[OUT:[^:]*]]: !tile.view<2x192xbf16>)
// CHECK: %[[N0:.*]] = arith.muli %{{.*}}, %c32
// CHECK: %[[ROW:.*]] = arith.divsi %[[PAIR:[^ ]*]], %c3
// CHECK: %[[CHOICE:.*]] = arith.remsi %[[PAIR]], %c3
// CHECK: %[[E:.*]] = tile.read %[[IDS]][%[[ROW]], %[[CHOICE]]] bound(%c2, %c3)
// CHECK: %[[X0:.*]] = arith.muli %[[CHOICE]], %c40
// CHECK: %[[X40:.*]] = arith.addi %[[X0]], %c40
// CHECK: %[[XT:.*]] = tile.load %[[X]][%[[ROW]], %[[X0]]] bound(%c2, %[[X40]])
// CHECK: %[[WT:.*]] = tile.load %[[W]][%[[E]], %[[N0]], %c0] bound(%c6, %c64, %c40)
// CHECK: %[[Y:.*]] = tile.mma %{{.*}}, %[[XT]], %[[WT]] {transpose_b}
// CHECK: %[[O0:.*]] = arith.muli %[[CHOICE]], %c64
// CHECK: %[[O64:.*]] = arith.addi %[[O0]], %c64
// CHECK: %[[O:.*]] = arith.addi %[[O0]], %[[N0]]
// CHECK: tile.store %[[Y]], %[[OUT]][%[[ROW]], %[[O]]] bound(%c2, %[[O64]])

k3.symbol @T <= 130

func.func @mxfp4(%z: tensor<?x64xbf16, #k3.sym<"T">>, %ids: tensor<?x3xi32, #k3.sym<"T">>, %up: tensor<6x80x32xi8>, %scale: tensor<6x80x2xi8>) -> tensor<?x120xbf16, #k3.sym<"T">> {
  %x = k3.expert_up situ %z, %ids, %up scale %scale {beta = 4.0} : tensor<?x64xbf16, #k3.sym<"T">>, tensor<?x3xi32, #k3.sym<"T">>, tensor<6x80x32xi8> scale tensor<6x80x2xi8> -> tensor<?x120xbf16, #k3.sym<"T">>
  return %x : tensor<?x120xbf16, #k3.sym<"T">>
}
func.func @down(%x: tensor<2x120xbf16>, %ids: tensor<2x3xi32>, %down: tensor<6x64x40xbf16>) -> tensor<2x192xbf16> {
  %y = k3.expert_down %x, %ids, %down : tensor<2x120xbf16>, tensor<2x3xi32>, tensor<6x64x40xbf16> -> tensor<2x192xbf16>
  return %y : tensor<2x192xbf16>
}
