//===- K3Dialect.h - The k3 dialect, its types and attributes ---*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the dialect, its types for states, caches and the residual stack, and the resource their
// effects act on. Also names the discardable attributes that entries, bodies and calls carry.
//
//===----------------------------------------------------------------------===//

#ifndef K3_DIALECTS_K3_K3DIALECT_H
#define K3_DIALECTS_K3_K3DIALECT_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/k3/K3Dialect.h.inc"
#include "dialects/k3/K3Enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/k3/K3Attrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/k3/K3Types.h.inc"

namespace k3::model {

/// What recurrent states, caches and the stack of a step live in: ops that touch them keep their
/// order.
struct StateResource : public mlir::SideEffects::Resource::Base<StateResource> {
  llvm::StringRef getName() final { return "K3State"; }
};

/// "prefill", "decode" or "generic", on a function that a run can call.
inline constexpr llvm::StringLiteral kEntryAttr = "k3.entry";
/// Number of sequences of a decode entry, on its function.
inline constexpr llvm::StringLiteral kBucketAttr = "k3.bucket";
/// Layer that a call of a shared body stands for; it replaces `{L}` in the names that the body
/// uses.
inline constexpr llvm::StringLiteral kLayerAttr = "k3.layer";
/// Name under which a run sees an argument or a result of an entry.
inline constexpr llvm::StringLiteral kNameAttr = "k3.name";
/// Sizes of the mesh axes, {tp, ep, pp}, on the module.
inline constexpr llvm::StringLiteral kMeshAttr = "k3.mesh";
/// Upper limits of a step, on the module: {max_tokens, max_seqs, max_context, max_logit_rows,
/// page_tokens}. A run numbers tokens, slots and pages in 32 bits.
inline constexpr llvm::StringLiteral kLimitsAttr = "k3.limits";
/// Stands for the layer number in names of a shared body.
inline constexpr llvm::StringLiteral kLayerPlaceholder = "{L}";

} // namespace k3::model

#endif // K3_DIALECTS_K3_K3DIALECT_H
