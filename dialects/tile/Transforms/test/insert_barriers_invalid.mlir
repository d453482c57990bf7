// RUN: k3-opt %s --tile-insert-barriers -verify-diagnostics -split-input-file

tile.kernel @k() {
  // expected-error @below {{offset: is missing; run tile-allocate-shared first}}
  %a = tile.alloc : !tile.tile<4xi32, shared>
  tile.return
}

// -----
tile.kernel @k(%v: !tile.view<?xi32>, %n: index) {
  %a = tile.alloc {offset = 0} : !tile.tile<4xi32, shared>
  // expected-note @below {{the copy starts here}}
  %t = tile.copy %v[%n] bound(%n) to %a : !tile.view<?xi32> -> !tile.tile<4xi32, shared>
  // expected-error @below {{buffer: its copy is still in flight; wait for its token first}}
  %x = tile.fetch %a : !tile.tile<4xi32, shared> -> !tile.tile<4xi32>
  tile.wait %t
  tile.return
}

// -----
// Other buffer, same bytes.
tile.kernel @k(%v: !tile.view<?xi32>, %n: index) {
  %a = tile.alloc {offset = 0} : !tile.tile<64xi32, shared>
  %b = tile.alloc {offset = 128} : !tile.tile<64xi32, shared>
  %s = tile.splat %n : index -> !tile.tile<64xi32>
  // expected-note @below {{the copy starts here}}
  %t = tile.copy %v[%n] bound(%n) to %a : !tile.view<?xi32> -> !tile.tile<64xi32, shared>
  // expected-error @below {{buffer: its copy is still in flight; wait for its token first}}
  tile.stage %s to %b : !tile.tile<64xi32> -> !tile.tile<64xi32, shared>
  tile.wait %t
  tile.return
}

// -----
tile.kernel @k(%n: index) {
  %a = tile.alloc {offset = 0} : !tile.tile<4xi32, shared>
  %s = tile.splat %n : index -> !tile.tile<4xi32>
  tile.role "math" warps 4 {
    tile.stage %s to %a : !tile.tile<4xi32> -> !tile.tile<4xi32, shared>
    // expected-error @below {{role 'math': needs a barrier here, where other warps cannot meet; hand the data over outside the role}}
    %x = tile.fetch %a : !tile.tile<4xi32, shared> -> !tile.tile<4xi32>
  }
  tile.return
}

// -----
tile.kernel @k() {
  tile.role "math" warps 4 {
    // expected-error @below {{role 'math': other warps cannot meet at a barrier inside}}
    tile.barrier
  }
  tile.return
}
