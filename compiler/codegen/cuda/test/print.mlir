// RUN: k3c %s --compile-from schedule --target sm_90a --emit=cuda 2>&1 | FileCheck %s

// The load and the map are computed where the reduction reads them; the sum of each row is a warp's.
// CHECK-LABEL: void chain_block(const k3_bf16 *in0, float *out1,
// CHECK-NOT: tile1
// CHECK: for (int r{{[0-9]+}} = threadIdx.x / 32; r{{[0-9]+}} < 16; r{{[0-9]+}} += 8) {
// CHECK: k3_float(in0[
// CHECK: const float mulf{{[0-9]+}} =
// CHECK: k3_warp_sum
// CHECK: __syncthreads();
// CHECK: out1[
// CHECK: extern "C" __global__ void __launch_bounds__(256) chain(
tile.kernel @chain(%x: !tile.view<16x64xbf16>, %y: !tile.view<16x1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %a = tile.load %x[%c0, %c0] bound(%c16, %c64) : !tile.view<16x64xbf16> -> !tile.tile<16x64xf32>
  %b = tile.map(%a) : (!tile.tile<16x64xf32>) -> !tile.tile<16x64xf32> {
  ^bb0(%v: f32):
    %s = arith.mulf %v, %v : f32
    tile.yield %s : f32
  }
  %r = tile.reduce add %b axis 1 : !tile.tile<16x64xf32> -> !tile.tile<16x1xf32>
  tile.store %r, %y[%c0, %c0] bound(%c16, %c1) : !tile.tile<16x1xf32> -> !tile.view<16x1xf32>
  tile.return
}

// The carried sums keep one buffer through all steps, and a step meets the next at a barrier.
// CHECK-LABEL: void steps_block(
// CHECK: float *const [[ACC:tile[0-9]+]] = reinterpret_cast<float *>
// CHECK: for (long long step
// CHECK: __syncthreads();
// CHECK: [[ACC]][{{.*}}] = x{{[0-9]+}} + sum
// CHECK: __syncthreads();
// CHECK-NEXT: }
tile.kernel @steps(%x: !tile.view<16x64xf32>, %w: !tile.view<32x64xf32>, %y: !tile.view<16x32xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.splat %zero : f32 -> !tile.tile<16x32xf32>
  %sum = tile.for %i = %c0 to %c64 step %c16 iter(%acc = %init) : !tile.tile<16x32xf32> {
    %a = tile.load %x[%c0, %i] bound(%c16, %c64) : !tile.view<16x64xf32> -> !tile.tile<16x16xf32>
    %b = tile.load %w[%c0, %i] bound(%c32, %c64) : !tile.view<32x64xf32> -> !tile.tile<32x16xf32>
    %r = tile.mma %acc, %a, %b {transpose_b} : !tile.tile<16x32xf32>, !tile.tile<16x16xf32>, !tile.tile<32x16xf32>
    tile.yield %r : !tile.tile<16x32xf32>
  }
  tile.store %sum, %y[%c0, %c0] bound(%c16, %c32) : !tile.tile<16x32xf32> -> !tile.view<16x32xf32>
  tile.return
}
