//===- Bench.cpp - k3 bench -----------------------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures a plan: prompts and tokens from end to end. Standard output holds the table and nothing
// else.
//
//===----------------------------------------------------------------------===//

#include "runtime/bench/ModelBench.h"
#include "runtime/bench/Plot.h"
#include "runtime/bench/Report.h"
#include "runtime/exec/OpenPlan.h"
#include "runtime/tools/Commands.h"
#include "runtime/tools/Process.h"
#include "support/CommandLine.h"
#include "support/File.h"
#include "support/Format.h"
#include "support/Log.h"
#include "support/StandardStreams.h"

#include <cstdint>
#include <memory>
#include <optional>

using namespace k3;

namespace {

struct BenchOptions {
  std::string plan, weights, json, plot;
  ModelBenchOptions model;
  bool noGraphs = false;
  uint64_t memory = 0;
  unsigned threads = 0;
};

BenchSubject subjectOf(const BenchOptions &options, const LoadedPlan &loaded, Executor &executor) {
  BenchSubject subject;
  const std::string &path = options.plan;
  subject.plan = printable(path.substr(path.find_last_of('/') + 1));
  subject.model = loaded.plan().model()->name()->str();
  subject.target = loaded.plan().target()->name()->str();
  subject.device = executor.onGpu() ? std::string(executor.gpuName()) : processorName();
  subject.threads = executor.onGpu() ? 0 : executor.device().threads();
  subject.weights = printable(options.weights);
  subject.date = utcNow();
  for (const plan::Arena *arena : *executor.program().arenas())
    subject.planBytes += arena->size();
  return subject;
}

Status writeText(const std::string &path, std::string_view text) {
  return path.empty() ? Status::ok() : writeFileAtomic(path, {&text, 1});
}

Status benchModelCases(const BenchOptions &options, BenchSubject subject, Executor &executor) {
  K3_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, Session::create(executor));
  std::vector<ModelBenchCase> cases;
  for (uint64_t batch : options.model.batches) {
    for (uint64_t context : options.model.contexts) {
      logInfo(
          fmt::format("batch {}, context {}: {} runs", batch, context, options.model.repeats + 1));
      K3_ASSIGN_OR_RETURN(ModelBenchCase one, benchModel(*session, batch, context, options.model));
      cases.push_back(one);
    }
  }
  subject.hostPeakBytes = peakMemory();
  K3_RETURN_IF_ERROR(
      writeText(options.json, modelJson(subject, options.model, cases).dump(2) + "\n"));
  const std::string title = fmt::format("{} on {}, {}", subject.plan, subject.device, subject.date);
  K3_RETURN_IF_ERROR(writeText(options.plot, plotModel(title, cases)));
  K3_RETURN_IF_ERROR(writeStandardOutput(modelTable(cases)));
  logInfo(fmt::format("peak memory: {}; memory of the plan: {}", formatBytes(subject.hostPeakBytes),
                      formatBytes(subject.planBytes)));
  return Status::ok();
}

Status bench(const BenchOptions &options) {
  K3_ASSIGN_OR_RETURN(LoadedPlan plan, loadPlan(options.plan));
  K3_RETURN_IF_ERROR(checkModelBench(*plan.plan().limits(), options.model));
  for (const std::string &path : {options.json, options.plot})
    if (!path.empty())
      K3_RETURN_IF_ERROR(checkWritable(path));
  OpenOptions open{options.weights, options.threads, {}, 0, !options.noGraphs};
  if (options.memory)
    open.memory = options.memory;
  K3_ASSIGN_OR_RETURN(std::unique_ptr<Executor> executor, openPlan(plan, open));
  return benchModelCases(options, subjectOf(options, plan, *executor), *executor);
}

} // namespace

void k3::addBenchCommand(CLI::App &app, int &exitCode) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App *command = app.add_subcommand("bench", "measure a plan: first token, tokens, memory");
  command->add_option("PLAN", options->plan, "the plan, a .k3plan file")
      ->required()
      ->check(notEmpty());
  command
      ->add_option("--weights", options->weights,
                   "folder of the checkpoint, or random:SEED for random weights")
      ->required()
      ->check(notEmpty());
  command->add_option("--batch", options->model.batches, "sequences at the same time: 1,2,4")
      ->delimiter(',')
      ->check(wholeNumber(1, UINT32_MAX))
      ->capture_default_str();
  command->add_option("--context", options->model.contexts, "tokens of each prompt: 128,1024")
      ->delimiter(',')
      ->check(wholeNumber(1, UINT32_MAX))
      ->capture_default_str();
  command
      ->add_option("--new-tokens", options->model.newTokens,
                   "tokens to generate for each sequence after its prompt")
      ->capture_default_str()
      ->check(wholeNumber(2, UINT32_MAX));
  command->add_option("--repeats", options->model.repeats, "timed runs of each case")
      ->capture_default_str()
      ->check(wholeNumber(1, UINT32_MAX));
  command
      ->add_option("--prefill-chunk", options->model.prefillChunk,
                   "tokens of a prompt in one step (default: --max-tokens of the plan)")
      ->check(wholeNumber(1, UINT64_MAX));
  command->add_option("--json", options->json, "write all numbers to this file")->check(notEmpty());
  command->add_option("--plot", options->plot, "draw them into this SVG file")->check(notEmpty());
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
  command->footer("Every case runs once more than it is timed, greedily and with the same prompts; "
                  "other ids or logits that are not finite are an error.");
  command->callback(
      [options, &exitCode] { exitCode = runOnKernelStack([options] { return bench(*options); }); });
}
