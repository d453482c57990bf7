// RUN: k3-opt %s --tile-allocate-shared --tile-insert-barriers | FileCheck %s

!shared = !tile.tile<128xi32, shared>
!fragment = !tile.tile<128xi32>

// Read after write: one barrier, as late as possible.
// CHECK-LABEL: tile.kernel @read_after_write
// CHECK: tile.stage
// CHECK-NEXT: tile.block_id
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.fetch
// CHECK-NEXT: tile.fetch
// CHECK-NEXT: tile.return
tile.kernel @read_after_write(%n: index) {
  %a = tile.alloc : !shared
  %t = tile.splat %n : index -> !fragment
  tile.stage %t to %a : !fragment -> !shared
  %b = tile.block_id x
  %x = tile.fetch %a : !shared -> !fragment
  %y = tile.fetch %a : !shared -> !fragment
  tile.return
}

// One barrier serves both buffers.
// CHECK-LABEL: tile.kernel @one_for_two
// CHECK: tile.stage
// CHECK-NEXT: tile.stage
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.fetch
// CHECK-NEXT: tile.fetch
// CHECK-NEXT: tile.return
tile.kernel @one_for_two(%n: index) {
  %a = tile.alloc : !shared
  %b = tile.alloc : !shared
  %t = tile.splat %n : index -> !fragment
  tile.stage %t to %a : !fragment -> !shared
  tile.stage %t to %b : !fragment -> !shared
  %x = tile.fetch %b : !shared -> !fragment
  %y = tile.fetch %a : !shared -> !fragment
  tile.return
}

// Write after read and write after write.
// CHECK-LABEL: tile.kernel @write_after
// CHECK: tile.fetch
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.stage
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.stage
// CHECK-NEXT: tile.return
tile.kernel @write_after(%n: index) {
  %a = tile.alloc : !shared
  %x = tile.fetch %a : !shared -> !fragment
  tile.stage %x to %a : !fragment -> !shared
  tile.stage %x to %a : !fragment -> !shared
  tile.return
}

// Two buffers that share bytes are one hazard: their lifetimes do not meet, their threads may.
// CHECK-LABEL: tile.kernel @same_bytes
// CHECK: %[[A:.*]] = tile.alloc {offset = 0 : i64}
// CHECK: %[[B:.*]] = tile.alloc {offset = 0 : i64}
// CHECK: tile.stage %{{.*}} to %[[A]]
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.fetch %[[A]]
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.stage %{{.*}} to %[[B]]
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.fetch %[[B]]
tile.kernel @same_bytes(%n: index) {
  %a = tile.alloc : !shared
  %b = tile.alloc : !shared
  %t = tile.splat %n : index -> !fragment
  tile.stage %t to %a : !fragment -> !shared
  %x = tile.fetch %a : !shared -> !fragment
  tile.stage %x to %b : !fragment -> !shared
  %y = tile.fetch %b : !shared -> !fragment
  tile.return
}

// A barrier that is there already is taken into account.
// CHECK-LABEL: tile.kernel @present
// CHECK-COUNT-1: tile.barrier
// CHECK-NOT: tile.barrier
// CHECK: tile.return
tile.kernel @present(%n: index) {
  %a = tile.alloc : !shared
  %t = tile.splat %n : index -> !fragment
  tile.stage %t to %a : !fragment -> !shared
  tile.barrier
  %x = tile.fetch %a : !shared -> !fragment
  tile.return
}

// A copy is written where it is awaited: a barrier between copy and wait does not help.
// CHECK-LABEL: tile.kernel @copy
// CHECK: tile.copy
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.wait
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.fetch
// CHECK-NEXT: tile.return
tile.kernel @copy(%v: !tile.view<?xi32>, %n: index) {
  %a = tile.alloc : !shared
  %t = tile.copy %v[%n] bound(%n) to %a : !tile.view<?xi32> -> !shared
  tile.barrier
  tile.wait %t
  %x = tile.fetch %a : !shared -> !fragment
  tile.return
}

