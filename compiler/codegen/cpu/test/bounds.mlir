// RUN: k3-opt %s --tile-to-cpu --cse --canonicalize | FileCheck %s

// The function of the plan's interface unpacks the parameters and calls the body, whose pointers do not alias.
// CHECK-LABEL: func.func private @full_body(%{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64)
// An access that is provably inside its bound has neither mask nor remainder.
// CHECK: scf.for
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c8
// CHECK-NOT: scf.if
// CHECK: llvm.getelementptr
// CHECK-NEXT: %[[V:.*]] = llvm.load {{.*}} -> vector<8xf32>
// CHECK: llvm.store %[[V]]
// CHECK-NOT: scf.if
// CHECK: return
// CHECK-LABEL: func.func @full(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64)
// CHECK: call @full_body
tile.kernel @full(%x: !tile.view<4x64xf32>, %y: !tile.view<4x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  tile.for %i = %c0 to %c4 step %c1 {
    %t = tile.load %x[%i, %c0] bound(%c4, %c64) : !tile.view<4x64xf32> -> !tile.tile<1x64xf32>
    tile.store %t, %y[%i, %c0] bound(%c4, %c64) : !tile.tile<1x64xf32> -> !tile.view<4x64xf32>
  }
  tile.return
}

// Rows are cut to those that exist, and a leading index outside its bound, negative ones included, leaves none.
// CHECK-LABEL: func.func private @rows_body
// CHECK-DAG: %[[LEFT:.*]] = arith.subi %[[N:.*]], %[[ROW:.*]] : index
// CHECK-DAG: %[[MIN:.*]] = arith.minsi %[[LEFT]], %c16
// CHECK-DAG: %[[VALID:.*]] = arith.maxsi %[[MIN]], %c0
// CHECK-DAG: %[[IN:.*]] = arith.cmpi ult, %{{.*}}, %c3
// CHECK: %[[ROWS:.*]] = arith.select %[[IN]], %[[VALID]], %c0
// CHECK: scf.for %{{.*}} = %c0 to %[[ROWS]] step %c1
tile.kernel @rows(%x: !tile.view<?x9x64xf32>, %slot: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %b = tile.block_id x
  %row = arith.muli %b, %c16 : index
  %t = tile.splat %zero : f32 -> !tile.tile<16x64xf32>
  tile.store %t, %x[%slot, %row, %c0] bound(%c3, %n, %c64) : !tile.tile<16x64xf32> -> !tile.view<?x9x64xf32>
  tile.return
}
