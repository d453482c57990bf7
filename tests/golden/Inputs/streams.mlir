// Contractions with weights of half the width: odd numbers of rows and columns, columns cut out of a wider tensor, an
// inner extent shorter than a warp's unit and one of several rounds, two halves side by side, a projection a head, and
// experts in both storages. Results are f32, so that nothing hides behind their rounding. The test compiles this twice: as
// it is, where a GPU stages its operands, and with the fewer rows of a stream.

!x = tensor<?x400xbf16, #k3.sym<"T">>
!cut = tensor<?x344xbf16, #k3.sym<"T">>
!y = tensor<?x72xf32, #k3.sym<"T">>
!small = tensor<?x24xbf16, #k3.sym<"T">>
!few = tensor<?x5xf32, #k3.sym<"T">>
!long = tensor<5x4608xbf16>
!out = tensor<5x40xf32>
!heads = tensor<?x120xbf16, #k3.sym<"T">>
!values = tensor<?x84xf32, #k3.sym<"T">>
!both = tensor<?x112xf32, #k3.sym<"T">>
!half = tensor<?x56xf32, #k3.sym<"T">>
!i3 = tensor<?x3xi32, #k3.sym<"T">>
!z = tensor<?x96xbf16, #k3.sym<"T">>
!up = tensor<?x192xf32, #k3.sym<"T">>
!plain_up = tensor<?x216xf32, #k3.sym<"T">>
!w = tensor<?x480xbf16, #k3.sym<"T">>
!down = tensor<?x120xf32, #k3.sym<"T">>

module attributes {k3.limits = {max_tokens = 130 : i64, max_seqs = 4 : i64, max_context = 256 : i64,
                                max_logit_rows = 8 : i64, page_tokens = 64 : i64}} {
  k3.symbol @T <= 130

  func.func @linear(%x: !x {k3.name = "x"}, %w: tensor<72x344xbf16> {k3.name = "w"}, %r: !y {k3.name = "r"})
      -> (!y {k3.name = "y"}) attributes {k3.entry = "generic"} {
    %c = k3.slice %x[56] : !x -> !cut
    %p = k3.linear %c, %w : !cut, tensor<72x344xbf16> -> !y
    %y = k3.add %p, %r : !y, !y -> !y
    return %y : !y
  }
  func.func @short(%x: !small {k3.name = "x"}, %w: tensor<5x24xbf16> {k3.name = "w"}) -> (!few {k3.name = "y"})
      attributes {k3.entry = "generic"} {
    %y = k3.linear %x, %w : !small, tensor<5x24xbf16> -> !few
    return %y : !few
  }
  func.func @gated(%x: !long {k3.name = "x"}, %w: tensor<80x4608xbf16> {k3.name = "w"}) -> (!out {k3.name = "y"})
      attributes {k3.entry = "generic"} {
    %p = k3.linear %x, %w : !long, tensor<80x4608xbf16> -> tensor<5x80xf32>
    %gate = k3.slice %p[0] : tensor<5x80xf32> -> !out
    %u = k3.slice %p[40] : tensor<5x80xf32> -> !out
    %y = k3.glu swiglu %gate, %u : !out, !out -> !out
    return %y : !out
  }
  func.func @halves(%x: !x {k3.name = "x"}, %w: tensor<112x400xbf16> {k3.name = "w"}) -> (!half {k3.name = "y"})
      attributes {k3.entry = "generic"} {
    %p = k3.linear %x, %w : !x, tensor<112x400xbf16> -> !both
    %gate = k3.slice %p[0] : !both -> !half
    %u = k3.slice %p[56] : !both -> !half
    %y = k3.glu swiglu %gate, %u : !half, !half -> !half
    return %y : !half
  }
  func.func @hundred(%x: tensor<100x72xbf16> {k3.name = "x"}, %w: tensor<200x72xbf16> {k3.name = "w"})
      -> (tensor<100x200xf32> {k3.name = "y"}) attributes {k3.entry = "generic"} {
    %y = k3.linear %x, %w : tensor<100x72xbf16>, tensor<200x72xbf16> -> tensor<100x200xf32>
    return %y : tensor<100x200xf32>
  }
  func.func @heads(%x: !heads {k3.name = "x"}, %w: tensor<102x40xbf16> {k3.name = "w"}) -> (!values {k3.name = "y"})
      attributes {k3.entry = "generic"} {
    %y = k3.head_linear %x, %w {heads = 3 : i64, stride_rows = 34 : i64, row_begin = 6 : i64, rows = 28 : i64}
        : !heads, tensor<102x40xbf16> -> !values
    return %y : !values
  }
  func.func @packed(%z: !z {k3.name = "z"}, %ids: !i3 {k3.name = "ids"}, %gu: tensor<4x128x48xi8> {k3.name = "gate_up"},
                    %gus: tensor<4x128x3xi8> {k3.name = "scale"}) -> (!up {k3.name = "y"})
      attributes {k3.entry = "generic"} {
    %y = k3.expert_up situ %z, %ids, %gu scale %gus {beta = 4.0, linear_beta = 25.0}
        : !z, !i3, tensor<4x128x48xi8> scale tensor<4x128x3xi8> -> !up
    return %y : !up
  }
  func.func @packed_down(%x: !w {k3.name = "x"}, %ids: !i3 {k3.name = "ids"}, %d: tensor<4x40x80xi8> {k3.name = "down"},
                         %ds: tensor<4x40x5xi8> {k3.name = "scale"}) -> (!down {k3.name = "y"})
      attributes {k3.entry = "generic"} {
    %y = k3.expert_down %x, %ids, %d scale %ds : !w, !i3, tensor<4x40x80xi8> scale tensor<4x40x5xi8> -> !down
    return %y : !down
  }
  func.func @plain_up(%z: !z {k3.name = "z"}, %ids: !i3 {k3.name = "ids"}, %gu: tensor<4x144x96xbf16> {k3.name = "gate_up"})
      -> (!plain_up {k3.name = "y"}) attributes {k3.entry = "generic"} {
    %y = k3.expert_up situ %z, %ids, %gu {beta = 4.0, linear_beta = 25.0} : !z, !i3, tensor<4x144x96xbf16> -> !plain_up
    return %y : !plain_up
  }
  func.func @plain_down(%x: !w {k3.name = "x"}, %ids: !i3 {k3.name = "ids"}, %d: tensor<4x40x160xbf16> {k3.name = "down"})
      -> (!down {k3.name = "y"}) attributes {k3.entry = "generic"} {
    %y = k3.expert_down %x, %ids, %d : !w, !i3, tensor<4x40x160xbf16> -> !down
    return %y : !down
  }
}
