// RUN: k3c %s --compile-from schedule --target sm_90a --emit=cuda 2>&1 | FileCheck %s

// 72 rows of x and 40 weight rows with their padding of 64, in stages of 64 numbers: three stages of 128 + 64 lines of 128
// bytes. The results lie where the stages were. Four warps have 32 rows of x each, two the halves of the columns.
// CHECK-LABEL: // many for sm_90a: blocks of 256 threads, 73728 bytes of shared memory.
// CHECK: const int [[LINE:line[0-9]+]] = threadIdx.x / 8, [[WORD:word[0-9]+]] = threadIdx.x % 8 * 8,
// CHECK-NEXT: const int [[M:m[0-9]+]] = threadIdx.x / 32 / 2 * 32, [[N:n[0-9]+]] = threadIdx.x / 32 % 2 * 32;
// CHECK-NEXT: const bool [[HAS0:has[0-9]+]] = 0LL < 320LL && 0LL >= 0;
// CHECK-NEXT: const k3_bf16 *const [[ROW0:row[0-9]+]] = in0 + ([[HAS0]] ? ([[LINE]] + 0) * 320LL + 0LL : 0) + [[WORD]];
// CHECK: && ([[LINE]] + 64) < 72;
// CHECK: && ([[LINE]] + 32) < 40;
// CHECK-NEXT: = in1 + (
// CHECK: float [[SUM:sum[0-9]+]][8][4] = {};
// CHECK: for (int [[AT:at[0-9]+]] = -128; [[AT]] < 320; [[AT]] += 64) {
// CHECK-NEXT: k3_copies_wait<1>();
// CHECK-NEXT: __syncthreads();
// CHECK-NEXT: const int [[FROM:from[0-9]+]] = [[AT]] + 128;
// CHECK-NEXT: const bool [[IN:inside[0-9]+]] = [[FROM]] + [[WORD]] < 320;
// CHECK: k3_copy([[TO:to[0-9]+]] + 0, [[ROW0]] + [[FROM]], [[HAS0]] && [[IN]]);
// CHECK-COUNT-5: k3_copy(
// CHECK-NOT: k3_copy(
// CHECK: k3_copies_end();
// CHECK: if ([[AT]] >= 0) {
// CHECK: k3_matrices(
// CHECK: k3_matrices(
// CHECK: k3_mma([[SUM]][
// CHECK: k3_copies_wait<0>();
// CHECK-NEXT: __syncthreads();
// CHECK: < 72 && [[COLUMN:column[0-9]+]] >= 0 && [[COLUMN]] < 40) {
tile.kernel @many(%x: !tile.view<72x320xbf16>, %w: !tile.view<40x320xbf16>, %y: !tile.view<72x40xf32>) {
  %c0 = arith.constant 0 : index
  %c40 = arith.constant 40 : index
  %c64 = arith.constant 64 : index
  %c72 = arith.constant 72 : index
  %c320 = arith.constant 320 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.splat %zero : f32 -> !tile.tile<72x40xf32>
  %sum = tile.for %i = %c0 to %c320 step %c64 iter(%acc = %init) : !tile.tile<72x40xf32> {
    %a = tile.load %x[%c0, %i] bound(%c72, %c320) : !tile.view<72x320xbf16> -> !tile.tile<72x64xf32>
    %m = tile.load %w[%c0, %i] bound(%c40, %c320) : !tile.view<40x320xbf16> -> !tile.tile<40x64xf32>
    %r = tile.mma %acc, %a, %m {transpose_b} : !tile.tile<72x40xf32>, !tile.tile<72x64xf32>, !tile.tile<40x64xf32>
    tile.yield %r : !tile.tile<72x40xf32>
  }
  tile.store %sum, %y[%c0, %c0] bound(%c72, %c40) : !tile.tile<72x40xf32> -> !tile.view<72x40xf32>
  tile.return
}

// Rows that a tile names, read once before the loop; two matrices side by side, each padded to 32 of its own.
// CHECK-LABEL: void named_block(
// CHECK: __syncthreads();
// CHECK: const int [[X:x[0-9]+]] = tile{{[0-9]+}}[(line{{[0-9]+}} + 0)];
// CHECK-NEXT: const bool [[HAS:has[0-9]+]] = [[X]] >= 0 && [[X]] < 500LL && 0LL >= 0 && 0LL < 128LL;
// CHECK-NEXT: const k3_bf16 *const row{{[0-9]+}} = in0 + ([[HAS]] ? [[X]] * 128LL + 0LL : 0) +
// CHECK: float {{sum[0-9]+}}[8][4] = {};
// CHECK-COUNT-6: k3_copy(
// CHECK-NOT: k3_copy(
// CHECK: ([[COLUMN:column[0-9]+]] - 32) >= 0 && ([[COLUMN]] - 32) < 24) {
tile.kernel @named(%x: !tile.view<500x128xbf16>, %ids: !tile.view<128xi32>, %w: !tile.view<48x128xbf16>, %y: !tile.view<128x24xf32>) {
  %c0 = arith.constant 0 : index
  %c24 = arith.constant 24 : index
  %c48 = arith.constant 48 : index
  %c128 = arith.constant 128 : index
  %c500 = arith.constant 500 : index
  %zero = arith.constant 0.0 : f32
  %rows = tile.load %ids[%c0] bound(%c128) : !tile.view<128xi32> -> !tile.tile<128xi32>
  %init = tile.splat %zero : f32 -> !tile.tile<128x24xf32>
  %both:2 = tile.for %i = %c0 to %c128 step %c128 iter(%acc = %init, %acd = %init) : !tile.tile<128x24xf32>, !tile.tile<128x24xf32> {
    %a = tile.gather %x[%rows, %i] bound(%c500, %c128) : !tile.view<500x128xbf16>, !tile.tile<128xi32> -> !tile.tile<128x128xf32>
    %m = tile.load %w[%c0, %i] bound(%c24, %c128) : !tile.view<48x128xbf16> -> !tile.tile<24x128xf32>
    %n = tile.load %w[%c24, %i] bound(%c48, %c128) : !tile.view<48x128xbf16> -> !tile.tile<24x128xf32>
    %r = tile.mma %acc, %a, %m {transpose_b} : !tile.tile<128x24xf32>, !tile.tile<128x128xf32>, !tile.tile<24x128xf32>
    %s = tile.mma %acd, %a, %n {transpose_b} : !tile.tile<128x24xf32>, !tile.tile<128x128xf32>, !tile.tile<24x128xf32>
    tile.yield %r, %s : !tile.tile<128x24xf32>, !tile.tile<128x24xf32>
  }
  %p = tile.map(%both#0, %both#1) : (!tile.tile<128x24xf32>, !tile.tile<128x24xf32>) -> !tile.tile<128x24xf32> {
  ^bb0(%l: f32, %r: f32):
    %t = arith.mulf %l, %r : f32
    tile.yield %t : f32
  }
  tile.store %p, %y[%c0, %c0] bound(%c128, %c24) : !tile.tile<128x24xf32> -> !tile.view<128x24xf32>
  tile.return
}

