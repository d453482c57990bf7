//===- Generation.cpp - From a prompt to an answer --------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the request asks for is held against the plan's limits first, so that a prompt that cannot
// be answered costs nothing.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/Generation.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

using namespace k3;

std::vector<uint64_t> k3::prefillPieces(uint64_t prompt, uint64_t chunk) {
  std::vector<uint64_t> pieces;
  for (uint64_t at = 0; at < prompt; at += pieces.back())
    pieces.push_back(std::min(chunk, prompt - at));
  return pieces;
}

/// The length of prefill pieces.
static uint64_t chunkOf(const plan::Limits &limits, const GenerationRequest &request) {
  const uint64_t chunk = request.prefillChunk ? request.prefillChunk : limits.max_tokens();
  return request.allLogits ? std::min(chunk, limits.max_logit_rows()) : chunk;
}

Status k3::checkRequest(const plan::Limits &limits, uint64_t vocabulary,
                        const GenerationRequest &request) {
  if (request.prompt.empty())
    return Status::refused("prompt: has no tokens (expected at least 1)");
  if (request.prompt.size() > limits.max_context()) {
    return Status::refused(fmt::format("prompt: {} tokens are too long for the plan (expected at "
                                       "most {}); rebuild with --max-context {}",
                                       request.prompt.size(), limits.max_context(),
                                       request.prompt.size()));
  }
  for (size_t i = 0; vocabulary && i < request.prompt.size(); ++i) {
    const int32_t id = request.prompt[i];
    if (id < 0 || static_cast<uint64_t>(id) >= vocabulary)
      return Status::refused(
          fmt::format("prompt: id {} at position {} is not in the vocabulary (expected 0 to {})",
                      id, i, vocabulary - 1));
  }
  if (request.prefillChunk > limits.max_tokens()) {
    return Status::refused(fmt::format("--prefill-chunk: too large for the plan (got {}, expected "
                                       "at most {}); rebuild with --max-tokens {}",
                                       request.prefillChunk, limits.max_tokens(),
                                       request.prefillChunk));
  }
  if (!chunkOf(limits, request))
    return Status::refused("limits: the plan takes no tokens in a step; compile it again");
  return Sampler::create(request.sampling).status();
}

static double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Result<GenerationResult> k3::generate(Session &session, Sequence &sequence,
                                      const GenerationRequest &request,
                                      GenerationObserver &observer) {
  K3_RETURN_IF_ERROR(checkRequest(session.limits(), session.vocabulary(), request));
  const uint64_t chunk = chunkOf(session.limits(), request);
  K3_ASSIGN_OR_RETURN(Sampler sampler, Sampler::create(request.sampling));
  GenerationResult result;
  result.prefillTokens = request.prompt.size();

  auto start = std::chrono::steady_clock::now();
  std::span<const float> logits;
  std::span<const int32_t> rest = request.prompt;
  for (uint64_t piece : prefillPieces(request.prompt.size(), chunk)) {
    observer.beginStep(piece);
    K3_ASSIGN_OR_RETURN(logits,
                        session.prefill(sequence, rest.first(piece),
                                        request.allLogits ? LogitRows::All : LogitRows::Last,
                                        observer.taps()));
    observer.endStep(logits);
    rest = rest.subspan(piece);
  }
  result.prefillSeconds = secondsSince(start);

  start = std::chrono::steady_clock::now();
  while (result.ids.size() < request.maxNewTokens) {
    const int64_t position = static_cast<int64_t>(sequence.length()) - 1;
    K3_ASSIGN_OR_RETURN(const int32_t id,
                        sampler.sample(logits.last(session.vocabulary()), position));
    const bool stop =
        std::find(request.stopIds.begin(), request.stopIds.end(), id) != request.stopIds.end() &&
        !request.ignoreStop;
    result.ids.push_back(id);
    K3_RETURN_IF_ERROR(observer.token(id, stop));
    result.stopped = stop;
    if (stop || result.ids.size() == request.maxNewTokens)
      break;
    // A full context ends the answer like a stop id; what was generated and the states stay good.
    result.contextFull = sequence.length() >= session.limits().max_context();
    if (result.contextFull)
      break;
    observer.beginStep(1);
    K3_ASSIGN_OR_RETURN(logits, session.decode(sequence, id, observer.taps()));
    observer.endStep(logits);
    ++result.decodeSteps;
  }
  result.decodeSeconds = secondsSince(start);
  return result;
}
