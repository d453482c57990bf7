// RUN: k3-opt %s --k3-shard -verify-diagnostics
// A module that was sharded before is not taken for one that was not.

// expected-error @below {{--tp 1: the module is made for another mesh (got 1, expected 2); start from its configuration}}
module attributes {k3.mesh = {tp = 2, ep = 1, pp = 1}} {}