// MXFP4 codes: a thread unpacks the 32 that share a scale into the order of the inner extent, and holds those of the stage
// after the next one meanwhile. Padding of 64 rows keeps half of the block at it.
// CHECK-LABEL: void packed_block(
// CHECK: const int [[OWN:own[0-9]+]] = threadIdx.x / 2 - 0;
// CHECK: const bool [[CODED:has[0-9]+]] = {{.*}} && ([[OWN]] + 0) < 40;
// CHECK: const unsigned char *const [[CODES:codes[0-9]+]] = row{{[0-9]+}}, *const [[SCALES:scales[0-9]+]] = row{{[0-9]+}};
// CHECK: const int [[BEGIN:begin[0-9]+]] = threadIdx.x / 2 * 64 + threadIdx.x % 2 * 32;
// CHECK: [[HELD:held[0-9]+]] = k3_load([[CODES]] + (0) / 2, [[ANY:has[0-9]+]] && 0 + threadIdx.x % 2 * 32 < 96);
// CHECK-NEXT: [[SCALE:scale[0-9]+]] = [[ANY]] && 0 + threadIdx.x % 2 * 32 < 96 ? [[SCALES]][(0) / 32] : 0;
// CHECK: k3_copies_end();
// CHECK-NEXT: if (threadIdx.x < 128) {
// CHECK-NEXT: k3_swizzled([[BEGIN]] + 0)) = k3_in_order(k3_mxfp4_words([[HELD]].x, [[SCALE]]));
// CHECK-NEXT: k3_swizzled([[BEGIN]] + 8)) = k3_in_order(k3_mxfp4_words([[HELD]].y, [[SCALE]]));
// CHECK-NEXT: k3_swizzled([[BEGIN]] + 16)) = k3_in_order(k3_mxfp4_words([[HELD]].z, [[SCALE]]));
// CHECK-NEXT: k3_swizzled([[BEGIN]] + 24)) = k3_in_order(k3_mxfp4_words([[HELD]].w, [[SCALE]]));
// CHECK-NEXT: [[HELD]] = k3_load([[CODES]] + ((from{{[0-9]+}} + 64)) / 2,
// CHECK: k3_mma(
tile.kernel @packed(%x: !tile.view<72x96xbf16>, %w: !tile.view<40x48xi8>, %s: !tile.view<40x3xi8>, %y: !tile.view<72x40xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %c40 = arith.constant 40 : index
  %c48 = arith.constant 48 : index
  %c72 = arith.constant 72 : index
  %c96 = arith.constant 96 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.splat %zero : f32 -> !tile.tile<72x40xf32>
  %sum = tile.for %i = %c0 to %c96 step %c96 iter(%acc = %init) : !tile.tile<72x40xf32> {
    %a = tile.load %x[%c0, %i] bound(%c72, %c96) : !tile.view<72x96xbf16> -> !tile.tile<72x96xf32>
    %ci = arith.divsi %i, %c2 : index
    %si = arith.divsi %i, %c32 : index
    %codes = tile.load %w[%c0, %ci] bound(%c40, %c48) : !tile.view<40x48xi8> -> !tile.tile<40x48xi8>
    %scales = tile.load %s[%c0, %si] bound(%c40, %c3) : !tile.view<40x3xi8> -> !tile.tile<40x3xi8>
    %m = tile.dequantize %codes, %scales : !tile.tile<40x48xi8>, !tile.tile<40x3xi8> -> !tile.tile<40x96xf32>
    %r = tile.mma %acc, %a, %m {transpose_b} : !tile.tile<72x40xf32>, !tile.tile<72x96xf32>, !tile.tile<40x96xf32>
    tile.yield %r : !tile.tile<72x40xf32>
  }
  tile.store %sum, %y[%c0, %c0] bound(%c72, %c40) : !tile.tile<72x40xf32> -> !tile.view<72x40xf32>
  tile.return
}
