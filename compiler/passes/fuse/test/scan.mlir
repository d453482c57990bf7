// RUN: k3-opt %s --k3-fuse | FileCheck %s --check-prefixes=CHECK,ON
// RUN: k3-opt %s --k3-fuse=no-fuse=scan | FileCheck %s --check-prefixes=CHECK,OFF
// The recurrence takes the gated norm behind it, and over a static batch the convolutions before it, rule or no rule:
// only the block of a head may shift the channels of the head. Three heads, key 16, value 24.

k3.symbol @T <= 130
k3.symbol @S <= 3

// CHECK-LABEL: func.func private @step(
func.func private @step(%x: tensor<3x48xbf16>, %xv: tensor<3x72xbf16>, %beta: tensor<3x3xf32>, %taps: tensor<48x4xbf16>, %vtaps: tensor<72x4xbf16>,
                        %a_log: tensor<32xf32>, %dt: tensor<48xf32>, %gain: tensor<24xf32>, %q_state: !k3.conv_state<3x48xbf16>, %k_state: !k3.conv_state<3x48xbf16>,
                        %v_state: !k3.conv_state<3x72xbf16>, %state: !k3.kda_state<3x16x24xf32, kv>, %batch: !k3.batch<3>) -> tensor<3x72xbf16> {
  // CHECK-NEXT: k3.fused "scan" {
  // CHECK-NEXT: %[[Q:.*]] = k3.short_conv
  // CHECK-NEXT: %[[K:.*]] = k3.short_conv
  // CHECK-NEXT: %[[V:.*]] = k3.short_conv
  // CHECK-NEXT: %[[O:.*]] = k3.kda(%[[Q]], %[[K]], %[[V]],
  // ON-NEXT: %[[Y:.*]] = k3.gated_rms_norm %[[O]]
  // ON-NEXT: k3.yield %[[Y]]
  // OFF-NEXT: k3.yield %[[O]]
  // OFF: k3.fused "row" {
  // OFF-NEXT: k3.gated_rms_norm
  // OFF-NEXT: k3.yield
  %q = k3.short_conv %x, %taps, %q_state, %batch : tensor<3x48xbf16>, tensor<48x4xbf16>, !k3.conv_state<3x48xbf16>, !k3.batch<3> -> tensor<3x48xbf16>
  %k = k3.short_conv %x, %taps, %k_state, %batch : tensor<3x48xbf16>, tensor<48x4xbf16>, !k3.conv_state<3x48xbf16>, !k3.batch<3> -> tensor<3x48xbf16>
  %v = k3.short_conv %xv, %vtaps, %v_state, %batch : tensor<3x72xbf16>, tensor<72x4xbf16>, !k3.conv_state<3x72xbf16>, !k3.batch<3> -> tensor<3x72xbf16>
  %o = k3.kda(%q, %k, %v, %x, %beta, %a_log, %dt, %state, %batch) {lower_bound = -5.0} : tensor<3x48xbf16>, tensor<3x48xbf16>, tensor<3x72xbf16>,
      tensor<3x48xbf16>, tensor<3x3xf32>, tensor<32xf32>, tensor<48xf32>, !k3.kda_state<3x16x24xf32, kv>, !k3.batch<3> -> tensor<3x72xbf16>
  %y = k3.gated_rms_norm %o, %xv, %gain {eps = 1.0e-5} : tensor<3x72xbf16>, tensor<3x72xbf16>, tensor<24xf32> -> tensor<3x72xbf16>
  return %y : tensor<3x72xbf16>
}

// Ragged rows are convolved before, by blocks that see all channels.
// CHECK-LABEL: func.func private @chunks(
func.func private @chunks(%x: tensor<?x48xbf16, #k3.sym<"T">>, %v: tensor<?x72xbf16, #k3.sym<"T">>, %beta: tensor<?x3xf32, #k3.sym<"T">>, %taps: tensor<48x4xbf16>,
                          %a_log: tensor<32xf32>, %dt: tensor<48xf32>, %gain: tensor<24xf32>, %q_state: !k3.conv_state<3x48xbf16>,
                          %state: !k3.kda_state<3x16x24xf32, kv>, %batch: !k3.batch<"T", "S">) -> tensor<?x72xbf16, #k3.sym<"T">> {
  // CHECK-NEXT: %[[Q:.*]] = k3.fused "conv" {
  // CHECK-NEXT: k3.short_conv
  // CHECK-NEXT: k3.yield
  // CHECK: k3.fused "scan" {
  // CHECK-NEXT: %[[O:.*]] = k3.kda(%[[Q]],
  // ON-NEXT: k3.gated_rms_norm %[[O]]
  // CHECK-NEXT: k3.yield
  %q = k3.short_conv %x, %taps, %q_state, %batch : tensor<?x48xbf16, #k3.sym<"T">>, tensor<48x4xbf16>, !k3.conv_state<3x48xbf16>, !k3.batch<"T", "S"> -> tensor<?x48xbf16, #k3.sym<"T">>
  %o = k3.kda(%q, %x, %v, %x, %beta, %a_log, %dt, %state, %batch) : tensor<?x48xbf16, #k3.sym<"T">>, tensor<?x48xbf16, #k3.sym<"T">>, tensor<?x72xbf16, #k3.sym<"T">>,
      tensor<?x48xbf16, #k3.sym<"T">>, tensor<?x3xf32, #k3.sym<"T">>, tensor<32xf32>, tensor<48xf32>, !k3.kda_state<3x16x24xf32, kv>, !k3.batch<"T", "S"> -> tensor<?x72xbf16, #k3.sym<"T">>
  %y = k3.gated_rms_norm %o, %v, %gain {eps = 1.0e-5} : tensor<?x72xbf16, #k3.sym<"T">>, tensor<?x72xbf16, #k3.sym<"T">>, tensor<24xf32> -> tensor<?x72xbf16, #k3.sym<"T">>
  return %y : tensor<?x72xbf16, #k3.sym<"T">>
}

