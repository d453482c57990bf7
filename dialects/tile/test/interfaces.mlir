// What upstream's passes may do to a kernel follows from the interfaces and effects that its ops declare.
// RUN: k3-opt %s --loop-invariant-code-motion | FileCheck %s --check-prefix=LICM
// RUN: k3-opt %s --cse | FileCheck %s --check-prefix=CSE
// RUN: k3-opt %s --canonicalize | FileCheck %s --check-prefix=DCE

!row = !tile.tile<1x64xf32>

// A pure op whose operands come from outside leaves the loop, a load stays (a store may change what it reads).
// LICM-LABEL: tile.kernel @invariant
// LICM: tile.map
// LICM: tile.for
// LICM-NEXT: tile.load
// LICM-NEXT: tile.store
tile.kernel @invariant(%v: !tile.view<?x64xf32>, %n: index) {
  %x = arith.constant 1.0 : f32
  %t = tile.splat %x : f32 -> !row
  tile.for %i = %n to %n step %n {
    %e = tile.map(%t) : (!row) -> !row {
    ^bb0(%a: f32):
      %b = math.exp %a : f32
      tile.yield %b : f32
    }
    %l = tile.load %v[%n, %n] bound(%n, %n) : !tile.view<?x64xf32> -> !row
    tile.store %e, %v[%i, %n] bound(%n, %n) : !row -> !tile.view<?x64xf32>
  }
  tile.return
}

// Equal loads merge unless something writes between them; allocations never merge; equal maps do.
// CSE-LABEL: tile.kernel @equal
// CSE-COUNT-2: tile.alloc
// CSE: tile.load
// CSE-NEXT: tile.map
// CSE: tile.store
// CSE-NEXT: tile.load
// CSE-NEXT: tile.store
// CSE-NEXT: tile.return
tile.kernel @equal(%v: !tile.view<?x64xf32>, %n: index) {
  %p = tile.alloc : !tile.tile<4xf32, shared>
  %q = tile.alloc : !tile.tile<4xf32, shared>
  %x = tile.load %v[%n, %n] bound(%n, %n) : !tile.view<?x64xf32> -> !row
  %y = tile.load %v[%n, %n] bound(%n, %n) : !tile.view<?x64xf32> -> !row
  %s = tile.map(%x, %y) : (!row, !row) -> !row {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %t = tile.map(%y, %x) : (!row, !row) -> !row {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.store %s, %v[%n, %n] bound(%n, %n) : !row -> !tile.view<?x64xf32>
  %z = tile.load %v[%n, %n] bound(%n, %n) : !tile.view<?x64xf32> -> !row
  %u = tile.fetch %p : !tile.tile<4xf32, shared> -> !tile.tile<4xf32>
  %w = tile.fetch %q : !tile.tile<4xf32, shared> -> !tile.tile<4xf32>
  tile.store %z, %v[%n, %n] bound(%n, %n) : !row -> !tile.view<?x64xf32>
  tile.return
}

// Reads whose result is not used go; writes, copies, waits and barriers stay.
// DCE-LABEL: tile.kernel @effects
// DCE-NOT: tile.load
// DCE: tile.stage
// DCE: tile.copy
// DCE: tile.wait
// DCE: tile.barrier
// DCE-NOT: tile.fetch
// DCE-NOT: tile.if
// DCE: tile.return
tile.kernel @effects(%v: !tile.view<?xf32>, %n: index) {
  %x = arith.constant 1.0 : f32
  %true = arith.constant true
  %l = tile.load %v[%n] bound(%n) : !tile.view<?xf32> -> !tile.tile<4xf32>
  %a = tile.alloc : !tile.tile<4xf32, shared>
  %t = tile.splat %x : f32 -> !tile.tile<4xf32>
  tile.stage %t to %a : !tile.tile<4xf32> -> !tile.tile<4xf32, shared>
  %c = tile.copy %v[%n] bound(%n) to %a : !tile.view<?xf32> -> !tile.tile<4xf32, shared>
  tile.wait %c
  tile.barrier
  tile.if %true {
    %f = tile.fetch %a : !tile.tile<4xf32, shared> -> !tile.tile<4xf32>
  }
  tile.return
}

// The host's launches are kept in order, used or not.
// DCE-LABEL: func.func @host
// DCE-COUNT-2: tile.launch
func.func @host(%x: tensor<?xf32>, %n: index) {
  tile.launch @effects grid(%n, %n, %n) ins(%x, %n : tensor<?xf32>, index)
  tile.launch @effects grid(%n, %n, %n) ins(%x, %n : tensor<?xf32>, index)
  return
}
