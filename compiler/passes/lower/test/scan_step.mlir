// RUN: k3-opt %s --k3-fuse --k3-to-tile --cse --canonicalize | FileCheck %s
// One token of the gated delta rule, a block a head and sequence. Two heads, key 16, value 24; 3 sequences.

// CHECK-LABEL: func.func @step(
// CHECK: %[[SLOTS:.*]] = k3.batch_field %{{.*}} "seq_slots" : <3> -> tensor<3xi32>
// CHECK: tile.launch @delta_step_h2_k16_v24_bf16 grid(%c2, %c3, %c1) ins(%[[SLOTS]], %arg0, %arg8, %arg4, %arg1, %arg2, %arg6, %arg5, %arg3, %arg9, %arg7 :

// CHECK-LABEL: tile.kernel @delta_step_h2_k16_v24_bf16(
// CHECK-SAME: %[[SLOTS:[^:]*]]: !tile.view<3xi32>, %[[X:[^:]*]]: !tile.view<3x32xbf16>, %[[CONV:[^:]*]]: !tile.view<?x3x32xbf16>, %[[TAPS:[^:]*]]: !tile.view<32x4xbf16>, %[[XV:[^:]*]]: !tile.view<3x48xbf16>,
// CHECK-SAME: %[[RAW:[^:]*]]: !tile.view<3x32xbf16>, %[[DT:[^:]*]]: !tile.view<32xf32>, %[[ALOG:[^:]*]]: !tile.view<8xf32>, %[[BETA:[^:]*]]: !tile.view<3x2xf32>, %[[STATE:[^:]*]]: !tile.view<?x2x16x24xf32>,
// CHECK-SAME: %[[GAIN:[^:]*]]: !tile.view<24xf32>, %[[OUT:[^:]*]]: !tile.view<3x48xbf16>)
// CHECK-DAG: %[[BOUND:.*]] = arith.constant -5.000000e+00 : f32
// CHECK-DAG: %[[SCALE:.*]] = arith.constant 2.500000e-01 : f32
// CHECK-DAG: %[[EPS:.*]] = arith.constant 9.99999997E-7 : f32
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[HEAD:.*]] = tile.block_id x
// CHECK-NEXT: %[[SEQ:.*]] = tile.block_id y
// CHECK-NEXT: %[[SEQ1:.*]] = arith.addi %[[SEQ]], %c1
// CHECK-NEXT: %[[SLOT:.*]] = tile.read %[[SLOTS]][%[[SEQ]]] bound(%c3)

// A row of slot -1 gives zero and touches no state.
// CHECK-NEXT: %[[NONE:.*]] = arith.cmpi slt, %[[SLOT]], %c0
// CHECK-NEXT: tile.if %[[NONE]] {
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[HEAD]], %c24
// CHECK-NEXT: %[[LAST:.*]] = arith.addi %[[FIRST]], %c24
// CHECK-NEXT: %[[ZERO:.*]] = tile.splat %{{.*}} : f32 -> !tile.tile<1x24xf32>
// CHECK-NEXT: tile.store %[[ZERO]], %[[OUT]][%[[SEQ]], %[[FIRST]]] bound(%[[SEQ1]], %[[LAST]])
// CHECK-NEXT: }
// CHECK-NEXT: %[[SOME:.*]] = arith.cmpi sge, %[[SLOT]], %c0
// CHECK-NEXT: tile.if %[[SOME]] {

// The convolution of this head's channels: the newest input meets the last tap, the oldest of the state the first.
// CHECK: %[[C0:.*]] = arith.muli %[[HEAD]], %c16
// CHECK: %[[C1:.*]] = arith.addi %[[C0]], %c16
// CHECK: %[[SLOT1:.*]] = arith.addi %[[SLOT]], %c1
// CHECK: %[[NEW:.*]] = tile.load %[[X]][%[[SEQ]], %[[C0]]] bound(%[[SEQ1]], %[[C1]])
// CHECK: %[[OLD:.*]] = tile.load %[[CONV]][%[[SLOT]], %c0, %[[C0]]] bound(%[[SLOT1]], %c3, %[[C1]])
// CHECK: %[[WT:.*]] = tile.load %[[TAPS]][%[[C0]], %c0] bound(%[[C1]], %c4)
// CHECK: %[[W:.*]] = tile.transpose %[[WT]]
// CHECK: %[[O0:.*]] = tile.extract %[[OLD]][%c0, %c0]
// CHECK: %[[W0:.*]] = tile.extract %[[W]][%c0, %c0]
// CHECK: tile.map(%{{.*}}, %[[W0]], %[[O0]])
// CHECK: %[[O2:.*]] = tile.extract %[[OLD]][%c2, %c0]
// CHECK: %[[W2:.*]] = tile.extract %[[W]][%c2, %c0]
// CHECK: tile.map(%{{.*}}, %[[W2]], %[[O2]])
// CHECK: %[[W3:.*]] = tile.extract %[[W]][%c3, %c0]
// CHECK: tile.map(%{{.*}}, %[[W3]], %[[NEW]])
// The state shifts by one row and takes the input itself, before SiLU.
// CHECK: %[[REST:.*]] = tile.extract %[[OLD]][%c1, %c0] : !tile.tile<3x16xf32> -> !tile.tile<2x16xf32>
// CHECK: tile.store %[[REST]], %[[CONV]][%[[SLOT]], %c0, %[[C0]]] bound(%[[SLOT1]], %c2, %[[C1]])
// CHECK: tile.store %[[NEW]], %[[CONV]][%[[SLOT]], %c2, %[[C0]]] bound(%[[SLOT1]], %c3, %[[C1]])

