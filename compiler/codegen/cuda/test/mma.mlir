// RUN: k3c %s --compile-from schedule --target sm_90a --emit=cuda 2>&1 | FileCheck %s

// Matrices of bf16 numbers go to the tensor cores: the latents are columns of the rows that the block loaded, and are
// read where they lie, words of 16 bytes that the load put in their swizzled places. Six result tiles keep six warps busy.
// Results leave as they lie, in words too.
// CHECK-LABEL: void tensor_block(
// CHECK: *reinterpret_cast<k3_words *>(tile1 + k3_swizzled(first{{[0-9]+}})) = k3_load(in1 + 
// CHECK: if (threadIdx.x < 192) {
// CHECK: k3_matrices(a{{[0-9]+}}[i{{[0-9]+}}], tile0 + k3_swizzled(((m
// CHECK: k3_matrices_turned(b{{[0-9]+}}[i{{[0-9]+}}], tile1 + k3_swizzled((0LL * 64 + 8 + (k
// CHECK: k3_mma(sum
// CHECK: *reinterpret_cast<k3_words *>(out2 + 
tile.kernel @tensor(%x: !tile.view<16x32xbf16>, %w: !tile.view<32x64xbf16>, %y: !tile.view<16x48xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c48 = arith.constant 48 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.splat %zero : f32 -> !tile.tile<16x48xf32>
  %a = tile.load %x[%c0, %c0] bound(%c16, %c32) : !tile.view<16x32xbf16> -> !tile.tile<16x32xf32>
  %b = tile.load %w[%c0, %c0] bound(%c32, %c64) : !tile.view<32x64xbf16> -> !tile.tile<32x64xf32>
  %part = tile.extract %b[%c0, %c8] : !tile.tile<32x64xf32> -> !tile.tile<32x48xf32>
  %r = tile.mma %init, %a, %part : !tile.tile<16x48xf32>, !tile.tile<16x32xf32>, !tile.tile<32x48xf32>
  tile.store %r, %y[%c0, %c0] bound(%c16, %c48) : !tile.tile<16x48xf32> -> !tile.view<16x48xf32>
  tile.return
}

// Others are multiplied in tiles of registers; lanes that share a tile add up their parts of the inner extent.
// CHECK-LABEL: void registers_block(
// CHECK: float sum{{[0-9]+}}[2][2] = {};
// CHECK: distance *= 2
// CHECK: *reinterpret_cast<k3_words *>(out2 + 
tile.kernel @registers(%x: !tile.view<16x32xf32>, %w: !tile.view<16x32xf32>, %y: !tile.view<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.splat %zero : f32 -> !tile.tile<16x16xf32>
  %a = tile.load %x[%c0, %c0] bound(%c16, %c32) : !tile.view<16x32xf32> -> !tile.tile<16x32xf32>
  %b = tile.load %w[%c0, %c0] bound(%c16, %c32) : !tile.view<16x32xf32> -> !tile.tile<16x32xf32>
  %r = tile.mma %init, %a, %b {transpose_b} : !tile.tile<16x16xf32>, !tile.tile<16x32xf32>, !tile.tile<16x32xf32>
  tile.store %r, %y[%c0, %c0] bound(%c16, %c16) : !tile.tile<16x16xf32> -> !tile.view<16x16xf32>
  tile.return
}
