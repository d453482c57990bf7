// RUN: k3-opt %s --k3-shard | FileCheck %s
// RUN: k3-opt %s --k3-shard --k3-shard="tp=1 ep=1 pp=1" | FileCheck %s
// RUN: not k3-opt %s --k3-shard=tp=2 2>&1 | FileCheck %s --check-prefix=TP
// RUN: not k3-opt %s --k3-shard=ep=8 2>&1 | FileCheck %s --check-prefix=EP
// RUN: not k3-opt %s --k3-shard=pp=0 2>&1 | FileCheck %s --check-prefix=PP
// One rank is the identity with a mesh on the module; everything else is refused.

// CHECK: module attributes {k3.mesh = {ep = 1 : i64, pp = 1 : i64, tp = 1 : i64}}
// CHECK-NEXT: k3.symbol @T <= 4
// TP: error: --tp 2: sharding over several ranks is not built yet (got 2, expected 1); leave --tp out
// EP: error: --ep 8: sharding over several ranks is not built yet (got 8, expected 1); leave --ep out
// PP: error: --pp 0: sharding over several ranks is not built yet (got 0, expected 1); leave --pp out
k3.symbol @T <= 4
