// RUN: k3-opt %s --k3-to-tile --split-input-file --verify-diagnostics
// Groups written by hand that no fusion makes.

func.func private @family(%x: tensor<3x24xbf16>) -> tensor<3x24xbf16> {
  // expected-error @below {{expected one of the families row, contraction, head_contraction, conv, scan, attention, experts (got 'loop')}}
  %y = k3.fused "loop" {
    k3.yield %x : tensor<3x24xbf16>
  } -> tensor<3x24xbf16>
  return %y : tensor<3x24xbf16>
}

// -----

func.func private @empty() {
  // expected-error @below {{family 'row' is built around an op and the group has none; leave grouping to the fuse phase}}
  k3.fused "row" {
    k3.yield
  }
  return
}

// -----

func.func private @nothing_stored(%x: tensor<3x24xbf16>, %w: tensor<24x24xbf16>) {
  // expected-error @below {{family 'contraction' yields nothing, and a kernel of its family stores a result; leave grouping to the fuse phase}}
  k3.fused "contraction" {
    %l = k3.linear %x, %w : tensor<3x24xbf16>, tensor<24x24xbf16> -> tensor<3x24xbf16>
    k3.yield
  }
  return
}

// -----

func.func private @two_stored(%q: tensor<3x78xbf16>, %cache: !k3.latent_cache<64x26xbf16>, %batch: !k3.batch<3>) -> tensor<3x60xbf16> {
  // expected-error @below {{family 'attention' stores what its last op gives, and the group yields other values; leave grouping to the fuse phase}}
  %y:2 = k3.fused "attention" {
    %u = k3.latent_attention %q, %cache, %batch {heads = 3, latent = 20, scale = 0.25} : tensor<3x78xbf16>, !k3.latent_cache<64x26xbf16>, !k3.batch<3> -> tensor<3x60xbf16>
    k3.yield %u, %u : tensor<3x60xbf16>, tensor<3x60xbf16>
  } -> tensor<3x60xbf16>, tensor<3x60xbf16>
  return %y#1 : tensor<3x60xbf16>
}

// -----

func.func private @no_anchor(%x: tensor<3x24xbf16>) -> tensor<3x24xbf16> {
  // expected-error @below {{family 'contraction' is built around k3.linear and the group has none}}
  %y = k3.fused "contraction" {
    %z = k3.add %x, %x : tensor<3x24xbf16>, tensor<3x24xbf16> -> tensor<3x24xbf16>
    k3.yield %z : tensor<3x24xbf16>
  } -> tensor<3x24xbf16>
  return %y : tensor<3x24xbf16>
}

// -----

func.func private @not_a_tail(%x: tensor<3x24xbf16>, %w: tensor<24x24xbf16>, %gain: tensor<24xf32>) -> tensor<3x24xbf16> {
  %y = k3.fused "contraction" {
    %l = k3.linear %x, %w : tensor<3x24xbf16>, tensor<24x24xbf16> -> tensor<3x24xbf16>
    // expected-error @below {{cannot stand behind a contraction; only add, gate, glu and cast can}}
    %z = k3.rms_norm %l, %gain {eps = 1.0e-5} : tensor<3x24xbf16>, tensor<24xf32> -> tensor<3x24xbf16>
    k3.yield %z : tensor<3x24xbf16>
  } -> tensor<3x24xbf16>
  return %y : tensor<3x24xbf16>
}

// -----

func.func private @not_a_row(%x: tensor<3x24xbf16>, %w: tensor<24x24xbf16>) -> tensor<3x24xbf16> {
  %y = k3.fused "row" {
    // expected-error @below {{is not row-wise and cannot stand in a group of family row}}
    %l = k3.linear %x, %w : tensor<3x24xbf16>, tensor<24x24xbf16> -> tensor<3x24xbf16>
    k3.yield %l : tensor<3x24xbf16>
  } -> tensor<3x24xbf16>
  return %y : tensor<3x24xbf16>
}

// -----

