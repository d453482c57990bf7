// RUN: k3-opt %s -verify-diagnostics -split-input-file

// expected-error @below {{results: a kernel writes through views (got 1 results, expected 0)}}
tile.kernel @k() -> index {
  tile.return
}

// -----
// expected-error @below {{parameter 1: must be a view or an index (got 'f32')}}
tile.kernel @k(%n: index, %x: f32) {
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{step: must be positive (got 0)}}
  tile.for %i = %c0 to %n step %c0 {
  }
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  // expected-error @below {{stages: must be positive (got 0)}}
  tile.for %i = %n to %n step %n stages 0 {
  }
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  // expected-error @below {{iter: one type a value (got 2 types, expected 1)}}
  tile.for %i = %n to %n step %n iter(%a = %n) : index, index {
    tile.yield %a : index
  }
  tile.return
}

// -----
tile.kernel @k(%v: !tile.view<?x4xf32>, %n: index) {
  // expected-error @below {{carried value 0: must be a tile, a token or a scalar (got '!tile.view<?x4xf32>')}}
  tile.for %i = %n to %n step %n iter(%a = %v) : !tile.view<?x4xf32> {
    tile.yield %a : !tile.view<?x4xf32>
  }
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  // expected-error @below {{results: one a carried value (got 1, expected 0)}}
  %r = "tile.for"(%n, %n, %n) ({
  ^bb0(%i: index):
    tile.yield
  }) : (index, index, index) -> index
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  // expected-error @below {{body: takes the counter and the carried values (got 1 arguments, expected 2)}}
  %r = "tile.for"(%n, %n, %n, %n) ({
  ^bb0(%i: index):
    tile.yield %i : index
  }) : (index, index, index, index) -> index
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  // expected-error @below {{body: the counter must be an index (got 'i32')}}
  "tile.for"(%n, %n, %n) ({
  ^bb0(%i: i32):
    tile.yield
  }) : (index, index, index) -> ()
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  // expected-error @below {{carried value 0: changes its type (got 'i32' inside and 'index' after, expected 'index')}}
  %r = "tile.for"(%n, %n, %n, %n) ({
  ^bb0(%i: index, %a: i32):
    tile.yield %i : index
  }) : (index, index, index, index) -> index
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  tile.for %i = %n to %n step %n iter(%a = %n) : index {
    // expected-error @below {{values: wrong count for tile.for (got 2, expected 1)}}
    tile.yield %a, %a : index, index
  }
  tile.return
}

// -----
tile.kernel @k(%n: index, %x: !tile.view<4xi32>) {
  %s = tile.read %x[%n] bound(%n) : !tile.view<4xi32> -> i32
  tile.for %i = %n to %n step %n iter(%a = %n) : index {
    // expected-error @below {{value 0: wrong type for tile.for (got 'i32', expected 'index')}}
    tile.yield %s : i32
  }
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %true = arith.constant true
  tile.if %true {
    // expected-error @below {{values: wrong count for tile.if (got 1, expected 0)}}
    tile.yield %n : index
  }
  tile.return
}

// -----
tile.kernel @k() {
  // expected-error @below {{warps: a block has 1 to 32 (got 33)}}
  tile.role "math" warps 33 {
  }
  tile.return
}

// -----
tile.kernel @k() {
  tile.role "math" warps 4 {
    // expected-error @below {{role 'inner': roles do not nest}}
    tile.role "inner" warps 1 {
    }
  }
  tile.return
}

// -----
tile.kernel @k(%v: !tile.view<?x4xf32>, %n: index) {
  // expected-error @below {{offsets: one a dimension of the view (got 1, expected 2)}}
  %t = tile.load %v[%n] bound(%n, %n) : !tile.view<?x4xf32> -> !tile.tile<2x4xf32>
  tile.return
}

// -----
tile.kernel @k(%v: !tile.view<?x4xf32>, %n: index) {
  // expected-error @below {{bounds: one a dimension of the view (got 1, expected 2)}}
  %t = tile.load %v[%n, %n] bound(%n) : !tile.view<?x4xf32> -> !tile.tile<2x4xf32>
  tile.return
}

// -----
tile.kernel @k(%v: !tile.view<?x4xf32>, %n: index) {
  %c5 = arith.constant 5 : index
  // expected-error @below {{bound 1: lies past the view (got 5, extent is 4)}}
  %t = tile.load %v[%n, %n] bound(%n, %c5) : !tile.view<?x4xf32> -> !tile.tile<2x4xf32>
  tile.return
}

