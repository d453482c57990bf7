// Convolutions over ragged rows: the usual four taps, and three taps over fewer channels than a block.

!seq = !k3.batch<"T", "S">
!x = tensor<?x40xf32, #k3.sym<"T">>
!y = tensor<?x1xf32, #k3.sym<"T">>

module attributes {k3.limits = {max_tokens = 640 : i64, max_seqs = 9 : i64, max_context = 256 : i64,
                                max_logit_rows = 8 : i64, page_tokens = 64 : i64}} {
  k3.symbol @T <= 640
  k3.symbol @S <= 9
  k3.state @four : !k3.conv_state<3x40xf32>
  k3.state @three : !k3.conv_state<2x40xf32>
  k3.state @one : !k3.conv_state<3x1xf32>

  func.func @taps4(%x: !x {k3.name = "x"}, %w: tensor<40x4xf32> {k3.name = "taps"}, %batch: !seq) -> (!x {k3.name = "y"})
      attributes {k3.entry = "generic"} {
    %s = k3.ref @four : !k3.conv_state<3x40xf32>
    %o = k3.short_conv %x, %w, %s, %batch : !x, tensor<40x4xf32>, !k3.conv_state<3x40xf32>, !seq -> !x
    return %o : !x
  }
  func.func @taps3(%x: !x {k3.name = "x"}, %w: tensor<40x3xf32> {k3.name = "taps"}, %batch: !seq) -> (!x {k3.name = "y"})
      attributes {k3.entry = "generic"} {
    %s = k3.ref @three : !k3.conv_state<2x40xf32>
    %o = k3.short_conv %x, %w, %s, %batch : !x, tensor<40x3xf32>, !k3.conv_state<2x40xf32>, !seq -> !x
    return %o : !x
  }
  func.func @channel(%x: !y {k3.name = "x"}, %w: tensor<1x4xf32> {k3.name = "taps"}, %batch: !seq) -> (!y {k3.name = "y"})
      attributes {k3.entry = "generic"} {
    %s = k3.ref @one : !k3.conv_state<3x1xf32>
    %o = k3.short_conv %x, %w, %s, %batch : !y, tensor<1x4xf32>, !k3.conv_state<3x1xf32>, !seq -> !y
    return %o : !y
  }
}
