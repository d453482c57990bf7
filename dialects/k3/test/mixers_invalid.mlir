// RUN: k3-opt %s -verify-diagnostics -split-input-file
// What the verifiers of the mixers and experts refuse, with the numbers they name.

func.func private @f(%x: tensor<?x8xbf16, #k3.sym<"T">>, %w: tensor<8x4xbf16>, %s: !k3.conv_state<2x8xbf16>, %b: !k3.batch<"T", "S">) {
  // expected-error @below {{expected weight columns - 1 3 to equal state taps 2}}
  %0 = k3.short_conv %x, %w, %s, %b : tensor<?x8xbf16, #k3.sym<"T">>, tensor<8x4xbf16>, !k3.conv_state<2x8xbf16>, !k3.batch<"T", "S"> -> tensor<?x8xbf16, #k3.sym<"T">>
  return
}

// -----

func.func private @f(%x: tensor<?x8xbf16, #k3.sym<"T">>, %w: tensor<7x4xbf16>, %s: !k3.conv_state<3x8xbf16>, %b: !k3.batch<"T", "S">) {
  // expected-error @below {{expected weight rows 7 to equal x columns 8}}
  %0 = k3.short_conv %x, %w, %s, %b : tensor<?x8xbf16, #k3.sym<"T">>, tensor<7x4xbf16>, !k3.conv_state<3x8xbf16>, !k3.batch<"T", "S"> -> tensor<?x8xbf16, #k3.sym<"T">>
  return
}

// -----

func.func private @f(%x: tensor<?x8xbf16, #k3.sym<"T">>, %w: tensor<8x4xbf16>, %s: !k3.conv_state<3x9xbf16>, %b: !k3.batch<"T", "S">) {
  // expected-error @below {{expected state channels 9 to equal x columns 8}}
  %0 = k3.short_conv %x, %w, %s, %b : tensor<?x8xbf16, #k3.sym<"T">>, tensor<8x4xbf16>, !k3.conv_state<3x9xbf16>, !k3.batch<"T", "S"> -> tensor<?x8xbf16, #k3.sym<"T">>
  return
}

// -----

func.func private @f(%x: tensor<4x8xbf16>, %w: tensor<8x4xbf16>, %s: !k3.conv_state<3x8xbf16>, %b: !k3.batch<3>) {
  // expected-error @below {{expected batch rows 3 to equal x rows 4}}
  %0 = k3.short_conv %x, %w, %s, %b : tensor<4x8xbf16>, tensor<8x4xbf16>, !k3.conv_state<3x8xbf16>, !k3.batch<3> -> tensor<4x8xbf16>
  return
}

// -----

func.func private @f(%q: tensor<4x48xf32>, %v: tensor<4x72xf32>, %beta: tensor<4x3xf32>, %a: tensor<3xf32>, %dt: tensor<48xf32>, %s: !k3.kda_state<3x24x16xf32, kv>, %b: !k3.batch<4>) {
  // expected-error @below {{expected q columns 48 to equal state heads * key 72}}
  %0 = k3.kda(%q, %q, %v, %q, %beta, %a, %dt, %s, %b) : tensor<4x48xf32>, tensor<4x48xf32>, tensor<4x72xf32>, tensor<4x48xf32>, tensor<4x3xf32>, tensor<3xf32>, tensor<48xf32>, !k3.kda_state<3x24x16xf32, kv>, !k3.batch<4> -> tensor<4x72xf32>
  return
}

// -----

func.func private @f(%q: tensor<4x48xf32>, %v: tensor<4x72xf32>, %beta: tensor<4x2xf32>, %a: tensor<3xf32>, %dt: tensor<48xf32>, %s: !k3.kda_state<3x16x24xf32, kv>, %b: !k3.batch<4>) {
  // expected-error @below {{expected beta columns 2 to equal state heads 3}}
  %0 = k3.kda(%q, %q, %v, %q, %beta, %a, %dt, %s, %b) : tensor<4x48xf32>, tensor<4x48xf32>, tensor<4x72xf32>, tensor<4x48xf32>, tensor<4x2xf32>, tensor<3xf32>, tensor<48xf32>, !k3.kda_state<3x16x24xf32, kv>, !k3.batch<4> -> tensor<4x72xf32>
  return
}

