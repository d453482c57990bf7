// Appending to the paged cache and attending over it, as a ragged step and as a decode batch: three heads whose key
// parts, value and latent all differ in size.

!seq = !k3.batch<"T", "S">
!q = tensor<?x66xf32, #k3.sym<"T">>
!kv = tensor<?x26xf32, #k3.sym<"T">>
!o = tensor<?x42xf32, #k3.sym<"T">>
!cache = !k3.latent_cache<64x26xf32>

module attributes {k3.limits = {max_tokens = 640 : i64, max_seqs = 9 : i64, max_context = 256 : i64,
                                max_logit_rows = 8 : i64, page_tokens = 64 : i64}} {
  k3.symbol @T <= 640
  k3.symbol @S <= 9
  k3.state @cache : !cache

  func.func @ragged(%q: !q {k3.name = "q"}, %kv: !kv {k3.name = "kv"}, %gain: tensor<20xf32> {k3.name = "gain"},
                    %kv_b: tensor<90x20xf32> {k3.name = "kv_b"}, %batch: !seq) -> (!o {k3.name = "o"})
      attributes {k3.entry = "generic"} {
    %c = k3.ref @cache : !cache
    k3.latent_append %kv, %gain, %c, %batch {eps = 1.0e-6} : !kv, tensor<20xf32>, !cache, !seq
    %o = k3.mla %q, %kv_b, %c, %batch {heads = 3, nope = 16, rope = 6, value = 14, scale = 0.21320071635561041}
        : !q, tensor<90x20xf32>, !cache, !seq -> !o
    return %o : !o
  }
  func.func @step(%q: tensor<4x66xf32> {k3.name = "q"}, %kv: tensor<4x26xf32> {k3.name = "kv"},
                  %gain: tensor<20xf32> {k3.name = "gain"}, %kv_b: tensor<90x20xf32> {k3.name = "kv_b"},
                  %batch: !k3.batch<4>) -> (tensor<4x42xf32> {k3.name = "o"}) attributes {k3.entry = "generic"} {
    %c = k3.ref @cache : !cache
    k3.latent_append %kv, %gain, %c, %batch {eps = 1.0e-6} : tensor<4x26xf32>, tensor<20xf32>, !cache, !k3.batch<4>
    %o = k3.mla %q, %kv_b, %c, %batch {heads = 3, nope = 16, rope = 6, value = 14, scale = 0.21320071635561041}
        : tensor<4x66xf32>, tensor<90x20xf32>, !cache, !k3.batch<4> -> tensor<4x42xf32>
    return %o : tensor<4x42xf32>
  }
}
