// RUN: k3-opt %s --tile-to-cpu --cse --canonicalize --split-input-file | FileCheck %s

// load, map, map and store are one loop; nothing is kept.
// CHECK-LABEL: func.func private @chain_body
// CHECK-NOT: llvm.alloca
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c8
// CHECK: %[[X:.*]] = llvm.load {{.*}} -> vector<8xi16>
// CHECK-NEXT: %[[W:.*]] = arith.extui %[[X]]
// CHECK-NEXT: %[[S:.*]] = arith.shli %[[W]]
// CHECK-NEXT: %[[F:.*]] = arith.bitcast %[[S]] : vector<8xi32> to vector<8xf32>
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[F]], %[[F]] : vector<8xf32>
// CHECK-NEXT: %[[N:.*]] = arith.negf %[[M]] : vector<8xf32>
// CHECK: llvm.store %[[N]]
tile.kernel @chain(%x: !tile.view<1x64xbf16>, %y: !tile.view<1x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %t = tile.load %x[%c0, %c0] bound(%c1, %c64) : !tile.view<1x64xbf16> -> !tile.tile<1x64xf32>
  %u = tile.map(%t) : (!tile.tile<1x64xf32>) -> !tile.tile<1x64xf32> {
  ^bb0(%a: f32):
    %m = arith.mulf %a, %a : f32
    tile.yield %m : f32
  }
  %v = tile.map(%u) : (!tile.tile<1x64xf32>) -> !tile.tile<1x64xf32> {
  ^bb0(%a: f32):
    %m = arith.negf %a : f32
    tile.yield %m : f32
  }
  tile.store %v, %y[%c0, %c0] bound(%c1, %c64) : !tile.tile<1x64xf32> -> !tile.view<1x64xf32>
  tile.return
}

// -----

// A pending read of what a store writes elsewhere is computed first.
// CHECK-LABEL: func.func private @slide_body
// CHECK: %[[KEPT:.*]] = llvm.alloca {{.*}} !llvm.array<24 x f32>
// CHECK: scf.for
// CHECK: llvm.store
// CHECK: scf.for
tile.kernel @slide(%x: !tile.view<4x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %t = tile.load %x[%c0, %c0] bound(%c3, %c8) : !tile.view<4x8xf32> -> !tile.tile<3x8xf32>
  tile.store %t, %x[%c1, %c0] bound(%c4, %c8) : !tile.tile<3x8xf32> -> !tile.view<4x8xf32>
  tile.return
}

// -----

// An update at the same place needs no copy.
// CHECK-LABEL: func.func private @update_body
// CHECK-NOT: llvm.alloca
// CHECK: return
tile.kernel @update(%x: !tile.view<4x8xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %t = tile.load %x[%c0, %c0] bound(%c4, %c8) : !tile.view<4x8xf32> -> !tile.tile<4x8xf32>
  %u = tile.map(%t) : (!tile.tile<4x8xf32>) -> !tile.tile<4x8xf32> {
  ^bb0(%a: f32):
    %m = arith.negf %a : f32
    tile.yield %m : f32
  }
  tile.store %u, %x[%c0, %c0] bound(%c4, %c8) : !tile.tile<4x8xf32> -> !tile.view<4x8xf32>
  tile.return
}
