//===- InspectTable.cpp - A plan on one screen ----------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The facts one looks for first, at the top; then entries and kernels as tables. Lists are cut to
// what fits a screen and say so.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/ArenaNames.h"
#include "runtime/tools/Inspect.h"

#include "support/Format.h"

#include <algorithm>
#include <numeric>

namespace k3 {

namespace {

constexpr size_t maxRows = 16;

void line(std::string &out, std::string_view label, std::string_view value) {
  out += fmt::format("  {:<9} {}\n", label, value);
}

std::string join(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>> &strings) {
  std::string text;
  for (const flatbuffers::String *string : strings)
    text += fmt::format("{}{}", text.empty() ? "" : " ", string->string_view());
  return text;
}

/// "64 pages", "1 page".
std::string many(uint64_t count, const char *one, const char *several) {
  return fmt::format("{} {}", formatCount(count), count == 1 ? one : several);
}

void appendModel(std::string &out, const plan::Model &model) {
  std::string text(model.name()->string_view());
  if (model.layers())
    text += fmt::format(": {} ({} KDA, {} MLA), {} parameters, vocabulary {}, hidden size {}",
                        many(model.layers(), "layer", "layers"), model.kda_layers(),
                        model.mla_layers(), formatCount(model.text_parameters()),
                        formatCount(model.vocab_size()), formatCount(model.hidden_size()));
  line(out, "model", text);
  if (model.config_hash()->size())
    line(out, "config", fmt::format("sha256 {}", model.config_hash()->string_view()));
  if (model.index_hash() && model.index_hash()->size())
    line(out, "index", fmt::format("sha256 {}", model.index_hash()->string_view()));
  if (model.layers())
    line(out, "sequence",
         fmt::format("{} bytes of cache a token, {} of state",
                     formatCount(model.cache_bytes_per_token()),
                     formatBytes(model.state_bytes_per_sequence())));
}

void appendHead(std::string &out, const LoadedPlan &loaded) {
  const plan::Plan &plan = loaded.plan();
  out += fmt::format("{}: plan of format {}.{}, {}\n", loaded.path(), plan.format_major(),
                     plan.format_minor(), formatBytes(loaded.fileSize()));
  const plan::Producer &producer = *plan.producer();
  std::string maker = fmt::format("k3c {}, LLVM {}", producer.version()->string_view(),
                                  producer.llvm_version()->string_view());
  if (producer.nvrtc_version() && producer.nvrtc_version()->size())
    maker += fmt::format(", NVRTC {}", producer.nvrtc_version()->string_view());
  line(out, "made by", maker);
  line(out, "flags", producer.flags()->size() ? join(*producer.flags()) : "none");
  appendModel(out, *plan.model());
  const plan::Target &target = *plan.target();
  line(out, "target",
       fmt::format("{}, {}{}{}", target.name()->string_view(), target.triple()->string_view(),
                   target.features()->size() ? ", " : "", join(*target.features())));
  line(out, "",
       checkTarget(loaded).isOk() ? "this machine can run it" : "this machine cannot run it");
  const plan::Mesh &mesh = *plan.mesh();
  line(out, "ranks",
       fmt::format("{} (tp {}, ep {}, pp {})", plan.programs()->size(), mesh.tp(), mesh.ep(),
                   mesh.pp()));
  const plan::Limits &limits = *plan.limits();
  line(out, "limits",
       fmt::format(
           "{} a step, {}, context {}, {}, {} of {}", many(limits.max_tokens(), "token", "tokens"),
           many(limits.max_seqs(), "sequence", "sequences"), formatCount(limits.max_context()),
           many(limits.max_logit_rows(), "row of logits", "rows of logits"),
           many(limits.cache_pages(), "page", "pages"),
           many(limits.page_tokens(), "token", "tokens")));
}

void appendMemory(std::string &out, const plan::Plan &plan) {
  // Ranks differ little; the largest is the one that has to fit.
  const plan::Program *largest =
      *std::max_element(plan.programs()->begin(), plan.programs()->end(),
                        [](const plan::Program *a, const plan::Program *b) {
                          return memoryOf(*a).total < memoryOf(*b).total;
                        });
  MemoryByClass memory = memoryOf(*largest);
  std::string text = fmt::format("{}", formatBytes(memory.total));
  for (size_t cls = 0; cls < memory.bytes.size(); ++cls)
    if (memory.bytes[cls])
      text += fmt::format(", {} {}", arenaClassName(static_cast<plan::ArenaClass>(cls)),
                          formatBytes(memory.bytes[cls]));
  line(out, "memory",
       plan.programs()->size() == 1
           ? text
           : text + fmt::format(" (rank {}, the largest)", largest->rank()));
  uint64_t bytes = 0, pieces = 0;
  for (const plan::Weight *weight : *largest->weights()) {
    bytes += (*largest->buffers())[weight->buffer()]->size();
    pieces += weight->pieces()->size();
  }
  line(out, "weights",
       fmt::format("{} from {}, {}", formatCount(largest->weights()->size()),
                   many(pieces, "piece", "pieces"), formatBytes(bytes)));
}

void appendEntries(std::string &out, const plan::Program &program) {
  out += fmt::format("\n  {:<28} {:<8} {:>5} {:>7} {:>8} {:>8} {:>6}\n", "entry", "kind", "rows",
                     "inputs", "outputs", "commands", "taps");
  const auto &entries = *program.entries();
  for (uint32_t i = 0; i < entries.size() && i < maxRows; ++i) {
    const plan::Entry &entry = *entries[i];
    out +=
        fmt::format("  {:<28} {:<8} {:>5} {:>7} {:>8} {:>8} {:>6}", entry.name()->string_view(),
                    plan::EnumNameEntryKind(entry.kind()),
                    entry.kind() == plan::EntryKind::Decode ? std::to_string(entry.bucket()) : "-",
                    entry.inputs()->size(), entry.outputs()->size(), entry.commands()->size(),
                    entry.taps() ? entry.taps()->size() : 0);
    std::string kinds;
    for (const auto &[name, count] : commandCounts(entry))
      kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", name, count);
    out += kinds.empty() ? "\n" : fmt::format("  ({})\n", kinds);
  }
  if (entries.size() > maxRows)
    out += fmt::format("  and {} more, see --json\n", entries.size() - maxRows);
}

void appendKernels(std::string &out, const plan::Plan &plan, const plan::Program &program) {
  std::vector<uint64_t> launches = launchCounts(plan, program);
  std::vector<uint32_t> order(launches.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return launches[a] != launches[b] ? launches[a] > launches[b] : a < b;
  });
  out += fmt::format("\n  {:<60} {:>7} {:>9}\n", fmt::format("kernel (of {})", order.size()),
                     "params", "launches");
  for (size_t i = 0; i < order.size() && i < maxRows; ++i) {
    const plan::Kernel &kernel = *(*plan.kernels())[order[i]];
    out += fmt::format("  {:<60} {:>7} {:>9}\n", kernel.name()->string_view(),
                       kernel.params()->size(), launches[order[i]]);
  }
  if (order.size() > maxRows)
    out += fmt::format("  and {} more, see --json\n", order.size() - maxRows);
}

} // namespace

std::string inspectTable(const LoadedPlan &loaded) {
  const plan::Plan &plan = loaded.plan();
  std::string out;
  appendHead(out, loaded);
  appendMemory(out, plan);
  // Ranks have the same entries; the first stands for all.
  const plan::Program &program = *(*plan.programs())[0];
  appendEntries(out, program);
  appendKernels(out, plan, program);
  return out;
}

} // namespace k3
