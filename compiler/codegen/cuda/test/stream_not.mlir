// RUN: k3c %s --compile-from schedule --target sm_90a --emit=cuda 2>&1 | FileCheck %s

// What a stream cannot promise is an ordinary loop: no tensor core takes these, except for the first and the last.
// CHECK-LABEL: void stream_block(
// CHECK: k3_mma(
// CHECK-LABEL: void wide_numbers_block(
// CHECK-NOT: k3_mma(
// CHECK-LABEL: void odd_inner_block(
// CHECK-NOT: k3_mma(
// CHECK-LABEL: void odd_column_block(
// CHECK-NOT: k3_mma(
// CHECK-LABEL: void odd_rows_block(
// CHECK-NOT: k3_mma(
// CHECK-LABEL: void ends_early_block(
// CHECK-NOT: k3_mma(
// CHECK-LABEL: void many_rows_block(
// CHECK-NOT: k3_mma(
// CHECK-LABEL: void stores_block(
// CHECK-NOT: k3_mma(
// CHECK-LABEL: void stream_again_block(
// CHECK: k3_mma(

// Columns 8 .. 647 of x: every read begins at a multiple of 16 bytes.
tile.kernel @stream(%x: !tile.view<5x656xbf16>, %w: !tile.view<16x640xbf16>, %y: !tile.view<5x16xf32>) {
  %c0 = arith.constant 0 : index
  %off = arith.constant 8 : index
  %bound = arith.constant 648 : index
  %c16 = arith.constant 16 : index
  %rows = arith.constant 5 : index
  %c128 = arith.constant 128 : index
  %inner = arith.constant 640 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.splat %zero : f32 -> !tile.tile<5x16xf32>
  %sum = tile.for %i = %c0 to %inner step %c128 iter(%acc = %init) : !tile.tile<5x16xf32> {
    %xi = arith.addi %i, %off : index
    %a = tile.load %x[%c0, %xi] bound(%rows, %bound) : !tile.view<5x656xbf16> -> !tile.tile<5x128xf32>
    %m = tile.load %w[%c0, %i] bound(%c16, %inner) : !tile.view<16x640xbf16> -> !tile.tile<16x128xf32>
    %r = tile.mma %acc, %a, %m {transpose_b} : !tile.tile<5x16xf32>, !tile.tile<5x128xf32>, !tile.tile<16x128xf32>
    tile.yield %r : !tile.tile<5x16xf32>
  }
  tile.store %sum, %y[%c0, %c0] bound(%rows, %c16) : !tile.tile<5x16xf32> -> !tile.view<5x16xf32>
  tile.return
}

// x is f32, which the tensor cores would round.
tile.kernel @wide_numbers(%x: !tile.view<5x640xf32>, %w: !tile.view<16x640xbf16>, %y: !tile.view<5x16xf32>) {
  %c0 = arith.constant 0 : index
  %off = arith.constant 0 : index
  %bound = arith.constant 640 : index
  %c16 = arith.constant 16 : index
  %rows = arith.constant 5 : index
  %c128 = arith.constant 128 : index
  %inner = arith.constant 640 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.splat %zero : f32 -> !tile.tile<5x16xf32>
  %sum = tile.for %i = %c0 to %inner step %c128 iter(%acc = %init) : !tile.tile<5x16xf32> {
    %xi = arith.addi %i, %off : index
    %a = tile.load %x[%c0, %xi] bound(%rows, %bound) : !tile.view<5x640xf32> -> !tile.tile<5x128xf32>
    %m = tile.load %w[%c0, %i] bound(%c16, %inner) : !tile.view<16x640xbf16> -> !tile.tile<16x128xf32>
    %r = tile.mma %acc, %a, %m {transpose_b} : !tile.tile<5x16xf32>, !tile.tile<5x128xf32>, !tile.tile<16x128xf32>
    tile.yield %r : !tile.tile<5x16xf32>
  }
  tile.store %sum, %y[%c0, %c0] bound(%rows, %c16) : !tile.tile<5x16xf32> -> !tile.view<5x16xf32>
  tile.return
}

// Rows of 644 bf16 numbers: every second one begins at 8 bytes.
tile.kernel @odd_inner(%x: !tile.view<5x644xbf16>, %w: !tile.view<16x644xbf16>, %y: !tile.view<5x16xf32>) {
  %c0 = arith.constant 0 : index
  %off = arith.constant 0 : index
  %bound = arith.constant 644 : index
  %c16 = arith.constant 16 : index
  %rows = arith.constant 5 : index
  %c128 = arith.constant 128 : index
  %inner = arith.constant 644 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.splat %zero : f32 -> !tile.tile<5x16xf32>
  %sum = tile.for %i = %c0 to %inner step %c128 iter(%acc = %init) : !tile.tile<5x16xf32> {
    %xi = arith.addi %i, %off : index
    %a = tile.load %x[%c0, %xi] bound(%rows, %bound) : !tile.view<5x644xbf16> -> !tile.tile<5x128xf32>
    %m = tile.load %w[%c0, %i] bound(%c16, %inner) : !tile.view<16x644xbf16> -> !tile.tile<16x128xf32>
    %r = tile.mma %acc, %a, %m {transpose_b} : !tile.tile<5x16xf32>, !tile.tile<5x128xf32>, !tile.tile<16x128xf32>
    tile.yield %r : !tile.tile<5x16xf32>
  }
  tile.store %sum, %y[%c0, %c0] bound(%rows, %c16) : !tile.tile<5x16xf32> -> !tile.view<5x16xf32>
  tile.return
}

