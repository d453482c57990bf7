// RUN: k3-opt %s --k3-fuse --k3-to-tile=shared-bytes=232448 --cse --canonicalize | FileCheck %s
// Experts on a GPU: few tokens take a block a pair. Of more, 3 choices of up to 130 tokens, the pairs are sorted by expert into
// tiles of 128 rows, of which 6 experts can have 6 more than the pairs fill; both halves use one order.

module {
  k3.symbol @T <= 130
  k3.symbol @F <= 64

  // CHECK-LABEL: func.func @few(
  // CHECK-NOT: expert_count
  // CHECK: tile.launch @expert_up_mxfp4_n40_k64_bf16 grid(
  func.func @few(%z: tensor<?x64xbf16, #k3.sym<"F">>, %ids: tensor<?x3xi32, #k3.sym<"F">>, %w: tensor<6x80x32xi8>, %s: tensor<6x80x2xi8>)
      -> tensor<?x120xbf16, #k3.sym<"F">> {
    %y = k3.expert_up situ %z, %ids, %w scale %s {beta = 4.0, linear_beta = 25.0}
        : tensor<?x64xbf16, #k3.sym<"F">>, tensor<?x3xi32, #k3.sym<"F">>, tensor<6x80x32xi8> scale tensor<6x80x2xi8> -> tensor<?x120xbf16, #k3.sym<"F">>
    return %y : tensor<?x120xbf16, #k3.sym<"F">>
  }
  // CHECK-LABEL: func.func @many(
  // CHECK: %[[COUNTS:.*]] = tile.launch @expert_count_e6_k3 grid(%c6, %c1, %c1) ins({{.*}}) -> tensor<6xi32>
  // CHECK: %[[ORDER:.*]]:2 = tile.launch @expert_order_e6_k3_m128 grid(%c6, %c1, %c1) {{.*}} -> tensor<1280x2xi32>, tensor<11x1xi32>
  // CHECK: %[[PAIRS:.*]] = arith.muli %{{.*}}, %c3
  // CHECK: %[[FULL:.*]] = arith.ceildivsi %[[PAIRS]], %c128
  // CHECK: %[[TILES:.*]] = arith.addi %[[FULL]], %c6
  // CHECK: tile.launch @expert_up_sorted_mxfp4_n40_k64_bf16 grid(%c1, %[[TILES]], %c1) ins({{.*}}%[[ORDER]]#1, %[[ORDER]]#0
  // CHECK-NOT: expert_count
  // CHECK: tile.launch @expert_down_sorted_bf16_n64_k40_bf16 grid(%c1, %{{.*}}, %c1) ins({{.*}}%[[ORDER]]#1, %[[ORDER]]#0
  func.func @many(%z: tensor<?x64xbf16, #k3.sym<"T">>, %ids: tensor<?x3xi32, #k3.sym<"T">>, %w: tensor<6x80x32xi8>, %s: tensor<6x80x2xi8>,
                  %d: tensor<6x64x40xbf16>) -> tensor<?x192xbf16, #k3.sym<"T">> {
    %x = k3.expert_up situ %z, %ids, %w scale %s {beta = 4.0, linear_beta = 25.0}
        : tensor<?x64xbf16, #k3.sym<"T">>, tensor<?x3xi32, #k3.sym<"T">>, tensor<6x80x32xi8> scale tensor<6x80x2xi8> -> tensor<?x120xbf16, #k3.sym<"T">>
    %y = k3.expert_down %x, %ids, %d : tensor<?x120xbf16, #k3.sym<"T">>, tensor<?x3xi32, #k3.sym<"T">>, tensor<6x64x40xbf16> -> tensor<?x192xbf16, #k3.sym<"T">>
    return %y : tensor<?x192xbf16, #k3.sym<"T">>
  }
}
// x of the first half is a token's row, that of the second a pair's; results are rows of pairs.
// CHECK-LABEL: tile.kernel @expert_up_sorted_mxfp4_n40_k64_bf16(
// CHECK: %[[COUNT:.*]] = tile.read %{{.*}}[%c0, %c0] bound(%c11, %c1)
// CHECK: arith.cmpi slt, %{{.*}}, %[[COUNT]]
// CHECK: %[[PAIR:.*]] = tile.reshape
// CHECK: %[[TOKEN:.*]] = tile.reshape
// CHECK: tile.gather %{{.*}}[%[[TOKEN]], %{{.*}}] {{.*}} !tile.view<?x64xbf16>
// CHECK: tile.scatter %{{.*}}, %{{.*}}[%[[PAIR]], %{{.*}}] {{.*}} !tile.view<?x40xbf16>
// CHECK-LABEL: tile.kernel @expert_down_sorted_bf16_n64_k40_bf16(
// CHECK: %[[PAIR:.*]] = tile.reshape
// CHECK: tile.gather %{{.*}}[%[[PAIR]], %{{.*}}] {{.*}} !tile.view<?x40xbf16>
// CHECK: tile.scatter %{{.*}}, %{{.*}}[%[[PAIR]], %{{.*}}] {{.*}} !tile.view<?x64xbf16>
