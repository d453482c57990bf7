// RUN: k3-opt %s -verify-diagnostics -split-input-file
// What the types and attributes of the k3 dialect refuse, with the numbers they name.

// expected-error @below {{expected 3 extents before the element type (got 2)}}
func.func private @f(!k3.kda_state<96x128xf32, kv>)

// -----

// expected-error @below {{expected key to be at least 1 (got 0)}}
func.func private @f(!k3.kda_state<96x0x128xf32, kv>)

// -----

// expected-error @below {{expected elements of type f32 (got 'bf16')}}
func.func private @f(!k3.kda_state<96x128x128xbf16, kv>)

// -----

// expected-error @below {{expected order kv or vk (got kk)}}
func.func private @f(!k3.kda_state<96x128x128xf32, kk>)

// -----

// expected-error @below {{expected 2 extents before the element type (got 3)}}
func.func private @f(!k3.conv_state<3x5x7xbf16>)

// -----

// expected-error @below {{expected elements of type f32 or bf16 (got 'f16')}}
func.func private @f(!k3.conv_state<3x5xf16>)

// -----

// expected-error @below {{expected page to be at least 1 (got 0)}}
func.func private @f(!k3.latent_cache<0x5xbf16>)

// -----

// expected-error @below {{expected capacity to be at least 1 (got 0)}}
func.func private @f(!k3.stack<0x5xbf16, "T">)

// -----

// expected-error @below {{expected a quoted symbol or a number of rows}}
func.func private @f(!k3.stack<8x5xbf16, T>)

// -----

// expected-error @below {{expected at least 1 row (got 0)}}
func.func private @f(!k3.stack<8x5xbf16, 0>)

// -----

// expected-error @below {{expected at least 1 row (got -3)}}
func.func private @f(!k3.batch<-3>)

// -----

// expected-error @below {{expected a symbol for the tokens and one for the sequences (got 'T' and '')}}
func.func private @f(!k3.batch<"T", "">)

// -----

// expected-error @below {{expected ','}}
func.func private @f(!k3.batch<"T">)

// -----