// -----
tile.kernel @k(%v: !tile.view<?x4xf32>, %n: index) {
  // expected-error @below {{tile: has more dimensions than the view (got 3, expected at most 2)}}
  %t = tile.load %v[%n, %n] bound(%n, %n) : !tile.view<?x4xf32> -> !tile.tile<1x2x4xf32>
  tile.return
}

// -----
tile.kernel @k(%v: !tile.view<?x4xf32>, %n: index) {
  // expected-error @below {{element type: no conversion between view and tile (got view of 'f32' and tile of 'bf16', expected 'f32')}}
  %t = tile.load %v[%n, %n] bound(%n, %n) : !tile.view<?x4xf32> -> !tile.tile<2x4xbf16>
  tile.return
}

// -----
tile.kernel @k(%v: !tile.view<?x4xbf16>, %n: index) {
  // expected-error @below {{element type: no conversion between view and tile (got view of 'bf16' and tile of 'i32', expected 'bf16' or f32)}}
  %t = tile.load %v[%n, %n] bound(%n, %n) : !tile.view<?x4xbf16> -> !tile.tile<2x4xi32>
  tile.return
}

// -----
tile.kernel @k(%v: !tile.view<?x4xf32>, %n: index) {
  // expected-error @below {{result 0: must be in space fragment (got '!tile.tile<2x4xf32, shared>')}}
  %t = tile.load %v[%n, %n] bound(%n, %n) : !tile.view<?x4xf32> -> !tile.tile<2x4xf32, shared>
  tile.return
}

// -----
tile.kernel @k(%v: !tile.view<?x4xf32>, %n: index) {
  %t = tile.alloc : !tile.tile<2x4xf32, shared>
  // expected-error @below {{operand 0: must be in space fragment (got '!tile.tile<2x4xf32, shared>'); fetch it first}}
  tile.store %t, %v[%n, %n] bound(%n, %n) : !tile.tile<2x4xf32, shared> -> !tile.view<?x4xf32>
  tile.return
}

// -----
tile.kernel @k(%v: !tile.view<?xf32>, %n: index) {
  %x = arith.constant 0.0 : f32
  %t = tile.splat %x : f32 -> !tile.tile<2x4xf32>
  // expected-error @below {{tile: has more dimensions than the view (got 2, expected at most 1)}}
  tile.store %t, %v[%n] bound(%n) : !tile.tile<2x4xf32> -> !tile.view<?xf32>
  tile.return
}

// -----
tile.kernel @k(%v: !tile.view<4x8xf32>, %n: index) {
  %c9 = arith.constant 9 : index
  %x = arith.constant 0.0 : f32
  %t = tile.splat %x : f32 -> !tile.tile<8xf32>
  // expected-error @below {{bound 0: lies past the view (got 9, extent is 4)}}
  tile.store %t, %v[%n, %n] bound(%c9, %n) : !tile.tile<8xf32> -> !tile.view<4x8xf32>
  tile.return
}


// -----
tile.kernel @k(%v: !tile.view<?x2x4xf32>, %n: index) {
  %r = tile.splat %n : index -> !tile.tile<3xi32>
  // expected-error @below {{view: rows need a matrix (got rank 3, expected 2)}}
  %g = tile.gather %v[%r, %n] bound(%n, %n) : !tile.view<?x2x4xf32>, !tile.tile<3xi32> -> !tile.tile<3x4xf32>
  tile.return
}

// -----
tile.kernel @k(%v: !tile.view<?x4xf32>, %n: index) {
  %r = tile.splat %n : index -> !tile.tile<1x3xi32>
  // expected-error @below {{rows: wrong rank (got 2, expected 1)}}
  %g = tile.gather %v[%r, %n] bound(%n, %n) : !tile.view<?x4xf32>, !tile.tile<1x3xi32> -> !tile.tile<3x4xf32>
  tile.return
}

// -----
tile.kernel @k(%v: !tile.view<?x4xf32>, %n: index) {
  %x = arith.constant 0.0 : f32
  %r = tile.splat %x : f32 -> !tile.tile<3xf32>
  // expected-error @below {{rows: wrong element type (got 'f32', expected i32)}}
  %g = tile.gather %v[%r, %n] bound(%n, %n) : !tile.view<?x4xf32>, !tile.tile<3xf32> -> !tile.tile<3x4xf32>
  tile.return
}

