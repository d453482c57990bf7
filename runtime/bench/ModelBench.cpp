//===- ModelBench.cpp - Time of prompts and tokens ------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that is compared or drawn stays outside of the timed parts; the arg-max of a row of
// logits is inside, as it is when a model answers.
//
//===----------------------------------------------------------------------===//

#include "runtime/bench/ModelBench.h"

#include "runtime/exec/Generation.h"
#include "runtime/tokenizer/Sampler.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

using namespace k3;
using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Status k3::checkModelBench(const plan::Limits &limits, const ModelBenchOptions &options) {
  for (uint64_t batch : options.batches) {
    if (batch == 0 || batch > limits.max_seqs())
      return Status::refused(fmt::format("--batch: the plan takes 1 to {} sequences (got {}); "
                                         "rebuild with --max-seqs {}",
                                         limits.max_seqs(), batch, std::max<uint64_t>(batch, 1)));
  }
  if (options.newTokens < 2 || options.repeats < 1)
    return Status::refused(fmt::format(
        "k3 bench: needs at least 2 new tokens and 1 repeat (got --new-tokens {}, --repeats {})",
        options.newTokens, options.repeats));
  for (uint64_t context : options.contexts) {
    // The last new token is not fed.
    const uint64_t fed = context + (options.newTokens - 1);
    if (context == 0 || fed < context || fed > limits.max_context())
      return Status::refused(fmt::format(
          "--context: {} tokens and {} new ones do not fit the plan (got {}, expected 1 "
          "to {}); rebuild with a larger --max-context or use fewer --new-tokens",
          context, options.newTokens, fed, limits.max_context()));
  }
  if (options.prefillChunk > limits.max_tokens())
    return Status::refused(fmt::format("--prefill-chunk: too large for the plan (got {}, expected "
                                       "at most {}); rebuild with --max-tokens {}",
                                       options.prefillChunk, limits.max_tokens(),
                                       options.prefillChunk));
  return Status::ok();
}

namespace {

/// What one run took, and what it answered.
struct Run {
  double firstToken = 0, decode = 0;
  std::vector<double> steps, host;
  std::vector<int32_t> ids; // step by step, of all sequences
};

class Runner {
public:
  Runner(Session &session, uint64_t batch, uint64_t context, const ModelBenchOptions &options)
      : session_(session), batch_(batch), context_(context), options_(options) {}

  Result<Run> run();

private:
  Status open();
  Status prefill(Run &run);
  Status decode(Run &run);
  /// Appends the largest logit's id of each row to RUN.
  Status choose(Run &run, std::span<const float> logits);

