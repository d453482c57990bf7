// RUN: k3-opt %s --tile-to-cpu --cse | FileCheck %s --check-prefix=FUSED
// RUN: k3-opt %s --tile-to-cpu=fuse=false --cse | FileCheck %s --check-prefix=APART

// Without fusion the read and the result of the map have buffers of their own.
// FUSED-LABEL: func.func private @twice_body
// FUSED-NOT: llvm.alloca
// FUSED: return
// APART-LABEL: func.func private @twice_body
// APART-COUNT-2: llvm.alloca {{.*}} !llvm.array<16 x f32>
// APART-NOT: llvm.alloca
// APART: return
tile.kernel @twice(%x: !tile.view<1x16xf32>, %y: !tile.view<1x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %t = tile.load %x[%c0, %c0] bound(%c1, %c16) : !tile.view<1x16xf32> -> !tile.tile<1x16xf32>
  %u = tile.map(%t) : (!tile.tile<1x16xf32>) -> !tile.tile<1x16xf32> {
  ^bb0(%a: f32):
    %s = arith.addf %a, %a : f32
    tile.yield %s : f32
  }
  tile.store %u, %y[%c0, %c0] bound(%c1, %c16) : !tile.tile<1x16xf32> -> !tile.view<1x16xf32>
  tile.return
}