// -----

func.func private @f(%q: tensor<4x48xf32>, %v: tensor<4x72xf32>, %beta: tensor<4x3xf32>, %a: tensor<1x1x2xf32>, %dt: tensor<48xf32>, %s: !k3.kda_state<3x16x24xf32, kv>, %b: !k3.batch<4>) {
  // expected-error @below {{expected a_log elements to be at least 3 (got 2)}}
  %0 = k3.kda(%q, %q, %v, %q, %beta, %a, %dt, %s, %b) : tensor<4x48xf32>, tensor<4x48xf32>, tensor<4x72xf32>, tensor<4x48xf32>, tensor<4x3xf32>, tensor<1x1x2xf32>, tensor<48xf32>, !k3.kda_state<3x16x24xf32, kv>, !k3.batch<4> -> tensor<4x72xf32>
  return
}

// -----

func.func private @f(%q: tensor<4x48xf32>, %v: tensor<4x72xf32>, %beta: tensor<4x3xf32>, %a: tensor<3xf32>, %dt: tensor<47xf32>, %s: !k3.kda_state<3x16x24xf32, kv>, %b: !k3.batch<4>) {
  // expected-error @below {{expected dt_bias elements 47 to equal state heads * key 48}}
  %0 = k3.kda(%q, %q, %v, %q, %beta, %a, %dt, %s, %b) : tensor<4x48xf32>, tensor<4x48xf32>, tensor<4x72xf32>, tensor<4x48xf32>, tensor<4x3xf32>, tensor<3xf32>, tensor<47xf32>, !k3.kda_state<3x16x24xf32, kv>, !k3.batch<4> -> tensor<4x72xf32>
  return
}

// -----

func.func private @f(%q: tensor<4x48xf32>, %v: tensor<4x72xf32>, %beta: tensor<4x3xf32>, %a: tensor<3xf32>, %dt: tensor<48xf32>, %s: !k3.kda_state<3x16x24xf32, kv>, %b: !k3.batch<4>) {
  // expected-error @below {{expected lower_bound to be negative and finite (got 5)}}
  %0 = k3.kda(%q, %q, %v, %q, %beta, %a, %dt, %s, %b) {lower_bound = 5.0} : tensor<4x48xf32>, tensor<4x48xf32>, tensor<4x72xf32>, tensor<4x48xf32>, tensor<4x3xf32>, tensor<3xf32>, tensor<48xf32>, !k3.kda_state<3x16x24xf32, kv>, !k3.batch<4> -> tensor<4x72xf32>
  return
}

// -----

func.func private @f(%kv: tensor<4x26xf32>, %g: tensor<20xf32>, %c: !k3.latent_cache<64x28xf32>, %b: !k3.batch<4>) {
  // expected-error @below {{expected kv columns 26 to equal cache width 28}}
  k3.latent_append %kv, %g, %c, %b {eps = 1.0e-5} : tensor<4x26xf32>, tensor<20xf32>, !k3.latent_cache<64x28xf32>, !k3.batch<4>
  return
}

// -----

func.func private @f(%kv: tensor<4x26xf32>, %g: tensor<27xf32>, %c: !k3.latent_cache<64x26xf32>, %b: !k3.batch<4>) {
  // expected-error @below {{expected gain elements 27 to be at most cache width 26}}
  k3.latent_append %kv, %g, %c, %b {eps = 1.0e-5} : tensor<4x26xf32>, tensor<27xf32>, !k3.latent_cache<64x26xf32>, !k3.batch<4>
  return
}

// -----

func.func private @f(%q: tensor<4x66xf32>, %w: tensor<90x20xf32>, %c: !k3.latent_cache<64x26xf32>, %b: !k3.batch<4>) {
  // expected-error @below {{expected q columns 66 to equal heads * (nope + rope) 63}}
  %0 = k3.mla %q, %w, %c, %b {heads = 3, nope = 15, rope = 6, value = 14, scale = 0.25} : tensor<4x66xf32>, tensor<90x20xf32>, !k3.latent_cache<64x26xf32>, !k3.batch<4> -> tensor<4x42xf32>
  return
}

// -----

