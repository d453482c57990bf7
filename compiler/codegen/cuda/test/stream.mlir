// RUN: k3c %s --compile-from schedule --target sm_90a --emit=cuda 2>&1 | FileCheck %s

// Rows of weights go from memory to the tensor cores. 5 rows of x are one tile of 8, 24 columns are two tiles of 16 of
// which the second has no rows 8 .. 15; 640 elements are 20 units of 32, shared out to 8 warps in rounds of three.
// CHECK-LABEL: // linear for sm_90a: blocks of 256 threads, 9696 bytes of shared memory.
// CHECK: const bool [[HAS0:has[0-9]+]] = (muli0 + ([[G:group[0-9]+]] + 0)) < 24LL
// CHECK-NEXT: const k3_bf16 *const [[ROW0:row[0-9]+]] = in1 + ([[HAS0]] ? {{.*}} : 0) + [[LANE:lane[0-9]+]] * 8;
// CHECK: ([[G]] + 24)) < 24LL {{.*}} && ([[G]] + 24) < 24;
// CHECK: const bool [[HASX:has[0-9]+]] = {{.*}} && ([[G]] + 0) < 5;
// CHECK-NEXT: const k3_bf16 *const [[X:row[0-9]+]] = in0 +
// CHECK: float [[SUM:sum[0-9]+]][2][4] = {};
// CHECK-NEXT: for (int [[AT:at[0-9]+]] = warp{{[0-9]+}} * 32; [[AT]] < 640; [[AT]] += 768) {
// CHECK: const bool [[IN:inside[0-9]+]] = [[FROM:from[0-9]+]] + [[LANE]] * 8 < 640;
// CHECK-NEXT: = k3_stream([[ROW0]] + [[FROM]], [[HAS0]] && [[IN]]);
// CHECK: = k3_load([[X]] + [[FROM]] + 0, [[HASX]] && [[IN]]);
// CHECK: k3_mma([[SUM]][{{i[0-9]+}}], upper.x, lower.x, upper.y, lower.y, right.x, right.y);
// CHECK: __syncthreads();
// CHECK: total{{[0-9]+}} += tile{{[0-9]+}}[
tile.kernel @linear(%x: !tile.view<5x640xbf16>, %w: !tile.view<24x640xbf16>, %y: !tile.view<5x24xf32>) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c24 = arith.constant 24 : index
  %c256 = arith.constant 256 : index
  %c640 = arith.constant 640 : index
  %zero = arith.constant 0.0 : f32
  %b = tile.block_id x
  %n0 = arith.muli %b, %c24 : index
  %init = tile.splat %zero : f32 -> !tile.tile<5x24xf32>
  %sum = tile.for %i = %c0 to %c640 step %c256 iter(%acc = %init) : !tile.tile<5x24xf32> {
    %a = tile.load %x[%c0, %i] bound(%c5, %c640) : !tile.view<5x640xbf16> -> !tile.tile<5x256xf32>
    %m = tile.load %w[%n0, %i] bound(%c24, %c640) : !tile.view<24x640xbf16> -> !tile.tile<24x256xf32>
    %r = tile.mma %acc, %a, %m {transpose_b} : !tile.tile<5x24xf32>, !tile.tile<5x256xf32>, !tile.tile<24x256xf32>
    tile.yield %r : !tile.tile<5x24xf32>
  }
  tile.store %sum, %y[%c0, %n0] bound(%c5, %c24) : !tile.tile<5x24xf32> -> !tile.view<5x24xf32>
  tile.return
}

// 16 bytes of codes are 32 numbers of a row, whose scale is one byte. Two of an expert's matrices share x.
// CHECK-LABEL: void packed_block(
// CHECK: const unsigned char *const [[CODES:row[0-9]+]] = in1 + {{.*}} + [[LANE:lane[0-9]+]] * 16;
// CHECK: const unsigned char *const [[SCALES:row[0-9]+]] = in2 + {{.*}} + [[LANE]];
// CHECK: = k3_stream([[CODES]] + [[FROM:from[0-9]+]] / 2,
// CHECK-NEXT: ? [[SCALES]][[[FROM]] / 32] : 0;
// CHECK: k3_mxfp4_words({{words[0-9]+}}[{{.*}}].x, {{scales[0-9]+}}[
// CHECK-COUNT-8: k3_mma(
// CHECK-NOT: k3_mma(
// CHECK: extern "C"
tile.kernel @packed(%x: !tile.view<1x256xbf16>, %w: !tile.view<3x32x128xi8>, %s: !tile.view<3x32x8xi8>, %y: !tile.view<2x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %e = tile.block_id x
  %init = tile.splat %zero : f32 -> !tile.tile<1x16xf32>
  %sum:2 = tile.for %i = %c0 to %c256 step %c128 iter(%acc = %init, %acc2 = %init) : !tile.tile<1x16xf32>, !tile.tile<1x16xf32> {
    %a = tile.load %x[%c0, %i] bound(%c1, %c256) : !tile.view<1x256xbf16> -> !tile.tile<1x128xf32>
    %i2 = arith.divsi %i, %c2 : index
    %i32 = arith.divsi %i, %c32 : index
    %p = tile.load %w[%e, %c0, %i2] bound(%c3, %c16, %c128) : !tile.view<3x32x128xi8> -> !tile.tile<16x64xi8>
    %q = tile.load %s[%e, %c0, %i32] bound(%c3, %c16, %c8) : !tile.view<3x32x8xi8> -> !tile.tile<16x4xi8>
    %m = tile.dequantize %p, %q : !tile.tile<16x64xi8>, !tile.tile<16x4xi8> -> !tile.tile<16x128xf32>
    %r = tile.mma %acc, %a, %m {transpose_b} : !tile.tile<1x16xf32>, !tile.tile<1x128xf32>, !tile.tile<16x128xf32>
    %p2 = tile.load %w[%e, %c16, %i2] bound(%c3, %c32, %c128) : !tile.view<3x32x128xi8> -> !tile.tile<16x64xi8>
    %q2 = tile.load %s[%e, %c16, %i32] bound(%c3, %c32, %c8) : !tile.view<3x32x8xi8> -> !tile.tile<16x4xi8>
    %m2 = tile.dequantize %p2, %q2 : !tile.tile<16x64xi8>, !tile.tile<16x4xi8> -> !tile.tile<16x128xf32>
    %r2 = tile.mma %acc2, %a, %m2 {transpose_b} : !tile.tile<1x16xf32>, !tile.tile<1x128xf32>, !tile.tile<16x128xf32>
    tile.yield %r, %r2 : !tile.tile<1x16xf32>, !tile.tile<1x16xf32>
  }
  tile.store %sum#0, %y[%c0, %c0] bound(%c1, %c16) : !tile.tile<1x16xf32> -> !tile.view<2x16xf32>
  tile.store %sum#1, %y[%c1, %c0] bound(%c2, %c16) : !tile.tile<1x16xf32> -> !tile.view<2x16xf32>
  tile.return
}
