// RUN: k3-opt %s --k3-plan -split-input-file -verify-diagnostics -o %t

// expected-error @below {{module: has no k3.limits, which says for how many tokens and sequences memory is planned}}
module {
}

// -----

// expected-error @below {{module: has no entry; mark a function with k3.entry}}
module attributes {k3.limits = {max_tokens = 16 : i64, max_seqs = 1 : i64, max_context = 64 : i64, max_logit_rows = 4 : i64, page_tokens = 64 : i64}} {
}

// -----

// expected-error @below {{mesh: programs of several ranks are not planned yet (got tp 2, expected 1)}}
module attributes {k3.limits = {max_tokens = 16 : i64, max_seqs = 1 : i64, max_context = 64 : i64, max_logit_rows = 4 : i64, page_tokens = 64 : i64},
                   k3.mesh = {tp = 2 : i64, ep = 1 : i64, pp = 1 : i64}} {
}

// -----

module attributes {k3.limits = {max_tokens = 16 : i64, max_seqs = 1 : i64, max_context = 64 : i64, max_logit_rows = 4 : i64, page_tokens = 64 : i64}} {
  // expected-error @below {{entry 'e': argument 0 cannot be filled by a run (got 'index', expected a tensor or a batch)}}
  func.func @e(%n: index {k3.name = "n"}) attributes {k3.entry = "generic"} {
    return
  }
}

// -----

module attributes {k3.limits = {max_tokens = 16 : i64, max_seqs = 1 : i64, max_context = 64 : i64, max_logit_rows = 4 : i64, page_tokens = 64 : i64}} {
  // expected-error @below {{entry 'e': result 0 cannot be read by a run (got 'index', expected a tensor)}}
  func.func @e() -> (index {k3.name = "n"}) attributes {k3.entry = "generic"} {
    %c1 = arith.constant 1 : index
    return %c1 : index
  }
}

// -----

module attributes {k3.limits = {max_tokens = 16 : i64, max_seqs = 1 : i64, max_context = 64 : i64, max_logit_rows = 4 : i64, page_tokens = 64 : i64}} {
  func.func @e() attributes {k3.entry = "generic"} {
    // expected-error @below {{indices of the host are not negative (got -1)}}
    %c1 = arith.constant -1 : index
    return
  }
}

// -----

module attributes {k3.limits = {max_tokens = 16 : i64, max_seqs = 1 : i64, max_context = 64 : i64, max_logit_rows = 4 : i64, page_tokens = 64 : i64}} {
  func.func @e() attributes {k3.entry = "generic"} {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    // expected-error @below {{has no non-negative 64-bit value (got operands #plan.expr<1> and #plan.expr<2>)}}
    %d = arith.subi %c1, %c2 : index
    return
  }
}

// -----

module attributes {k3.limits = {max_tokens = 16 : i64, max_seqs = 1 : i64, max_context = 64 : i64, max_logit_rows = 4 : i64, page_tokens = 64 : i64}} {
  func.func @e(%x: tensor<4x4xf32> {k3.name = "x"}) attributes {k3.entry = "generic"} {
    // expected-error @below {{cannot stand in an entry that becomes a plan; the host knows launches, taps, calls and arithmetic on indices}}
    %d = k3.add %x, %x : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    return
  }
}

// -----

module attributes {k3.limits = {max_tokens = 16 : i64, max_seqs = 1 : i64, max_context = 64 : i64, max_logit_rows = 4 : i64, page_tokens = 64 : i64}} {
  k3.param @"layers.{L}.w" : tensor<4x4xf32>
  func.func @e() -> (tensor<4x4xf32> {k3.name = "y"}) attributes {k3.entry = "generic"} {
    // expected-error @below {{'layers.{L}.w': is used where no layer is known; put k3.layer on the call}}
    %w = k3.weight @"layers.{L}.w" : tensor<4x4xf32>
    return %w : tensor<4x4xf32>
  }
}

// -----

module attributes {k3.limits = {max_tokens = 16 : i64, max_seqs = 1 : i64, max_context = 64 : i64, max_logit_rows = 4 : i64, page_tokens = 64 : i64}} {
  k3.state @cache : !k3.latent_cache<16x8xf32>
  func.func @e() attributes {k3.entry = "generic"} {
    // expected-error @below {{cache 'cache': its pages differ from k3.limits (got 16 tokens, expected 64)}}
    %w = k3.ref @cache : !k3.latent_cache<16x8xf32>
    return
  }
}