// expected-error @below {{piece: expected the name of a checkpoint tensor (got none)}}
k3.param @p : tensor<4xf32> from [#k3.piece<"", rows = 1, cols = 4>]

// -----

// expected-error @below {{piece of 'a': expected cols to be at least 1 (got 0)}}
k3.param @p : tensor<4xf32> from [#k3.piece<"a", rows = 1, cols = 0>]

// -----

// expected-error @below {{piece of 'a': expected begin to be at least 0 (got -4)}}
k3.param @p : tensor<4xf32> from [#k3.piece<"a", rows = 1, cols = 4, begin = -4>]

// -----

// expected-error @below {{piece of 'a': rows of 4 elements overlap at dst_stride 3}}
k3.param @p : tensor<2x4xf32> from [#k3.piece<"a", rows = 2, cols = 4, dst_stride = 3>]

// -----

// expected-error @below {{piece of 'a': rows of 4 elements overlap at src_stride 3}}
k3.param @p : tensor<2x4xf32> from [#k3.piece<"a", rows = 2, cols = 4, src_stride = 3>]

// -----

// expected-error @below {{piece of 'a': a count of 2 needs {E} in the source}}
k3.param @p : tensor<2x4xf32> from [#k3.piece<"a", rows = 1, cols = 4, count = 2, index_stride = 4>]

// -----

// expected-error @below {{k3.entry: expected "prefill", "decode" or "generic" (got "step")}}
func.func @f() attributes {k3.entry = "step"} { return }

// -----

// expected-error @below {{k3.entry: an entry is called from outside; make @f public}}
func.func private @f() attributes {k3.entry = "generic"} { return }

// -----

// expected-error @below {{k3.entry: belongs on a func.func (got builtin.module)}}
module attributes {k3.entry = "generic"} {}

// -----

// expected-error @below {{entry @f: a decode entry needs k3.bucket, its number of sequences}}
func.func @f() attributes {k3.entry = "decode"} { return }

// -----

// expected-error @below {{k3.bucket: expected at least 1 (got 0)}}
func.func @f() attributes {k3.entry = "decode", k3.bucket = 0 : i64} { return }

// -----

// expected-error @below {{k3.bucket: expected a 64-bit integer (got "4")}}
func.func @f() attributes {k3.entry = "decode", k3.bucket = "4"} { return }

// -----

// expected-error @below {{k3.bucket: belongs on an entry; add k3.entry}}
func.func @f() attributes {k3.bucket = 4 : i64} { return }

// -----

// expected-error @below {{entry @f: argument 0 has no k3.name}}
func.func @f(%x: tensor<4xi32>) attributes {k3.entry = "generic"} { return }

// -----

// expected-error @below {{entry @f: argument 1 repeats the name 'x'}}
func.func @f(%x: tensor<4xi32> {k3.name = "x"}, %y: tensor<4xi32> {k3.name = "x"}) attributes {k3.entry = "generic"} { return }

// -----

// expected-error @below {{entry @f: argument 1 is a second batch; an entry has at most 1}}
func.func @f(%x: !k3.batch<4>, %y: !k3.batch<4>) attributes {k3.entry = "generic"} { return }

// -----

// expected-error @below {{entry @f: result 0 has no k3.name}}
func.func @f(%x: tensor<4xi32> {k3.name = "x"}) -> tensor<4xi32> attributes {k3.entry = "generic"} { return %x : tensor<4xi32> }

// -----

// expected-error @below {{entry @f: result 0 repeats the name 'x'}}
func.func @f(%x: tensor<4xi32> {k3.name = "x"}) -> (tensor<4xi32> {k3.name = "x"}) attributes {k3.entry = "generic"} { return %x : tensor<4xi32> }

// -----

// expected-error @below {{k3.name of argument 0: expected a string with a name in it (got "")}}
func.func private @f(%x: tensor<4xi32> {k3.name = ""}) { return }

// -----

// expected-error @below {{k3.layer: does not belong on result 0; only k3.name does}}
func.func private @f() -> (tensor<4xi32> {k3.layer = 5 : i64})

// -----

// expected-error @below {{k3.name: belongs on an argument or a result of an entry}}
func.func private @f() attributes {k3.name = "f"}

// -----

// expected-error @below {{k3.layer: belongs on a func.call (got func.func)}}
func.func private @f() attributes {k3.layer = 3 : i64}

// -----

func.func private @body() { return }
func.func private @f() {
  // expected-error @below {{k3.layer: expected at least 0 (got -1)}}
  call @body() {k3.layer = -1 : i64} : () -> ()
  return
}

// -----

// expected-error @below {{k3.mesh: 'pp' is missing or no integer}}
module attributes {k3.mesh = {tp = 1, ep = 1}} {}

// -----

// expected-error @below {{k3.mesh: expected 'tp' to be at least 1 (got 0)}}
module attributes {k3.mesh = {tp = 0, ep = 1, pp = 1}} {}

// -----

// expected-error @below {{k3.limits: 'page_tokens' is missing or no integer}}
module attributes {k3.limits = {max_tokens = 512, max_seqs = 1, max_context = 4096, max_logit_rows = 64}} {}

// -----

// expected-error @below {{k3.limits: expected 'max_seqs' to be at most 2147483647 (got 2147483648)}}
module attributes {k3.limits = {max_tokens = 512, max_seqs = 2147483648, max_context = 4096, max_logit_rows = 64, page_tokens = 64}} {}

// -----

// expected-error @below {{k3.mesh: expected 'ep' to be at most 65536 (got 65537)}}
module attributes {k3.mesh = {tp = 1, ep = 65537, pp = 1}} {}

// -----

// expected-error @below {{k3.mesh: expected 'tp' to be a 64-bit integer (got 1 : i32)}}
module attributes {k3.mesh = {tp = 1 : i32, ep = 1, pp = 1}} {}

// -----

// expected-error @below {{k3.mesh: unknown key 'dp' (expected tp, ep, pp)}}
module attributes {k3.mesh = {tp = 1, ep = 1, pp = 1, dp = "all"}} {}