func.func private @f(%q: tensor<4x66xf32>, %w: tensor<90x20xf32>, %c: !k3.latent_cache<64x26xf32>, %b: !k3.batch<4>) {
  // expected-error @below {{expected kv_b rows 90 to equal heads * (nope + value) 93}}
  %0 = k3.mla %q, %w, %c, %b {heads = 3, nope = 16, rope = 6, value = 15, scale = 0.25} : tensor<4x66xf32>, tensor<90x20xf32>, !k3.latent_cache<64x26xf32>, !k3.batch<4> -> tensor<4x45xf32>
  return
}

// -----

func.func private @f(%q: tensor<4x66xf32>, %w: tensor<90x20xf32>, %c: !k3.latent_cache<64x20xf32>, %b: !k3.batch<4>) {
  // expected-error @below {{expected kv_b columns + rope 26 to equal cache width 20}}
  %0 = k3.mla %q, %w, %c, %b {heads = 3, nope = 16, rope = 6, value = 14, scale = 0.25} : tensor<4x66xf32>, tensor<90x20xf32>, !k3.latent_cache<64x20xf32>, !k3.batch<4> -> tensor<4x42xf32>
  return
}

// -----

func.func private @f(%q: tensor<4x78xf32>, %c: !k3.latent_cache<64x26xf32>, %b: !k3.batch<4>) {
  // expected-error @below {{expected latent 27 to be at most cache width 26}}
  %0 = k3.latent_attention %q, %c, %b {heads = 3, latent = 27, scale = 0.25} : tensor<4x78xf32>, !k3.latent_cache<64x26xf32>, !k3.batch<4> -> tensor<4x81xf32>
  return
}

// -----

func.func private @f(%q: tensor<4x77xf32>, %c: !k3.latent_cache<64x26xf32>, %b: !k3.batch<4>) {
  // expected-error @below {{expected q columns 77 to equal heads * cache width 78}}
  %0 = k3.latent_attention %q, %c, %b {heads = 3, latent = 20, scale = 0.25} : tensor<4x77xf32>, !k3.latent_cache<64x26xf32>, !k3.batch<4> -> tensor<4x60xf32>
  return
}

// -----

func.func private @f(%s: !k3.stack<2x8xf32, 4>, %h: tensor<3x8xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected stack rows 4 to equal h rows 3}}
  k3.attn_res.push %s[%c0], %h : !k3.stack<2x8xf32, 4>, tensor<3x8xf32>
  return
}

// -----

func.func private @f(%s: !k3.stack<2x8xf32, 4>, %h: tensor<4x8xf32>) {
  %c2 = arith.constant 2 : index
  // expected-error @below {{expected index in 0 .. 1 (got 2)}}
  k3.attn_res.push %s[%c2], %h : !k3.stack<2x8xf32, 4>, tensor<4x8xf32>
  return
}

// -----

func.func private @f(%s: !k3.stack<2x8xf32, 4>, %h: tensor<4x9xf32>, %i: index) {
  // expected-error @below {{expected h columns 9 to equal stack hidden 8}}
  k3.attn_res.push %s[%i], %h : !k3.stack<2x8xf32, 4>, tensor<4x9xf32>
  return
}

// -----