// Columns 4 .. 643 of x.
tile.kernel @odd_column(%x: !tile.view<5x656xbf16>, %w: !tile.view<16x640xbf16>, %y: !tile.view<5x16xf32>) {
  %c0 = arith.constant 0 : index
  %off = arith.constant 4 : index
  %bound = arith.constant 644 : index
  %c16 = arith.constant 16 : index
  %rows = arith.constant 5 : index
  %c128 = arith.constant 128 : index
  %inner = arith.constant 640 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.splat %zero : f32 -> !tile.tile<5x16xf32>
  %sum = tile.for %i = %c0 to %inner step %c128 iter(%acc = %init) : !tile.tile<5x16xf32> {
    %xi = arith.addi %i, %off : index
    %a = tile.load %x[%c0, %xi] bound(%rows, %bound) : !tile.view<5x656xbf16> -> !tile.tile<5x128xf32>
    %m = tile.load %w[%c0, %i] bound(%c16, %inner) : !tile.view<16x640xbf16> -> !tile.tile<16x128xf32>
    %r = tile.mma %acc, %a, %m {transpose_b} : !tile.tile<5x16xf32>, !tile.tile<5x128xf32>, !tile.tile<16x128xf32>
    tile.yield %r : !tile.tile<5x16xf32>
  }
  tile.store %sum, %y[%c0, %c0] bound(%rows, %c16) : !tile.tile<5x16xf32> -> !tile.view<5x16xf32>
  tile.return
}

// Rows of x are 650 numbers apart.
tile.kernel @odd_rows(%x: !tile.view<5x650xbf16>, %w: !tile.view<16x640xbf16>, %y: !tile.view<5x16xf32>) {
  %c0 = arith.constant 0 : index
  %off = arith.constant 0 : index
  %bound = arith.constant 640 : index
  %c16 = arith.constant 16 : index
  %rows = arith.constant 5 : index
  %c128 = arith.constant 128 : index
  %inner = arith.constant 640 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.splat %zero : f32 -> !tile.tile<5x16xf32>
  %sum = tile.for %i = %c0 to %inner step %c128 iter(%acc = %init) : !tile.tile<5x16xf32> {
    %xi = arith.addi %i, %off : index
    %a = tile.load %x[%c0, %xi] bound(%rows, %bound) : !tile.view<5x650xbf16> -> !tile.tile<5x128xf32>
    %m = tile.load %w[%c0, %i] bound(%c16, %inner) : !tile.view<16x640xbf16> -> !tile.tile<16x128xf32>
    %r = tile.mma %acc, %a, %m {transpose_b} : !tile.tile<5x16xf32>, !tile.tile<5x128xf32>, !tile.tile<16x128xf32>
    tile.yield %r : !tile.tile<5x16xf32>
  }
  tile.store %sum, %y[%c0, %c0] bound(%rows, %c16) : !tile.tile<5x16xf32> -> !tile.view<5x16xf32>
  tile.return
}

// x ends 8 columns before the weights do, so that zeros are to be multiplied.
tile.kernel @ends_early(%x: !tile.view<5x640xbf16>, %w: !tile.view<16x640xbf16>, %y: !tile.view<5x16xf32>) {
  %c0 = arith.constant 0 : index
  %off = arith.constant 0 : index
  %bound = arith.constant 632 : index
  %c16 = arith.constant 16 : index
  %rows = arith.constant 5 : index
  %c128 = arith.constant 128 : index
  %inner = arith.constant 640 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.splat %zero : f32 -> !tile.tile<5x16xf32>
  %sum = tile.for %i = %c0 to %inner step %c128 iter(%acc = %init) : !tile.tile<5x16xf32> {
    %xi = arith.addi %i, %off : index
    %a = tile.load %x[%c0, %xi] bound(%rows, %bound) : !tile.view<5x640xbf16> -> !tile.tile<5x128xf32>
    %m = tile.load %w[%c0, %i] bound(%c16, %inner) : !tile.view<16x640xbf16> -> !tile.tile<16x128xf32>
    %r = tile.mma %acc, %a, %m {transpose_b} : !tile.tile<5x16xf32>, !tile.tile<5x128xf32>, !tile.tile<16x128xf32>
    tile.yield %r : !tile.tile<5x16xf32>
  }
  tile.store %sum, %y[%c0, %c0] bound(%rows, %c16) : !tile.tile<5x16xf32> -> !tile.view<5x16xf32>
  tile.return
}