// L2 norms: the eps is on the sum of squares; the query also takes key^-0.5.
// CHECK: %[[QQ:.*]] = tile.reduce add %{{.*}} axis 1 : !tile.tile<1x16xf32>
// CHECK: %[[Q:.*]] = tile.map(%{{.*}}, %[[QQ]])
// CHECK: arith.addf %{{.*}}, %[[EPS]]
// CHECK-NEXT: math.sqrt
// CHECK-NEXT: arith.divf %[[SCALE]],
// CHECK: %[[KK:.*]] = tile.reduce add %{{.*}} axis 1 : !tile.tile<1x16xf32>
// CHECK: %[[K:.*]] = tile.map(%{{.*}}, %[[KK]])
// CHECK: arith.divf %[[ONE]],
// CHECK: %[[V0:.*]] = arith.muli %[[HEAD]], %c24
// CHECK: %[[V:.*]] = tile.load %[[XV]][%[[SEQ]], %[[V0]]]

// One a_log a head, the bias a channel: g = lower_bound sigmoid(exp(a_log) (raw + dt_bias)).
// CHECK: %[[R:.*]] = tile.load %[[RAW]][%[[SEQ]], %[[C0]]]
// CHECK: %[[D:.*]] = tile.load %[[DT]][%[[C0]]] bound(%[[C1]])
// CHECK: tile.load %[[ALOG]][%[[HEAD]]] bound(%c2) : !tile.view<8xf32> -> !tile.tile<1xf32>
// CHECK: %[[A:.*]] = tile.map
// CHECK: math.exp
// CHECK: %[[G:.*]] = tile.map(%[[R]], %{{.*}}, %[[A]])
// CHECK-NEXT: ^bb0(%[[G_R:.*]]: f32, %[[G_D:.*]]: f32, %[[G_A:.*]]: f32):
// CHECK-NEXT: %[[Z:.*]] = arith.addf %[[G_R]], %[[G_D]]
// CHECK-NEXT: %[[AZ:.*]] = arith.mulf %[[G_A]], %[[Z]]
// CHECK-NEXT: arith.negf %[[AZ]]
// CHECK-NEXT: math.exp
// CHECK-NEXT: arith.addf
// CHECK-NEXT: %[[SIG:.*]] = arith.divf %[[ONE]],
// CHECK-NEXT: arith.mulf %[[SIG]], %[[BOUND]]
// CHECK: %[[BRAW:.*]] = tile.load %[[BETA]][%[[SEQ]], %[[HEAD]]]
// CHECK: %[[B:.*]] = tile.map(%[[BRAW]])
// CHECK: arith.divf %[[ONE]],

// Decay along the key axis, then the error against the decayed state, then the update, and last the output from it.
// CHECK: %[[EXP:.*]] = tile.map(%[[G]])
// CHECK: math.exp
// CHECK: %[[DECAY:.*]] = tile.transpose %[[EXP]] : !tile.tile<1x16xf32> -> !tile.tile<16x1xf32>
// CHECK: %[[S:.*]] = tile.load %[[STATE]][%[[SLOT]], %[[HEAD]], %c0, %c0] bound(%[[SLOT1]], %c2, %c16, %c24) : !tile.view<?x2x16x24xf32> -> !tile.tile<16x24xf32>
// CHECK: %[[DECAYED:.*]] = tile.map(%[[S]], %[[DECAY]])
// CHECK: arith.mulf
// CHECK: %[[NOTHING:.*]] = tile.splat %{{.*}} : f32 -> !tile.tile<1x24xf32>
// CHECK: %[[RECALL:.*]] = tile.mma %[[NOTHING]], %[[K]], %[[DECAYED]]
// CHECK: %[[E:.*]] = tile.map(%[[V]], %[[RECALL]], %[[B]])
// CHECK-NEXT: ^bb0(%[[E_V:.*]]: f32, %[[E_R:.*]]: f32, %[[E_B:.*]]: f32):
// CHECK-NEXT: %[[DIFF:.*]] = arith.subf %[[E_V]], %[[E_R]]
// CHECK-NEXT: arith.mulf %[[DIFF]], %[[E_B]]
// CHECK: %[[NEXT:.*]] = tile.mma %[[DECAYED]], %[[K]], %[[E]] {transpose_a}
// CHECK: %[[O:.*]] = tile.mma %[[NOTHING]], %[[Q]], %[[NEXT]]
// CHECK: tile.store %[[NEXT]], %[[STATE]][%[[SLOT]], %[[HEAD]], %c0, %c0] bound(%[[SLOT1]], %c2, %c16, %c24)

