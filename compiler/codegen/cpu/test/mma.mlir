// RUN: k3-opt %s --tile-to-cpu --cse --canonicalize --split-input-file | FileCheck %s

// Weights are widened in registers: the only buffers are the row of x and the sums. One row takes four weight rows at
// once with two sums each, and asks for the four behind them.
// CHECK-LABEL: func.func private @row_body
// CHECK: llvm.alloca {{.*}} !llvm.array<64 x f32>
// CHECK: llvm.alloca {{.*}} !llvm.array<8 x f32>
// CHECK-NOT: llvm.alloca
// CHECK: %{{.*}}:8 = scf.for %{{.*}} = %c0 to %c64 step %c32 iter_args
// CHECK-COUNT-4: llvm.intr.prefetch
// CHECK-NOT: llvm.intr.prefetch
// CHECK-COUNT-16: math.fma
// CHECK-NOT: math.fma
// CHECK: vector.reduction <add>, %{{.*}} fastmath<reassoc> : vector<8xf32> into f32
tile.kernel @row(%x: !tile.view<1x64xbf16>, %w: !tile.view<8x64xbf16>, %y: !tile.view<1x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %acc = tile.splat %zero : f32 -> !tile.tile<1x8xf32>
  %a = tile.load %x[%c0, %c0] bound(%c1, %c64) : !tile.view<1x64xbf16> -> !tile.tile<1x64xf32>
  %b = tile.load %w[%c0, %c0] bound(%c8, %c64) : !tile.view<8x64xbf16> -> !tile.tile<8x64xbf16>
  %r = tile.mma %acc, %a, %b {transpose_b} : !tile.tile<1x8xf32>, !tile.tile<1x64xf32>, !tile.tile<8x64xbf16>
  tile.store %r, %y[%c0, %c0] bound(%c1, %c8) : !tile.tile<1x8xf32> -> !tile.view<1x8xf32>
  tile.return
}

// -----

// MXFP4 is decoded in registers, and the scale is applied once to the sum of its group.
// CHECK-LABEL: func.func private @codes_body
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c32
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.permd"
// CHECK-NOT: !llvm.array<512
tile.kernel @codes(%x: !tile.view<1x64xf32>, %p: !tile.view<8x32xi8>, %s: !tile.view<8x2xi8>, %y: !tile.view<1x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %acc = tile.splat %zero : f32 -> !tile.tile<1x8xf32>
  %a = tile.load %x[%c0, %c0] bound(%c1, %c64) : !tile.view<1x64xf32> -> !tile.tile<1x64xf32>
  %tp = tile.load %p[%c0, %c0] bound(%c8, %c32) : !tile.view<8x32xi8> -> !tile.tile<8x32xi8>
  %ts = tile.load %s[%c0, %c0] bound(%c8, %c2) : !tile.view<8x2xi8> -> !tile.tile<8x2xi8>
  %b = tile.dequantize %tp, %ts : !tile.tile<8x32xi8>, !tile.tile<8x2xi8> -> !tile.tile<8x64xf32>
  %r = tile.mma %acc, %a, %b {transpose_b} : !tile.tile<1x8xf32>, !tile.tile<1x64xf32>, !tile.tile<8x64xf32>
  tile.store %r, %y[%c0, %c0] bound(%c1, %c8) : !tile.tile<1x8xf32> -> !tile.view<1x8xf32>
  tile.return
}

// -----

// The carried sums stay in one buffer: decayed in place, then added to.
// CHECK-LABEL: func.func private @carry_body
// CHECK-COUNT-1: llvm.alloca {{.*}} !llvm.array<32 x f32>
// CHECK-NOT: llvm.alloca
// CHECK: return
tile.kernel @carry(%x: !tile.view<?x4xf32>, %y: !tile.view<?x8xf32>, %n: index, %s: !tile.view<4x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %half = arith.constant 0.5 : f32
  %s0 = tile.load %s[%c0, %c0] bound(%c4, %c8) : !tile.view<4x8xf32> -> !tile.tile<4x8xf32>
  %r = tile.for %i = %c0 to %n step %c1 iter(%t = %s0) : !tile.tile<4x8xf32> {
    %a = tile.load %x[%i, %c0] bound(%n, %c4) : !tile.view<?x4xf32> -> !tile.tile<1x4xf32>
    %b = tile.load %y[%i, %c0] bound(%n, %c8) : !tile.view<?x8xf32> -> !tile.tile<1x8xf32>
    %d = tile.map(%t) : (!tile.tile<4x8xf32>) -> !tile.tile<4x8xf32> {
    ^bb0(%p: f32):
      %q = arith.mulf %p, %half : f32
      tile.yield %q : f32
    }
    %u = tile.mma %d, %a, %b {transpose_a} : !tile.tile<4x8xf32>, !tile.tile<1x4xf32>, !tile.tile<1x8xf32>
    tile.yield %u : !tile.tile<4x8xf32>
  }
  tile.store %r, %s[%c0, %c0] bound(%c4, %c8) : !tile.tile<4x8xf32> -> !tile.view<4x8xf32>
  tile.return
}
