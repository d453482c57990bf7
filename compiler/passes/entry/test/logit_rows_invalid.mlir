// RUN: k3-opt %s --k3-entry -verify-diagnostics
// What a decode entry does not have, it cannot return.

module attributes {k3.limits = {max_tokens = 8 : i64, max_seqs = 1 : i64, max_context = 64 : i64, max_logit_rows = 8 : i64, page_tokens = 64 : i64}} {
  k3.symbol @T <= 8
  k3.symbol @S <= 1
  k3.symbol @R <= 8
  func.func @prefill(%ids: tensor<?xi32, #k3.sym<"T">> {k3.name = "ids"}, %batch: !k3.batch<"T", "S">, %rows: tensor<?xi32, #k3.sym<"R">> {k3.name = "logit_rows"}) -> (tensor<?xi32, #k3.sym<"R">> {k3.name = "rows"}) attributes {k3.entry = "prefill"} {
    // expected-error @below {{uses logit_rows, which a decode entry does not have}}
    return %rows : tensor<?xi32, #k3.sym<"R">>
  }
}
