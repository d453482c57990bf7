// The recurrence and attention on bf16 numbers, in sizes that tensor cores take: sixteen heads of attention whose latent is
// an odd number of result tiles wide, and three heads of a recurrence with its value larger than its key.

!seq = !k3.batch<"T", "S">
!k = tensor<?x96xbf16, #k3.sym<"T">>
!v = tensor<?x144xbf16, #k3.sym<"T">>
!beta = tensor<?x3xf32, #k3.sym<"T">>
!q = tensor<?x384xbf16, #k3.sym<"T">>
!kv = tensor<?x32xbf16, #k3.sym<"T">>
!o = tensor<?x224xbf16, #k3.sym<"T">>
!cache = !k3.latent_cache<64x32xbf16>

module attributes {k3.limits = {max_tokens = 640 : i64, max_seqs = 9 : i64, max_context = 256 : i64,
                                max_logit_rows = 8 : i64, page_tokens = 64 : i64}} {
  k3.symbol @T <= 640
  k3.symbol @S <= 9
  k3.state @cache : !cache
  k3.state @state : !k3.kda_state<3x32x48xf32, kv>

  func.func @bounded(%q: !k {k3.name = "q"}, %key: !k {k3.name = "k"}, %value: !v {k3.name = "v"},
                     %gate: !k {k3.name = "gate"}, %b: !beta {k3.name = "beta"}, %a: tensor<3xf32> {k3.name = "a_log"},
                     %dt: tensor<96xf32> {k3.name = "dt_bias"}, %batch: !seq) -> (!v {k3.name = "o"})
      attributes {k3.entry = "generic"} {
    %s = k3.ref @state : !k3.kda_state<3x32x48xf32, kv>
    %o = k3.kda(%q, %key, %value, %gate, %b, %a, %dt, %s, %batch) {lower_bound = -5.0}
        : !k, !k, !v, !k, !beta, tensor<3xf32>, tensor<96xf32>, !k3.kda_state<3x32x48xf32, kv>, !seq -> !v
    return %o : !v
  }
  func.func @softplus(%q: !k {k3.name = "q"}, %key: !k {k3.name = "k"}, %value: !v {k3.name = "v"},
                     %gate: !k {k3.name = "gate"}, %b: !beta {k3.name = "beta"}, %a: tensor<3xf32> {k3.name = "a_log"},
                     %dt: tensor<96xf32> {k3.name = "dt_bias"}, %batch: !seq) -> (!v {k3.name = "o"})
      attributes {k3.entry = "generic"} {
    %s = k3.ref @state : !k3.kda_state<3x32x48xf32, kv>
    %o = k3.kda(%q, %key, %value, %gate, %b, %a, %dt, %s, %batch)
        : !k, !k, !v, !k, !beta, tensor<3xf32>, tensor<96xf32>, !k3.kda_state<3x32x48xf32, kv>, !seq -> !v
    return %o : !v
  }
  func.func @attention(%q: !q {k3.name = "q"}, %kv: !kv {k3.name = "kv"}, %gain: tensor<24xf32> {k3.name = "gain"},
                       %kv_b: tensor<480x24xbf16> {k3.name = "kv_b"}, %batch: !seq) -> (!o {k3.name = "o"})
      attributes {k3.entry = "generic"} {
    %c = k3.ref @cache : !cache
    k3.latent_append %kv, %gain, %c, %batch {eps = 1.0e-6} : !kv, tensor<24xf32>, !cache, !seq
    %o = k3.mla %q, %kv_b, %c, %batch {heads = 16, nope = 16, rope = 8, value = 14, scale = 0.20412414523193151}
        : !q, tensor<480x24xbf16>, !cache, !seq -> !o
    return %o : !o
  }
}
