// The recurrence alone, key and value sizes that differ, three heads: a bounded gate over ragged rows and over a decode
// batch, a softplus gate with its key larger than its value, and the chain of a decode step with its convolutions.

!seq = !k3.batch<"T", "S">
!k = tensor<?x48xf32, #k3.sym<"T">>
!v = tensor<?x72xf32, #k3.sym<"T">>
!beta = tensor<?x3xf32, #k3.sym<"T">>
!kw = tensor<?x96xf32, #k3.sym<"T">>
!vw = tensor<?x24xf32, #k3.sym<"T">>

module attributes {k3.limits = {max_tokens = 640 : i64, max_seqs = 9 : i64, max_context = 256 : i64,
                                max_logit_rows = 8 : i64, page_tokens = 64 : i64}} {
  k3.symbol @T <= 640
  k3.symbol @S <= 9
  k3.state @state : !k3.kda_state<3x16x24xf32, kv>
  k3.state @wide : !k3.kda_state<3x32x8xf32, kv>
  k3.state @turned : !k3.kda_state<3x16x24xf32, vk>
  k3.state @conv_q : !k3.conv_state<3x48xf32>
  k3.state @conv_k : !k3.conv_state<3x48xf32>
  k3.state @conv_v : !k3.conv_state<3x72xf32>

  func.func @bounded(%q: !k {k3.name = "q"}, %key: !k {k3.name = "k"}, %value: !v {k3.name = "v"},
                     %gate: !k {k3.name = "gate"}, %b: !beta {k3.name = "beta"}, %a: tensor<5xf32> {k3.name = "a_log"},
                     %dt: tensor<48xf32> {k3.name = "dt_bias"}, %batch: !seq) -> (!v {k3.name = "o"})
      attributes {k3.entry = "generic"} {
    %s = k3.ref @state : !k3.kda_state<3x16x24xf32, kv>
    %o = k3.kda(%q, %key, %value, %gate, %b, %a, %dt, %s, %batch) {lower_bound = -5.0}
        : !k, !k, !v, !k, !beta, tensor<5xf32>, tensor<48xf32>, !k3.kda_state<3x16x24xf32, kv>, !seq -> !v
    return %o : !v
  }

  func.func @value_first(%q: !k {k3.name = "q"}, %key: !k {k3.name = "k"}, %value: !v {k3.name = "v"},
                         %gate: !k {k3.name = "gate"}, %b: !beta {k3.name = "beta"},
                         %a: tensor<5xf32> {k3.name = "a_log"}, %dt: tensor<48xf32> {k3.name = "dt_bias"},
                         %batch: !seq) -> (!v {k3.name = "o"}) attributes {k3.entry = "generic"} {
    %s = k3.ref @turned : !k3.kda_state<3x16x24xf32, vk>
    %o = k3.kda(%q, %key, %value, %gate, %b, %a, %dt, %s, %batch)
        : !k, !k, !v, !k, !beta, tensor<5xf32>, tensor<48xf32>, !k3.kda_state<3x16x24xf32, vk>, !seq -> !v
    return %o : !v
  }

  func.func @softplus(%q: !kw {k3.name = "q"}, %key: !kw {k3.name = "k"}, %value: !vw {k3.name = "v"},
                      %gate: !kw {k3.name = "gate"}, %b: !beta {k3.name = "beta"}, %a: tensor<3xf32> {k3.name = "a_log"},
                      %dt: tensor<96xf32> {k3.name = "dt_bias"}, %batch: !seq) -> (!vw {k3.name = "o"})
      attributes {k3.entry = "generic"} {
    %s = k3.ref @wide : !k3.kda_state<3x32x8xf32, kv>
    %o = k3.kda(%q, %key, %value, %gate, %b, %a, %dt, %s, %batch)
        : !kw, !kw, !vw, !kw, !beta, tensor<3xf32>, tensor<96xf32>, !k3.kda_state<3x32x8xf32, kv>, !seq -> !vw
    return %o : !vw
  }

  func.func @step(%q: tensor<4x48xf32> {k3.name = "q"}, %key: tensor<4x48xf32> {k3.name = "k"},
                  %value: tensor<4x72xf32> {k3.name = "v"}, %gate: tensor<4x48xf32> {k3.name = "gate"},
                  %b: tensor<4x3xf32> {k3.name = "beta"}, %a: tensor<5xf32> {k3.name = "a_log"},
                  %dt: tensor<48xf32> {k3.name = "dt_bias"}, %batch: !k3.batch<4>)
      -> (tensor<4x72xf32> {k3.name = "o"}) attributes {k3.entry = "generic"} {
    %s = k3.ref @state : !k3.kda_state<3x16x24xf32, kv>
    %o = k3.kda(%q, %key, %value, %gate, %b, %a, %dt, %s, %batch) {lower_bound = -5.0}
        : tensor<4x48xf32>, tensor<4x48xf32>, tensor<4x72xf32>, tensor<4x48xf32>, tensor<4x3xf32>, tensor<5xf32>,
          tensor<48xf32>, !k3.kda_state<3x16x24xf32, kv>, !k3.batch<4> -> tensor<4x72xf32>
    return %o : tensor<4x72xf32>
  }

  func.func @chain(%q: tensor<4x48xf32> {k3.name = "q"}, %key: tensor<4x48xf32> {k3.name = "k"},
                   %value: tensor<4x72xf32> {k3.name = "v"}, %qw: tensor<48x4xf32> {k3.name = "q_taps"},
                   %kw: tensor<48x4xf32> {k3.name = "k_taps"}, %vw: tensor<72x4xf32> {k3.name = "v_taps"},
                   %gate: tensor<4x48xf32> {k3.name = "gate"}, %b: tensor<4x3xf32> {k3.name = "beta"},
                   %a: tensor<5xf32> {k3.name = "a_log"}, %dt: tensor<48xf32> {k3.name = "dt_bias"},
                   %og: tensor<4x72xf32> {k3.name = "out_gate"}, %gain: tensor<24xf32> {k3.name = "gain"},
                   %batch: !k3.batch<4>) -> (tensor<4x72xf32> {k3.name = "o"}) attributes {k3.entry = "generic"} {
    %s = k3.ref @state : !k3.kda_state<3x16x24xf32, kv>
    %cq = k3.ref @conv_q : !k3.conv_state<3x48xf32>
    %ck = k3.ref @conv_k : !k3.conv_state<3x48xf32>
    %cv = k3.ref @conv_v : !k3.conv_state<3x72xf32>
    %yq = k3.short_conv %q, %qw, %cq, %batch
        : tensor<4x48xf32>, tensor<48x4xf32>, !k3.conv_state<3x48xf32>, !k3.batch<4> -> tensor<4x48xf32>
    %yk = k3.short_conv %key, %kw, %ck, %batch
        : tensor<4x48xf32>, tensor<48x4xf32>, !k3.conv_state<3x48xf32>, !k3.batch<4> -> tensor<4x48xf32>
    %yv = k3.short_conv %value, %vw, %cv, %batch
        : tensor<4x72xf32>, tensor<72x4xf32>, !k3.conv_state<3x72xf32>, !k3.batch<4> -> tensor<4x72xf32>
    %o = k3.kda(%yq, %yk, %yv, %gate, %b, %a, %dt, %s, %batch) {lower_bound = -5.0}
        : tensor<4x48xf32>, tensor<4x48xf32>, tensor<4x72xf32>, tensor<4x48xf32>, tensor<4x3xf32>, tensor<5xf32>,
          tensor<48xf32>, !k3.kda_state<3x16x24xf32, kv>, !k3.batch<4> -> tensor<4x72xf32>
    %y = k3.gated_rms_norm %o, %og, %gain {eps = 1.0e-5}
        : tensor<4x72xf32>, tensor<4x72xf32>, tensor<24xf32> -> tensor<4x72xf32>
    return %y : tensor<4x72xf32>
  }
}