// -----
tile.kernel @k(%v: !tile.view<?x4xf32>, %n: index) {
  %r = tile.splat %n : index -> !tile.tile<3xi32>
  // expected-error @below {{tile: one row an index (got 5 rows, expected 3)}}
  %g = tile.gather %v[%r, %n] bound(%n, %n) : !tile.view<?x4xf32>, !tile.tile<3xi32> -> !tile.tile<5x4xf32>
  tile.return
}

// -----
tile.kernel @k(%v: !tile.view<?x4xbf16>, %n: index) {
  %r = tile.splat %n : index -> !tile.tile<3xi32>
  %t = tile.splat %n : index -> !tile.tile<3x4xi32>
  // expected-error @below {{element type: no conversion between view and tile (got view of 'bf16' and tile of 'i32', expected 'bf16' or f32)}}
  tile.scatter %t, %v[%r, %n] bound(%n, %n) : !tile.tile<3x4xi32>, !tile.view<?x4xbf16>, !tile.tile<3xi32>
  tile.return
}

// -----
tile.kernel @k(%v: !tile.view<?x4xf32>, %n: index) {
  // expected-error @below {{offsets: one a dimension of the view (got 1, expected 2)}}
  %s = tile.read %v[%n] bound(%n, %n) : !tile.view<?x4xf32> -> f32
  tile.return
}

// -----
tile.kernel @k(%v: !tile.view<?xi8>, %n: index) {
  // expected-error @below {{result: this view cannot be read so (got 'i32' from 'i8', expected f32 from f32 or bf16, i32 or index from i32)}}
  %s = tile.read %v[%n] bound(%n) : !tile.view<?xi8> -> i32
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  // expected-error @below {{result: wrong element type (got 'f32', expected 'i32')}}
  %t = tile.splat %n : index -> !tile.tile<4xf32>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  // expected-error @below {{result 0: must be in space fragment (got '!tile.tile<4xi32, shared>')}}
  %t = tile.splat %n : index -> !tile.tile<4xi32, shared>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  // expected-error @below {{axis: out of range (got 2, expected 0 to 1)}}
  %t = tile.iota %n axis 2 : !tile.tile<4x4xi32>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  // expected-error @below {{result: wrong element type (got 'f32', expected i32)}}
  %t = tile.iota %n axis 0 : !tile.tile<4x4xf32>
  tile.return
}

// -----
tile.kernel @k() {
  // expected-error @below {{results: nothing is computed (got 0, expected at least 1)}}
  tile.map() : () -> () {
    tile.yield
  }
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<3x4xi32>
  // expected-error @below {{operand 0: does not broadcast to the result (got '!tile.tile<3x4xi32>', expected the rank of '!tile.tile<5x4xi32>' and each extent equal or 1)}}
  %r = tile.map(%t) : (!tile.tile<3x4xi32>) -> !tile.tile<5x4xi32> {
  ^bb0(%a: i32):
    tile.yield %a : i32
  }
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<4xi32>
  // expected-error @below {{operand 0: does not broadcast to the result (got '!tile.tile<4xi32>', expected the rank of '!tile.tile<3x4xi32>' and each extent equal or 1)}}
  %r = tile.map(%t) : (!tile.tile<4xi32>) -> !tile.tile<3x4xi32> {
  ^bb0(%a: i32):
    tile.yield %a : i32
  }
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<4xi32>
  // expected-error @below {{result 1: shape differs from result 0 (got '!tile.tile<1xi32>', expected the shape of '!tile.tile<4xi32>')}}
  %r:2 = tile.map(%t) : (!tile.tile<4xi32>) -> (!tile.tile<4xi32>, !tile.tile<1xi32>) {
  ^bb0(%a: i32):
    tile.yield %a, %a : i32, i32
  }
  tile.return
}

// -----
tile.kernel @k() {
  %t = tile.alloc : !tile.tile<4xi32, shared>
  // expected-error @below {{operands and results: must be fragments (got '!tile.tile<4xi32, shared>'); fetch it first}}
  %r = tile.map(%t) : (!tile.tile<4xi32, shared>) -> !tile.tile<4xi32> {
  ^bb0(%a: i32):
    tile.yield %a : i32
  }
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<4xi32>
  // expected-error @below {{region: takes one scalar an operand (got 2, expected 1)}}
  %r = tile.map(%t) : (!tile.tile<4xi32>) -> !tile.tile<4xi32> {
  ^bb0(%a: i32, %b: i32):
    tile.yield %a : i32
  }
  tile.return
}