// The norm sees what the recurrence would have stored, and its gate is a sigmoid.
// CHECK: tile.map(%[[O]])
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: tile.load %[[GAIN]][%c0] bound(%c24)
// CHECK: arith.divf %{{.*}}, %{{.*}} : f32
// CHECK: %[[Y:.*]] = tile.map(%{{.*}}, %{{.*}}) : (!tile.tile<1x24xf32>, !tile.tile<1x24xf32>) -> !tile.tile<1x24xf32> {
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %[[Y_G:.*]]: f32):
// CHECK-NEXT: arith.negf %[[Y_G]]
// CHECK: tile.store %[[Y]], %[[OUT]][%[[SEQ]], %[[V0]]] bound(%[[SEQ1]],
// CHECK-NEXT: }
// CHECK-NEXT: tile.return

// With the value axis outside, the state is turned on the way in and out.
// CHECK: tile.kernel @delta_step_h2_k16_v24_f32(
// CHECK: math.log1p
// CHECK: %[[VK:.*]] = tile.load {{.*}} bound(%{{.*}}, %c2, %c24, %c16) : !tile.view<?x2x24x16xf32> -> !tile.tile<24x16xf32>
// CHECK: tile.transpose %[[VK]] : !tile.tile<24x16xf32> -> !tile.tile<16x24xf32>
// CHECK: %[[KV:.*]] = tile.transpose %{{.*}} : !tile.tile<16x24xf32> -> !tile.tile<24x16xf32>
// CHECK: tile.store %[[KV]], {{.*}} bound(%{{.*}}, %c2, %c24, %c16)
// CHECK-NOT: arith.truncf

func.func @step(%x: tensor<3x32xbf16>, %xv: tensor<3x48xbf16>, %raw: tensor<3x32xbf16>, %beta: tensor<3x2xf32>, %taps: tensor<32x4xbf16>, %a_log: tensor<8xf32>,
                %dt: tensor<32xf32>, %gain: tensor<24xf32>, %q_state: !k3.conv_state<3x32xbf16>, %state: !k3.kda_state<2x16x24xf32, kv>,
                %batch: !k3.batch<3>) -> tensor<3x48xbf16> {
  %q = k3.short_conv %x, %taps, %q_state, %batch : tensor<3x32xbf16>, tensor<32x4xbf16>, !k3.conv_state<3x32xbf16>, !k3.batch<3> -> tensor<3x32xbf16>
  %o = k3.kda(%q, %x, %xv, %raw, %beta, %a_log, %dt, %state, %batch) {lower_bound = -5.0} : tensor<3x32xbf16>, tensor<3x32xbf16>, tensor<3x48xbf16>, tensor<3x32xbf16>,
      tensor<3x2xf32>, tensor<8xf32>, tensor<32xf32>, !k3.kda_state<2x16x24xf32, kv>, !k3.batch<3> -> tensor<3x48xbf16>
  %y = k3.gated_rms_norm %o, %xv, %gain {eps = 1.0e-5} : tensor<3x48xbf16>, tensor<3x48xbf16>, tensor<24xf32> -> tensor<3x48xbf16>
  return %y : tensor<3x48xbf16>
}

// Without lower_bound the gate is softplus; f32 rounds nothing.
func.func @softplus(%x: tensor<3x32xf32>, %xv: tensor<3x48xf32>, %beta: tensor<3x2xf32>, %a_log: tensor<2xf32>, %dt: tensor<32xf32>,
                    %state: !k3.kda_state<2x16x24xf32, vk>, %batch: !k3.batch<3>) -> tensor<3x48xf32> {
  %o = k3.kda(%x, %x, %xv, %x, %beta, %a_log, %dt, %state, %batch) : tensor<3x32xf32>, tensor<3x32xf32>, tensor<3x48xf32>, tensor<3x32xf32>,
      tensor<3x2xf32>, tensor<2xf32>, tensor<32xf32>, !k3.kda_state<2x16x24xf32, vk>, !k3.batch<3> -> tensor<3x48xf32>
  return %o : tensor<3x48xf32>
}