func.func private @row_of_nothing(%x: tensor<3x24xbf16>) -> tensor<3x24xbf16> {
  %y = k3.fused "row" {
    // expected-error @below {{is not row-wise and cannot stand in a group of family row}}
    k3.tap %x as "x" : tensor<3x24xbf16>
    %z = k3.add %x, %x : tensor<3x24xbf16>, tensor<3x24xbf16> -> tensor<3x24xbf16>
    k3.yield %z : tensor<3x24xbf16>
  } -> tensor<3x24xbf16>
  return %y : tensor<3x24xbf16>
}

// -----

func.func private @not_halves(%x: tensor<3x24xbf16>, %w: tensor<36x24xbf16>) -> tensor<3x12xbf16> {
  %y = k3.fused "contraction" {
    %l = k3.linear %x, %w : tensor<3x24xbf16>, tensor<36x24xbf16> -> tensor<3x36xbf16>
    // expected-error @below {{is not part 0 of 2 equal ones of the projection; leave grouping to the fuse phase}}
    %a = k3.slice %l[0] : tensor<3x36xbf16> -> tensor<3x12xbf16>
    %b = k3.slice %l[24] : tensor<3x36xbf16> -> tensor<3x12xbf16>
    %z = k3.glu swiglu %a, %b : tensor<3x12xbf16>, tensor<3x12xbf16> -> tensor<3x12xbf16>
    k3.yield %z : tensor<3x12xbf16>
  } -> tensor<3x12xbf16>
  return %y : tensor<3x12xbf16>
}

// -----

func.func private @not_experts(%x: tensor<3x24xbf16>) -> tensor<3x24xbf16> {
  %y = k3.fused "experts" {
    // expected-error @below {{is not a half of the experts and cannot stand in a group of family experts}}
    %z = k3.add %x, %x : tensor<3x24xbf16>, tensor<3x24xbf16> -> tensor<3x24xbf16>
    k3.yield %z : tensor<3x24xbf16>
  } -> tensor<3x24xbf16>
  return %y : tensor<3x24xbf16>
}

// -----

func.func private @step_conv(%x: tensor<3x48xbf16>, %taps: tensor<48x4xbf16>, %state: !k3.conv_state<3x48xbf16>, %batch: !k3.batch<3>) -> tensor<3x48xbf16> {
  %y = k3.fused "conv" {
    // expected-error @below {{over a static batch must stand in a group with its recurrence}}
    %c = k3.short_conv %x, %taps, %state, %batch : tensor<3x48xbf16>, tensor<48x4xbf16>, !k3.conv_state<3x48xbf16>, !k3.batch<3> -> tensor<3x48xbf16>
    k3.yield %c : tensor<3x48xbf16>
  } -> tensor<3x48xbf16>
  return %y : tensor<3x48xbf16>
}

// -----

func.func private @no_limits(%q: tensor<3x78xbf16>, %cache: !k3.latent_cache<64x26xbf16>, %batch: !k3.batch<3>) -> tensor<3x60xbf16> {
  // expected-error @below {{reads a page table, but the module has no k3.limits to size it by; add them with max_context and page_tokens}}
  %y = k3.fused "attention" {
    %u = k3.latent_attention %q, %cache, %batch {heads = 3, latent = 20, scale = 0.25} : tensor<3x78xbf16>, !k3.latent_cache<64x26xbf16>, !k3.batch<3> -> tensor<3x60xbf16>
    k3.yield %u : tensor<3x60xbf16>
  } -> tensor<3x60xbf16>
  return %y : tensor<3x60xbf16>
}

// -----

func.func private @tail_of_passed_columns(%x: tensor<4x36xf32>, %w: tensor<24x5xbf16>, %y: tensor<4x27xf32>) -> tensor<4x27xf32> {
  %z = k3.fused "head_contraction" {
    // expected-error @below {{passes 4 columns through and cannot have ops behind it in its group}}
    %a = k3.head_linear %x, %w {heads = 3 : i64, stride_rows = 8 : i64, row_begin = 0 : i64, rows = 8 : i64, transpose, pass_begin = 8 : i64, pass_count = 4 : i64} : tensor<4x36xf32>, tensor<24x5xbf16> -> tensor<4x27xf32>
    %b = k3.add %a, %y : tensor<4x27xf32>, tensor<4x27xf32> -> tensor<4x27xf32>
    k3.yield %b : tensor<4x27xf32>
  } -> tensor<4x27xf32>
  return %z : tensor<4x27xf32>
}