// -----
tile.kernel @k(%v: !tile.view<4xbf16>, %n: index) {
  %t = tile.load %v[%n] bound(%n) : !tile.view<4xbf16> -> !tile.tile<4xbf16>
  // expected-error @below {{region argument 0: wrong type (got 'bf16', expected 'f32')}}
  %r = tile.map(%t) : (!tile.tile<4xbf16>) -> !tile.tile<4xbf16> {
  ^bb0(%a: bf16):
    tile.yield %a : bf16
  }
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<4xi32>
  // expected-error @below {{region: only arith and math ops compute a scalar (got tile.block_id)}}
  %r = tile.map(%t) : (!tile.tile<4xi32>) -> !tile.tile<4xi32> {
  ^bb0(%a: i32):
    %b = tile.block_id x
    tile.yield %a : i32
  }
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<4xi32>
  %r = tile.map(%t) : (!tile.tile<4xi32>) -> !tile.tile<4xbf16> {
  ^bb0(%a: i32):
    // expected-error @below {{value 0: wrong type for tile.map (got 'i32', expected 'f32')}}
    tile.yield %a : i32
  }
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<4x8xi32>
  // expected-error @below {{axis: out of range (got -1, expected 0 to 1)}}
  %r = tile.reduce add %t axis -1 : !tile.tile<4x8xi32> -> !tile.tile<4x1xi32>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<4x8xi32>
  // expected-error @below {{result: wrong shape (got 1x8, expected 4x1)}}
  %r = tile.reduce max %t axis 1 : !tile.tile<4x8xi32> -> !tile.tile<1x8xi32>
  tile.return
}

// -----
tile.kernel @k(%v: !tile.view<4xbf16>, %n: index) {
  %t = tile.load %v[%n] bound(%n) : !tile.view<4xbf16> -> !tile.tile<4xbf16>
  // expected-error @below {{input: wrong element type (got 'bf16', expected f32 or i32)}}
  %r = tile.reduce add %t axis 0 : !tile.tile<4xbf16> -> !tile.tile<1xbf16>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<4x8xi32>
  // expected-error @below {{element type: must stay (got 'i32' and 'f32')}}
  %r = tile.reduce add %t axis 1 : !tile.tile<4x8xi32> -> !tile.tile<4x1xf32>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<4x8xi32>
  // expected-error @below {{axis: out of range (got 2, expected 0 to 1)}}
  %r = tile.scan %t axis 2 : !tile.tile<4x8xi32>
  tile.return
}

