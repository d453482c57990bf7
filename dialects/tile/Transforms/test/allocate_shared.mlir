// RUN: k3-opt %s --tile-allocate-shared | FileCheck %s

// Two buffers alive together, the larger first; 3 x 5 bytes are rounded up to the next 128.
// CHECK-LABEL: tile.kernel @together
// CHECK-SAME: shared_bytes = 647 : i64
tile.kernel @together(%n: index) {
  // CHECK: tile.alloc {offset = 512 : i64} : !tile.tile<135xi8, shared>
  %a = tile.alloc : !tile.tile<135xi8, shared>
  // CHECK: tile.alloc {offset = 0 : i64} : !tile.tile<100xi32, shared>
  %b = tile.alloc : !tile.tile<100xi32, shared>
  %t = tile.splat %n : index -> !tile.tile<100xi32>
  %x = tile.fetch %a : !tile.tile<135xi8, shared> -> !tile.tile<135xi8>
  tile.stage %t to %b : !tile.tile<100xi32> -> !tile.tile<100xi32, shared>
  %y = tile.fetch %a : !tile.tile<135xi8, shared> -> !tile.tile<135xi8>
  tile.return
}

// Both allocated at the top, but never touched together: the same bytes. What the schedule says already stays.
// CHECK-LABEL: tile.kernel @reuse
// CHECK-SAME: schedule = {rows = 16 : i64, shared_bytes = 512 : i64}
tile.kernel @reuse(%n: index) attributes {schedule = {rows = 16}} {
  // CHECK: tile.alloc {offset = 0 : i64}
  %a = tile.alloc : !tile.tile<128xi32, shared>
  // CHECK: tile.alloc {offset = 0 : i64}
  %b = tile.alloc : !tile.tile<64xi32, shared>
  %t = tile.splat %n : index -> !tile.tile<128xi32>
  %s = tile.splat %n : index -> !tile.tile<64xi32>
  tile.stage %t to %a : !tile.tile<128xi32> -> !tile.tile<128xi32, shared>
  %x = tile.fetch %a : !tile.tile<128xi32, shared> -> !tile.tile<128xi32>
  tile.stage %s to %b : !tile.tile<64xi32> -> !tile.tile<64xi32, shared>
  %y = tile.fetch %b : !tile.tile<64xi32, shared> -> !tile.tile<64xi32>
  tile.return
}

// A hole between two live buffers is filled: a (1024) dies first, c (512) comes while b is alive.
// CHECK-LABEL: tile.kernel @hole
// CHECK-SAME: shared_bytes = 1792 : i64
tile.kernel @hole(%n: index) {
  // CHECK: tile.alloc {offset = 0 : i64} : !tile.tile<256xi32, shared>
  %a = tile.alloc : !tile.tile<256xi32, shared>
  // CHECK: tile.alloc {offset = 1024 : i64} : !tile.tile<192xi32, shared>
  %b = tile.alloc : !tile.tile<192xi32, shared>
  // CHECK: tile.alloc {offset = 0 : i64} : !tile.tile<128xi32, shared>
  %c = tile.alloc : !tile.tile<128xi32, shared>
  %fa = tile.fetch %a : !tile.tile<256xi32, shared> -> !tile.tile<256xi32>
  %fb = tile.fetch %b : !tile.tile<192xi32, shared> -> !tile.tile<192xi32>
  %ga = tile.fetch %a : !tile.tile<256xi32, shared> -> !tile.tile<256xi32>
  %fc = tile.fetch %c : !tile.tile<128xi32, shared> -> !tile.tile<128xi32>
  %gb = tile.fetch %b : !tile.tile<192xi32, shared> -> !tile.tile<192xi32>
  tile.return
}

// A loop that touches buffers from outside keeps both alive in every iteration.
// CHECK-LABEL: tile.kernel @loop
// CHECK-SAME: shared_bytes = 1024 : i64
tile.kernel @loop(%n: index) {
  // CHECK: tile.alloc {offset = 0 : i64}
  %a = tile.alloc : !tile.tile<128xi32, shared>
  // CHECK: tile.alloc {offset = 512 : i64}
  %b = tile.alloc : !tile.tile<128xi32, shared>
  tile.for %i = %n to %n step %n {
    %x = tile.fetch %a : !tile.tile<128xi32, shared> -> !tile.tile<128xi32>
    tile.stage %x to %b : !tile.tile<128xi32> -> !tile.tile<128xi32, shared>
    %y = tile.fetch %b : !tile.tile<128xi32, shared> -> !tile.tile<128xi32>
  }
  tile.return
}

// Allocated inside the loop, each iteration has its own: the spans are those within one iteration.
// CHECK-LABEL: tile.kernel @inside_loop
// CHECK-SAME: shared_bytes = 512 : i64
tile.kernel @inside_loop(%n: index) {
  %t = tile.splat %n : index -> !tile.tile<128xi32>
  tile.for %i = %n to %n step %n {
    // CHECK: tile.alloc {offset = 0 : i64}
    %a = tile.alloc : !tile.tile<128xi32, shared>
    tile.stage %t to %a : !tile.tile<128xi32> -> !tile.tile<128xi32, shared>
    %x = tile.fetch %a : !tile.tile<128xi32, shared> -> !tile.tile<128xi32>
    // CHECK: tile.alloc {offset = 0 : i64}
    %b = tile.alloc : !tile.tile<128xi32, shared>
    tile.stage %x to %b : !tile.tile<128xi32> -> !tile.tile<128xi32, shared>
    %y = tile.fetch %b : !tile.tile<128xi32, shared> -> !tile.tile<128xi32>
  }
  tile.return
}

