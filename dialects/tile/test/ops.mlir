// RUN: k3-opt %s | k3-opt | FileCheck %s
// RUN: k3-opt %s --mlir-print-op-generic | k3-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @structure(%{{.*}}: !tile.view<?x64xf32>, %{{.*}}: index)
// CHECK-SAME: attributes {schedule = {rows = 16 : i64}}
tile.kernel @structure(%v: !tile.view<?x64xf32>, %n: index) attributes {schedule = {rows = 16}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  // CHECK: %[[B:.*]] = tile.block_id x
  %b = tile.block_id x
  // CHECK: tile.block_id y
  %y = tile.block_id y
  // CHECK: tile.block_id z
  %z = tile.block_id z
  %zero = arith.constant 0.0 : f32
  // CHECK: %[[INIT:.*]] = tile.splat %{{.*}} : f32 -> !tile.tile<16x64xf32>
  %init = tile.splat %zero : f32 -> !tile.tile<16x64xf32>
  // CHECK: %[[R:.*]]:2 = tile.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter(%[[ACC:.*]] = %[[INIT]], %{{.*}} = %{{.*}}) : !tile.tile<16x64xf32>, index stages 3 {
  %r:2 = tile.for %i = %c0 to %n step %c1 iter(%acc = %init, %k = %c0) : !tile.tile<16x64xf32>, index stages 3 {
    %t = tile.load %v[%i, %c0] bound(%n, %c64) : !tile.view<?x64xf32> -> !tile.tile<16x64xf32>
    // CHECK: tile.map(%[[ACC]], %{{.*}}) : (!tile.tile<16x64xf32>, !tile.tile<16x64xf32>) -> !tile.tile<16x64xf32> {
    // CHECK-NEXT: ^bb0(%[[P:.*]]: f32, %[[Q:.*]]: f32):
    // CHECK-NEXT: %[[S:.*]] = arith.addf %[[P]], %[[Q]] : f32
    // CHECK-NEXT: tile.yield %[[S]] : f32
    %s = tile.map(%acc, %t) : (!tile.tile<16x64xf32>, !tile.tile<16x64xf32>) -> !tile.tile<16x64xf32> {
    ^bb0(%p: f32, %q: f32):
      %sum = arith.addf %p, %q : f32
      tile.yield %sum : f32
    }
    // CHECK: tile.yield %{{.*}}, %[[I]] : !tile.tile<16x64xf32>, index
    tile.yield %s, %i : !tile.tile<16x64xf32>, index
  }
  // CHECK: tile.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} attributes {unrolled} {
  tile.for %i = %c0 to %n step %c1 attributes {unrolled} {
  }
  %some = arith.cmpi slt, %b, %n : index
  // CHECK: tile.if %{{.*}} {
  tile.if %some {
    // CHECK: tile.store %[[R]]#0, %{{.*}}[%[[B]], %{{.*}}] bound(%{{.*}}, %{{.*}}) : !tile.tile<16x64xf32> -> !tile.view<?x64xf32>
    tile.store %r#0, %v[%b, %c0] bound(%n, %c64) : !tile.tile<16x64xf32> -> !tile.view<?x64xf32>
  }
  // CHECK: tile.role "producer" warps 1 {
  tile.role "producer" warps 1 {
  }
  tile.return
}