// -----
tile.kernel @k() {
  %true = arith.constant true
  %t = tile.splat %true : i1 -> !tile.tile<4xi1>
  // expected-error @below {{input: wrong element type (got 'i1', expected f32 or i32)}}
  %r = tile.scan %t axis 0 : !tile.tile<4xi1>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<4x8xi32>
  // expected-error @below {{dimension 0: does not broadcast (got 4, expected 1 or 6)}}
  %r = tile.broadcast %t : !tile.tile<4x8xi32> -> !tile.tile<6x8xi32>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<1xi32>
  // expected-error @below {{result: wrong rank (got 2, expected 1)}}
  %r = tile.broadcast %t : !tile.tile<1xi32> -> !tile.tile<1x8xi32>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<4x8xi32>
  // expected-error @below {{result: wrong shape (got 4x8, expected 8x4)}}
  %r = tile.transpose %t : !tile.tile<4x8xi32> -> !tile.tile<4x8xi32>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<2x4x8xi32>
  // expected-error @below {{input: wrong rank (got 3, expected 2)}}
  %r = tile.transpose %t : !tile.tile<2x4x8xi32> -> !tile.tile<8x4xi32>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<4x8xi32>
  // expected-error @below {{result: number of elements changes (got 33, expected 32)}}
  %r = tile.reshape %t : !tile.tile<4x8xi32> -> !tile.tile<33xi32>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<4x8xi32>
  // expected-error @below {{element type: must stay (got 'i32' and 'f32')}}
  %r = tile.reshape %t : !tile.tile<4x8xi32> -> !tile.tile<32xf32>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<4x8xi32>
  // expected-error @below {{offsets: one a dimension (got 1, expected 2)}}
  %r = tile.extract %t[%n] : !tile.tile<4x8xi32> -> !tile.tile<4x2xi32>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<4x8xi32>
  %c7 = arith.constant 7 : index
  // expected-error @below {{dimension 1: part lies outside (got offset 7 and extent 2, whole has 8)}}
  %r = tile.extract %t[%n, %c7] : !tile.tile<4x8xi32> -> !tile.tile<4x2xi32>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<4x8xi32>
  // expected-error @below {{dimension 0: part lies outside (got offset 0 and extent 5, whole has 4)}}
  %r = tile.extract %t[%n, %n] : !tile.tile<4x8xi32> -> !tile.tile<5x2xi32>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<4x8xi32>
  // expected-error @below {{part: rank differs from the whole (got 1, expected 2)}}
  %r = tile.extract %t[%n, %n] : !tile.tile<4x8xi32> -> !tile.tile<8xi32>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<4x8xi32>
  %p = tile.splat %n : index -> !tile.tile<1x8xi32>
  %m = arith.constant -1 : index
  // expected-error @below {{dimension 0: part lies outside (got offset -1 and extent 1, whole has 4)}}
  %r = tile.insert %p into %t[%m, %n] : !tile.tile<1x8xi32> into !tile.tile<4x8xi32> -> !tile.tile<4x8xi32>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<4x8xi32>
  %p = tile.splat %n : index -> !tile.tile<1x8xi32>
  // expected-error @below {{result: must have the type of the whole (got '!tile.tile<1x8xi32>', expected '!tile.tile<4x8xi32>')}}
  %r = tile.insert %p into %t[%n, %n] : !tile.tile<1x8xi32> into !tile.tile<4x8xi32> -> !tile.tile<1x8xi32>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<4x8xi32>
  // expected-error @below {{no such conversion (got 'i32' to 'bf16', expected f32 to bf16, or bf16, i32 or i1 to f32)}}
  %r = tile.cast %t : !tile.tile<4x8xi32> -> !tile.tile<4x8xbf16>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<4x8xi32>
  // expected-error @below {{result: wrong shape (got 8x4, expected 4x8)}}
  %r = tile.cast %t : !tile.tile<4x8xi32> -> !tile.tile<8x4xf32>
  tile.return
}

// -----
tile.kernel @k() {
  %x = arith.constant 0.0 : f32
  %acc = tile.splat %x : f32 -> !tile.tile<3x5xf32>
  %a = tile.splat %x : f32 -> !tile.tile<3x64xf32>
  %b = tile.splat %x : f32 -> !tile.tile<5x64xf32>
  // expected-error @below {{b: wrong shape (got 5x64, expected 64x5)}}
  %r = tile.mma %acc, %a, %b : !tile.tile<3x5xf32>, !tile.tile<3x64xf32>, !tile.tile<5x64xf32>
  tile.return
}

// -----
tile.kernel @k() {
  %x = arith.constant 0.0 : f32
  %acc = tile.splat %x : f32 -> !tile.tile<3x5xf32>
  %a = tile.splat %x : f32 -> !tile.tile<4x64xf32>
  %b = tile.splat %x : f32 -> !tile.tile<5x64xf32>
  // expected-error @below {{a: wrong shape (got 4x64, expected 3x64)}}
  %r = tile.mma %acc, %a, %b {transpose_b} : !tile.tile<3x5xf32>, !tile.tile<4x64xf32>, !tile.tile<5x64xf32>
  tile.return
}

