//===- Driver.h - What k3c is asked to do ------------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The options of one compilation, already checked, and the function that runs the phases. It names
// no MLIR, so that the command line is parsed and tested without it.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_TOOLS_K3C_DRIVER_H
#define K3_COMPILER_TOOLS_K3C_DRIVER_H

#include "support/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace k3 {

enum class EmitKind { K3, Sharded, Tile, Cuda, Plan };

struct CompileOptions {
  /// A folder, a config file, or a .mlir file in the k3 dialect.
  std::string model;
  /// Empty: text goes to standard output, a plan to `model.k3plan` in the working directory.
  std::string output;
  /// `cpu` (x86-64-v3), `cpu-native`, or an architecture of GPUs.
  std::string target = "cpu";
  /// The GPU for which the lowerings choose tiles; empty: the target.
  std::string schedule;
  /// `bf16` or `f32`: activations, cache and conv state.
  std::string dtype = "bf16";
  int64_t maxSeqs = 1;
  int64_t maxTokens = 512;
  int64_t maxLogitRows = 64;
  /// Not given: the smaller of the configuration's and 4096.
  std::optional<int64_t> maxContext;
  EmitKind emit = EmitKind::Plan;
  /// Fusion rules to leave out: `scan`, `tail`, `row`. The results of the plan stay the same, to
  /// the bit.
  std::vector<std::string> noFuse;
  /// Names of phases; empty: from the first, to the last.
  std::string compileFrom;
  std::string compileTo;
  bool dryRun = false;
  bool json = false;
  bool explain = false;

  /// The NVRTC library; empty: where it usually is.
  std::string nvrtc;

  bool isGpu() const { return target.starts_with("sm_"); }
  bool isMlir() const { return model.ends_with(".mlir"); }
  /// Bytes of an element of cache and conv state.
  int64_t elementBytes() const { return dtype == "f32" ? 4 : 2; }
};

/// Runs the phases and writes the output. Nothing is written on refusal.
Status compile(const CompileOptions &options);

} // namespace k3

#endif // K3_COMPILER_TOOLS_K3C_DRIVER_H
