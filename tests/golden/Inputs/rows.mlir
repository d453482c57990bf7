// Ops that need one row: norms with both eps, activations, gates, and the mix over depth.

!x = tensor<?x40xf32, #k3.sym<"T">>
!four = tensor<?x4xf32, #k3.sym<"T">>
!heads = tensor<?x72xf32, #k3.sym<"T">>
!stack = !k3.stack<3x40xf32, "T">
!small = !k3.stack<3x4xf32, "T">

module attributes {k3.limits = {max_tokens = 64 : i64, max_seqs = 4 : i64, max_context = 256 : i64,
                                max_logit_rows = 8 : i64, page_tokens = 64 : i64}} {
  k3.symbol @T <= 64
  k3.symbol @R <= 8

  func.func @norms(%x: !four {k3.name = "x"}, %gain: tensor<4xf32> {k3.name = "gain"})
      -> (!four {k3.name = "eps5"}, !four {k3.name = "eps6"}) attributes {k3.entry = "generic"} {
    %a = k3.rms_norm %x, %gain {eps = 1.0e-5} : !four, tensor<4xf32> -> !four
    %b = k3.rms_norm %x, %gain {eps = 1.0e-6} : !four, tensor<4xf32> -> !four
    return %a, %b : !four, !four
  }
  func.func @norm(%x: !x {k3.name = "x"}, %gain: tensor<40xf32> {k3.name = "gain"}) -> (!x {k3.name = "y"})
      attributes {k3.entry = "generic"} {
    %a = k3.rms_norm %x, %gain {eps = 1.0e-5} : !x, tensor<40xf32> -> !x
    return %a : !x
  }
  func.func @gated_norm(%x: !heads {k3.name = "x"}, %gate: !heads {k3.name = "gate"}, %gain: tensor<24xf32> {k3.name = "gain"})
      -> (!heads {k3.name = "y"}) attributes {k3.entry = "generic"} {
    %a = k3.gated_rms_norm %x, %gate, %gain {eps = 1.0e-5} : !heads, !heads, tensor<24xf32> -> !heads
    return %a : !heads
  }
  func.func @activations(%gate: !x {k3.name = "gate"}, %up: !x {k3.name = "up"})
      -> (!x {k3.name = "situ"}, !x {k3.name = "situ_open"}, !x {k3.name = "swiglu"}, !x {k3.name = "gated"})
      attributes {k3.entry = "generic"} {
    %a = k3.glu situ %gate, %up {beta = 4.0, linear_beta = 25.0} : !x, !x -> !x
    %b = k3.glu situ %gate, %up {beta = 4.0} : !x, !x -> !x
    %c = k3.glu swiglu %gate, %up : !x, !x -> !x
    %d = k3.gate %up, %gate : !x, !x -> !x
    return %a, %b, %c, %d : !x, !x, !x, !x
  }
  func.func @mix(%a: !x {k3.name = "a"}, %b: !x {k3.name = "b"}, %h: !x {k3.name = "h"},
                 %gain: tensor<40xf32> {k3.name = "gain"}, %query: tensor<1x40xf32> {k3.name = "query"})
      -> (!x {k3.name = "zero"}, !x {k3.name = "one"}, !x {k3.name = "two"}) attributes {k3.entry = "generic"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %stack = k3.stack : !stack
    %m0 = k3.attn_res.mix %stack[%c0], %h, %gain, %query {eps = 1.0e-5} : !stack, !x, tensor<40xf32>, tensor<1x40xf32> -> !x
    k3.attn_res.push %stack[%c0], %a : !stack, !x
    %m1 = k3.attn_res.mix %stack[%c1], %h, %gain, %query {eps = 1.0e-5} : !stack, !x, tensor<40xf32>, tensor<1x40xf32> -> !x
    k3.attn_res.push %stack[%c1], %b : !stack, !x
    %m2 = k3.attn_res.mix %stack[%c2], %h, %gain, %query {eps = 1.0e-5} : !stack, !x, tensor<40xf32>, tensor<1x40xf32> -> !x
    return %m0, %m1, %m2 : !x, !x, !x
  }
  func.func @mix4(%a: !four {k3.name = "a"}, %b: !four {k3.name = "b"}, %h: !four {k3.name = "h"},
                  %gain: tensor<4xf32> {k3.name = "gain"}, %query: tensor<1x4xf32> {k3.name = "query"})
      -> (!four {k3.name = "y"}) attributes {k3.entry = "generic"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %stack = k3.stack : !small
    k3.attn_res.push %stack[%c0], %a : !small, !four
    k3.attn_res.push %stack[%c1], %b : !small, !four
    %m = k3.attn_res.mix %stack[%c2], %h, %gain, %query {eps = 1.0e-5} : !small, !four, tensor<4xf32>, tensor<1x4xf32> -> !four
    return %m : !four
  }
  func.func @lookup(%ids: tensor<?xi32, #k3.sym<"T">> {k3.name = "ids"}, %table: tensor<101x40xf32> {k3.name = "table"},
                    %wanted: tensor<?xi32, #k3.sym<"R">> {k3.name = "wanted"})
      -> (tensor<?x101xf32, #k3.sym<"R">> {k3.name = "logits"}) attributes {k3.entry = "generic"} {
    %x = k3.embed %ids, %table : tensor<?xi32, #k3.sym<"T">>, tensor<101x40xf32> -> !x
    %rows = k3.take_rows %x, %wanted : !x, tensor<?xi32, #k3.sym<"R">> -> tensor<?x40xf32, #k3.sym<"R">>
    %y = k3.linear %rows, %table : tensor<?x40xf32, #k3.sym<"R">>, tensor<101x40xf32> -> tensor<?x101xf32, #k3.sym<"R">>
    return %y : tensor<?x101xf32, #k3.sym<"R">>
  }
}