// -----
tile.kernel @k() {
  %x = arith.constant 0.0 : f32
  %acc = tile.splat %x : f32 -> !tile.tile<3x5xf32>
  %a = tile.splat %x : f32 -> !tile.tile<64x3xf32>
  %b = tile.splat %x : f32 -> !tile.tile<48x5xf32>
  // expected-error @below {{b: wrong shape (got 48x5, expected 64x5)}}
  %r = tile.mma %acc, %a, %b {transpose_a} : !tile.tile<3x5xf32>, !tile.tile<64x3xf32>, !tile.tile<48x5xf32>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %x = arith.constant 0.0 : f32
  %acc = tile.splat %n : index -> !tile.tile<3x5xi32>
  %a = tile.splat %x : f32 -> !tile.tile<3x64xf32>
  // expected-error @below {{acc: wrong element type (got 'i32', expected f32)}}
  %r = tile.mma %acc, %a, %a : !tile.tile<3x5xi32>, !tile.tile<3x64xf32>, !tile.tile<3x64xf32>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %x = arith.constant 0.0 : f32
  %acc = tile.splat %x : f32 -> !tile.tile<3x5xf32>
  %a = tile.splat %n : index -> !tile.tile<3x64xi32>
  // expected-error @below {{a: wrong element type (got 'i32', expected f32 or bf16)}}
  %r = tile.mma %acc, %a, %a : !tile.tile<3x5xf32>, !tile.tile<3x64xi32>, !tile.tile<3x64xi32>
  tile.return
}

// -----
tile.kernel @k() {
  %acc = tile.alloc : !tile.tile<3x5xf32, shared>
  // expected-error @below {{acc: must be in space fragment (got '!tile.tile<3x5xf32, shared>')}}
  %r = tile.mma %acc, %acc, %acc : !tile.tile<3x5xf32, shared>, !tile.tile<3x5xf32, shared>, !tile.tile<3x5xf32, shared>
  tile.return
}

// -----
tile.kernel @k() {
  %p = tile.alloc : !tile.tile<5x24xi8, shared>
  %s = tile.alloc : !tile.tile<5x1xi8, shared>
  // expected-error @below {{result: columns must be whole groups of 32 (got 48)}}
  %r = tile.dequantize %p, %s : !tile.tile<5x24xi8, shared>, !tile.tile<5x1xi8, shared> -> !tile.tile<5x48xf32>
  tile.return
}

// -----
tile.kernel @k() {
  %p = tile.alloc : !tile.tile<5x64xi8, shared>
  %s = tile.alloc : !tile.tile<5x2xi8, shared>
  // expected-error @below {{packed: wrong shape (got 5x64, expected 5x32)}}
  %r = tile.dequantize %p, %s : !tile.tile<5x64xi8, shared>, !tile.tile<5x2xi8, shared> -> !tile.tile<5x64xf32>
  tile.return
}

// -----
tile.kernel @k() {
  %p = tile.alloc : !tile.tile<5x32xi8, shared>
  %s = tile.alloc : !tile.tile<5x4xi8, shared>
  // expected-error @below {{scale: wrong shape (got 5x4, expected 5x2)}}
  %r = tile.dequantize %p, %s : !tile.tile<5x32xi8, shared>, !tile.tile<5x4xi8, shared> -> !tile.tile<5x64xf32>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %p = tile.splat %n : index -> !tile.tile<5x32xi32>
  %s = tile.alloc : !tile.tile<5x2xi8, shared>
  // expected-error @below {{packed: wrong element type (got 'i32', expected i8)}}
  %r = tile.dequantize %p, %s : !tile.tile<5x32xi32>, !tile.tile<5x2xi8, shared> -> !tile.tile<5x64xf32>
  tile.return
}

// -----
tile.kernel @k() {
  %x = arith.constant 0.0 : f32
  %l = tile.splat %x : f32 -> !tile.tile<3x4xf32>
  %b = tile.splat %x : f32 -> !tile.tile<3x64xf32>
  // expected-error @below {{l: wrong shape (got 3x4, expected 3x3)}}
  %r = tile.tri_solve %l, %b : !tile.tile<3x4xf32>, !tile.tile<3x64xf32>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %l = tile.splat %n : index -> !tile.tile<3x3xi32>
  // expected-error @below {{l: wrong element type (got 'i32', expected f32)}}
  %r = tile.tri_solve %l, %l : !tile.tile<3x3xi32>, !tile.tile<3x3xi32>
  tile.return
}

// -----
tile.kernel @k() {
  %x = arith.constant 0.0 : f32
  %t = tile.splat %x : f32 -> !tile.tile<1x8xf32>
  // expected-error @below {{values: more than the row holds (got 9, expected at most 8)}}
  %v, %i = tile.top_k %t : !tile.tile<1x8xf32> -> !tile.tile<1x9xf32>, !tile.tile<1x9xi32>
  tile.return
}

