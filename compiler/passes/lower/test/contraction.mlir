// RUN: k3-opt %s --k3-fuse --k3-to-tile --cse --canonicalize | FileCheck %s
// Contractions: 16 rows x 32 columns a block, all or 4096 of the inner extent a step, tail on the accumulator.

// CHECK-LABEL: func.func @ragged(
// CHECK: %[[T:.*]] = k3.dim @T
// CHECK: %[[BLOCKS:.*]] = arith.ceildivsi %[[T]], %c16
// The slices are gone: the kernel reads the tensors they cut.
// CHECK-NEXT: %[[A:.*]] = tile.launch @mm_add_n40_k70_m16_bf16 grid(%c2, %[[BLOCKS]], %c1) ins(%[[T]], %arg0, %arg1, %arg2 :
// CHECK-NEXT: return %[[A]]
// CHECK-LABEL: func.func @gated(
// CHECK: tile.launch @mm_glu_n18_k5000_m3_f32 grid(%c1, %c1, %c1) ins(%arg0, %arg1 :
// CHECK-LABEL: func.func @heads(
// CHECK: tile.launch @headmmt_h3_n20_k16_m16_bf16 grid(%c3, %{{.*}}, %c1)
// CHECK-LABEL: func.func @values(
// CHECK: tile.launch @headmm_h3_n14_k20_m2_bf16 grid(%c3, %c1, %c1)

// Every access ends at the rows of the step and at the columns of its operand: 20 + 70 of x, 60 + 40 of the addend. The
// product is rounded to the projection's type before the sum, as without fusion.
// CHECK-LABEL: tile.kernel @mm_add_n40_k70_m16_bf16(
// CHECK-SAME: %[[T:[^:]*]]: index, %[[X:[^:]*]]: !tile.view<?x90xbf16>, %[[W:[^:]*]]: !tile.view<40x70xbf16>, %[[R:[^:]*]]: !tile.view<?x100xbf16>, %[[OUT:[^:]*]]: !tile.view<?x40xbf16>)
// CHECK: %[[BX:.*]] = tile.block_id x
// CHECK-NEXT: %[[N0:.*]] = arith.muli %[[BX]], %c32
// CHECK-NEXT: %[[BY:.*]] = tile.block_id y
// CHECK-NEXT: %[[M0:.*]] = arith.muli %[[BY]], %c16
// CHECK: %[[ZERO:.*]] = tile.splat
// CHECK-NEXT: %[[XT:.*]] = tile.load %[[X]][%[[M0]], %c20] bound(%[[T]], %c90) : {{.*}} -> !tile.tile<16x70xf32>
// CHECK-NEXT: %[[WT:.*]] = tile.load %[[W]][%[[N0]], %c0] bound(%c40, %c70) : {{.*}} -> !tile.tile<32x70xf32>
// CHECK-NEXT: %[[ACC:.*]] = tile.mma %[[ZERO]], %[[XT]], %[[WT]] {transpose_b}
// CHECK-NEXT: %[[L:.*]] = tile.map(%[[ACC]])
// CHECK: arith.truncf
// CHECK: %[[N60:.*]] = arith.addi %[[N0]], %c60
// CHECK-NEXT: %[[RT:.*]] = tile.load %[[R]][%[[M0]], %[[N60]]] bound(%[[T]], %c100)
// CHECK-NEXT: %[[A:.*]] = tile.map(%[[RT]], %[[L]])
// CHECK: arith.addf
// CHECK-NEXT: arith.truncf
// CHECK: tile.store %[[A]], %[[OUT]][%[[M0]], %[[N0]]] bound(%[[T]], %c40)
// CHECK-NEXT: tile.return

