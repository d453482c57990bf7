// RUN: k3-opt %s --k3-verify -verify-diagnostics -split-input-file
// What is checked over a whole module: symbols have bounds, names with a layer are used where one is known, calls end.

// This one is right.
k3.symbol @T <= 8
k3.symbol @S <= 2
k3.param @"layers.{L}.w" : tensor<6x6xf32>
func.func private @inner(%x: tensor<?x6xf32, #k3.sym<"T">>) -> tensor<?x6xf32, #k3.sym<"T">> {
  %w = k3.weight @"layers.{L}.w" : tensor<6x6xf32>
  %y = k3.linear %x, %w : tensor<?x6xf32, #k3.sym<"T">>, tensor<6x6xf32> -> tensor<?x6xf32, #k3.sym<"T">>
  return %y : tensor<?x6xf32, #k3.sym<"T">>
}
func.func @f(%x: tensor<?x6xf32, #k3.sym<"T">> {k3.name = "x"}, %batch: !k3.batch<"T", "S">)
    -> (tensor<?x6xf32, #k3.sym<"T">> {k3.name = "y"}) attributes {k3.entry = "prefill"} {
  %0 = call @inner(%x) {k3.layer = 0 : i64} : (tensor<?x6xf32, #k3.sym<"T">>) -> tensor<?x6xf32, #k3.sym<"T">>
  %1 = call @inner(%0) {k3.layer = 1 : i64} : (tensor<?x6xf32, #k3.sym<"T">>) -> tensor<?x6xf32, #k3.sym<"T">>
  return %1 : tensor<?x6xf32, #k3.sym<"T">>
}

// -----

// expected-error @below {{symbol @T has no upper bound; declare k3.symbol @T <= N}}
func.func private @f(tensor<?x6xf32, #k3.sym<"T">>)

// -----

// expected-error @below {{symbol @U has no upper bound; declare k3.symbol @U <= N}}
func.func private @f() -> tensor<?x6xf32, #k3.sym<"U">>

// -----

k3.symbol @T <= 8
// expected-error @below {{symbol @S has no upper bound; declare k3.symbol @S <= N}}
func.func private @f(!k3.batch<"T", "S">)

// -----

func.func private @f() {
  // expected-error @below {{symbol @T has no upper bound; declare k3.symbol @T <= N}}
  %0 = k3.stack : !k3.stack<2x6xf32, "T">
  return
}

// -----

// expected-error @below {{'tensor<?x6xf32>': a dynamic extent needs a symbol as encoding}}
func.func private @f(tensor<?x6xf32>)

// -----

// expected-error @below {{'tensor<4x?xf32>': only the first extent may be dynamic (got a dynamic extent 1)}}
func.func private @f(tensor<4x?xf32>)

// -----

k3.param @"layers.{L}.w" : tensor<6x6xf32>
func.func @f() attributes {k3.entry = "generic"} {
  // expected-error @below {{'layers.{L}.w' needs a layer, but entry @f stands for none; use it in a private function called with k3.layer}}
  %w = k3.weight @"layers.{L}.w" : tensor<6x6xf32>
  return
}

// -----

k3.state @"layers.{L}.conv" : !k3.conv_state<3x6xf32>
func.func private @body() {
  %s = k3.ref @"layers.{L}.conv" : !k3.conv_state<3x6xf32>
  return
}
func.func @f() attributes {k3.entry = "generic"} {
  // expected-error @below {{@body uses 'layers.{L}.conv' but the call has no layer; add k3.layer}}
  call @body() : () -> ()
  return
}

// -----

func.func private @body()
func.func @f() attributes {k3.entry = "generic"} {
  // expected-error @below {{@body has no body; calls are inlined, so it needs one}}
  call @body() : () -> ()
  return
}

// -----

func.func @g() attributes {k3.entry = "generic"} { return }
func.func @f() attributes {k3.entry = "generic"} {
  // expected-error @below {{@g is an entry; only a run calls entries, so call a private function}}
  call @g() : () -> ()
  return
}

// -----

// expected-error @below {{@a calls itself; calls are inlined, so they may not form a circle}}
func.func private @a() {
  call @b() : () -> ()
  return
}
func.func private @b() {
  call @a() : () -> ()
  return
}
