// RUN: k3-opt %s --k3-plan -split-input-file | FileCheck %s

// Results that have a place already are copied; a name that is taken gets a number; the same weight is one buffer.

// CHECK-LABEL: plan.program rank 0
// CHECK: plan.buffer @in in @io at 0 size 256 : f32 [T, 4]
// CHECK: plan.buffer @k_2 in @io at 256 size 256 : f32 [T, 4]
// CHECK: plan.buffer @again in @io at 512 size 256 : f32 [T, 4]
// CHECK: plan.buffer @same in @io at 768 size 256 : f32 [T, 4]
// CHECK: plan.entry generic "copies" symbols [@T] inputs ["in" = @in] outputs ["k" = @k_2, "again" = @again, "same" = @same] {
// CHECK-NEXT: plan.launch @k grid [1, 1, 1] args (@in, @k_2)
// CHECK-NEXT: plan.tap "early" = @in
// CHECK-NEXT: plan.copy @k_2 to @again bytes mul(T, 16)
// CHECK-NEXT: plan.copy @in to @same bytes mul(T, 16)
// CHECK-NEXT: }
module attributes {k3.limits = {max_tokens = 16 : i64, max_seqs = 1 : i64, max_context = 64 : i64, max_logit_rows = 4 : i64, page_tokens = 64 : i64}} {
  k3.symbol @T <= 16
  tile.kernel @k(%x: !tile.view<?x4xf32>, %y: !tile.view<?x4xf32>) {
    tile.return
  }
  func.func @copies(%x: tensor<?x4xf32, #k3.sym<"T">> {k3.name = "in"})
      -> (tensor<?x4xf32, #k3.sym<"T">> {k3.name = "k"}, tensor<?x4xf32, #k3.sym<"T">> {k3.name = "again"}, tensor<?x4xf32, #k3.sym<"T">> {k3.name = "same"})
      attributes {k3.entry = "generic"} {
    %c1 = arith.constant 1 : index
    k3.tap %x as "early" : tensor<?x4xf32, #k3.sym<"T">>
    %y = tile.launch @k grid(%c1, %c1, %c1) ins(%x : tensor<?x4xf32, #k3.sym<"T">>) -> tensor<?x4xf32, #k3.sym<"T">>
    return %y, %y, %x : tensor<?x4xf32, #k3.sym<"T">>, tensor<?x4xf32, #k3.sym<"T">>, tensor<?x4xf32, #k3.sym<"T">>
  }
}

// -----

// The same name in two entries shares its bytes, sized for the larger; every operation on indices is known.

// CHECK-LABEL: plan.program rank 0
// CHECK: plan.arena @scratch scratch size 64
// CHECK: plan.arena @io io size 320
// CHECK: plan.buffer @x in @io at 0 size 16 : f32 [1, 4]
// CHECK: plan.buffer @y in @io at 256 size 16 : f32 [1, 4]
// CHECK: plan.buffer @x_2 in @io at 0 size 256 : f32 [T, 4]
// A result that nobody reads needs a place while its kernel runs.
// CHECK: plan.buffer @"two/k" in @scratch at 0 size 64 : i32 [16]
// CHECK: plan.buffer @y_2 in @io at 256 size 64 : i32 [16]
// CHECK: plan.entry generic "one" symbols []
// CHECK-NEXT: plan.launch @k1
// CHECK: plan.entry generic "two" symbols [@T]
// CHECK-NEXT: plan.launch @k grid [max(floordiv(sub(T, 1), 3), 2), 0, 7] args (@x_2, ceildiv(mul(T, 5), 2), @"two/k", @y_2)
module attributes {k3.limits = {max_tokens = 16 : i64, max_seqs = 1 : i64, max_context = 64 : i64, max_logit_rows = 4 : i64, page_tokens = 64 : i64}} {
  k3.symbol @T <= 16
  tile.kernel @k1(%x: !tile.view<?x4xf32>, %y: !tile.view<1x4xf32>) {
    tile.return
  }
  tile.kernel @k(%x: !tile.view<?x4xf32>, %n: index, %u: !tile.view<16xi32>, %v: !tile.view<16xi32>) {
    tile.return
  }
  func.func @one(%x: tensor<1x4xf32> {k3.name = "x"}) -> (tensor<1x4xf32> {k3.name = "y"}) attributes {k3.entry = "generic"} {
    %c1 = arith.constant 1 : index
    %y = tile.launch @k1 grid(%c1, %c1, %c1) ins(%x : tensor<1x4xf32>) -> tensor<1x4xf32>
    return %y : tensor<1x4xf32>
  }
  func.func @two(%x: tensor<?x4xf32, #k3.sym<"T">> {k3.name = "x"}) -> (tensor<16xi32> {k3.name = "y"}) attributes {k3.entry = "generic"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %t = k3.dim @T
    %less = arith.subi %t, %c1 : index
    %third = arith.divui %less, %c3 : index
    %gx = arith.maxsi %third, %c2 : index
    %gy = arith.muli %t, %c0 : index
    %gz = arith.addi %c5, %c2 : index
    %five = arith.muli %t, %c5 : index
    %n = arith.ceildivui %five, %c2 : index
    %u:2 = tile.launch @k grid(%gx, %gy, %gz) ins(%x, %n : tensor<?x4xf32, #k3.sym<"T">>, index) -> tensor<16xi32>, tensor<16xi32>
    return %u#1 : tensor<16xi32>
  }
}

// -----

// A tap keeps its value until the command before it has run, and strides of pieces are kept.

// CHECK-LABEL: plan.program rank 0
// CHECK: plan.arena @scratch scratch size 192
// CHECK: plan.buffer @"taps/k" in @scratch at 0 size 64 : f32 [4, 4]
// CHECK: plan.buffer @"taps/k_2" in @scratch at 64 size 64 : f32 [4, 4]
// CHECK: plan.buffer @"taps/k_3" in @scratch at 128 size 64 : f32 [4, 4]
// CHECK: plan.weight "w" in @w from [#plan.piece<"t", rows = 4, cols = 2, src_begin = 8, src_stride = 32, dst_begin = 0, dst_stride = 4>, #plan.piece<"t", rows = 4, cols = 2, src_begin = 10, src_stride = 32, dst_begin = 2, dst_stride = 4>]
// CHECK: plan.launch @k grid [1, 1, 1] args (@w, @"taps/k")
// CHECK-NEXT: plan.launch @k grid [1, 1, 1] args (@"taps/k", @"taps/k_2")
// CHECK-NEXT: plan.launch @k grid [1, 1, 1] args (@"taps/k_2", @"taps/k_3")
// CHECK-NEXT: plan.tap "late" = @"taps/k"
// CHECK-NEXT: plan.launch @k grid [1, 1, 1] args (@"taps/k_3", @y)
module attributes {k3.limits = {max_tokens = 16 : i64, max_seqs = 1 : i64, max_context = 64 : i64, max_logit_rows = 4 : i64, page_tokens = 64 : i64}} {
  k3.param @w : tensor<4x4xf32> from [#k3.piece<"t", rows = 4, cols = 2, begin = 8, src_stride = 32, dst_stride = 4>,
                                      #k3.piece<"t", rows = 4, cols = 2, begin = 10, src_stride = 32, at = 2, dst_stride = 4>]
  tile.kernel @k(%x: !tile.view<4x4xf32>, %y: !tile.view<4x4xf32>) {
    tile.return
  }
  func.func @taps() -> (tensor<4x4xf32> {k3.name = "y"}) attributes {k3.entry = "generic"} {
    %c1 = arith.constant 1 : index
    %w = k3.weight @w : tensor<4x4xf32>
    %a = tile.launch @k grid(%c1, %c1, %c1) ins(%w : tensor<4x4xf32>) -> tensor<4x4xf32>
    %b = tile.launch @k grid(%c1, %c1, %c1) ins(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
    %c = tile.launch @k grid(%c1, %c1, %c1) ins(%b : tensor<4x4xf32>) -> tensor<4x4xf32>
    k3.tap %a as "late" : tensor<4x4xf32>
    %y = tile.launch @k grid(%c1, %c1, %c1) ins(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
}
