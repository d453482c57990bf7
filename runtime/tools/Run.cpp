//===- Run.cpp - k3 run -----------------------------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Answers a prompt with a plan and a checkpoint, or runs one entry of a plan alone. Standard output
// holds the answer and nothing else.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/Dump.h"
#include "runtime/exec/Generation.h"
#include "runtime/exec/ModelFiles.h"
#include "runtime/exec/OpenPlan.h"
#include "runtime/exec/RandomWeights.h"
#include "runtime/exec/SingleEntry.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/tools/AnswerPrinter.h"
#include "runtime/tools/Commands.h"
#include "runtime/tools/Process.h"
#include "support/CommandLine.h"
#include "support/File.h"
#include "support/Format.h"
#include "support/Log.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <unistd.h>

using namespace k3;

namespace {

struct RunOptions {
  std::string plan, weights, prompt, promptIds, dump, entry, inputs;
  bool hasPrompt = false, hasPromptIds = false;
  bool noGraphs = false;
  bool noBos = false, ignoreEos = false, printIds = false;
  uint64_t maxNewTokens = 256;
  uint64_t prefillChunk = 0;
  uint64_t memory = 0;
  unsigned threads = 0;
  SamplingParams sampling;
};

Result<std::vector<int32_t>> parseIds(const std::string &text) {
  std::vector<int32_t> ids;
  for (const char *at = text.data(), *end = at + text.size();;) {
    int32_t id = 0;
    const auto [rest, error] = std::from_chars(at, end, id);
    if (error != std::errc() || (rest != end && *rest != ',')) {
      return Status::refused(fmt::format("--prompt-ids: id number {} is not a token id (got "
                                         "\"{}\", expected numbers with commas between them)",
                                         ids.size() + 1, std::string(at, std::find(at, end, ','))));
    }
    ids.push_back(id);
    if (rest == end)
      return ids;
    at = rest + 1;
  }
}

/// The tokenizer of the checkpoint, or null when its folder has no tokenizer file.
Result<std::unique_ptr<Tokenizer>> loadTokenizer(const std::string &folder) {
  if (folder.empty() ||
      (::access((folder + "/tiktoken.model").c_str(), F_OK) != 0 && errno == ENOENT))
    return std::unique_ptr<Tokenizer>();
  K3_ASSIGN_OR_RETURN(Tokenizer tokenizer, Tokenizer::load(folder));
  return std::make_unique<Tokenizer>(std::move(tokenizer));
}

Result<std::vector<int32_t>> makePrompt(const RunOptions &options, const Tokenizer *tokenizer,
                                        const PromptIds &known) {
  if (options.hasPromptIds)
    return parseIds(options.promptIds);
  if (!tokenizer) {
    return Status::refused(fmt::format(
        "--prompt: there is no tokenizer in {} (expected tiktoken.model and "
        "tokenizer_config.json); use "
        "--prompt-ids",
        options.weights.empty() ? "any folder, --weights is not given" : options.weights));
  }
  std::vector<int32_t> ids;
  if (!options.noBos) {
    if (!known.bos)
      return Status::refused(
          "--prompt: no configuration gives a bos_token_id; use --no-bos to begin without one");
    ids.push_back(static_cast<int32_t>(*known.bos));
  }
  K3_ASSIGN_OR_RETURN(std::vector<int32_t> text, tokenizer->encode(options.prompt));
  ids.insert(ids.end(), text.begin(), text.end());
  return ids;
}

void reportSpeed(const GenerationResult &result) {
  const auto rate = [](uint64_t count, double seconds) {
    return static_cast<double>(count) / std::max(seconds, 1e-9);
  };
  logInfo(fmt::format("prefill: {} tokens in {}, {:.1f} tokens/s", result.prefillTokens,
                      formatDuration(result.prefillSeconds),
                      rate(result.prefillTokens, result.prefillSeconds)));
  if (result.decodeSteps) {
    logInfo(fmt::format("decode: {} tokens in {}, {:.1f} tokens/s", result.decodeSteps,
                        formatDuration(result.decodeSeconds),
                        rate(result.decodeSteps, result.decodeSeconds)));
  }
  logInfo(fmt::format("generated: {} tokens{}", result.ids.size(),
                      result.stopped ? ", ended by a stop id" : ""));
}

Status runPrompt(const RunOptions &options, const LoadedPlan &plan) {
  K3_ASSIGN_OR_RETURN(const std::optional<uint64_t> seed, parseRandomWeights(options.weights));
  const std::string folder = seed ? std::string() : options.weights;
  K3_ASSIGN_OR_RETURN(PromptIds known, readPromptIds(folder, *plan.plan().model()));
  K3_ASSIGN_OR_RETURN(std::unique_ptr<Tokenizer> tokenizer, loadTokenizer(folder));
  GenerationRequest request;
  K3_ASSIGN_OR_RETURN(request.prompt, makePrompt(options, tokenizer.get(), known));
  request.maxNewTokens = options.maxNewTokens;
  request.prefillChunk = options.prefillChunk;
  request.sampling = options.sampling;
  request.stopIds = known.stop;
  request.ignoreStop = options.ignoreEos;
  request.allLogits = !options.dump.empty();

  // Loading may take minutes, so what cannot be answered is refused before.
  const plan::Limits &limits = *plan.plan().limits();
  K3_RETURN_IF_ERROR(checkRequest(limits, plan.plan().model()->vocab_size(), request));

  OpenOptions open{options.weights, options.threads, {}, 0, !options.noGraphs};
  if (options.memory)
    open.memory = options.memory;
  if (request.allLogits) {
    const uint64_t left = limits.max_context() - request.prompt.size();
    open.dumpBytes = dumpBytes(plan.plan(), *plan.plan().programs()->Get(0),
                               request.prompt.size() + std::min(options.maxNewTokens, left));
  }
  K3_ASSIGN_OR_RETURN(std::unique_ptr<Executor> executor, openPlan(plan, open));
  K3_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, Session::create(*executor));
  K3_ASSIGN_OR_RETURN(Sequence sequence, session->open());

