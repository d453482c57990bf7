// RUN: k3-opt %s --k3-absorb | FileCheck %s --implicit-check-not=k3.mla
// Three heads of nope 16, rope 6, value 14 over a latent of 20 and a cache row of 26: no two extents are equal.

k3.symbol @T <= 130
k3.symbol @S <= 3

// The first 16 weight rows of each head's 30 go into the query, which keeps its 6 shared columns; the other 14 make the
// output. The scale stays that of the whole head.
// CHECK-LABEL: func.func private @ragged(
// CHECK-SAME: %[[Q:[^:]*]]: tensor<?x66xbf16, #k3.sym<"T">>, %[[KVB:[^:]*]]: tensor<90x20xbf16>, %[[CACHE:[^:]*]]: !k3.latent_cache<64x26xbf16>, %[[BATCH:[^:]*]]: !k3.batch<"T", "S">
func.func private @ragged(%q: tensor<?x66xbf16, #k3.sym<"T">>, %kv_b: tensor<90x20xbf16>, %cache: !k3.latent_cache<64x26xbf16>,
                          %batch: !k3.batch<"T", "S">) -> tensor<?x42xbf16, #k3.sym<"T">> {
  // CHECK-NEXT: %[[A:.*]] = k3.head_linear %[[Q]], %[[KVB]] {heads = 3 : i64, pass_begin = 16 : i64, pass_count = 6 : i64, row_begin = 0 : i64, rows = 16 : i64, stride_rows = 30 : i64, transpose} : tensor<?x66xbf16, #k3.sym<"T">>, tensor<90x20xbf16> -> tensor<?x78xbf16, #k3.sym<"T">>
  // CHECK-NEXT: %[[U:.*]] = k3.latent_attention %[[A]], %[[CACHE]], %[[BATCH]] {heads = 3 : i64, latent = 20 : i64, scale = 2.500000e-01 : f64} : tensor<?x78xbf16, #k3.sym<"T">>, <64x26xbf16>, <"T", "S"> -> tensor<?x60xbf16, #k3.sym<"T">>
  // CHECK-NEXT: %[[O:.*]] = k3.head_linear %[[U]], %[[KVB]] {heads = 3 : i64, row_begin = 16 : i64, rows = 14 : i64, stride_rows = 30 : i64} : tensor<?x60xbf16, #k3.sym<"T">>, tensor<90x20xbf16> -> tensor<?x42xbf16, #k3.sym<"T">>
  // CHECK-NEXT: return %[[O]]
  %o = k3.mla %q, %kv_b, %cache, %batch {heads = 3, nope = 16, rope = 6, value = 14, scale = 0.25}
      : tensor<?x66xbf16, #k3.sym<"T">>, tensor<90x20xbf16>, !k3.latent_cache<64x26xbf16>, !k3.batch<"T", "S"> -> tensor<?x42xbf16, #k3.sym<"T">>
  return %o : tensor<?x42xbf16, #k3.sym<"T">>
}

// Without shared columns nothing passes, and the cache row is the latent alone.
// CHECK-LABEL: func.func private @no_rope(
func.func private @no_rope(%q: tensor<2x48xf32>, %kv_b: tensor<90x20xbf16>, %cache: !k3.latent_cache<64x20xf32>,
                           %batch: !k3.batch<2>) -> tensor<2x42xf32> {
  // CHECK-NEXT: k3.head_linear %{{.*}} {heads = 3 : i64, row_begin = 0 : i64, rows = 16 : i64, stride_rows = 30 : i64, transpose} : tensor<2x48xf32>, tensor<90x20xbf16> -> tensor<2x60xf32>
  // CHECK-NEXT: k3.latent_attention %{{.*}} {heads = 3 : i64, latent = 20 : i64, scale = 2.500000e-01 : f64} : tensor<2x60xf32>, <64x20xf32>, <2> -> tensor<2x60xf32>
  // CHECK-NEXT: k3.head_linear %{{.*}} {heads = 3 : i64, row_begin = 16 : i64, rows = 14 : i64, stride_rows = 30 : i64} : tensor<2x60xf32>, tensor<90x20xbf16> -> tensor<2x42xf32>
  %o = k3.mla %q, %kv_b, %cache, %batch {heads = 3, nope = 16, rope = 0, value = 14, scale = 0.25}
      : tensor<2x48xf32>, tensor<90x20xbf16>, !k3.latent_cache<64x20xf32>, !k3.batch<2> -> tensor<2x42xf32>
  return %o : tensor<2x42xf32>
}