// 129 rows of x are more than a block has.
tile.kernel @many_rows(%x: !tile.view<129x640xbf16>, %w: !tile.view<16x640xbf16>, %y: !tile.view<129x16xf32>) {
  %c0 = arith.constant 0 : index
  %off = arith.constant 0 : index
  %bound = arith.constant 640 : index
  %c16 = arith.constant 16 : index
  %rows = arith.constant 129 : index
  %c128 = arith.constant 128 : index
  %inner = arith.constant 640 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.splat %zero : f32 -> !tile.tile<129x16xf32>
  %sum = tile.for %i = %c0 to %inner step %c128 iter(%acc = %init) : !tile.tile<129x16xf32> {
    %xi = arith.addi %i, %off : index
    %a = tile.load %x[%c0, %xi] bound(%rows, %bound) : !tile.view<129x640xbf16> -> !tile.tile<129x128xf32>
    %m = tile.load %w[%c0, %i] bound(%c16, %inner) : !tile.view<16x640xbf16> -> !tile.tile<16x128xf32>
    %r = tile.mma %acc, %a, %m {transpose_b} : !tile.tile<129x16xf32>, !tile.tile<129x128xf32>, !tile.tile<16x128xf32>
    tile.yield %r : !tile.tile<129x16xf32>
  }
  tile.store %sum, %y[%c0, %c0] bound(%rows, %c16) : !tile.tile<129x16xf32> -> !tile.view<129x16xf32>
  tile.return
}

// A loop that does something else as well is run step by step.
tile.kernel @stores(%x: !tile.view<5x640xbf16>, %w: !tile.view<16x640xbf16>, %y: !tile.view<5x16xf32>) {
  %c0 = arith.constant 0 : index
  %off = arith.constant 0 : index
  %bound = arith.constant 640 : index
  %c16 = arith.constant 16 : index
  %rows = arith.constant 5 : index
  %c128 = arith.constant 128 : index
  %inner = arith.constant 640 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.splat %zero : f32 -> !tile.tile<5x16xf32>
  %sum = tile.for %i = %c0 to %inner step %c128 iter(%acc = %init) : !tile.tile<5x16xf32> {
    %xi = arith.addi %i, %off : index
    %a = tile.load %x[%c0, %xi] bound(%rows, %bound) : !tile.view<5x640xbf16> -> !tile.tile<5x128xf32>
    %m = tile.load %w[%c0, %i] bound(%c16, %inner) : !tile.view<16x640xbf16> -> !tile.tile<16x128xf32>
    %r = tile.mma %acc, %a, %m {transpose_b} : !tile.tile<5x16xf32>, !tile.tile<5x128xf32>, !tile.tile<16x128xf32>
    tile.store %r, %y[%c0, %c0] bound(%rows, %c16) : !tile.tile<5x16xf32> -> !tile.view<5x16xf32>
    tile.yield %r : !tile.tile<5x16xf32>
  }
  tile.store %sum, %y[%c0, %c0] bound(%rows, %c16) : !tile.tile<5x16xf32> -> !tile.view<5x16xf32>
  tile.return
}

// The form of all, for which the last bound is larger than needed.
tile.kernel @stream_again(%x: !tile.view<5x656xbf16>, %w: !tile.view<16x640xbf16>, %y: !tile.view<5x16xf32>) {
  %c0 = arith.constant 0 : index
  %off = arith.constant 0 : index
  %bound = arith.constant 656 : index
  %c16 = arith.constant 16 : index
  %rows = arith.constant 5 : index
  %c128 = arith.constant 128 : index
  %inner = arith.constant 640 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.splat %zero : f32 -> !tile.tile<5x16xf32>
  %sum = tile.for %i = %c0 to %inner step %c128 iter(%acc = %init) : !tile.tile<5x16xf32> {
    %xi = arith.addi %i, %off : index
    %a = tile.load %x[%c0, %xi] bound(%rows, %bound) : !tile.view<5x656xbf16> -> !tile.tile<5x128xf32>
    %m = tile.load %w[%c0, %i] bound(%c16, %inner) : !tile.view<16x640xbf16> -> !tile.tile<16x128xf32>
    %r = tile.mma %acc, %a, %m {transpose_b} : !tile.tile<5x16xf32>, !tile.tile<5x128xf32>, !tile.tile<16x128xf32>
    tile.yield %r : !tile.tile<5x16xf32>
  }
  tile.store %sum, %y[%c0, %c0] bound(%rows, %c16) : !tile.tile<5x16xf32> -> !tile.view<5x16xf32>
  tile.return
}