// -----
tile.kernel @k() {
  %x = arith.constant 0.0 : f32
  %t = tile.splat %x : f32 -> !tile.tile<1x8xf32>
  // expected-error @below {{ids: wrong shape (got 1x3, expected 1x2)}}
  %v, %i = tile.top_k %t : !tile.tile<1x8xf32> -> !tile.tile<1x2xf32>, !tile.tile<1x3xi32>
  tile.return
}

// -----
tile.kernel @k() {
  %x = arith.constant 0.0 : f32
  %t = tile.splat %x : f32 -> !tile.tile<2x8xf32>
  // expected-error @below {{input: wrong shape (got 2x8, expected 1x8)}}
  %v, %i = tile.top_k %t : !tile.tile<2x8xf32> -> !tile.tile<2x2xf32>, !tile.tile<2x2xi32>
  tile.return
}

// -----
tile.kernel @k() {
  // expected-error @below {{result: must be in space shared (got '!tile.tile<4xf32>')}}
  %t = tile.alloc : !tile.tile<4xf32>
  tile.return
}

// -----
tile.kernel @k() {
  // expected-error @below {{offset: must be a multiple of 128 (got 64)}}
  %t = tile.alloc {offset = 64} : !tile.tile<4xf32, shared>
  tile.return
}

// -----
tile.kernel @k() {
  // expected-error @below {{offset: must be a multiple of 128 (got -128)}}
  %t = tile.alloc {offset = -128} : !tile.tile<4xf32, shared>
  tile.return
}

// -----
tile.kernel @k(%v: !tile.view<?x4xf32>, %n: index) {
  %t = tile.splat %n : index -> !tile.tile<2x4xi32>
  // expected-error @below {{destination: must be in space shared (got '!tile.tile<2x4xi32>')}}
  %c = tile.copy %v[%n, %n] bound(%n, %n) to %t : !tile.view<?x4xf32> -> !tile.tile<2x4xi32>
  tile.return
}

// -----
tile.kernel @k(%v: !tile.view<?x4xbf16>, %n: index) {
  %t = tile.alloc : !tile.tile<2x4xf32, shared>
  // expected-error @below {{element type: a copy moves bytes (got view of 'bf16' and buffer of 'f32')}}
  %c = tile.copy %v[%n, %n] bound(%n, %n) to %t : !tile.view<?x4xbf16> -> !tile.tile<2x4xf32, shared>
  tile.return
}

// -----
tile.kernel @k(%v: !tile.view<?x4xbf16>, %n: index) {
  %t = tile.alloc : !tile.tile<2x4xbf16, shared>
  // expected-error @below {{bounds: one a dimension of the view (got 1, expected 2)}}
  %c = tile.copy %v[%n, %n] bound(%n) to %t : !tile.view<?x4xbf16> -> !tile.tile<2x4xbf16, shared>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<2x4xi32>
  %b = tile.alloc : !tile.tile<4x2xi32, shared>
  // expected-error @below {{destination: wrong shape (got 4x2, expected 2x4)}}
  tile.stage %t to %b : !tile.tile<2x4xi32> -> !tile.tile<4x2xi32, shared>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %b = tile.alloc : !tile.tile<4x2xi32, shared>
  // expected-error @below {{value: must be in space fragment (got '!tile.tile<4x2xi32, shared>')}}
  tile.stage %b to %b : !tile.tile<4x2xi32, shared> -> !tile.tile<4x2xi32, shared>
  tile.return
}

// -----
tile.kernel @k() {
  %b = tile.alloc : !tile.tile<4x2xi32, shared>
  // expected-error @below {{result: wrong shape (got 2x2, expected 4x2)}}
  %t = tile.fetch %b : !tile.tile<4x2xi32, shared> -> !tile.tile<2x2xi32>
  tile.return
}

// -----
tile.kernel @k() {
  %c3 = arith.constant 3 : index
  %b = tile.alloc : !tile.tile<4x2xi32, shared>
  // expected-error @below {{dimension 0: part lies outside (got offset 3 and extent 2, whole has 4)}}
  %t = tile.fetch %b[%c3, %c3] : !tile.tile<4x2xi32, shared> -> !tile.tile<2x2xi32>
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %b = tile.splat %n : index -> !tile.tile<4x2xi32>
  // expected-error @below {{source: must be in space shared (got '!tile.tile<4x2xi32>')}}
  %t = tile.fetch %b : !tile.tile<4x2xi32> -> !tile.tile<4x2xi32>
  tile.return
}
