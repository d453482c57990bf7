//===- OpenPlan.cpp - From a plan to a ready executor -----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Headers of the checkpoint are read before the budget is printed, since their size belongs to it;
// tensor bytes are read last.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/OpenPlan.h"

#include "runtime/exec/Budget.h"
#include "runtime/exec/RandomWeights.h"
#include "runtime/weights/Checkpoint.h"
#include "runtime/weights/WeightLoader.h"
#include "support/Format.h"
#include "support/Log.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

using namespace k3;

/// Host memory for a tensor that is known but not read: its header entry, its place and its read.
static constexpr uint64_t BytesPerTensor = 400;

static uint64_t headerBytes(const Checkpoint &checkpoint) {
  uint64_t tensors = 0;
  for (const SafetensorsFile &shard : checkpoint.shards())
    tensors += shard.tensors().size();
  return tensors * BytesPerTensor;
}

/// Whether PROGRAM answers prompts, so that a checkpoint must be exactly its model.
static bool isModel(const plan::Program &program) {
  for (const plan::Entry *entry : *program.entries()) {
    if (entry->kind() != plan::EntryKind::Generic)
      return true;
  }
  return false;
}

static bool poisonWanted() {
  const char *value = std::getenv("K3_POISON");
  return value && std::string_view(value) == "1";
}

static Status loadAll(Executor &executor, const Checkpoint &checkpoint,
                      const WeightLoadOptions &options) {
  K3_ASSIGN_OR_RETURN(WeightLoadReport report, loadWeights(executor.program(), checkpoint,
                                                           executor.memory().addresses(), options));
  for (const SkippedTensors &skipped : report.skipped) {
    logInfo(fmt::format("weights: {} tensors left alone, {} ({})", skipped.count,
                        formatBytes(skipped.bytes), skipped.reason));
  }
  for (const plan::Weight *weight : *executor.program().weights())
    K3_RETURN_IF_ERROR(executor.send(weight->buffer()));
  return Status::ok();
}

Result<std::unique_ptr<Executor>> k3::openPlan(const LoadedPlan &loaded,
                                               const OpenOptions &options) {
  const plan::Plan &plan = loaded.plan();
  K3_RETURN_IF_ERROR(checkTarget(loaded));
  if (plan.programs()->size() != 1) {
    return Status::refused(fmt::format(
        "{}: is for {} ranks (expected 1, which is what this runtime runs); rebuild for one rank",
        loaded.path(), plan.programs()->size()));
  }
  const plan::Program &program = *plan.programs()->Get(0);
  K3_ASSIGN_OR_RETURN(const unsigned threads, resolveThreadCount(options.threads));

  std::optional<Checkpoint> checkpoint;
  K3_ASSIGN_OR_RETURN(const std::optional<uint64_t> seed, parseRandomWeights(options.weights));
  if (program.weights()->size() && !seed) {
    if (options.weights.empty())
      return Status::refused(fmt::format(
          "{}: needs weights; give the checkpoint folder with --weights", loaded.path()));
    K3_ASSIGN_OR_RETURN(checkpoint, Checkpoint::open(options.weights, isVisionTensor));
  }

  WeightLoadOptions load;
  load.wholeModel = isModel(program);
  Budget budget(program);
  budget.add("plan file", loaded.fileSize());
  if (checkpoint) {
    budget.add("checkpoint headers", headerBytes(*checkpoint));
    budget.add("staging", load.threads * load.stagingBytes);
  }
  budget.add("dump", options.dumpBytes);
  budget.add("reserve", ReserveBytes);
  std::fputs(budget.table().c_str(), stderr);
  K3_RETURN_IF_ERROR(budget.check(options.memory));

  ExecutorOptions executorOptions{threads, poisonWanted(), options.graphs};
  K3_ASSIGN_OR_RETURN(std::unique_ptr<Executor> executor,
                      Executor::create(
                          plan, 0, [&loaded](uint32_t segment) { return loaded.segment(segment); },
                          executorOptions));
  if (checkpoint)
    K3_RETURN_IF_ERROR(loadAll(*executor, *checkpoint, load));
  else if (seed)
    K3_RETURN_IF_ERROR(fillRandomWeights(*executor, *seed, threads, /*quiet=*/false));
  return executor;
}
