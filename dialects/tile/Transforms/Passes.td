//===- Passes.td - Passes over tile kernels ----------------*- tablegen -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The analyses that a kernel needs before it can be printed for a machine with threads and shared memory. Each is a
// pass, so that each has its own tests.
//
//===----------------------------------------------------------------------===//

#ifndef K3_DIALECTS_TILE_TRANSFORMS_PASSES_TD
#define K3_DIALECTS_TILE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileAllocateShared : Pass<"tile-allocate-shared", "::k3::tile::KernelOp"> {
  let summary = "gives every shared buffer its offset";
  let description = [{
    Buffers that are never alive together share bytes. A buffer is alive from the first op that touches it to the last,
    awaited copies included; a loop that touches a buffer from outside keeps it alive for the whole loop, and roles of
    one block, which run side by side, keep theirs alive together. Offsets are multiples of 128; the total becomes
    `shared_bytes` in the schedule of the kernel. Run `tile-insert-barriers` behind it: sharing bytes makes hazards.
  }];
  let options = [Option<"maxBytes", "max-bytes", "int64_t", /*default=*/"0",
                        "refuse a kernel that needs more (0: no limit)">];
}

def TileInsertBarriers : Pass<"tile-insert-barriers", "::k3::tile::KernelOp"> {
  let summary = "inserts the barriers that make sequential semantics true for all threads of a block";
  let description = [{
    Threads run freely between barriers. A barrier is placed before an op that reads what was written, or writes what
    was read or written, since the last one: in shared bytes (two buffers with overlapping offsets are one hazard) and in
    a view, whether earlier in the iteration or in the iteration before. A copy counts as written where it is awaited.
    A barrier is placed as late as possible, so that one serves as many hazards as it can.

    Two faults no barrier can mend are errors: a buffer used while its copy is certainly still in flight, and a hazard
    inside a role, whose warps cannot meet all others.
  }];
}

#endif // K3_DIALECTS_TILE_TRANSFORMS_PASSES_TD
