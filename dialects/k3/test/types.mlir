// RUN: k3-opt %s | k3-opt | FileCheck %s
// Every type and attribute of the k3 dialect, printed as it is written.

// CHECK: k3.symbol @T <= 512
k3.symbol @T <= 512
// CHECK: k3.symbol @S <= 3
k3.symbol @S <= 3

// CHECK: k3.state @"layers.{L}.kda_state" : !k3.kda_state<6x32x48xf32, kv>
k3.state @"layers.{L}.kda_state" : !k3.kda_state<6x32x48xf32, kv>
// CHECK: k3.state @transposed : !k3.kda_state<3x64x16xf32, vk>
k3.state @transposed : !k3.kda_state<3x64x16xf32, vk>
// CHECK: k3.state @conv : !k3.conv_state<3x576xbf16>
k3.state @conv : !k3.conv_state<3x576xbf16>
// CHECK: k3.state @conv_f32 : !k3.conv_state<1x7xf32>
k3.state @conv_f32 : !k3.conv_state<1x7xf32>
// CHECK: k3.state @cache : !k3.latent_cache<64x96xbf16>
k3.state @cache : !k3.latent_cache<64x96xbf16>

// CHECK: k3.param @plain : tensor<5x3xbf16>
k3.param @plain : tensor<5x3xbf16>
// CHECK: k3.param @codes : tensor<4x6x8xi8> from [#k3.piece<"experts.{E}.w1.weight", rows = 3, cols = 8, count = 4, index_stride = 48>, #k3.piece<"experts.{E}.w3.weight", rows = 3, cols = 8, at = 24, count = 4, index_stride = 48>]
k3.param @codes : tensor<4x6x8xi8> from [
  #k3.piece<"experts.{E}.w1.weight", rows = 3, cols = 8, count = 4, index_stride = 48>,
  #k3.piece<"experts.{E}.w3.weight", rows = 3, cols = 8, at = 24, count = 4, index_stride = 48>]
// CHECK: k3.param @turned : tensor<3x5xf32> from [#k3.piece<"m", rows = 5, cols = 3, begin = 2, src_stride = 9, dst_stride = 5, transpose = true>]
k3.param @turned : tensor<3x5xf32> from [
  #k3.piece<"m", rows = 5, cols = 3, begin = 2, src_stride = 9, dst_stride = 5, transpose = true>]

// CHECK-LABEL: func.func private @types(
// CHECK-SAME: !k3.stack<8x96xbf16, "T">, !k3.stack<2x96xf32, 4>
// CHECK-SAME: !k3.batch<"T", "S">, !k3.batch<4>
// CHECK-SAME: tensor<?x96xbf16, #k3.sym<"T">>
func.func private @types(!k3.stack<8x96xbf16, "T">, !k3.stack<2x96xf32, 4>,
                         !k3.batch<"T", "S">, !k3.batch<4>, tensor<?x96xbf16, #k3.sym<"T">>)

// CHECK: func.func @step
// CHECK-SAME: {k3.name = "ids"}
// CHECK-SAME: (tensor<4x7xf32> {k3.name = "logits"})
// CHECK-SAME: attributes {k3.bucket = 4 : i64, k3.entry = "decode"}
func.func @step(%ids: tensor<4xi32> {k3.name = "ids"}, %batch: !k3.batch<4>,
                %x: tensor<4x7xf32> {k3.name = "x"}) -> (tensor<4x7xf32> {k3.name = "logits"})
    attributes {k3.entry = "decode", k3.bucket = 4 : i64} {
  return %x : tensor<4x7xf32>
}