// Gate rows 0 .. 8 and up rows 9 .. 17 of the weight side by side; a gate tile ends where the up rows begin. 5000 is
// more than a step, so that the last step is cut.
// CHECK-LABEL: tile.kernel @mm_glu_n18_k5000_m3_f32(
// CHECK-SAME: %[[X:[^:]*]]: !tile.view<3x5000xf32>, %[[W:[^:]*]]: !tile.view<18x5000xbf16>, %[[OUT:[^:]*]]: !tile.view<3x9xf32>)
// CHECK-DAG: %[[LINEAR:.*]] = arith.constant 2.500000e+01
// CHECK-DAG: %[[BETA:.*]] = arith.constant 4.000000e+00
// CHECK: %[[N0:.*]] = arith.muli %{{.*}}, %c9
// CHECK: %[[ACC:.*]]:2 = tile.for %[[K:.*]] = %c0 to %c5000 step %c4096 iter(%[[GATE:.*]] = %{{.*}}, %[[UP:.*]] = %{{.*}}) :
// CHECK-NEXT: %[[XT:.*]] = tile.load %[[X]][%{{.*}}, %[[K]]] bound(%c3, %c5000)
// CHECK-NEXT: %[[WG:.*]] = tile.load %[[W]][%[[N0]], %[[K]]] bound(%c9, %c5000)
// CHECK-NEXT: %[[G:.*]] = tile.mma %[[GATE]], %[[XT]], %[[WG]] {transpose_b}
// CHECK-NEXT: %[[N9:.*]] = arith.addi %[[N0]], %c9
// CHECK-NEXT: %[[WU:.*]] = tile.load %[[W]][%[[N9]], %[[K]]] bound(%c18, %c5000)
// CHECK-NEXT: %[[U:.*]] = tile.mma %[[UP]], %[[XT]], %[[WU]] {transpose_b}
// CHECK-NEXT: tile.yield %[[G]], %[[U]]
// CHECK: %[[Y:.*]] = tile.map(%[[ACC]]#0, %[[ACC]]#1)
// CHECK-NEXT: ^bb0(%[[YG:.*]]: f32, %[[YU:.*]]: f32):
// CHECK: arith.negf %[[YG]]
// CHECK: arith.divf %[[YG]], %[[BETA]]
// CHECK-NEXT: math.tanh
// CHECK: arith.divf %[[YU]], %[[LINEAR]]
// CHECK-NEXT: math.tanh
// CHECK: tile.store %[[Y]], %[[OUT]][%{{.*}}, %[[N0]]] bound(%c3, %c9)

// Head h: columns 22h .. 22h + 15 of q meet rows 30h .. 30h + 15 of the weight, not transposed; columns 22h + 16 .. 22h + 21
// follow the 20 products.
// CHECK-LABEL: tile.kernel @headmmt_h3_n20_k16_m16_bf16(
// CHECK-SAME: %[[T:[^:]*]]: index, %[[Q:[^:]*]]: !tile.view<?x66xbf16>, %[[W:[^:]*]]: !tile.view<90x20xbf16>, %[[OUT:[^:]*]]: !tile.view<?x78xbf16>)
// CHECK: %[[HEAD:.*]] = tile.block_id x
// CHECK: %[[M0:.*]] = arith.muli %{{.*}}, %c16
// CHECK: %[[Q0:.*]] = arith.muli %[[HEAD]], %c22
// CHECK: %[[W0:.*]] = arith.muli %[[HEAD]], %c30
// CHECK: %[[Q16:.*]] = arith.addi %[[Q0]], %c16
// CHECK: %[[QT:.*]] = tile.load %[[Q]][%[[M0]], %[[Q0]]] bound(%[[T]], %[[Q16]])
// CHECK: %[[W16:.*]] = arith.addi %[[W0]], %c16
// CHECK: %[[WT:.*]] = tile.load %[[W]][%[[W0]], %c0] bound(%[[W16]], %c20)
// CHECK: %[[ACC:.*]] = tile.mma %{{.*}}, %[[QT]], %[[WT]] : !tile.tile<16x20xf32>
// CHECK: %[[O0:.*]] = arith.muli %[[HEAD]], %c26
// CHECK: %[[O20:.*]] = arith.addi %[[O0]], %c20
// CHECK: tile.store %{{.*}}, %[[OUT]][%[[M0]], %[[O0]]] bound(%[[T]], %[[O20]])
// CHECK: %[[Q22:.*]] = arith.addi %[[Q0]], %c22
// CHECK: %[[REST:.*]] = tile.load %[[Q]][%[[M0]], %[[Q16]]] bound(%[[T]], %[[Q22]]) : {{.*}} -> !tile.tile<16x6xf32>
// CHECK: %[[O26:.*]] = arith.addi %[[O0]], %c26
// CHECK: tile.store %[[REST]], %[[OUT]][%[[M0]], %[[O20]]] bound(%[[T]], %[[O26]])

