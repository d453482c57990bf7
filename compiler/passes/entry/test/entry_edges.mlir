// RUN: split-file %s %t
// RUN: k3-opt %t/one.mlir --k3-entry | FileCheck %s --check-prefix=ONE --implicit-check-not=decode_2
// RUN: k3-opt %t/five.mlir --k3-entry | FileCheck %s --check-prefix=FIVE --implicit-check-not=decode_8
// RUN: k3-opt %t/alone.mlir > %t/same
// RUN: k3-opt %t/alone.mlir --k3-entry | diff - %t/same

// ONE: func.func @decode_1(
// FIVE: func.func @decode_1(
// FIVE: func.func @decode_2(
// FIVE: func.func @decode_4(
// FIVE: func.func @decode_5(%{{.*}}: tensor<5x8xbf16> {k3.name = "x"}) -> (tensor<5x8xbf16> {k3.name = "y"})

//--- one.mlir
module attributes {k3.limits = {max_tokens = 9 : i64, max_seqs = 1 : i64, max_context = 64 : i64, max_logit_rows = 1 : i64, page_tokens = 64 : i64}} {
  k3.symbol @T <= 9
  func.func @prefill(%x: tensor<?x8xbf16, #k3.sym<"T">> {k3.name = "x"}) -> (tensor<?x8xbf16, #k3.sym<"T">> {k3.name = "y"}) attributes {k3.entry = "prefill"} {
    return %x : tensor<?x8xbf16, #k3.sym<"T">>
  }
}
//--- five.mlir
module attributes {k3.limits = {max_tokens = 9 : i64, max_seqs = 5 : i64, max_context = 64 : i64, max_logit_rows = 1 : i64, page_tokens = 64 : i64}} {
  k3.symbol @T <= 9
  func.func @prefill(%x: tensor<?x8xbf16, #k3.sym<"T">> {k3.name = "x"}) -> (tensor<?x8xbf16, #k3.sym<"T">> {k3.name = "y"}) attributes {k3.entry = "prefill"} {
    return %x : tensor<?x8xbf16, #k3.sym<"T">>
  }
}
//--- alone.mlir
// Only a prefill entry has decode entries: an op under test is compiled as it stands.
k3.symbol @T <= 9
func.func @op(%x: tensor<?x8xbf16, #k3.sym<"T">> {k3.name = "x"}) -> (tensor<?x8xbf16, #k3.sym<"T">> {k3.name = "y"}) attributes {k3.entry = "generic"} {
  return %x : tensor<?x8xbf16, #k3.sym<"T">>
}
