// RUN: k3-opt %s --k3-split-experts | FileCheck %s --implicit-check-not="k3.experts "
// Six experts of width 7 (bf16) or 96 (MXFP4, 32 numbers a scale), two a token.

k3.symbol @T <= 130

// CHECK-LABEL: func.func private @bf16(
// CHECK-SAME: %[[Z:[^:]*]]: tensor<?x40xbf16, #k3.sym<"T">>, %[[IDS:[^:]*]]: tensor<?x2xi32, #k3.sym<"T">>, %[[W:[^:]*]]: tensor<?x2xf32, #k3.sym<"T">>, %[[GU:[^:]*]]: tensor<6x14x40xbf16>, %[[D:[^:]*]]: tensor<6x40x7xbf16>
func.func private @bf16(%z: tensor<?x40xbf16, #k3.sym<"T">>, %ids: tensor<?x2xi32, #k3.sym<"T">>, %weights: tensor<?x2xf32, #k3.sym<"T">>,
                        %gate_up: tensor<6x14x40xbf16>, %down: tensor<6x40x7xbf16>) -> tensor<?x40xbf16, #k3.sym<"T">> {
  // CHECK-NEXT: %[[X:.*]] = k3.expert_up swiglu %[[Z]], %[[IDS]], %[[GU]] : tensor<?x40xbf16, #k3.sym<"T">>, tensor<?x2xi32, #k3.sym<"T">>, tensor<6x14x40xbf16> -> tensor<?x14xbf16, #k3.sym<"T">>
  // CHECK-NEXT: %[[Y:.*]] = k3.expert_down %[[X]], %[[IDS]], %[[D]] : tensor<?x14xbf16, #k3.sym<"T">>, tensor<?x2xi32, #k3.sym<"T">>, tensor<6x40x7xbf16> -> tensor<?x80xbf16, #k3.sym<"T">>
  // CHECK-NEXT: %[[R:.*]] = k3.combine %[[Y]], %[[W]] : tensor<?x80xbf16, #k3.sym<"T">>, tensor<?x2xf32, #k3.sym<"T">> -> tensor<?x40xbf16, #k3.sym<"T">>
  // CHECK-NEXT: return %[[R]]
  %y = k3.experts swiglu %z, %ids, %weights, %gate_up, %down : tensor<?x40xbf16, #k3.sym<"T">>, tensor<?x2xi32, #k3.sym<"T">>,
      tensor<?x2xf32, #k3.sym<"T">>, tensor<6x14x40xbf16>, tensor<6x40x7xbf16> -> tensor<?x40xbf16, #k3.sym<"T">>
  return %y : tensor<?x40xbf16, #k3.sym<"T">>
}

// Each half takes its own scales; the activation and both its limits go with the first.
// CHECK-LABEL: func.func private @mxfp4(
// CHECK-SAME: %[[GU:[^:]*]]: tensor<6x192x32xi8>, %[[D:[^:]*]]: tensor<6x64x48xi8>, %[[GS:[^:]*]]: tensor<6x192x2xi8>, %[[DS:[^:]*]]: tensor<6x64x3xi8>
func.func private @mxfp4(%z: tensor<3x64xf32>, %ids: tensor<3x1xi32>, %weights: tensor<3x1xf32>, %gate_up: tensor<6x192x32xi8>,
                         %down: tensor<6x64x48xi8>, %gate_up_scale: tensor<6x192x2xi8>, %down_scale: tensor<6x64x3xi8>) -> tensor<3x64xf32> {
  // CHECK-NEXT: %[[X:.*]] = k3.expert_up situ %{{.*}}, %{{.*}}, %[[GU]] scale %[[GS]] {beta = 4.000000e+00 : f64, linear_beta = 2.500000e+01 : f64} : tensor<3x64xf32>, tensor<3x1xi32>, tensor<6x192x32xi8> scale tensor<6x192x2xi8> -> tensor<3x96xf32>
  // CHECK-NEXT: %[[Y:.*]] = k3.expert_down %[[X]], %{{.*}}, %[[D]] scale %[[DS]] : tensor<3x96xf32>, tensor<3x1xi32>, tensor<6x64x48xi8> scale tensor<6x64x3xi8> -> tensor<3x64xf32>
  // CHECK-NEXT: k3.combine %[[Y]], %{{.*}} : tensor<3x64xf32>, tensor<3x1xf32> -> tensor<3x64xf32>
  %y = k3.experts situ %z, %ids, %weights, %gate_up, %down scales(%gate_up_scale, %down_scale) {beta = 4.0, linear_beta = 25.0}
      : tensor<3x64xf32>, tensor<3x1xi32>, tensor<3x1xf32>, tensor<6x192x32xi8>, tensor<6x64x48xi8> scales(tensor<6x192x2xi8>, tensor<6x64x3xi8>) -> tensor<3x64xf32>
  return %y : tensor<3x64xf32>
}
