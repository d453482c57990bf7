// RUN: k3-opt %s --pass-pipeline="builtin.module(tile.kernel(tile-allocate-shared{max-bytes=1024}))" -verify-diagnostics -split-input-file

tile.kernel @fits() {
  %a = tile.alloc : !tile.tile<256xi32, shared>
  %x = tile.fetch %a : !tile.tile<256xi32, shared> -> !tile.tile<256xi32>
  tile.return
}

// -----

// expected-error @below {{kernel @large: needs too much shared memory (got 1028 bytes, limit is 1024); choose smaller tiles or fewer stages}}
tile.kernel @large() {
  %a = tile.alloc : !tile.tile<257xi32, shared>
  %x = tile.fetch %a : !tile.tile<257xi32, shared> -> !tile.tile<257xi32>
  tile.return
}