// The value rows of a head: 30h + 16 .. 30h + 29, transposed.
// CHECK-LABEL: tile.kernel @headmm_h3_n14_k20_m2_bf16(
// CHECK: %[[HEAD:.*]] = tile.block_id x
// CHECK: %[[W0:.*]] = arith.muli %[[HEAD]], %c30
// CHECK: %[[W16:.*]] = arith.addi %[[W0]], %c16
// CHECK: %[[W30:.*]] = arith.addi %[[W0]], %c30
// CHECK: tile.load %{{.*}}[%[[W16]], %c0] bound(%[[W30]], %c20) : !tile.view<90x20xbf16> -> !tile.tile<14x20xf32>
// CHECK: tile.mma %{{.*}} {transpose_b} : !tile.tile<2x14xf32>
// CHECK: %[[O0:.*]] = arith.muli %[[HEAD]], %c14
// CHECK: %[[O14:.*]] = arith.addi %[[O0]], %c14
// CHECK: tile.store %{{.*}}[%{{.*}}, %[[O0]]] bound(%c2, %[[O14]])

k3.symbol @T <= 130

func.func @ragged(%y: tensor<?x90xbf16, #k3.sym<"T">>, %w: tensor<40x70xbf16>, %r: tensor<?x100xbf16, #k3.sym<"T">>) -> tensor<?x40xbf16, #k3.sym<"T">> {
  %x = k3.slice %y[20] : tensor<?x90xbf16, #k3.sym<"T">> -> tensor<?x70xbf16, #k3.sym<"T">>
  %s = k3.slice %r[60] : tensor<?x100xbf16, #k3.sym<"T">> -> tensor<?x40xbf16, #k3.sym<"T">>
  %l = k3.linear %x, %w : tensor<?x70xbf16, #k3.sym<"T">>, tensor<40x70xbf16> -> tensor<?x40xbf16, #k3.sym<"T">>
  %a = k3.add %s, %l : tensor<?x40xbf16, #k3.sym<"T">>, tensor<?x40xbf16, #k3.sym<"T">> -> tensor<?x40xbf16, #k3.sym<"T">>
  return %a : tensor<?x40xbf16, #k3.sym<"T">>
}
func.func @gated(%x: tensor<3x5000xf32>, %w: tensor<18x5000xbf16>) -> tensor<3x9xf32> {
  %l = k3.linear %x, %w : tensor<3x5000xf32>, tensor<18x5000xbf16> -> tensor<3x18xf32>
  %g = k3.slice %l[0] : tensor<3x18xf32> -> tensor<3x9xf32>
  %u = k3.slice %l[9] : tensor<3x18xf32> -> tensor<3x9xf32>
  %a = k3.glu situ %g, %u {beta = 4.0, linear_beta = 25.0} : tensor<3x9xf32>, tensor<3x9xf32> -> tensor<3x9xf32>
  return %a : tensor<3x9xf32>
}
func.func @heads(%q: tensor<?x66xbf16, #k3.sym<"T">>, %w: tensor<90x20xbf16>) -> tensor<?x78xbf16, #k3.sym<"T">> {
  %a = k3.head_linear %q, %w {heads = 3, stride_rows = 30, row_begin = 0, rows = 16, transpose, pass_begin = 16, pass_count = 6}
      : tensor<?x66xbf16, #k3.sym<"T">>, tensor<90x20xbf16> -> tensor<?x78xbf16, #k3.sym<"T">>
  return %a : tensor<?x78xbf16, #k3.sym<"T">>
}
func.func @values(%u: tensor<2x60xbf16>, %w: tensor<90x20xbf16>) -> tensor<2x42xbf16> {
  %a = k3.head_linear %u, %w {heads = 3, stride_rows = 30, row_begin = 16, rows = 14} : tensor<2x60xbf16>, tensor<90x20xbf16> -> tensor<2x42xbf16>
  return %a : tensor<2x42xbf16>
}
