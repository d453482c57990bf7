// RUN: k3-opt %s -verify-diagnostics -split-input-file
// What each verifier of the k3 dialect refuses, with the numbers it names.

// expected-error @below {{expected the upper bound of @T to be at least 1 (got 0)}}
k3.symbol @T <= 0

// -----

// expected-error @below {{expected @p to be a tensor of static extents (got 'tensor<?x4xf32>')}}
k3.param @p : tensor<?x4xf32>

// -----

// expected-error @below {{expected elements of type f32, bf16, or i8 for MXFP4 (got 'f16')}}
k3.param @p : tensor<3x4xf16>

// -----

// expected-error @below {{@p: expected extents of at least 1 (got 0)}}
k3.param @p : tensor<0x4xf32>

// -----

// expected-error @below {{expected at least 1 piece after 'from' (got 0)}}
k3.param @p : tensor<3x4xf32> from []

// -----

// expected-error @below {{expected piece 0 to be a #k3.piece (got 7 : i64)}}
k3.param @p : tensor<3x4xf32> from [7]

// -----

// expected-error @below {{expected the end of piece 1 ('b') 14 to be at most the elements of the weight 12}}
k3.param @p : tensor<3x4xf32> from [#k3.piece<"a", rows = 3, cols = 2, dst_stride = 4>, #k3.piece<"b", rows = 3, cols = 2, at = 4, dst_stride = 4>]

// -----

// expected-error @below {{piece 'layers.{L}.w' is one for each layer, but @p is one for all; put {L} into its name}}
k3.param @p : tensor<3x4xf32> from [#k3.piece<"layers.{L}.w", rows = 3, cols = 4>]

// -----

// expected-error @below {{expected @s to be a kda_state, a conv_state or a latent_cache (got 'f32')}}
k3.state @s : f32

// -----

func.func private @f() {
  // expected-error @below {{@w is not declared; add k3.param @w}}
  %0 = k3.weight @w : tensor<3xf32>
  return
}

// -----

k3.param @w : tensor<5xf32>
func.func private @f() {
  // expected-error @below {{expected the type of @w as declared, 'tensor<5xf32>' (got 'tensor<3xf32>')}}
  %0 = k3.weight @w : tensor<3xf32>
  return
}

// -----

k3.state @s : !k3.conv_state<3x8xbf16>
func.func private @f() {
  // expected-error @below {{expected the type of @s as declared, '!k3.conv_state<3x8xbf16>' (got '!k3.conv_state<3x9xbf16>')}}
  %0 = k3.ref @s : !k3.conv_state<3x9xbf16>
  return
}

// -----

func.func private @f() {
  // expected-error @below {{@T is not declared; add k3.symbol @T <= N}}
  %0 = k3.dim @T
  return
}

// -----

func.func private @f(%b: !k3.batch<3>) {
  // expected-error @below {{page_table (got 'slots')}}
  %0 = k3.batch_field %b "slots" : !k3.batch<3> -> tensor<3xi32>
  return
}

// -----

func.func private @f(%b: !k3.batch<3>) {
  // expected-error @below {{expected seq_offsets rows 3 to equal batch rows 4}}
  %0 = k3.batch_field %b "seq_offsets" : !k3.batch<3> -> tensor<3xi32>
  return
}

// -----

func.func private @f(%b: !k3.batch<"T", "S">) {
  // expected-error @below {{expected seq_slots rows @T to equal batch rows @S}}
  %0 = k3.batch_field %b "seq_slots" : !k3.batch<"T", "S"> -> tensor<?xi32, #k3.sym<"T">>
  return
}

// -----

func.func private @f(%b: !k3.batch<3>) {
  // expected-error @below {{expected page_table to have rank 2 (got 'tensor<3xi32>')}}
  %0 = k3.batch_field %b "page_table" : !k3.batch<3> -> tensor<3xi32>
  return
}

// -----

func.func private @f(%ids: tensor<4xi32>, %t: tensor<9x8xf32>) {
  // expected-error @below {{expected result columns 7 to equal table columns 8}}
  %0 = k3.embed %ids, %t : tensor<4xi32>, tensor<9x8xf32> -> tensor<4x7xf32>
  return
}

// -----

func.func private @f(%ids: tensor<4xi32>, %t: tensor<9x8xi8>) {
  // expected-error @below {{expected table to have elements of type f32 or bf16 (got i8)}}
  %0 = k3.embed %ids, %t : tensor<4xi32>, tensor<9x8xi8> -> tensor<4x8xf32>
  return
}

// -----

func.func private @f(%ids: tensor<4xi32>, %t: tensor<9x8xf32>) {
  // expected-error @below {{expected result rows 5 to equal ids rows 4}}
  %0 = k3.embed %ids, %t : tensor<4xi32>, tensor<9x8xf32> -> tensor<5x8xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x8xf32>, %r: tensor<2xi32>) {
  // expected-error @below {{expected result rows 4 to equal row numbers rows 2}}
  %0 = k3.take_rows %x, %r : tensor<4x8xf32>, tensor<2xi32> -> tensor<4x8xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x8xf32>, %r: tensor<2xi32>) {
  // expected-error @below {{expected result to have elements of type f32 (got bf16)}}
  %0 = k3.take_rows %x, %r : tensor<4x8xf32>, tensor<2xi32> -> tensor<2x8xbf16>
  return
}

// -----

func.func private @f(%x: tensor<4x128xf32>, %w: tensor<5x96xbf16>) {
  // expected-error @below {{expected weight columns 96 to equal input columns 128}}
  %0 = k3.linear %x, %w : tensor<4x128xf32>, tensor<5x96xbf16> -> tensor<4x5xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x128xf32>, %w: tensor<5x128xbf16>) {
  // expected-error @below {{expected result columns 6 to equal weight rows 5}}
  %0 = k3.linear %x, %w : tensor<4x128xf32>, tensor<5x128xbf16> -> tensor<4x6xf32>
  return
}

// -----

func.func private @f(%x: tensor<?x8xf32, #k3.sym<"T">>, %w: tensor<5x8xbf16>) {
  // expected-error @below {{expected result rows @S to equal x rows @T}}
  %0 = k3.linear %x, %w : tensor<?x8xf32, #k3.sym<"T">>, tensor<5x8xbf16> -> tensor<?x5xf32, #k3.sym<"S">>
  return
}

// -----

func.func private @f(%x: tensor<?x8xf32>, %w: tensor<5x8xbf16>) {
  // expected-error @below {{x: a dynamic extent needs a symbol as encoding, #k3.sym<"T">; declare k3.symbol @T <= N}}
  %0 = k3.linear %x, %w : tensor<?x8xf32>, tensor<5x8xbf16> -> tensor<?x5xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x?xf32>, %w: tensor<5x8xbf16>) {
  // expected-error @below {{x: only the first extent may be dynamic (got a dynamic extent 1)}}
  %0 = k3.linear %x, %w : tensor<4x?xf32>, tensor<5x8xbf16> -> tensor<4x5xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x8xf32, #k3.sym<"T">>, %w: tensor<5x8xbf16>) {
  // expected-error @below {{x: a static extent has no encoding (got one and 4 rows)}}
  %0 = k3.linear %x, %w : tensor<4x8xf32, #k3.sym<"T">>, tensor<5x8xbf16> -> tensor<4x5xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x2x8xf32>, %w: tensor<5x8xbf16>) {
  // expected-error @below {{expected x to have rank 2 (got 3)}}
  %0 = k3.linear %x, %w : tensor<4x2x8xf32>, tensor<5x8xbf16> -> tensor<4x5xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x66xf32>, %w: tensor<89x20xbf16>) {
  // expected-error @below {{expected weight rows 89 to equal heads * stride_rows 90}}
  %0 = k3.head_linear %x, %w {heads = 3, stride_rows = 30, row_begin = 0, rows = 16, transpose} : tensor<4x66xf32>, tensor<89x20xbf16> -> tensor<4x60xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x66xf32>, %w: tensor<90x20xbf16>) {
  // expected-error @below {{expected the end of the rows 31 to be at most stride_rows 30}}
  %0 = k3.head_linear %x, %w {heads = 3, stride_rows = 30, row_begin = 15, rows = 16, transpose} : tensor<4x66xf32>, tensor<90x20xbf16> -> tensor<4x60xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x65xf32>, %w: tensor<90x20xbf16>) {
  // expected-error @below {{expected x columns 65 to be a multiple of heads 3}}
  %0 = k3.head_linear %x, %w {heads = 3, stride_rows = 30, row_begin = 0, rows = 16, transpose} : tensor<4x65xf32>, tensor<90x20xbf16> -> tensor<4x60xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x45xf32>, %w: tensor<90x20xbf16>) {
  // expected-error @below {{expected inputs of a head 16 to be at most x columns of a head 15}}
  %0 = k3.head_linear %x, %w {heads = 3, stride_rows = 30, row_begin = 0, rows = 16, transpose} : tensor<4x45xf32>, tensor<90x20xbf16> -> tensor<4x60xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x66xf32>, %w: tensor<90x20xbf16>) {
  // expected-error @below {{expected the end of the passed columns 23 to be at most x columns of a head 22}}
  %0 = k3.head_linear %x, %w {heads = 3, stride_rows = 30, row_begin = 0, rows = 16, transpose, pass_begin = 17, pass_count = 6} : tensor<4x66xf32>, tensor<90x20xbf16> -> tensor<4x78xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x66xf32>, %w: tensor<90x20xbf16>) {
  // expected-error @below {{expected result columns 60 to equal heads * columns of a head 78}}
  %0 = k3.head_linear %x, %w {heads = 3, stride_rows = 30, row_begin = 0, rows = 16, transpose, pass_begin = 16, pass_count = 6} : tensor<4x66xf32>, tensor<90x20xbf16> -> tensor<4x60xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x66xf32>, %w: tensor<90x20xbf16>) {
  // expected-error @below {{expected heads to be at least 1 (got 0)}}
  %0 = k3.head_linear %x, %w {heads = 0, stride_rows = 30, row_begin = 0, rows = 16, transpose} : tensor<4x66xf32>, tensor<90x20xbf16> -> tensor<4x60xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x66xf32>, %w: tensor<90x20xbf16>) {
  // expected-error @below {{expected weight rows 90 to equal heads * stride_rows 9223372036854775807}}
  %0 = k3.head_linear %x, %w {heads = 4611686018427387904, stride_rows = 30, row_begin = 0, rows = 16, transpose} : tensor<4x66xf32>, tensor<90x20xbf16> -> tensor<4x60xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x8xf32>) {
  // expected-error @below {{expected the end of the slice 9 to be at most x columns 8}}
  %0 = k3.slice %x[6] : tensor<4x8xf32> -> tensor<4x3xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x8xf32>) {
  // expected-error @below {{expected begin to be at least 0 (got -1)}}
  %0 = k3.slice %x[-1] : tensor<4x8xf32> -> tensor<4x3xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x8xf32>) {
  // expected-error @below {{expected result columns 7 to equal x columns 8}}
  %0 = k3.cast %x : tensor<4x8xf32> -> tensor<4x7xbf16>
  return
}

// -----

func.func private @f(%x: tensor<4x8xf32>, %g: tensor<7xf32>) {
  // expected-error @below {{expected gain elements 7 to equal x columns 8}}
  %0 = k3.rms_norm %x, %g {eps = 1.0e-5} : tensor<4x8xf32>, tensor<7xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x8xf32>, %g: tensor<8xf32>) {
  // expected-error @below {{expected eps to be positive and finite (got 0)}}
  %0 = k3.rms_norm %x, %g {eps = 0.0} : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x8xf32>, %y: tensor<3x8xf32>) {
  // expected-error @below {{expected y rows 3 to equal x rows 4}}
  %0 = k3.add %x, %y : tensor<4x8xf32>, tensor<3x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x8xf32>, %g: tensor<4x9xf32>) {
  // expected-error @below {{expected gate columns 9 to equal x columns 8}}
  %0 = k3.gate %x, %g : tensor<4x8xf32>, tensor<4x9xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func private @f(%g: tensor<4x8xf32>, %u: tensor<4x9xf32>) {
  // expected-error @below {{expected up columns 9 to equal gate columns 8}}
  %0 = k3.glu situ %g, %u : tensor<4x8xf32>, tensor<4x9xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func private @f(%g: tensor<4x8xf32>) {
  // expected-error @below {{swiglu has no linear_beta; remove it or use situ}}
  %0 = k3.glu swiglu %g, %g {linear_beta = 25.0} : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func private @f(%g: tensor<4x8xf32>) {
  // expected-error @below {{expected beta to be positive and finite (got -4)}}
  %0 = k3.glu situ %g, %g {beta = -4.0} : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x50xf32>, %g: tensor<24xf32>) {
  // expected-error @below {{expected x columns 50 to be a multiple of gain elements 24}}
  %0 = k3.gated_rms_norm %x, %x, %g {eps = 1.0e-5} : tensor<4x50xf32>, tensor<4x50xf32>, tensor<24xf32> -> tensor<4x50xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x9xbf16>) {
  // expected-error @below {{expected logits to have elements of type f32 (got bf16)}}
  %0 = k3.sample %x : tensor<4x9xbf16> -> tensor<4xi32>
  return
}

// -----

func.func private @f(%x: tensor<4x9xf32>) {
  // expected-error @below {{expected ids rows 3 to equal logits rows 4}}
  %0 = k3.sample %x : tensor<4x9xf32> -> tensor<3xi32>
  return
}

// -----

func.func private @f(%x: tensor<4x9xf32>) {
  // expected-error @below {{expected a name (got an empty one)}}
  k3.tap %x as "" : tensor<4x9xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x9xf32>) {
  // expected-error @below {{expected one of the families row, contraction, head_contraction, conv, scan, attention, experts (got 'fast')}}
  k3.fused "fast" {
    k3.yield
  }
  return
}

// -----

func.func private @f(%x: tensor<4x9xf32>) {
  // expected-error @below {{expected k3.yield to give 1 values (got 0)}}
  %0 = k3.fused "row" {
    k3.yield
  } -> tensor<4x9xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x9xf32>) {
  // expected-error @below {{expected value 0 of k3.yield to have type 'tensor<4x9xbf16>' (got 'tensor<4x9xf32>')}}
  %0 = k3.fused "row" {
    k3.yield %x : tensor<4x9xf32>
  } -> tensor<4x9xbf16>
  return
}

// -----

func.func private @f(%x: tensor<4x9xf32>) {
  // expected-error @below {{expected value 0 of k3.yield to be computed in its body (got one from outside)}}
  %0 = k3.fused "row" {
    k3.yield %x : tensor<4x9xf32>
  } -> tensor<4x9xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x9xf32>) {
  // expected-error @below {{expects parent op 'k3.fused'}}
  k3.yield
}

// -----

func.func private @f(%x: tensor<4x9xf32>) {
  // expected-error @below {{expected a mesh axis tp, ep or pp (got 'dp')}}
  %0 = k3.all_reduce %x over "dp" : tensor<4x9xf32> -> tensor<4x9xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x9xf32>) {
  // expected-error @below {{expected result rows 2 to equal x rows 4}}
  %0 = k3.all_reduce %x over "tp" : tensor<4x9xf32> -> tensor<2x9xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x9xf32>) {
  // expected-error @below {{expected result columns 8 to equal x columns 9}}
  %0 = k3.reduce_scatter %x over "tp" : tensor<4x9xf32> -> tensor<2x8xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x9xf32>) {
  // expected-error @below {{expected result columns 8 to equal x columns 9}}
  %0 = k3.all_gather %x over "tp" : tensor<4x9xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x9xf32>) {
  // expected-error @below {{expected result to have elements of type f32 (got bf16)}}
  %0 = k3.all_gather %x over "tp" : tensor<4x9xf32> -> tensor<8x9xbf16>
  return
}

// -----

func.func private @f(%x: tensor<4x9xbf16>) {
  // expected-error @below {{expected result to have elements of type bf16 (got f32)}}
  %0 = k3.all_reduce %x over "tp" : tensor<4x9xbf16> -> tensor<4x9xf32>
  return
}

// -----

func.func private @f(%z: tensor<3x8xbf16>, %ids: tensor<3x2xi32>, %w: tensor<3x2xbf16>, %gu: tensor<5x12x8xbf16>, %d: tensor<5x8x6xbf16>) {
  // expected-error @below {{expected weights to have elements of type f32 (got bf16)}}
  %0 = k3.experts swiglu %z, %ids, %w, %gu, %d : tensor<3x8xbf16>, tensor<3x2xi32>, tensor<3x2xbf16>, tensor<5x12x8xbf16>, tensor<5x8x6xbf16> -> tensor<3x8xbf16>
  return
}

// -----

func.func private @f(%x: tensor<4x9xf32>) {
  // expected-error @below {{expected result columns 8 to equal x columns 9}}
  %0 = k3.all_to_all %x over "ep" : tensor<4x9xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func private @f(%x: tensor<4x9xf32>) {
  // expected-error @below {{expected peer to be at least 0 (got -1)}}
  k3.send %x to -1 : tensor<4x9xf32>
  return
}

// -----

func.func private @f() {
  // expected-error @below {{expected peer to be at least 0 (got -2)}}
  %0 = k3.recv -2 : tensor<4x9xf32>
  return
}