  DumpRecorder recorder;
  AnswerPrinter printer(options.printIds ? nullptr : tokenizer.get(),
                        request.allLogits ? &recorder : nullptr);
  Result<GenerationResult> result = generate(*session, sequence, request, printer);
  // A request that was refused before its first token leaves standard output empty.
  const Status printed = result || printer.started() ? printer.finish() : Status::ok();
  if (!result)
    return result.status();
  K3_RETURN_IF_ERROR(printed);
  reportSpeed(*result);
  if (result->contextFull)
    logInfo(fmt::format("context: all {} tokens of the plan are used, so the answer ends here; "
                        "rebuild with a larger --max-context for a longer one",
                        plan.plan().limits()->max_context()));
  if (request.allLogits) {
    std::vector<int32_t> ids = request.prompt;
    ids.insert(ids.end(), result->ids.begin(), result->ids.end());
    K3_RETURN_IF_ERROR(recorder.write(options.dump, *session, sequence, std::move(ids)));
  }
  return Status::ok();
}

Status runEntry(const RunOptions &options, const LoadedPlan &plan) {
  K3_ASSIGN_OR_RETURN(SafetensorsFile inputs, SafetensorsFile::open(options.inputs));
  OpenOptions open{options.weights, options.threads, {}, 0, !options.noGraphs};
  if (options.memory)
    open.memory = options.memory;
  K3_ASSIGN_OR_RETURN(std::unique_ptr<Executor> executor, openPlan(plan, open));
  return runSingleEntry(*executor, options.entry, inputs, options.dump);
}

