// RUN: split-file %s %t
// RUN: not k3-opt %t/none.mlir --k3-entry 2>&1 | FileCheck %s
// RUN: not k3-opt %t/taken.mlir --k3-entry 2>&1 | FileCheck %s --check-prefix=TAKEN
// RUN: not k3-opt %t/nested.mlir --k3-entry 2>&1 | FileCheck %s --check-prefix=NESTED

// CHECK: error: k3-entry: the module has no k3.limits, whose max_seqs bounds the decode entries; add it, or mark the entry as generic

//--- none.mlir
func.func @prefill(%x: tensor<9x8xbf16> {k3.name = "x"}) -> (tensor<9x8xbf16> {k3.name = "y"}) attributes {k3.entry = "prefill"} {
  return %x : tensor<9x8xbf16>
}
//--- taken.mlir
// TAKEN: error: redefinition of symbol named 'decode_1'
module attributes {k3.limits = {max_tokens = 9 : i64, max_seqs = 1 : i64, max_context = 64 : i64, max_logit_rows = 1 : i64, page_tokens = 64 : i64}} {
  func.func @prefill(%x: tensor<9x8xbf16> {k3.name = "x"}) -> (tensor<9x8xbf16> {k3.name = "y"}) attributes {k3.entry = "prefill"} {
    return %x : tensor<9x8xbf16>
  }
  func.func @decode_1(%x: tensor<1x8xbf16> {k3.name = "x"}) -> (tensor<1x8xbf16> {k3.name = "y"}) attributes {k3.entry = "decode", k3.bucket = 1 : i64} {
    return %x : tensor<1x8xbf16>
  }
}
//--- nested.mlir
// NESTED: error: k3-entry: @inner is called by a body, and decode entries are made for bodies that the entry calls itself
module attributes {k3.limits = {max_tokens = 9 : i64, max_seqs = 1 : i64, max_context = 64 : i64, max_logit_rows = 1 : i64, page_tokens = 64 : i64}} {
  k3.symbol @T <= 9
  func.func private @inner(%x: tensor<?x8xbf16, #k3.sym<"T">>) -> tensor<?x8xbf16, #k3.sym<"T">> {
    return %x : tensor<?x8xbf16, #k3.sym<"T">>
  }
  func.func private @body(%x: tensor<?x8xbf16, #k3.sym<"T">>) -> tensor<?x8xbf16, #k3.sym<"T">> {
    %y = call @inner(%x) : (tensor<?x8xbf16, #k3.sym<"T">>) -> tensor<?x8xbf16, #k3.sym<"T">>
    return %y : tensor<?x8xbf16, #k3.sym<"T">>
  }
  func.func @prefill(%x: tensor<?x8xbf16, #k3.sym<"T">> {k3.name = "x"}, %batch: !k3.batch<"T", "T">) -> (tensor<?x8xbf16, #k3.sym<"T">> {k3.name = "y"}) attributes {k3.entry = "prefill"} {
    %y = call @body(%x) : (tensor<?x8xbf16, #k3.sym<"T">>) -> tensor<?x8xbf16, #k3.sym<"T">>
    return %y : tensor<?x8xbf16, #k3.sym<"T">>
  }
}