// A recurrence whose result is read twice keeps it, and a norm of which it is the gate is another norm.
// CHECK-LABEL: func.func private @no_norm(
func.func private @no_norm(%x: tensor<3x48xbf16>, %v: tensor<3x72xbf16>, %beta: tensor<3x3xf32>, %a_log: tensor<32xf32>, %dt: tensor<48xf32>, %gain: tensor<24xf32>,
                           %state: !k3.kda_state<3x16x24xf32, vk>, %other: !k3.kda_state<3x16x24xf32, vk>, %batch: !k3.batch<3>) -> (tensor<3x72xbf16>, tensor<3x72xbf16>) {
  // CHECK: k3.fused "scan" {
  // CHECK-NEXT: k3.kda
  // CHECK-NEXT: k3.yield
  // CHECK: k3.fused "scan" {
  // CHECK-NEXT: k3.kda
  // CHECK-NEXT: k3.yield
  // CHECK: k3.fused "row" {
  %o = k3.kda(%x, %x, %v, %x, %beta, %a_log, %dt, %state, %batch) : tensor<3x48xbf16>, tensor<3x48xbf16>, tensor<3x72xbf16>, tensor<3x48xbf16>, tensor<3x3xf32>, tensor<32xf32>, tensor<48xf32>, !k3.kda_state<3x16x24xf32, vk>, !k3.batch<3> -> tensor<3x72xbf16>
  k3.tap %o as "o" : tensor<3x72xbf16>
  %p = k3.kda(%x, %x, %v, %x, %beta, %a_log, %dt, %other, %batch) : tensor<3x48xbf16>, tensor<3x48xbf16>, tensor<3x72xbf16>, tensor<3x48xbf16>, tensor<3x3xf32>, tensor<32xf32>, tensor<48xf32>, !k3.kda_state<3x16x24xf32, vk>, !k3.batch<3> -> tensor<3x72xbf16>
  %y = k3.gated_rms_norm %o, %v, %gain {eps = 1.0e-5} : tensor<3x72xbf16>, tensor<3x72xbf16>, tensor<24xf32> -> tensor<3x72xbf16>
  %z = k3.gated_rms_norm %v, %p, %gain {eps = 1.0e-5} : tensor<3x72xbf16>, tensor<3x72xbf16>, tensor<24xf32> -> tensor<3x72xbf16>
  return %y, %z : tensor<3x72xbf16>, tensor<3x72xbf16>
}

// A norm over halves of the heads' values is no norm of the heads.
// CHECK-LABEL: func.func private @halves(
func.func private @halves(%x: tensor<3x48xbf16>, %v: tensor<3x72xbf16>, %beta: tensor<3x3xf32>, %a_log: tensor<32xf32>, %dt: tensor<48xf32>, %gain: tensor<12xf32>,
                          %state: !k3.kda_state<3x16x24xf32, vk>, %batch: !k3.batch<3>) -> tensor<3x72xbf16> {
  // CHECK: k3.fused "scan" {
  // CHECK-NEXT: k3.kda
  // CHECK-NEXT: k3.yield
  // CHECK: k3.fused "row" {
  // CHECK-NEXT: k3.gated_rms_norm
  // CHECK-NEXT: k3.yield
  %o = k3.kda(%x, %x, %v, %x, %beta, %a_log, %dt, %state, %batch) : tensor<3x48xbf16>, tensor<3x48xbf16>, tensor<3x72xbf16>, tensor<3x48xbf16>, tensor<3x3xf32>, tensor<32xf32>, tensor<48xf32>, !k3.kda_state<3x16x24xf32, vk>, !k3.batch<3> -> tensor<3x72xbf16>
  %y = k3.gated_rms_norm %o, %v, %gain {eps = 1.0e-5} : tensor<3x72xbf16>, tensor<3x72xbf16>, tensor<12xf32> -> tensor<3x72xbf16>
  return %y : tensor<3x72xbf16>
}

// A recurrence that nobody reads still moves its state on, and its kernel has a result.
// CHECK-LABEL: func.func private @unread(
func.func private @unread(%x: tensor<3x48xbf16>, %v: tensor<3x72xbf16>, %beta: tensor<3x3xf32>, %a_log: tensor<32xf32>, %dt: tensor<48xf32>,
                          %state: !k3.kda_state<3x16x24xf32, vk>, %batch: !k3.batch<3>) {
  // CHECK-NEXT: k3.fused "scan" {
  // CHECK-NEXT: %[[O:.*]] = k3.kda
  // CHECK-NEXT: k3.yield %[[O]] : tensor<3x72xbf16>
  // CHECK-NEXT: } -> tensor<3x72xbf16>
  %o = k3.kda(%x, %x, %v, %x, %beta, %a_log, %dt, %state, %batch) : tensor<3x48xbf16>, tensor<3x48xbf16>, tensor<3x72xbf16>, tensor<3x48xbf16>, tensor<3x3xf32>, tensor<32xf32>, tensor<48xf32>, !k3.kda_state<3x16x24xf32, vk>, !k3.batch<3> -> tensor<3x72xbf16>
  return
}
