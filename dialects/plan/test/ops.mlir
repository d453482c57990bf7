// RUN: k3-opt %s | k3-opt | FileCheck %s
// RUN: k3-opt %s --mlir-print-op-generic | k3-opt | FileCheck %s

// CHECK: plan.symbol @T <= 512
plan.symbol @T <= 512
plan.symbol @S <= 2
// A name that is also a word of expressions is written with quotes.
plan.symbol @min <= 4

// CHECK: plan.program rank 0 events 1 {
plan.program rank 0 events 1 {
  // CHECK: plan.arena @weights weights size 256 align 4096
  plan.arena @weights weights size 256 align 4096
  plan.arena @state state size 4160 align 4096
  plan.arena @cache cache size 8192 align 64
  // CHECK: plan.arena @scratch scratch size 262144 align 64
  plan.arena @scratch scratch size 262144 align 64
  plan.arena @io io size 4096 align 64
  plan.arena @peer peer size 131072 align 64

  plan.buffer @w in @weights at 0 size 256 : bf16 [8, 16]
  plan.buffer @"layers.0.kda_state" in @state at 0 size 4096 : f32 [2, 2, 16, 16]
  plan.buffer @conv in @state at 4096 size 64 : bf16 [2, 2, 8]
  plan.buffer @latent in @cache at 0 size 8192 : bf16 [4, 64, 16]
  // CHECK: plan.buffer @x in @scratch at 0 size 131072 : bf16 [T, 128]
  plan.buffer @x in @scratch at 0 size 131072 : bf16 [T, 128]
  plan.buffer @y in @scratch at 131072 size 131072 : bf16 [T, 128]
  plan.buffer @z in @peer at 0 size 131072 : bf16 [T, 128]
  // CHECK: plan.buffer @seq_offsets in @io at 2048 size 12 : i32 [add(S, 1)]
  plan.buffer @seq_offsets in @io at 2048 size 12 : i32 [add(S, 1)]
  // CHECK: plan.buffer @ids in @io at 0 size 2048 : i32 [T]
  plan.buffer @ids in @io at 0 size 2048 : i32 [T]
  // CHECK: plan.buffer @odd in @io at 64 size 16 : i32 [min("min", max(sub(T, S), floordiv(T, 3)))]
  plan.buffer @odd in @io at 64 size 16 : i32 [min("min", max(sub(T, S), floordiv(T, 3)))]

  // CHECK: plan.state kda_state "layers.0.kda_state" in @layers.0.kda_state slot [2, 16, 16] bytes 2048 order "kv"
  plan.state kda_state "layers.0.kda_state" in @"layers.0.kda_state" slot [2, 16, 16] bytes 2048 order "kv"
  // CHECK: plan.state conv_state "layers.0.conv_state.q" in @conv slot [2, 8] bytes 32
  plan.state conv_state "layers.0.conv_state.q" in @conv slot [2, 8] bytes 32
  // CHECK: plan.state latent_cache "layers.1.latent_cache" in @latent slot [64, 16] bytes 2048
  plan.state latent_cache "layers.1.latent_cache" in @latent slot [64, 16] bytes 2048

  // CHECK: plan.weight "layers.0.w" in @w from [#plan.piece<"a.{}.weight", rows = 4, cols = 8, src_begin = 0, src_stride = 8, dst_begin = 0, dst_stride = 8, count = 2, index_stride = 32>, #plan.piece<"b", rows = 16, cols = 4, src_begin = 2, src_stride = 6, dst_begin = 64, dst_stride = 16, transpose = true>]
  plan.weight "layers.0.w" in @w from [
    #plan.piece<"a.{}.weight", rows = 4, cols = 8, src_begin = 0, src_stride = 8, dst_begin = 0, dst_stride = 8, count = 2, index_stride = 32>,
    #plan.piece<"b", rows = 16, cols = 4, src_begin = 2, src_stride = 6, dst_begin = 64, dst_stride = 16, transpose = true>]

  // CHECK: plan.kernel @k params (buffer, buffer, scalar)
  plan.kernel @k params (buffer, buffer, scalar)
  // CHECK: plan.kernel @gpu params () {block = array<i64: 128, 1, 1>, registers = 64 : i64, shared_bytes = 1024 : i64, spill_bytes = 8 : i64}
  plan.kernel @gpu params () {block = array<i64: 128, 1, 1>, registers = 64, shared_bytes = 1024, spill_bytes = 8}

  // CHECK: plan.entry prefill "prefill" symbols [@T, @S] inputs ["ids" = @ids, "seq_offsets" = @seq_offsets] outputs ["y" = @y] {
  plan.entry prefill "prefill" symbols [@T, @S] inputs ["ids" = @ids, "seq_offsets" = @seq_offsets] outputs ["y" = @y] {
    // CHECK-NEXT: plan.launch @k grid [ceildiv(T, 16), 4, 1] args (@x, @y + 64, mul(T, 2))
    plan.launch @k grid [ceildiv(T, 16), 4, 1] args (@x, @y + 64, mul(T, 2))
    // CHECK-NEXT: plan.tap "layers.0.h" = @x
    plan.tap "layers.0.h" = @x
    // CHECK-NEXT: plan.launch @gpu grid [1, 1, 1] args () {stream = 1 : i64}
    plan.launch @gpu grid [1, 1, 1] args () {stream = 1}
    // CHECK-NEXT: plan.record 0 {stream = 1 : i64}
    plan.record 0 {stream = 1}
    // CHECK-NEXT: plan.wait 0
    plan.wait 0
    // CHECK-NEXT: plan.copy @x to @y bytes mul(T, 256)
    plan.copy @x to @y bytes mul(T, 256)
    // CHECK-NEXT: plan.copy @x + 64 to @y + 128 bytes 64
    plan.copy @x + 64 to @y + 128 bytes 64
    // CHECK-NEXT: plan.fill @x with 255 bytes 131072
    plan.fill @x with 255 bytes 131072
    // CHECK-NEXT: plan.collective all_reduce @z to @z over "tp" count mul(T, 128) : bf16
    plan.collective all_reduce @z to @z over "tp" count mul(T, 128) : bf16
    // CHECK-NEXT: plan.collective send @z to @z over "pp" count 128 : bf16 {peer = 1 : i64}
    plan.collective send @z to @z over "pp" count 128 : bf16 {peer = 1}
    // CHECK-NEXT: plan.host_call "sample" args (@y, T)
    plan.host_call "sample" args (@y, T)
  }
  // CHECK: plan.entry decode "decode_4" bucket 4 symbols [] inputs [] outputs [] {
  plan.entry decode "decode_4" bucket 4 symbols [] inputs [] outputs [] {
  }
  // CHECK: plan.entry generic "other" symbols [@T] inputs [] outputs [] attributes {note = "x"} {
  plan.entry generic "other" symbols [@T] inputs [] outputs [] attributes {note = "x"} {
  }
}
