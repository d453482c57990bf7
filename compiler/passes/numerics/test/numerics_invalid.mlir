// RUN: k3-opt %s --k3-numerics=dtype=f32 -verify-diagnostics
// A weight that is passed to a function would change its type on the way.

k3.param @w : tensor<24x24xbf16>
func.func private @body(%w: tensor<24x24xbf16>) { return }
func.func private @f() {
  %w = k3.weight @w : tensor<24x24xbf16>
  // expected-error @below {{numerics: argument 0 of @body is the weight @w; use k3.weight inside of the function}}
  call @body(%w) : (tensor<24x24xbf16>) -> ()
  return
}
