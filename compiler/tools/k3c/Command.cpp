//===- Command.cpp - The command line of k3c ---------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Options, their aliases and their ranges. CLI11's many exit codes become 0 or 2.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/k3c/Command.h"

#include "compiler/import/Report.h"
#include "support/CommandLine.h"

#include <cstdio>
#include <limits>
#include <map>

namespace k3 {

namespace {

// Keeps tokens, rows and pages far inside 64 bits when they are multiplied with the widths of a
// model.
constexpr uint64_t kMaxSeqs = 1 << 20;
constexpr uint64_t kMaxTokens = 1 << 24;
// A run numbers positions in 32 bits.
constexpr uint64_t kMaxContext = std::numeric_limits<int32_t>::max();

constexpr const char *kFooter = R"(Examples:
  k3c examples/k3-tiny -o tiny.k3plan --target cpu
  k3c config.json --target cpu --dry-run --json
  k3c MODEL --target cpu --emit=tile --compile-to tile

Exit status: 0 done, 1 failed at work, 2 refused input or wrong command line.)";

const std::map<std::string, EmitKind> kEmits = {{"k3", EmitKind::K3},
                                                {"sharded", EmitKind::Sharded},
                                                {"tile", EmitKind::Tile},
                                                {"cuda", EmitKind::Cuda},
                                                {"plan", EmitKind::Plan}};

} // namespace

CommandLine parseCommandLine(int argc, const char *const *argv) {
  CommandLine result;
  CompileOptions &options = result.options;
  CLI::App app("Compiles a Kimi K3 or Kimi Linear checkpoint to a plan that `k3` runs.", "k3c");
  app.set_version_flag("--version", "k3c " K3_VERSION);
  app.footer(kFooter);
  std::string context;
  std::string emit = "plan";
  std::vector<std::string> emits;
  for (const auto &[name, kind] : kEmits)
    emits.push_back(name);

  app.add_option(
         "MODEL", options.model,
         "a checkpoint folder, a config.json (that file alone), or a .mlir file in the k3 dialect")
      ->required()
      ->check(notEmpty());
  app.add_option("-o,--output", options.output, "the file to write; - for standard output")
      ->check(notEmpty());
  app.add_option("--target", options.target,
                 "cpu: any x86-64-v3 machine; cpu-native: this machine; sm_...: a GPU")
      ->check(oneOf({"cpu", "cpu-native", "sm_80", "sm_90a", "sm_100a", "sm_120a"}))
      ->capture_default_str();
  app.add_option("--dtype", options.dtype, "activations, latent cache and conv state")
      ->check(oneOf({"bf16", "f32"}))
      ->capture_default_str();
  app.add_option("--max-seqs,--max-num-seqs,--max-batch-size,--max_batch_size", options.maxSeqs,
                 "sequences at the same time")
      ->check(wholeNumber(1, kMaxSeqs))
      ->capture_default_str();
  app.add_option("--max-tokens,--max-num-batched-tokens,--max_num_tokens", options.maxTokens,
                 "tokens a step")
      ->check(wholeNumber(1, kMaxTokens))
      ->capture_default_str();
  app.add_option(
         "--max-context,--max-model-len,--max-seq-len,--max_seq_len,--context-length,-c", context,
         "tokens a sequence; default, or `auto`: the smaller of the configuration's and 4096")
      ->check(wholeNumber(1, kMaxContext, "auto"));
  app.add_option("--max-logit-rows", options.maxLogitRows, "rows of logits a step")
      ->check(wholeNumber(1, kMaxTokens))
      ->capture_default_str();
  app.add_option("--emit", emit, "what to write")->check(oneOf(emits))->capture_default_str();
  app.add_option("--nvrtc", options.nvrtc,
                 "the NVRTC library that compiles for GPUs; default: K3_NVRTC, then the usual "
                 "places")
      ->check(notEmpty());
  // For tests: with --target cpu it runs the kernels of a GPU without one.
  app.add_option("--schedule", options.schedule, "the GPU for which tiles are chosen")
      ->check(oneOf({"sm_80", "sm_90a", "sm_100a", "sm_120a"}))
      ->group("");
  // One rule each time: a list would swallow a MODEL that follows.
  app.add_option("--no-fuse", options.noFuse,
                 "leave one rule of the fuse phase out (scan, tail or row; may be repeated): same "
                 "results, more kernels")
      ->allow_extra_args(false)
      ->check(oneOf({"scan", "tail", "row"}));
  app.add_option("--compile-from", options.compileFrom, "the first phase to run (for .mlir input)");
  app.add_option("--compile-to", options.compileTo, "the last phase to run");
  app.add_flag("--dry-run", options.dryRun, "print the numbers of the model and write nothing");
  app.add_flag("--json", options.json, "print reports as JSON");
  app.add_flag("--explain", options.explain,
               "print every phase as it begins, and what fusion left apart and what that costs");
  result.exitCode = parseArguments(app, argc, argv, "k3c");
  if (result.exitCode)
    return result;
  options.emit = kEmits.at(emit);
  if (!context.empty() && context != "auto")
    options.maxContext = std::stoll(context);
  return result;
}

Result<std::string> dryRun(const CompileOptions &options) {
  if (options.isMlir())
    return Status::refused(
        options.model +
        ": --dry-run needs a configuration (got a .mlir file, expected a checkpoint "
        "folder or a config file)");
  K3_ASSIGN_OR_RETURN(ImportedModel model, importModel(options.model));
  ModelReport report = makeReport(model, options.elementBytes());
  return options.json ? reportJson(model, report, options.dtype)
                      : reportTable(model, report, options.dtype);
}

} // namespace k3
