//===- Phases.h - The phases of the compiler --------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of contents: every phase once, in order, with the sentence that --help shows and the
// passes that make it up.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_TOOLS_K3C_PHASES_H
#define K3_COMPILER_TOOLS_K3C_PHASES_H

#include <array>
#include <optional>
#include <string_view>

namespace k3 {

enum class Phase {
  Import,
  Entry,
  Simplify,
  Shard,
  Numerics,
  Fuse,
  Tile,
  Schedule,
  Layout,
  Plan,
  Codegen,
  Serialise
};

struct PhaseInfo {
  Phase phase;
  /// As in --compile-from and --compile-to.
  std::string_view name;
  std::string_view what;
};

inline constexpr std::array<PhaseInfo, 12> kPhases{{
    {Phase::Import, "import", "config.json and safetensors headers become k3 IR"},
    {Phase::Entry, "entry",
     "decode entries beside the prefill entry, one for each bucket of sequences"},
    {Phase::Simplify, "simplify",
     "MLA over latent rows, experts in halves, projections of one input packed"},
    {Phase::Shard, "shard", "weights and states are placed on the ranks of the mesh"},
    {Phase::Numerics, "numerics", "element types of activations, states and caches"},
    {Phase::Fuse, "fuse", "groups of ops that become one kernel"},
    {Phase::Tile, "tile", "groups become tile kernels; equal kernels are shared"},
    {Phase::Schedule, "schedule", "shared memory offsets and barriers, resource checks"},
    {Phase::Layout, "layout", "weights in the order in which the kernels read them"},
    {Phase::Plan, "plan", "buffers, arena offsets, grids as expressions, commands"},
    {Phase::Codegen, "codegen", "kernels become native code in one shared object"},
    {Phase::Serialise, "serialise", "the plan file, verified with the runtime's own loader"},
}};

inline std::optional<Phase> findPhase(std::string_view name) {
  for (const PhaseInfo &info : kPhases)
    if (info.name == name)
      return info.phase;
  return std::nullopt;
}

} // namespace k3

#endif // K3_COMPILER_TOOLS_K3C_PHASES_H