// -----

module attributes {k3.limits = {max_tokens = 16 : i64, max_seqs = 65536 : i64, max_context = 2097152 : i64, max_logit_rows = 4 : i64, page_tokens = 64 : i64}} {
  k3.state @cache : !k3.latent_cache<64x8xf32>
  func.func @e() attributes {k3.entry = "generic"} {
    // expected-error @below {{cache 'cache': too many pages to number in 32 bits (got 2147483648 for 65536 sequences of 2097152 tokens, expected at most 2147483647); lower max_seqs or max_context}}
    %w = k3.ref @cache : !k3.latent_cache<64x8xf32>
    return
  }
}

// -----

module attributes {k3.limits = {max_tokens = 16 : i64, max_seqs = 1 : i64, max_context = 64 : i64, max_logit_rows = 4 : i64, page_tokens = 64 : i64}} {
  func.func private @body(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    // expected-error @below {{@body calls itself; the host has no loops}}
    %y = func.call @body(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
  func.func @e(%x: tensor<4x4xf32> {k3.name = "x"}) attributes {k3.entry = "generic"} {
    %y = func.call @body(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return
  }
}

// -----

module attributes {k3.limits = {max_tokens = 16 : i64, max_seqs = 1 : i64, max_context = 64 : i64, max_logit_rows = 4 : i64, page_tokens = 64 : i64}} {
  func.func private @body(tensor<4x4xf32>)
  func.func @e(%x: tensor<4x4xf32> {k3.name = "x"}) attributes {k3.entry = "generic"} {
    // expected-error @below {{@body has no body to plan}}
    func.call @body(%x) : (tensor<4x4xf32>) -> ()
    return
  }
}

// -----

module attributes {k3.limits = {max_tokens = 16 : i64, max_seqs = 1 : i64, max_context = 64 : i64, max_logit_rows = 4 : i64, page_tokens = 64 : i64}} {
  k3.symbol @T <= 4611686018427387904
  // expected-error @below {{'x': needs more than 2^62 bytes at the upper bound 4611686018427387904 of extent #plan.expr<T>}}
  func.func @e(%x: tensor<?x4xf32, #k3.sym<"T">> {k3.name = "x"}) attributes {k3.entry = "generic"} {
    return
  }
}

// -----

// expected-error @below {{arena 'io': needs more than 2^63 bytes}}
module attributes {k3.limits = {max_tokens = 16 : i64, max_seqs = 1 : i64, max_context = 64 : i64, max_logit_rows = 4 : i64, page_tokens = 64 : i64}} {
  k3.symbol @T <= 144115188075855872
  func.func @e(%x: tensor<?x4xf32, #k3.sym<"T">> {k3.name = "x"}, %y: tensor<?x4xf32, #k3.sym<"T">> {k3.name = "y"},
               %z: tensor<?x4xf32, #k3.sym<"T">> {k3.name = "z"}, %u: tensor<?x4xf32, #k3.sym<"T">> {k3.name = "u"}) attributes {k3.entry = "generic"} {
    return
  }
}

// -----

module attributes {k3.limits = {max_tokens = 16 : i64, max_seqs = 1 : i64, max_context = 64 : i64, max_logit_rows = 4 : i64, page_tokens = 64 : i64}} {
  // expected-error @below {{entry 'e': has taps but runs no kernel; drop the taps}}
  func.func @e(%x: tensor<4x4xf32> {k3.name = "x"}) attributes {k3.entry = "generic"} {
    k3.tap %x as "x" : tensor<4x4xf32>
    return
  }
}

// -----

module attributes {k3.limits = {max_tokens = 16 : i64, max_seqs = 1 : i64, max_context = 64 : i64, max_logit_rows = 4 : i64, page_tokens = 64 : i64}} {
  // expected-error @below {{'x': no element type of a plan (got 'index', expected f32, bf16, i32, i64 or i8)}}
  func.func @e(%x: tensor<4x4xindex> {k3.name = "x"}) attributes {k3.entry = "generic"} {
    return
  }
}
