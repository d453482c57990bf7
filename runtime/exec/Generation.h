//===- Generation.h - From a prompt to an answer ----------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Feeds a prompt in pieces, then samples and feeds token by token until a stop id, the wished
// number of tokens, or the end of the context.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_EXEC_GENERATION_H
#define K3_RUNTIME_EXEC_GENERATION_H

#include "runtime/exec/Session.h"
#include "runtime/tokenizer/Sampler.h"
#include "support/Status.h"

#include <cstdint>
#include <span>
#include <vector>

namespace k3 {

struct GenerationRequest {
  std::vector<int32_t> prompt;
  uint64_t maxNewTokens = 256;
  uint64_t prefillChunk = 0; // tokens of a piece; 0: as many as the plan takes
  SamplingParams sampling;
  std::vector<int64_t> stopIds;
  bool ignoreStop = false; // go on after a stop id
  bool allLogits = false;  // logits of every position that is fed
};

/// Told what happens while an answer is made.
class GenerationObserver {
public:
  virtual ~GenerationObserver() = default;
  /// A step of TOKENS tokens is about to run.
  virtual void beginStep(uint64_t tokens) {}
  /// The logits of the last step: of all its tokens if the request wants them, else of the last
  /// one.
  virtual void endStep(std::span<const float> logits) {}
  /// ID was chosen. A stop id ends the answer.
  virtual Status token(int32_t id, bool stop) { return Status::ok(); }
  /// Where taps go, or null.
  virtual TapSink *taps() { return nullptr; }
};

struct GenerationResult {
  std::vector<int32_t> ids; // generated, stop id included
  bool stopped = false;     // by a stop id
  bool contextFull = false; // by the plan's max_context: the last id could not be fed
  uint64_t prefillTokens = 0, decodeSteps = 0;
  double prefillSeconds = 0, decodeSeconds = 0;
};

/// The pieces in which PROMPT tokens are fed: all CHUNK long but the last.
std::vector<uint64_t> prefillPieces(uint64_t prompt, uint64_t chunk);

/// Refuses what a plan of these LIMITS cannot serve, before anything is loaded or run: a prompt
/// that is empty, too long or has ids beyond VOCABULARY (0: not known, ids are not looked at),
/// pieces that are too long, sampling parameters without a meaning.
Status checkRequest(const plan::Limits &limits, uint64_t vocabulary,
                    const GenerationRequest &request);

/// Generates on a fresh SEQUENCE. The last chosen id is not fed.
Result<GenerationResult> generate(Session &session, Sequence &sequence,
                                  const GenerationRequest &request, GenerationObserver &observer);

} // namespace k3

#endif // K3_RUNTIME_EXEC_GENERATION_H