func.func private @f(%s: !k3.stack<2x8xf32, 4>, %h: tensor<4x8xf32>, %n: tensor<8xf32>) {
  %c3 = arith.constant 3 : index
  // expected-error @below {{expected count in 0 .. 2 (got 3)}}
  %0 = k3.attn_res.mix %s[%c3], %h, %n, %n {eps = 1.0e-5} : !k3.stack<2x8xf32, 4>, tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func private @f(%s: !k3.stack<2x8xf32, 4>, %h: tensor<4x8xf32>, %n: tensor<8xf32>, %i: index) {
  // expected-error @below {{expected result to have elements of type f32 (got bf16)}}
  %0 = k3.attn_res.mix %s[%i], %h, %n, %n {eps = 1.0e-5} : !k3.stack<2x8xf32, 4>, tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<4x8xbf16>
  return
}

// -----

func.func private @f(%s: !k3.stack<2x8xf32, 4>, %h: tensor<4x8xf32>, %n: tensor<8xf32>, %q: tensor<7xf32>, %i: index) {
  // expected-error @below {{expected query elements 7 to equal stack hidden 8}}
  %0 = k3.attn_res.mix %s[%i], %h, %n, %q {eps = 1.0e-5} : !k3.stack<2x8xf32, 4>, tensor<4x8xf32>, tensor<8xf32>, tensor<7xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func private @f(%l: tensor<4x6xf32>, %b: tensor<5xf32>) {
  // expected-error @below {{expected bias elements 5 to equal logits columns 6}}
  %0, %1 = k3.router sigmoid %l, %b {top_k = 2, renormalize = true, scale = 1.0} : tensor<4x6xf32>, tensor<5xf32> -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func private @f(%l: tensor<4x6xbf16>, %b: tensor<6xf32>) {
  // expected-error @below {{expected logits to have elements of type f32 (got bf16)}}
  %0, %1 = k3.router sigmoid %l, %b {top_k = 2, renormalize = true, scale = 1.0} : tensor<4x6xbf16>, tensor<6xf32> -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func private @f(%l: tensor<4x6xf32>, %b: tensor<6xf32>) {
  // expected-error @below {{expected logits columns 6 to be a multiple of groups 4}}
  %0, %1 = k3.router sigmoid %l, %b {top_k = 2, renormalize = true, scale = 1.0, groups = 4} : tensor<4x6xf32>, tensor<6xf32> -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func private @f(%l: tensor<4x6xf32>, %b: tensor<6xf32>) {
  // expected-error @below {{expected topk_groups 4 to be at most groups 3}}
  %0, %1 = k3.router sigmoid %l, %b {top_k = 2, renormalize = true, scale = 1.0, groups = 3, topk_groups = 4} : tensor<4x6xf32>, tensor<6xf32> -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func private @f(%l: tensor<4x6xf32>, %b: tensor<6xf32>) {
  // expected-error @below {{expected top_k 3 to be at most experts of the chosen groups 2}}
  %0, %1 = k3.router sigmoid %l, %b {top_k = 3, renormalize = true, scale = 1.0, groups = 3} : tensor<4x6xf32>, tensor<6xf32> -> tensor<4x3xi32>, tensor<4x3xf32>
  return
}

// -----

func.func private @f(%l: tensor<4x6xf32>, %b: tensor<6xf32>) {
  // expected-error @below {{expected weights columns 3 to equal top_k 2}}
  %0, %1 = k3.router sigmoid %l, %b {top_k = 2, renormalize = true, scale = 1.0} : tensor<4x6xf32>, tensor<6xf32> -> tensor<4x2xi32>, tensor<4x3xf32>
  return
}

// -----

func.func private @f(%z: tensor<4x32xf32>, %i: tensor<4x2xi32>, %w: tensor<4x3xf32>, %g: tensor<6x14x32xf32>, %d: tensor<6x32x7xf32>) {
  // expected-error @below {{expected weights columns 3 to equal ids columns 2}}
  %0 = k3.experts situ %z, %i, %w, %g, %d : tensor<4x32xf32>, tensor<4x2xi32>, tensor<4x3xf32>, tensor<6x14x32xf32>, tensor<6x32x7xf32> -> tensor<4x32xf32>
  return
}

// -----

func.func private @f(%z: tensor<4x32xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>, %g: tensor<6x15x32xf32>, %d: tensor<6x32x7xf32>) {
  // expected-error @below {{expected gate_up rows 15 to be even, gate then up}}
  %0 = k3.experts situ %z, %i, %w, %g, %d : tensor<4x32xf32>, tensor<4x2xi32>, tensor<4x2xf32>, tensor<6x15x32xf32>, tensor<6x32x7xf32> -> tensor<4x32xf32>
  return
}

// -----

func.func private @f(%z: tensor<4x32xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>, %g: tensor<6x14x32xf32>, %d: tensor<6x32x8xf32>) {
  // expected-error @below {{expected down columns 8 to equal half of the gate_up rows, 7}}
  %0 = k3.experts situ %z, %i, %w, %g, %d : tensor<4x32xf32>, tensor<4x2xi32>, tensor<4x2xf32>, tensor<6x14x32xf32>, tensor<6x32x8xf32> -> tensor<4x32xf32>
  return
}

// -----

func.func private @f(%z: tensor<4x32xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>, %g: tensor<6x14x32xf32>, %d: tensor<5x32x7xf32>) {
  // expected-error @below {{expected down experts 5 to equal gate_up experts 6}}
  %0 = k3.experts situ %z, %i, %w, %g, %d : tensor<4x32xf32>, tensor<4x2xi32>, tensor<4x2xf32>, tensor<6x14x32xf32>, tensor<5x32x7xf32> -> tensor<4x32xf32>
  return
}

// -----

func.func private @f(%z: tensor<4x64xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>, %g: tensor<5x64x32xi8>, %gs: tensor<5x64x3xi8>, %d: tensor<5x64x16xi8>, %ds: tensor<5x64x1xi8>) {
  // expected-error @below {{expected gate_up_scale columns * 32 96 to equal gate_up columns * 2 64}}
  %0 = k3.experts situ %z, %i, %w, %g, %d scales(%gs, %ds) : tensor<4x64xf32>, tensor<4x2xi32>, tensor<4x2xf32>, tensor<5x64x32xi8>, tensor<5x64x16xi8> scales(tensor<5x64x3xi8>, tensor<5x64x1xi8>) -> tensor<4x64xf32>
  return
}

// -----

func.func private @f(%z: tensor<4x64xf32>, %i: tensor<4x2xi32>, %g: tensor<5x64x32xi8>) {
  // expected-error @below {{expected gate_up to have elements of type f32 or bf16 (got i8)}}
  %0 = k3.expert_up situ %z, %i, %g : tensor<4x64xf32>, tensor<4x2xi32>, tensor<5x64x32xi8> -> tensor<4x64xf32>
  return
}

// -----

func.func private @f(%z: tensor<4x64xf32>, %i: tensor<4x2xi32>, %g: tensor<5x64x64xf32>, %s: tensor<5x64x2xi8>) {
  // expected-error @below {{expected gate_up to have elements of type i8, codes or scales of MXFP4 (got f32)}}
  %0 = k3.expert_up situ %z, %i, %g scale %s : tensor<4x64xf32>, tensor<4x2xi32>, tensor<5x64x64xf32> scale tensor<5x64x2xi8> -> tensor<4x64xf32>
  return
}

// -----

func.func private @f(%z: tensor<4x32xf32>, %i: tensor<4x2xi32>, %g: tensor<6x14x32xf32>) {
  // expected-error @below {{expected result columns 7 to equal ids columns * half of the gate_up rows, 14}}
  %0 = k3.expert_up situ %z, %i, %g : tensor<4x32xf32>, tensor<4x2xi32>, tensor<6x14x32xf32> -> tensor<4x7xf32>
  return
}

// -----

func.func private @f(%z: tensor<4x32xf32>, %i: tensor<4x2xi32>, %g: tensor<1x14x32xf32>) {
  // expected-error @below {{expected ids columns 2 to be at most gate_up experts 1}}
  %0 = k3.expert_up situ %z, %i, %g : tensor<4x32xf32>, tensor<4x2xi32>, tensor<1x14x32xf32> -> tensor<4x14xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x15xf32>, %i: tensor<4x2xi32>, %d: tensor<6x32x7xf32>) {
  // expected-error @below {{expected x columns 15 to equal ids columns * down columns 14}}
  %0 = k3.expert_down %x, %i, %d : tensor<4x15xf32>, tensor<4x2xi32>, tensor<6x32x7xf32> -> tensor<4x64xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x14xf32>, %i: tensor<4x2xi32>, %d: tensor<6x32x7xf32>) {
  // expected-error @below {{expected result columns 32 to equal ids columns * down rows 64}}
  %0 = k3.expert_down %x, %i, %d : tensor<4x14xf32>, tensor<4x2xi32>, tensor<6x32x7xf32> -> tensor<4x32xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x64xf32>, %w: tensor<4x3xf32>) {
  // expected-error @below {{expected x columns 64 to equal weights columns * result columns 96}}
  %0 = k3.combine %x, %w : tensor<4x64xf32>, tensor<4x3xf32> -> tensor<4x32xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x64xf32>, %w: tensor<4x2xbf16>) {
  // expected-error @below {{expected weights to have elements of type f32 (got bf16)}}
  %0 = k3.combine %x, %w : tensor<4x64xf32>, tensor<4x2xbf16> -> tensor<4x32xf32>
  return
}
