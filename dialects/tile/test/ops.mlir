// RUN: k3-opt %s | k3-opt | FileCheck %s
// RUN: k3-opt %s --mlir-print-op-generic | k3-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @structure(%{{.*}}: !tile.view<?x64xf32>, %{{.*}}: index)
// CHECK-SAME: attributes {schedule = {rows = 16 : i64}}
tile.kernel @structure(%v: !tile.view<?x64xf32>, %n: index) attributes {schedule = {rows = 16}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  // CHECK: %[[B:.*]] = tile.block_id x
  %b = tile.block_id x
  // CHECK: tile.block_id y
  %y = tile.block_id y
  // CHECK: tile.block_id z
  %z = tile.block_id z
  %zero = arith.constant 0.0 : f32
  // CHECK: %[[INIT:.*]] = tile.splat %{{.*}} : f32 -> !tile.tile<16x64xf32>
  %init = tile.splat %zero : f32 -> !tile.tile<16x64xf32>
  // CHECK: %[[R:.*]]:2 = tile.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter(%[[ACC:.*]] = %[[INIT]], %{{.*}} = %{{.*}}) : !tile.tile<16x64xf32>, index stages 3 {
  %r:2 = tile.for %i = %c0 to %n step %c1 iter(%acc = %init, %k = %c0) : !tile.tile<16x64xf32>, index stages 3 {
    %t = tile.load %v[%i, %c0] bound(%n, %c64) : !tile.view<?x64xf32> -> !tile.tile<16x64xf32>
    // CHECK: tile.map(%[[ACC]], %{{.*}}) : (!tile.tile<16x64xf32>, !tile.tile<16x64xf32>) -> !tile.tile<16x64xf32> {
    // CHECK-NEXT: ^bb0(%[[P:.*]]: f32, %[[Q:.*]]: f32):
    // CHECK-NEXT: %[[S:.*]] = arith.addf %[[P]], %[[Q]] : f32
    // CHECK-NEXT: tile.yield %[[S]] : f32
    %s = tile.map(%acc, %t) : (!tile.tile<16x64xf32>, !tile.tile<16x64xf32>) -> !tile.tile<16x64xf32> {
    ^bb0(%p: f32, %q: f32):
      %sum = arith.addf %p, %q : f32
      tile.yield %sum : f32
    }
    // CHECK: tile.yield %{{.*}}, %[[I]] : !tile.tile<16x64xf32>, index
    tile.yield %s, %i : !tile.tile<16x64xf32>, index
  }
  // CHECK: tile.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} attributes {unrolled} {
  tile.for %i = %c0 to %n step %c1 attributes {unrolled} {
  }
  %some = arith.cmpi slt, %b, %n : index
  // CHECK: tile.if %{{.*}} {
  tile.if %some {
    // CHECK: tile.store %[[R]]#0, %{{.*}}[%[[B]], %{{.*}}] bound(%{{.*}}, %{{.*}}) : !tile.tile<16x64xf32> -> !tile.view<?x64xf32>
    tile.store %r#0, %v[%b, %c0] bound(%n, %c64) : !tile.tile<16x64xf32> -> !tile.view<?x64xf32>
  }
  // CHECK: tile.role "producer" warps 1 {
  tile.role "producer" warps 1 {
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @memory
tile.kernel @memory(%v: !tile.view<?x3x64xbf16>, %m: !tile.view<?x40xf32>, %ids: !tile.view<?xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c40 = arith.constant 40 : index
  %c64 = arith.constant 64 : index
  // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] bound(%{{.*}}, %{{.*}}, %{{.*}}) : !tile.view<?x3x64xbf16> -> !tile.tile<64xbf16>
  %a = tile.load %v[%n, %c0, %c0] bound(%n, %c3, %c64) : !tile.view<?x3x64xbf16> -> !tile.tile<64xbf16>
  // CHECK: tile.load {{.*}} : !tile.view<?x3x64xbf16> -> !tile.tile<3x64xf32>
  %b = tile.load %v[%n, %c0, %c0] bound(%n, %c3, %c64) : !tile.view<?x3x64xbf16> -> !tile.tile<3x64xf32>
  // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] bound(%{{.*}}, %{{.*}}, %{{.*}}) : !tile.tile<3x64xf32> -> !tile.view<?x3x64xbf16>
  tile.store %b, %v[%c0, %c0, %c0] bound(%n, %c3, %c64) : !tile.tile<3x64xf32> -> !tile.view<?x3x64xbf16>
  // CHECK: %[[ROWS:.*]] = tile.load
  %rows = tile.load %ids[%c0] bound(%n) : !tile.view<?xi32> -> !tile.tile<7xi32>
  // CHECK: %[[G:.*]] = tile.gather %{{.*}}[%[[ROWS]], %{{.*}}] bound(%{{.*}}, %{{.*}}) : !tile.view<?x40xf32>, !tile.tile<7xi32> -> !tile.tile<7x40xf32>
  %g = tile.gather %m[%rows, %c0] bound(%n, %c40) : !tile.view<?x40xf32>, !tile.tile<7xi32> -> !tile.tile<7x40xf32>
  // CHECK: tile.scatter %[[G]], %{{.*}}[%[[ROWS]], %{{.*}}] bound(%{{.*}}, %{{.*}}) : !tile.tile<7x40xf32>, !tile.view<?x40xf32>, !tile.tile<7xi32>
  tile.scatter %g, %m[%rows, %c0] bound(%n, %c40) : !tile.tile<7x40xf32>, !tile.view<?x40xf32>, !tile.tile<7xi32>
  // CHECK: tile.read %{{.*}}[%{{.*}}] bound(%{{.*}}) : !tile.view<?xi32> -> index
  %i = tile.read %ids[%c0] bound(%n) : !tile.view<?xi32> -> index
  // CHECK: tile.read {{.*}} -> i32
  %j = tile.read %ids[%c0] bound(%n) : !tile.view<?xi32> -> i32
  // CHECK: tile.read {{.*}} : !tile.view<?x3x64xbf16> -> f32
  %x = tile.read %v[%i, %c0, %c0] bound(%n, %c3, %c64) : !tile.view<?x3x64xbf16> -> f32
}

// CHECK-LABEL: tile.kernel @elementwise
tile.kernel @elementwise(%n: index, %v: !tile.view<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  // CHECK: tile.splat %{{.*}} : index -> !tile.tile<5xi32>
  %s = tile.splat %n : index -> !tile.tile<5xi32>
  %true = arith.constant true
  // CHECK: tile.splat %{{.*}} : i1 -> !tile.tile<5xi1>
  %p = tile.splat %true : i1 -> !tile.tile<5xi1>
  // CHECK: tile.iota %{{.*}} axis 1 : !tile.tile<4x64xi32>
  %iota = tile.iota %n axis 1 : !tile.tile<4x64xi32>
  %x = tile.load %v[%c0, %c0] bound(%n, %c64) : !tile.view<?x64xf32> -> !tile.tile<4x64xf32>
  // CHECK: tile.map(%{{.*}}, %{{.*}}) : (!tile.tile<4x64xf32>, !tile.tile<4x64xi32>) -> (!tile.tile<4x64xbf16>, !tile.tile<4x64xi1>) {
  %y:2 = tile.map(%x, %iota) : (!tile.tile<4x64xf32>, !tile.tile<4x64xi32>) -> (!tile.tile<4x64xbf16>, !tile.tile<4x64xi1>) {
  ^bb0(%a: f32, %i: i32):
    %e = math.exp %a : f32
    %c = arith.cmpi sgt, %i, %i : i32
    tile.yield %e, %c : f32, i1
  }
  // CHECK: tile.map() : () -> !tile.tile<4x64xi1> {
  // CHECK-NEXT: tile.yield %{{.*}} : i1
  %const = tile.map() : () -> !tile.tile<4x64xi1> {
    tile.yield %true : i1
  }
  // CHECK: tile.map(%{{.*}}) {note = "bf16 arrives as f32"} : (!tile.tile<4x1xbf16>) -> !tile.tile<4x64xf32>
  %col = tile.extract %y#0[%c0, %c2] : !tile.tile<4x64xbf16> -> !tile.tile<4x1xbf16>
  %bc = tile.map(%col) {note = "bf16 arrives as f32"} : (!tile.tile<4x1xbf16>) -> !tile.tile<4x64xf32> {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  // CHECK: tile.reduce add %{{.*}} axis 1 : !tile.tile<4x64xf32> -> !tile.tile<4x1xf32>
  %sum = tile.reduce add %x axis 1 : !tile.tile<4x64xf32> -> !tile.tile<4x1xf32>
  // CHECK: tile.reduce max %{{.*}} axis 0 : !tile.tile<4x64xi32> -> !tile.tile<1x64xi32>
  %max = tile.reduce max %iota axis 0 : !tile.tile<4x64xi32> -> !tile.tile<1x64xi32>
  // CHECK: tile.scan %{{.*}} axis 0 : !tile.tile<4x64xf32>
  %scan = tile.scan %x axis 0 : !tile.tile<4x64xf32>
  // CHECK: tile.broadcast %{{.*}} : !tile.tile<4x1xf32> -> !tile.tile<4x3xf32>
  %wide = tile.broadcast %sum : !tile.tile<4x1xf32> -> !tile.tile<4x3xf32>
  // CHECK: tile.transpose %{{.*}} : !tile.tile<4x3xf32> -> !tile.tile<3x4xf32>
  %t = tile.transpose %wide : !tile.tile<4x3xf32> -> !tile.tile<3x4xf32>
  // CHECK: tile.reshape %{{.*}} : !tile.tile<3x4xf32> -> !tile.tile<2x6x1xf32>
  %r = tile.reshape %t : !tile.tile<3x4xf32> -> !tile.tile<2x6x1xf32>
  // CHECK: %[[PART:.*]] = tile.extract %{{.*}}[%{{.*}}, %{{.*}}] : !tile.tile<4x64xf32> -> !tile.tile<2x16xf32>
  %part = tile.extract %x[%c2, %c0] : !tile.tile<4x64xf32> -> !tile.tile<2x16xf32>
  // CHECK: tile.insert %[[PART]] into %{{.*}}[%{{.*}}, %{{.*}}] : !tile.tile<2x16xf32> into !tile.tile<4x64xf32> -> !tile.tile<4x64xf32>
  %whole = tile.insert %part into %x[%c0, %c0] : !tile.tile<2x16xf32> into !tile.tile<4x64xf32> -> !tile.tile<4x64xf32>
  // CHECK: tile.cast %{{.*}} : !tile.tile<4x64xf32> -> !tile.tile<4x64xbf16>
  %down = tile.cast %x : !tile.tile<4x64xf32> -> !tile.tile<4x64xbf16>
  // CHECK: tile.cast %{{.*}} : !tile.tile<4x64xi1> -> !tile.tile<4x64xf32>
  %mask = tile.cast %const : !tile.tile<4x64xi1> -> !tile.tile<4x64xf32>
}

// CHECK-LABEL: tile.kernel @contraction
tile.kernel @contraction(%w: !tile.view<?x64xbf16>, %packed: !tile.view<?x32xi8>, %scales: !tile.view<?x2xi8>, %n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %acc = tile.splat %zero : f32 -> !tile.tile<3x5xf32>
  %a = tile.splat %zero : f32 -> !tile.tile<3x64xf32>
  %at = tile.splat %zero : f32 -> !tile.tile<64x3xf32>
  %b = tile.splat %zero : f32 -> !tile.tile<64x5xf32>
  %bt = tile.load %w[%c0, %c0] bound(%n, %c64) : !tile.view<?x64xbf16> -> !tile.tile<5x64xbf16>
  // CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} : !tile.tile<3x5xf32>, !tile.tile<3x64xf32>, !tile.tile<64x5xf32>
  %0 = tile.mma %acc, %a, %b : !tile.tile<3x5xf32>, !tile.tile<3x64xf32>, !tile.tile<64x5xf32>
  // CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} {transpose_b} : !tile.tile<3x5xf32>, !tile.tile<3x64xf32>, !tile.tile<5x64xbf16>
  %1 = tile.mma %0, %a, %bt {transpose_b} : !tile.tile<3x5xf32>, !tile.tile<3x64xf32>, !tile.tile<5x64xbf16>
  // CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} {transpose_a, transpose_b}
  %2 = tile.mma %1, %at, %bt {transpose_a, transpose_b} : !tile.tile<3x5xf32>, !tile.tile<64x3xf32>, !tile.tile<5x64xbf16>
  %p = tile.load %packed[%c0, %c0] bound(%n, %c32) : !tile.view<?x32xi8> -> !tile.tile<5x32xi8>
  %s = tile.load %scales[%c0, %c0] bound(%n, %c2) : !tile.view<?x2xi8> -> !tile.tile<5x2xi8>
  // CHECK: tile.dequantize %{{.*}}, %{{.*}} : !tile.tile<5x32xi8>, !tile.tile<5x2xi8> -> !tile.tile<5x64xbf16>
  %d = tile.dequantize %p, %s : !tile.tile<5x32xi8>, !tile.tile<5x2xi8> -> !tile.tile<5x64xbf16>
  %l = tile.splat %zero : f32 -> !tile.tile<3x3xf32>
  // CHECK: tile.tri_solve %{{.*}}, %{{.*}} : !tile.tile<3x3xf32>, !tile.tile<3x64xf32>
  %x = tile.tri_solve %l, %a : !tile.tile<3x3xf32>, !tile.tile<3x64xf32>
  %row = tile.splat %zero : f32 -> !tile.tile<1x96xf32>
  // CHECK: tile.top_k %{{.*}} : !tile.tile<1x96xf32> -> !tile.tile<1x6xf32>, !tile.tile<1x6xi32>
  %values, %ids = tile.top_k %row : !tile.tile<1x96xf32> -> !tile.tile<1x6xf32>, !tile.tile<1x6xi32>
}

// CHECK-LABEL: tile.kernel @staging
tile.kernel @staging(%v: !tile.view<?x3x64xbf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  // CHECK: %[[BUF:.*]] = tile.alloc : !tile.tile<3x64xbf16, shared>
  %buffer = tile.alloc : !tile.tile<3x64xbf16, shared>
  // CHECK: %[[T:.*]] = tile.copy %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] bound(%{{.*}}, %{{.*}}, %{{.*}}) to %[[BUF]] : !tile.view<?x3x64xbf16> -> !tile.tile<3x64xbf16, shared>
  %token = tile.copy %v[%c0, %c0, %c0] bound(%n, %c3, %c64) to %buffer : !tile.view<?x3x64xbf16> -> !tile.tile<3x64xbf16, shared>
  // CHECK: tile.wait %[[T]]
  tile.wait %token
  // CHECK: tile.barrier
  tile.barrier
  // CHECK: %[[F:.*]] = tile.fetch %[[BUF]] : !tile.tile<3x64xbf16, shared> -> !tile.tile<3x64xbf16>
  %whole = tile.fetch %buffer : !tile.tile<3x64xbf16, shared> -> !tile.tile<3x64xbf16>
  // CHECK: tile.fetch %[[BUF]][%{{.*}}, %{{.*}}] : !tile.tile<3x64xbf16, shared> -> !tile.tile<1x64xbf16>
  %part = tile.fetch %buffer[%n, %c0] : !tile.tile<3x64xbf16, shared> -> !tile.tile<1x64xbf16>
  // CHECK: tile.stage %[[F]] to %[[BUF]] : !tile.tile<3x64xbf16> -> !tile.tile<3x64xbf16, shared>
  tile.stage %whole to %buffer : !tile.tile<3x64xbf16> -> !tile.tile<3x64xbf16, shared>
  %zero = arith.constant 0.0 : f32
  %acc = tile.splat %zero : f32 -> !tile.tile<3x3xf32>
  // An operand of a contraction may stay in shared memory.
  // CHECK: tile.mma %{{.*}}, %[[BUF]], %[[BUF]] {transpose_b} : !tile.tile<3x3xf32>, !tile.tile<3x64xbf16, shared>, !tile.tile<3x64xbf16, shared>
  %m = tile.mma %acc, %buffer, %buffer {transpose_b} : !tile.tile<3x3xf32>, !tile.tile<3x64xbf16, shared>, !tile.tile<3x64xbf16, shared>
}

tile.kernel @fill(%in: !tile.view<?x64xf32>, %n: index, %out: !tile.view<?x64xf32>) {
  tile.return
}

// CHECK-LABEL: func.func @launch
func.func @launch(%x: tensor<?x64xf32>, %fixed: tensor<8x64xf32>, %parts: tensor<3x192xf32>, %n: index) -> tensor<?x64xf32> {
  %c1 = arith.constant 1 : index
  // CHECK: %[[Y:.*]] = tile.launch @fill grid(%{{.*}}, %{{.*}}, %{{.*}}) ins(%{{.*}}, %{{.*}} : tensor<?x64xf32>, index) -> tensor<?x64xf32>
  %y = tile.launch @fill grid(%n, %c1, %c1) ins(%x, %n : tensor<?x64xf32>, index) -> tensor<?x64xf32>
  // A dynamic first extent takes any number of rows.
  // CHECK: tile.launch @fill grid({{.*}}) ins({{.*}} : tensor<8x64xf32>, index, tensor<?x64xf32>)
  tile.launch @fill grid(%n, %c1, %c1) ins(%fixed, %n, %y : tensor<8x64xf32>, index, tensor<?x64xf32>)
  // And equal parts of rows.
  // CHECK: tile.launch @fill grid({{.*}}) ins({{.*}} : tensor<3x192xf32>, index, tensor<?x64xf32>)
  tile.launch @fill grid(%n, %c1, %c1) ins(%parts, %n, %y : tensor<3x192xf32>, index, tensor<?x64xf32>)
  // CHECK: tile.launch @nothing grid({{.*}}) ins()
  tile.launch @nothing grid(%c1, %c1, %c1) ins()
  return %y : tensor<?x64xf32>
}

tile.kernel @nothing() {
  tile.return
}