// Rotating buffers: carried values stand for both, so a third buffer used inside gets bytes of its own, one used
// behind the loop's last result does not.
// CHECK-LABEL: tile.kernel @rotate
// CHECK-SAME: shared_bytes = 1536 : i64
tile.kernel @rotate(%v: !tile.view<?xi32>, %n: index) {
  // CHECK: tile.alloc {offset = 0 : i64}
  %a = tile.alloc : !tile.tile<128xi32, shared>
  // CHECK: tile.alloc {offset = 512 : i64}
  %b = tile.alloc : !tile.tile<128xi32, shared>
  // CHECK: tile.alloc {offset = 1024 : i64}
  %c = tile.alloc : !tile.tile<128xi32, shared>
  // CHECK: tile.alloc {offset = 512 : i64}
  %d = tile.alloc : !tile.tile<64xi32, shared>
  %t0 = tile.copy %v[%n] bound(%n) to %a : !tile.view<?xi32> -> !tile.tile<128xi32, shared>
  %r:3 = tile.for %i = %n to %n step %n iter(%cur = %a, %next = %b, %tok = %t0) : !tile.tile<128xi32, shared>, !tile.tile<128xi32, shared>, !tile.token stages 2 {
    %t = tile.copy %v[%i] bound(%n) to %next : !tile.view<?xi32> -> !tile.tile<128xi32, shared>
    tile.wait %tok
    %x = tile.fetch %cur : !tile.tile<128xi32, shared> -> !tile.tile<128xi32>
    tile.stage %x to %c : !tile.tile<128xi32> -> !tile.tile<128xi32, shared>
    tile.yield %next, %cur, %t : !tile.tile<128xi32, shared>, !tile.tile<128xi32, shared>, !tile.token
  }
  tile.wait %r#2
  %s = tile.splat %n : index -> !tile.tile<64xi32>
  tile.stage %s to %d : !tile.tile<64xi32> -> !tile.tile<64xi32, shared>
  %e = tile.fetch %a : !tile.tile<128xi32, shared> -> !tile.tile<128xi32>
  tile.return
}

// An awaited copy holds its bytes until the wait, although nothing names the buffer there.
// CHECK-LABEL: tile.kernel @in_flight
// CHECK-SAME: shared_bytes = 1024 : i64
tile.kernel @in_flight(%v: !tile.view<?xi32>, %n: index) {
  // CHECK: tile.alloc {offset = 0 : i64}
  %a = tile.alloc : !tile.tile<128xi32, shared>
  // CHECK: tile.alloc {offset = 512 : i64}
  %b = tile.alloc : !tile.tile<128xi32, shared>
  %t = tile.copy %v[%n] bound(%n) to %a : !tile.view<?xi32> -> !tile.tile<128xi32, shared>
  %x = tile.fetch %b : !tile.tile<128xi32, shared> -> !tile.tile<128xi32>
  tile.wait %t
  tile.return
}

// A buffer that an iteration hands to the next one lives through the whole loop.
// CHECK-LABEL: tile.kernel @handed_on
// CHECK-SAME: shared_bytes = 1536 : i64
tile.kernel @handed_on(%v: !tile.view<?xi32>, %n: index) {
  // CHECK: tile.alloc {offset = 0 : i64}
  %a = tile.alloc : !tile.tile<128xi32, shared>
  %r = tile.for %i = %n to %n step %n iter(%cur = %a) : !tile.tile<128xi32, shared> {
    // CHECK: tile.alloc {offset = 512 : i64}
    %b = tile.alloc : !tile.tile<128xi32, shared>
    %x = tile.fetch %b : !tile.tile<128xi32, shared> -> !tile.tile<128xi32>
    // CHECK: tile.alloc {offset = 1024 : i64}
    %c = tile.alloc : !tile.tile<128xi32, shared>
    tile.stage %x to %c : !tile.tile<128xi32> -> !tile.tile<128xi32, shared>
    tile.yield %c : !tile.tile<128xi32, shared>
  }
  // CHECK: tile.alloc {offset = 0 : i64}
  %d = tile.alloc : !tile.tile<128xi32, shared>
  %y = tile.fetch %d : !tile.tile<128xi32, shared> -> !tile.tile<128xi32>
  tile.return
}

// Roles run side by side.
// CHECK-LABEL: tile.kernel @roles
// CHECK-SAME: shared_bytes = 1024 : i64
tile.kernel @roles(%n: index) {
  // CHECK: tile.alloc {offset = 0 : i64}
  %a = tile.alloc : !tile.tile<128xi32, shared>
  // CHECK: tile.alloc {offset = 512 : i64}
  %b = tile.alloc : !tile.tile<128xi32, shared>
  tile.role "one" warps 1 {
    %x = tile.fetch %a : !tile.tile<128xi32, shared> -> !tile.tile<128xi32>
  }
  tile.role "two" warps 1 {
    %x = tile.fetch %b : !tile.tile<128xi32, shared> -> !tile.tile<128xi32>
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @none
// CHECK-SAME: shared_bytes = 0 : i64
tile.kernel @none() {
  tile.return
}
