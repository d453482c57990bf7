// RUN: not k3c %s --compile-from schedule --target sm_120a --emit=cuda 2>&1 | FileCheck %s

// CHECK: needs more shared memory than a block of sm_120a has (got 131072 bytes, expected at most 101376); use a target with more or tiles that are smaller
tile.kernel @large(%x: !tile.view<256x128xf32>, %y: !tile.view<256x128xf32>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %a = tile.load %x[%c0, %c0] bound(%c256, %c128) : !tile.view<256x128xf32> -> !tile.tile<256x128xf32>
  tile.store %a, %x[%c0, %c0] bound(%c256, %c128) : !tile.tile<256x128xf32> -> !tile.view<256x128xf32>
  tile.store %a, %y[%c0, %c0] bound(%c256, %c128) : !tile.tile<256x128xf32> -> !tile.view<256x128xf32>
  tile.return
}
