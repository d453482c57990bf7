// RUN: k3-translate %s --mlir-to-llvmir | FileCheck %s

// CHECK-LABEL: define float @twice(float %0)
// CHECK-NEXT: %2 = fadd float %0, %0
// CHECK-NEXT: ret float %2
llvm.func @twice(%a: f32) -> f32 {
  %r = llvm.fadd %a, %a : f32
  llvm.return %r : f32
}