  Session &session_;
  const uint64_t batch_, context_;
  const ModelBenchOptions &options_;
  Sampler sampler_ = *Sampler::create({});
  std::vector<Sequence> sequences_;
  std::vector<int32_t> prompts_;
};

Status Runner::open() {
  for (uint64_t i = 0; i < batch_; ++i) {
    K3_ASSIGN_OR_RETURN(Sequence sequence, session_.open());
    sequences_.push_back(std::move(sequence));
  }
  // Ids that differ from sequence to sequence, so that their experts do.
  prompts_.clear();
  for (uint64_t i = 0; i < batch_ * context_; ++i)
    prompts_.push_back(static_cast<int32_t>(uniformAt(1, static_cast<int64_t>(i)) *
                                            static_cast<double>(session_.vocabulary())));
  return Status::ok();
}

Status Runner::choose(Run &run, std::span<const float> logits) {
  const uint64_t width = session_.vocabulary();
  for (uint64_t row = 0; row < logits.size() / width; ++row) {
    K3_ASSIGN_OR_RETURN(const int32_t id,
                        sampler_.sample(logits.subspan(row * width, width),
                                        static_cast<int64_t>(sequences_.front().length()) - 1));
    run.ids.push_back(id);
  }
  return Status::ok();
}

Status Runner::prefill(Run &run) {
  const uint64_t chunk =
      options_.prefillChunk ? options_.prefillChunk : session_.limits().max_tokens();
  const std::vector<uint64_t> pieces = prefillPieces(context_, chunk);
  const auto start = Clock::now();
  for (uint64_t i = 0; i < batch_; ++i) {
    std::span<const int32_t> rest = std::span(prompts_).subspan(i * context_, context_);
    std::span<const float> logits;
    for (uint64_t piece : pieces) {
      K3_ASSIGN_OR_RETURN(logits,
                          session_.prefill(sequences_[i], rest.first(piece), LogitRows::Last));
      rest = rest.subspan(piece);
    }
    K3_RETURN_IF_ERROR(choose(run, logits));
  }
  run.firstToken = secondsSince(start);
  return Status::ok();
}

Status Runner::decode(Run &run) {
  std::vector<Sequence *> all;
  for (Sequence &sequence : sequences_)
    all.push_back(&sequence);
  std::vector<int32_t> last(batch_);
  for (uint64_t step = 1; step < options_.newTokens; ++step) {
    std::copy_n(run.ids.end() - static_cast<std::ptrdiff_t>(batch_), batch_, last.begin());
    const double waited = session_.executor().waitSeconds();
    const auto start = Clock::now();
    K3_ASSIGN_OR_RETURN(std::span<const float> logits, session_.decode(all, last));
    const double untilLogits = secondsSince(start);
    K3_RETURN_IF_ERROR(choose(run, logits));
    run.steps.push_back(secondsSince(start));
    run.host.push_back(untilLogits - (session_.executor().waitSeconds() - waited));
    run.decode += run.steps.back();
  }
  return Status::ok();
}

Result<Run> Runner::run() {
  Run run;
  Status status = open();
  if (status.isOk())
    status = prefill(run);
  if (status.isOk())
    status = decode(run);
  for (Sequence &sequence : sequences_)
    session_.close(sequence);
  sequences_.clear();
  if (!status.isOk())
    return status;
  return run;
}

} // namespace

Result<ModelBenchCase> k3::benchModel(Session &session, uint64_t batch, uint64_t context,
                                      const ModelBenchOptions &options) {
  Runner runner(session, batch, context, options);
  K3_ASSIGN_OR_RETURN(const Run first, runner.run());
  ModelBenchCase result;
  result.batch = batch;
  result.context = context;
  std::vector<double> firstTokens, prefillRates, rates, steps, host;
  for (uint64_t repeat = 0; repeat < options.repeats; ++repeat) {
    K3_ASSIGN_OR_RETURN(const Run run, runner.run());
    if (run.ids != first.ids) {
      const auto at = std::ranges::mismatch(run.ids, first.ids);
      return Status::failed(fmt::format(
          "batch {}, context {}: the same prompts gave other ids in run {} (got {}, expected {} as "
          "token {}); the results cannot be trusted, report this with the plan",
          batch, context, repeat + 2, *at.in1, *at.in2,
          static_cast<uint64_t>(at.in1 - run.ids.begin()) / batch + 1));
    }
    const double newTokens = static_cast<double>(batch * run.steps.size());
    firstTokens.push_back(run.firstToken);
    prefillRates.push_back(static_cast<double>(batch * context) / std::max(run.firstToken, 1e-9));
    rates.push_back(newTokens / std::max(run.decode, 1e-9));
    steps.insert(steps.end(), run.steps.begin(), run.steps.end());
    host.insert(host.end(), run.host.begin(), run.host.end());
  }
  result.firstToken = spreadOf(firstTokens);
  result.prefillRate = spreadOf(prefillRates);
  result.token50 = percentile(steps, 0.5);
  result.token99 = percentile(steps, 0.99);
  result.rate = spreadOf(rates);
  result.hostPerStep = session.executor().onGpu() ? percentile(host, 0.5) : 0;
  result.steps = steps.size();
  return result;
}
