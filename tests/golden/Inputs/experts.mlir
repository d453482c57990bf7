// Choosing experts and running them: the sigmoid router with ties and top-1, the softmax one, groups; MXFP4 experts with
// every code, and experts in plain numbers of odd width.

!l6 = tensor<?x6xf32, #k3.sym<"T">>
!l12 = tensor<?x12xf32, #k3.sym<"T">>
!i1 = tensor<?x1xi32, #k3.sym<"T">>
!w1 = tensor<?x1xf32, #k3.sym<"T">>
!i2 = tensor<?x2xi32, #k3.sym<"T">>
!w2 = tensor<?x2xf32, #k3.sym<"T">>
!i5 = tensor<?x5xi32, #k3.sym<"T">>
!w5 = tensor<?x5xf32, #k3.sym<"T">>
!z = tensor<?x64xf32, #k3.sym<"T">>
!y = tensor<?x40xf32, #k3.sym<"T">>

module attributes {k3.limits = {max_tokens = 64 : i64, max_seqs = 4 : i64, max_context = 256 : i64,
                                max_logit_rows = 8 : i64, page_tokens = 64 : i64}} {
  k3.symbol @T <= 64

  func.func @sigmoid(%l: !l6 {k3.name = "logits"}, %b: tensor<6xf32> {k3.name = "bias"})
      -> (!i2 {k3.name = "ids2"}, !w2 {k3.name = "w2"}, !i5 {k3.name = "ids5"}, !w5 {k3.name = "w5"},
          !i1 {k3.name = "ids1"}, !w1 {k3.name = "w1"}, !w2 {k3.name = "raw2"}) attributes {k3.entry = "generic"} {
    %i2, %w2 = k3.router sigmoid %l, %b {top_k = 2, renormalize = true, scale = 1.0} : !l6, tensor<6xf32> -> !i2, !w2
    %i5, %w5 = k3.router sigmoid %l, %b {top_k = 5, renormalize = true, scale = 2.5} : !l6, tensor<6xf32> -> !i5, !w5
    %i1, %w1 = k3.router sigmoid %l, %b {top_k = 1, renormalize = true, scale = 1.0} : !l6, tensor<6xf32> -> !i1, !w1
    %i2r, %w2r = k3.router sigmoid %l, %b {top_k = 2, renormalize = false, scale = 1.0} : !l6, tensor<6xf32> -> !i2, !w2
    return %i2, %w2, %i5, %w5, %i1, %w1, %w2r : !i2, !w2, !i5, !w5, !i1, !w1, !w2
  }
  func.func @groups(%l: !l12 {k3.name = "logits"}, %b: tensor<12xf32> {k3.name = "bias"})
      -> (!i5 {k3.name = "sigmoid_ids"}, !w5 {k3.name = "sigmoid_w"}, !i5 {k3.name = "softmax_ids"},
          !w5 {k3.name = "softmax_w"}) attributes {k3.entry = "generic"} {
    %i, %w = k3.router sigmoid %l, %b {top_k = 5, renormalize = true, scale = 2.5, groups = 4, topk_groups = 2}
        : !l12, tensor<12xf32> -> !i5, !w5
    %j, %v = k3.router softmax %l, %b {top_k = 5, renormalize = true, scale = 2.5, groups = 4, topk_groups = 2}
        : !l12, tensor<12xf32> -> !i5, !w5
    return %i, %w, %j, %v : !i5, !w5, !i5, !w5
  }
  func.func @mxfp4(%z: !z {k3.name = "z"}, %ids: !i2 {k3.name = "ids"}, %w: !w2 {k3.name = "weights"},
                   %gu: tensor<5x64x32xi8> {k3.name = "gate_up"}, %d: tensor<5x64x16xi8> {k3.name = "down"},
                   %gus: tensor<5x64x2xi8> {k3.name = "gate_up_scale"}, %ds: tensor<5x64x1xi8> {k3.name = "down_scale"})
      -> (!z {k3.name = "y"}) attributes {k3.entry = "generic"} {
    %y = k3.experts situ %z, %ids, %w, %gu, %d scales(%gus, %ds) {beta = 4.0, linear_beta = 25.0}
        : !z, !i2, !w2, tensor<5x64x32xi8>, tensor<5x64x16xi8> scales(tensor<5x64x2xi8>, tensor<5x64x1xi8>) -> !z
    return %y : !z
  }
  func.func @plain(%z: !y {k3.name = "z"}, %ids: !i2 {k3.name = "ids"}, %w: !w2 {k3.name = "weights"},
                   %gu: tensor<6x14x40xf32> {k3.name = "gate_up"}, %d: tensor<6x40x7xf32> {k3.name = "down"})
      -> (!y {k3.name = "y"}) attributes {k3.entry = "generic"} {
    %y = k3.experts swiglu %z, %ids, %w, %gu, %d
        : !y, !i2, !w2, tensor<6x14x40xf32>, tensor<6x40x7xf32> -> !y
    return %y : !y
  }
}