// Carried by a loop: the stage of one iteration must wait for the fetch of the one before.
// CHECK-LABEL: tile.kernel @loop
// CHECK: tile.for
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.stage
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.fetch
// CHECK-NEXT: }
// CHECK-NEXT: tile.return
tile.kernel @loop(%n: index) {
  %a = tile.alloc : !shared
  %t = tile.splat %n : index -> !fragment
  tile.for %i = %n to %n step %n {
    tile.stage %t to %a : !fragment -> !shared
    %x = tile.fetch %a : !shared -> !fragment
  }
  tile.return
}

// A loop that only reads needs its barrier for the first iteration; nothing behind it does.
// CHECK-LABEL: tile.kernel @read_only_loop
// CHECK: tile.stage
// CHECK-NEXT: tile.for
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.fetch
// CHECK-NEXT: }
tile.kernel @read_only_loop(%n: index) {
  %a = tile.alloc : !shared
  %t = tile.splat %n : index -> !fragment
  tile.stage %t to %a : !fragment -> !shared
  tile.for %i = %n to %n step %n {
    %x = tile.fetch %a : !shared -> !fragment
  }
  tile.return
}

// A loop may run no iteration, so its barrier does not count behind it.
// CHECK-LABEL: tile.kernel @behind_loop
// CHECK: tile.stage
// CHECK-NEXT: tile.for
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: }
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.fetch
tile.kernel @behind_loop(%n: index) {
  %a = tile.alloc : !shared
  %t = tile.splat %n : index -> !fragment
  tile.stage %t to %a : !fragment -> !shared
  tile.for %i = %n to %n step %n {
    tile.barrier
  }
  %x = tile.fetch %a : !shared -> !fragment
  tile.return
}

// The same for a condition.
// CHECK-LABEL: tile.kernel @condition
// CHECK: tile.stage
// CHECK-NEXT: tile.if
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.fetch
// CHECK-NEXT: }
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.fetch
tile.kernel @condition(%n: index) {
  %true = arith.constant true
  %a = tile.alloc : !shared
  %t = tile.splat %n : index -> !fragment
  tile.stage %t to %a : !fragment -> !shared
  tile.if %true {
    %x = tile.fetch %a : !shared -> !fragment
  }
  %y = tile.fetch %a : !shared -> !fragment
  tile.return
}

// Nested loops: the hazard is carried by the outer one.
// CHECK-LABEL: tile.kernel @nested
// CHECK: tile.for
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.stage
// CHECK-NEXT: tile.for
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.fetch
// CHECK-NEXT: }
// CHECK-NEXT: }
tile.kernel @nested(%n: index) {
  %a = tile.alloc : !shared
  %t = tile.splat %n : index -> !fragment
  tile.for %i = %n to %n step %n {
    tile.stage %t to %a : !fragment -> !shared
    tile.for %j = %n to %n step %n {
      %x = tile.fetch %a : !shared -> !fragment
    }
  }
  tile.return
}

// Two stages that rotate through carried values: one barrier where a copy may overwrite what was just read, one
// between wait and fetch.
// CHECK-LABEL: tile.kernel @pipeline
// CHECK: tile.for {{.*}} stages 2 {
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.copy
// CHECK-NEXT: tile.wait
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.fetch
// CHECK-NEXT: tile.yield
// CHECK-NEXT: }
// CHECK-NEXT: tile.wait
tile.kernel @pipeline(%v: !tile.view<?xi32>, %n: index) {
  %a = tile.alloc : !shared
  %b = tile.alloc : !shared
  %t0 = tile.copy %v[%n] bound(%n) to %a : !tile.view<?xi32> -> !shared
  %r:3 = tile.for %i = %n to %n step %n iter(%cur = %a, %next = %b, %tok = %t0) : !shared, !shared, !tile.token stages 2 {
    %t = tile.copy %v[%i] bound(%n) to %next : !tile.view<?xi32> -> !shared
    tile.wait %tok
    %x = tile.fetch %cur : !shared -> !fragment
    tile.yield %next, %cur, %t : !shared, !shared, !tile.token
  }
  tile.wait %r#2
  tile.return
}

