//===- Inspect.h - What a plan says, for people and scripts -----*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The two outputs of `k3 inspect`: one screen that answers what made this file, for which machine,
// with which limits and how much memory; and JSON with everything, whose keys stay.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_TOOLS_INSPECT_H
#define K3_RUNTIME_TOOLS_INSPECT_H

#include "runtime/loader/Plan.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace k3 {

/// One screen of text.
std::string inspectTable(const LoadedPlan &plan);

/// One JSON object. Its keys are only ever added to:
///   file, file_bytes, format {major, minor}
///   producer {version, flags [], llvm_version, nvrtc_version}
///   model {name, config_hash, index_hash, layers, kda_layers, mla_layers, text_parameters,
///   vocab_size, hidden_size,
///          bos_token_id, eos_token_ids [], cache_bytes_per_token, state_bytes_per_sequence}
///   target {name, triple, features [], runs_here, reason}
///   ranks, mesh {tp, ep, pp}
///   limits {max_tokens, max_seqs, max_context, max_logit_rows, page_tokens, cache_pages}
///   symbols [{name, upper_bound}]
///   memory [{rank, weights, state, cache, scratch, io, peer, total}], in bytes
///   entries [{rank, name, kind, bucket, symbols [], inputs [], outputs [], commands {launch, copy,
///   ...}, taps []}]
///     with an input or output {name, dtype, shape []}; a dimension is a number, or text if it
///     depends on symbols
///   kernels [{name, image, params [], block [], launches, shared_bytes, registers, spill_bytes}]
///   weights [{rank, name, dtype, shape [], bytes, pieces}]
///   states [{rank, name, kind, dtype, shape [], order, slot_bytes, bytes}]
///   segments [{name, offset, size, hash}]
/// What is unknown is null.
std::string inspectJson(const LoadedPlan &plan);

// ------------------------------------------------------------------------------------- shared by
// both outputs

/// Text of an expression: "64", "ceildiv(T, 64)"; cut off with "..." when it is very long.
std::string exprText(const plan::Plan &plan, uint32_t expr);

/// Bytes of the arenas of one program, by class and in total.
struct MemoryByClass {
  std::vector<uint64_t> bytes; // by ArenaClass
  uint64_t total = 0;
};
MemoryByClass memoryOf(const plan::Program &program);

/// How often each kind of command occurs in ENTRY, by its name in lower case ("launch",
/// "host_call").
std::map<std::string, uint64_t> commandCounts(const plan::Entry &entry);

/// How many launches of each kernel the entries of PROGRAM hold.
std::vector<uint64_t> launchCounts(const plan::Plan &plan, const plan::Program &program);

} // namespace k3

#endif // K3_RUNTIME_TOOLS_INSPECT_H
