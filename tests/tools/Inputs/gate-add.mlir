// A product that meets a sum only when the two ops are fused: contracting it would make fusion visible in the bits.
!x = tensor<64x40xf32>
func.func @f(%x: !x {k3.name = "x"}, %g: !x {k3.name = "g"}, %y: !x {k3.name = "y"}) -> (!x {k3.name = "z"}) attributes {k3.entry = "generic"} {
  %a = k3.gate %x, %g : !x, !x -> !x
  %b = k3.add %a, %y : !x, !x -> !x
  return %b : !x
}