// One buffer that is filled again at the end of each iteration: its token travels while the copy is in flight.
// CHECK-LABEL: tile.kernel @refill
// CHECK: tile.copy
// CHECK-NEXT: tile.for
// CHECK-NEXT: tile.wait
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.fetch
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.copy
// CHECK-NEXT: tile.yield
tile.kernel @refill(%v: !tile.view<?xi32>, %n: index) {
  %a = tile.alloc : !shared
  %t0 = tile.copy %v[%n] bound(%n) to %a : !tile.view<?xi32> -> !shared
  %r = tile.for %i = %n to %n step %n iter(%tok = %t0) : !tile.token {
    tile.wait %tok
    %x = tile.fetch %a : !shared -> !fragment
    %t = tile.copy %v[%i] bound(%n) to %a : !tile.view<?xi32> -> !shared
    tile.yield %t : !tile.token
  }
  tile.wait %r
  tile.return
}

// Operands of a contraction and of a dequantization are read where they lie.
// CHECK-LABEL: tile.kernel @operands
// CHECK: tile.stage
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.mma
tile.kernel @operands() {
  %x = arith.constant 0.0 : f32
  %a = tile.alloc : !tile.tile<16x16xf32, shared>
  %t = tile.splat %x : f32 -> !tile.tile<16x16xf32>
  tile.stage %t to %a : !tile.tile<16x16xf32> -> !tile.tile<16x16xf32, shared>
  %m = tile.mma %t, %a, %t : !tile.tile<16x16xf32>, !tile.tile<16x16xf32, shared>, !tile.tile<16x16xf32>
  tile.return
}

// Views are memory too: rows appended to a cache and read back in the same kernel. Other views are other memory.
// CHECK-LABEL: tile.kernel @views
// CHECK: tile.load %arg1
// CHECK-NEXT: tile.store {{.*}}, %arg0
// CHECK-NEXT: tile.load %arg1
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.load %arg0
// CHECK-NEXT: tile.store {{.*}}, %arg2
// CHECK-NEXT: tile.return
tile.kernel @views(%cache: !tile.view<?xi32>, %in: !tile.view<?xi32>, %out: !tile.view<?xi32>, %n: index) {
  %x = tile.load %in[%n] bound(%n) : !tile.view<?xi32> -> !fragment
  tile.store %x, %cache[%n] bound(%n) : !fragment -> !tile.view<?xi32>
  %y = tile.load %in[%n] bound(%n) : !tile.view<?xi32> -> !fragment
  %z = tile.load %cache[%n] bound(%n) : !tile.view<?xi32> -> !fragment
  tile.store %z, %out[%n] bound(%n) : !fragment -> !tile.view<?xi32>
  tile.return
}

// Roles run side by side without barriers inside; what comes behind meets them all.
// CHECK-LABEL: tile.kernel @roles
// CHECK: tile.stage
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.role "one"
// CHECK-NEXT: tile.fetch
// CHECK-NEXT: }
// CHECK-NEXT: tile.role "two"
// CHECK-NEXT: tile.fetch
// CHECK-NEXT: tile.stage
// CHECK-NEXT: }
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.fetch
tile.kernel @roles(%n: index) {
  %a = tile.alloc : !shared
  %b = tile.alloc : !shared
  %t = tile.splat %n : index -> !fragment
  tile.stage %t to %a : !fragment -> !shared
  tile.role "one" warps 1 {
    %x = tile.fetch %a : !shared -> !fragment
  }
  tile.role "two" warps 3 {
    %x = tile.fetch %a : !shared -> !fragment
    tile.stage %x to %b : !fragment -> !shared
  }
  %y = tile.fetch %b : !shared -> !fragment
  tile.return
}
