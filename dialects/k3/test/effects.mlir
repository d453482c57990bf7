// RUN: k3-opt %s --cse --canonicalize | FileCheck %s
// An op that updates a state is neither merged with its twin nor dropped when nobody reads its result; pure ops are.

k3.state @conv : !k3.conv_state<3x8xbf16>

// CHECK-LABEL: func.func @twins
func.func @twins(%x: tensor<4x8xbf16>, %w: tensor<8x4xbf16>, %h: tensor<4x8xf32>, %batch: !k3.batch<4>) {
  // One handle, two updates.
  // CHECK: %[[S:.*]] = k3.ref @conv
  // CHECK-NOT: k3.ref
  %s0 = k3.ref @conv : !k3.conv_state<3x8xbf16>
  %s1 = k3.ref @conv : !k3.conv_state<3x8xbf16>
  // CHECK: k3.short_conv %{{.*}}, %{{.*}}, %[[S]],
  // CHECK: k3.short_conv %{{.*}}, %{{.*}}, %[[S]],
  %0 = k3.short_conv %x, %w, %s0, %batch : tensor<4x8xbf16>, tensor<8x4xbf16>, !k3.conv_state<3x8xbf16>, !k3.batch<4> -> tensor<4x8xbf16>
  %1 = k3.short_conv %x, %w, %s1, %batch : tensor<4x8xbf16>, tensor<8x4xbf16>, !k3.conv_state<3x8xbf16>, !k3.batch<4> -> tensor<4x8xbf16>
  // Two stacks are two buffers, and a push into one of them stays.
  // CHECK: %[[A:.*]] = k3.stack
  // CHECK: %[[B:.*]] = k3.stack
  %a = k3.stack : !k3.stack<2x8xf32, 4>
  %b = k3.stack : !k3.stack<2x8xf32, 4>
  %c0 = arith.constant 0 : index
  // CHECK: k3.attn_res.push %[[A]]
  // CHECK: k3.attn_res.push %[[B]]
  k3.attn_res.push %a[%c0], %h : !k3.stack<2x8xf32, 4>, tensor<4x8xf32>
  k3.attn_res.push %b[%c0], %h : !k3.stack<2x8xf32, 4>, tensor<4x8xf32>
  // CHECK-NOT: k3.add
  %dead = k3.add %h, %h : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  // CHECK: k3.tap %{{.*}} as "h"
  k3.tap %h as "h" : tensor<4x8xf32>
  // A group has the effects of what is in it.
  // CHECK: k3.fused "row" {
  // CHECK-NOT: k3.fused "row"
  k3.fused "row" {
    k3.attn_res.push %a[%c0], %h : !k3.stack<2x8xf32, 4>, tensor<4x8xf32>
    k3.yield
  }
  %g = k3.fused "row" {
    %y = k3.add %h, %h : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
    k3.yield %y : tensor<4x8xf32>
  } -> tensor<4x8xf32>
  return
}