Status run(const RunOptions &options) {
  if (options.entry.empty()) {
    if (options.hasPrompt == options.hasPromptIds)
      return Status::refused(
          "k3 run: needs exactly one of --prompt, --prompt-ids and --entry; see k3 run --help");
    if (!options.inputs.empty())
      return Status::refused("--inputs: goes with --entry only");
  } else {
    if (options.hasPrompt || options.hasPromptIds)
      return Status::refused("--entry: runs one entry alone and takes no prompt");
    if (options.inputs.empty() || options.dump.empty())
      return Status::refused(
          "--entry: needs --inputs and --dump, the files to read from and to write to");
  }
  K3_ASSIGN_OR_RETURN(LoadedPlan plan, loadPlan(options.plan));
  if (!options.dump.empty())
    K3_RETURN_IF_ERROR(checkWritable(options.dump));
  K3_RETURN_IF_ERROR(options.entry.empty() ? runPrompt(options, plan) : runEntry(options, plan));
  logInfo(fmt::format("peak memory: {}", formatBytes(peakMemory())));
  return Status::ok();
}

} // namespace

void k3::addRunCommand(CLI::App &app, int &exitCode) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *command = app.add_subcommand(
      "run", "answer a prompt with a plan and its checkpoint, or run one entry of a plan");
  command->add_option("PLAN", options->plan, "the plan, a .k3plan file")
      ->required()
      ->check(notEmpty());
  command
      ->add_option("--weights", options->weights,
                   "folder of the checkpoint: safetensors, config.json, tokenizer; or "
                   "random:SEED for random weights, to measure a model without it")
      ->check(notEmpty());
  CLI::Option *prompt = command->add_option("--prompt", options->prompt, "text to go on from");
  CLI::Option *promptIds = command->add_option("--prompt-ids", options->promptIds,
                                               "token ids to go on from, taken as they are: 1,2,3");
  command->add_flag("--no-bos", options->noBos,
                    "do not put the id of [BOS] before the text of --prompt");
  command->add_option("--max-new-tokens", options->maxNewTokens, "the most tokens to generate")
      ->capture_default_str()
      ->check(wholeNumber(0, UINT64_MAX));
  command->add_option("--temperature", options->sampling.temperature, "0 takes the largest logit")
      ->capture_default_str()
      ->check(decimalNumber());
  command
      ->add_option("--top-k", options->sampling.topK,
                   "sample from the K largest logits; 0: from all")
      ->capture_default_str()
      ->check(wholeNumber(0, INT32_MAX));
  command
      ->add_option("--top-p", options->sampling.topP,
                   "sample from the smallest set of this probability")
      ->capture_default_str()
      ->check(decimalNumber());
  command->add_option("--seed", options->sampling.seed, "of the sampler")
      ->capture_default_str()
      ->check(wholeNumber(0, UINT64_MAX));
  command->add_flag("--ignore-eos", options->ignoreEos, "go on after a stop id");
  command
      ->add_option("--prefill-chunk", options->prefillChunk,
                   "tokens of the prompt in one step (default: --max-tokens of the plan)")
      ->check(wholeNumber(1, UINT64_MAX));
  command->add_flag("--print-ids", options->printIds,
                    "print ids, comma-separated, instead of text");
  command
      ->add_option("--dump", options->dump,
                   "write ids, logits and states (with --entry: outputs and states) to this "
                   "safetensors file")
      ->check(notEmpty());
  command->add_option("--entry", options->entry, "run this entry alone, on the tensors of --inputs")
      ->check(notEmpty());
  command->add_option("--inputs", options->inputs, "safetensors file with the inputs of --entry")
      ->check(notEmpty());
  command->add_flag("--no-graphs", options->noGraphs,
                    "on a GPU, launch kernels one by one instead of as graphs");
  command
      ->add_option("--threads", options->threads,
                   "threads for kernels (default: K3_THREADS, or all processors)")
      ->check(wholeNumber(1, UINT32_MAX));
  command
      ->add_option("--memory", options->memory,
                   "bytes the run may take; refused before loading when it takes more")
      ->check(wholeNumber(1, UINT64_MAX));
  command->footer("With K3_POISON=1 in the environment scratch memory is filled with NaN before "
                  "every step, for tests.");
  command->callback([options, prompt, promptIds, &exitCode] {
    options->hasPrompt = prompt->count() > 0;
    options->hasPromptIds = promptIds->count() > 0;
    exitCode = runOnKernelStack([options] { return run(*options); });
  });
}
