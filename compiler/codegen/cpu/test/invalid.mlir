// RUN: k3-opt %s --tile-to-cpu --split-input-file --verify-diagnostics

// expected-error @below {{kernel 'large': its tiles need too much local memory (got 8388608 bytes, expected at most 4194304); choose smaller tiles}}
tile.kernel @large(%x: !tile.view<1024x1024xf32>, %y: !tile.view<1024x1024xf32>) {
  %c0 = arith.constant 0 : index
  %n = arith.constant 1024 : index
  %t = tile.load %x[%c0, %c0] bound(%n, %n) : !tile.view<1024x1024xf32> -> !tile.tile<1024x1024xf32>
  %s = tile.scan %t axis 0 : !tile.tile<1024x1024xf32>
  tile.store %t, %y[%c0, %c0] bound(%n, %n) : !tile.tile<1024x1024xf32> -> !tile.view<1024x1024xf32>
  tile.store %s, %y[%c0, %c0] bound(%n, %n) : !tile.tile<1024x1024xf32> -> !tile.view<1024x1024xf32>
  tile.return
}

// -----

tile.kernel @roles() {
  // expected-error @below {{is not supported by the CPU lowering}}
  tile.role "producer" warps 1 {
  }
  tile.return
}

// -----

tile.kernel @remainder(%x: !tile.view<1x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %t = tile.load %x[%c0, %c0] bound(%c1, %c8) : !tile.view<1x8xf32> -> !tile.tile<1x8xf32>
  %u = tile.map(%t) : (!tile.tile<1x8xf32>) -> !tile.tile<1x8xf32> {
  ^bb0(%a: f32):
    // expected-error @below {{is not supported in the region of tile.map on the CPU}}
    %r = arith.remf %a, %a : f32
    tile.yield %r : f32
  }
  tile.store %u, %x[%c0, %c0] bound(%c1, %c8) : !tile.tile<1x8xf32> -> !tile.view<1x8xf32>
  tile.return
}
