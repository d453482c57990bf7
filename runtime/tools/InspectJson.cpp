//===- InspectJson.cpp - A plan as JSON -----------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keys in a fixed order, so that two outputs can be compared as text. The list of keys is in
// Inspect.h.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/ArenaNames.h"
#include "runtime/tools/Inspect.h"

#include "support/Format.h"

#include <nlohmann/json.hpp>

namespace k3 {

namespace {

using Json = nlohmann::ordered_json;

std::string text(const flatbuffers::String *string) { return string->str(); }

Json textOrNull(const flatbuffers::String *string) {
  return string && string->size() ? Json(string->str()) : Json();
}

Json texts(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>> &strings) {
  Json list = Json::array();
  for (const flatbuffers::String *string : strings)
    list.push_back(string->str());
  return list;
}

Json shapeOf(const LoadedPlan &loaded, const plan::Buffer &buffer) {
  const plan::Plan &plan = loaded.plan();
  Json shape = Json::array();
  for (uint32_t dim : *buffer.shape()) {
    std::string value = exprText(plan, dim);
    if ((*plan.exprs())[dim]->op() == plan::ExprOp::Const)
      shape.push_back((*plan.exprs())[dim]->value());
    else
      shape.push_back(value);
  }
  return shape;
}

Json producerOf(const plan::Plan &plan) {
  const plan::Producer &producer = *plan.producer();
  return {{"version", text(producer.version())},
          {"flags", texts(*producer.flags())},
          {"llvm_version", text(producer.llvm_version())},
          {"nvrtc_version", textOrNull(producer.nvrtc_version())}};
}

Json modelOf(const plan::Plan &plan) {
  const plan::Model &model = *plan.model();
  Json stops = Json::array();
  if (model.eos_token_ids())
    for (int64_t id : *model.eos_token_ids())
      stops.push_back(id);
  return {{"name", text(model.name())},
          {"config_hash", textOrNull(model.config_hash())},
          {"index_hash", textOrNull(model.index_hash())},
          {"layers", model.layers()},
          {"kda_layers", model.kda_layers()},
          {"mla_layers", model.mla_layers()},
          {"text_parameters", model.text_parameters()},
          {"vocab_size", model.vocab_size()},
          {"hidden_size", model.hidden_size()},
          {"bos_token_id", model.bos_token_id() < 0 ? Json() : Json(model.bos_token_id())},
          {"eos_token_ids", stops},
          {"cache_bytes_per_token", model.cache_bytes_per_token()},
          {"state_bytes_per_sequence", model.state_bytes_per_sequence()}};
}

Json targetOf(const LoadedPlan &loaded) {
  const plan::Target &target = *loaded.plan().target();
  Status here = checkTarget(loaded);
  return {{"name", text(target.name())},
          {"triple", text(target.triple())},
          {"features", texts(*target.features())},
          {"runs_here", here.isOk()},
          {"reason", here.isOk() ? Json() : Json(here.message())}};
}

Json limitsOf(const plan::Plan &plan) {
  const plan::Limits &limits = *plan.limits();
  return {{"max_tokens", limits.max_tokens()},   {"max_seqs", limits.max_seqs()},
          {"max_context", limits.max_context()}, {"max_logit_rows", limits.max_logit_rows()},
          {"page_tokens", limits.page_tokens()}, {"cache_pages", limits.cache_pages()}};
}

Json argsOf(const LoadedPlan &loaded, const plan::Program &program,
            const flatbuffers::Vector<flatbuffers::Offset<plan::EntryArg>> &args) {
  Json list = Json::array();
  for (const plan::EntryArg *arg : args) {
    const plan::Buffer &buffer = *(*program.buffers())[arg->buffer()];
    list.push_back({{"name", text(arg->name())},
                    {"dtype", plan::EnumNameDType(buffer.dtype())},
                    {"shape", shapeOf(loaded, buffer)}});
  }
  return list;
}

Json entryOf(const LoadedPlan &loaded, const plan::Program &program, const plan::Entry &entry) {
  Json symbols = Json::array(), commands = Json::object(), taps = Json::array();
  for (uint32_t symbol : *entry.symbols())
    symbols.push_back(text((*loaded.plan().symbols())[symbol]->name()));
  for (const auto &[name, count] : commandCounts(entry))
    commands[name] = count;
  if (entry.taps())
    for (const plan::Tap *tap : *entry.taps())
      taps.push_back(text(tap->name()));
  return {{"rank", program.rank()},
          {"name", text(entry.name())},
          {"kind", plan::EnumNameEntryKind(entry.kind())},
          {"bucket", entry.kind() == plan::EntryKind::Decode ? Json(entry.bucket()) : Json()},
          {"symbols", symbols},
          {"inputs", argsOf(loaded, program, *entry.inputs())},
          {"outputs", argsOf(loaded, program, *entry.outputs())},
          {"commands", commands},
          {"taps", taps}};
}

Json weightOf(const LoadedPlan &loaded, const plan::Program &program, const plan::Weight &weight) {
  const plan::Buffer &buffer = *(*program.buffers())[weight.buffer()];
  return {{"rank", program.rank()},
          {"name", text(weight.name())},
          {"dtype", plan::EnumNameDType(buffer.dtype())},
          {"shape", shapeOf(loaded, buffer)},
          {"bytes", buffer.size()},
          {"pieces", weight.pieces()->size()}};
}

Json stateOf(const plan::Program &program, const plan::State &state) {
  const plan::Buffer &buffer = *(*program.buffers())[state.buffer()];
  Json shape = Json::array();
  for (uint64_t extent : *state.shape())
    shape.push_back(extent);
  return {{"rank", program.rank()},
          {"name", text(state.name())},
          {"kind", plan::EnumNameStateKind(state.kind())},
          {"dtype", plan::EnumNameDType(buffer.dtype())},
          {"shape", shape},
          {"order", textOrNull(state.order())},
          {"slot_bytes", state.slot_bytes()},
          {"bytes", buffer.size()}};
}

Json memoryJson(const plan::Program &program) {
  MemoryByClass memory = memoryOf(program);
  Json bytes = {{"rank", program.rank()}};
  for (size_t cls = 0; cls < memory.bytes.size(); ++cls)
    bytes[std::string(arenaClassName(static_cast<plan::ArenaClass>(cls)))] = memory.bytes[cls];
  bytes["total"] = memory.total;
  return bytes;
}

Json kernelsOf(const plan::Plan &plan) {
  std::vector<uint64_t> launches(plan.kernels()->size());
  for (const plan::Program *program : *plan.programs()) {
    std::vector<uint64_t> counts = launchCounts(plan, *program);
    for (size_t i = 0; i < counts.size(); ++i)
      launches[i] += counts[i];
  }
  Json list = Json::array();
  for (uint32_t i = 0; i < plan.kernels()->size(); ++i) {
    const plan::Kernel &kernel = *(*plan.kernels())[i];
    Json params = Json::array(), block = Json::array();
    for (uint32_t p = 0; p < kernel.params()->size(); ++p)
      params.push_back(plan::EnumNameArgKind(static_cast<plan::ArgKind>((*kernel.params())[p])));
    for (uint32_t axis : *kernel.block())
      block.push_back(axis);
    list.push_back({{"name", text(kernel.name())},
                    {"image", plan::EnumNameImageKind((*plan.images())[kernel.image()]->kind())},
                    {"params", params},
                    {"block", block},
                    {"launches", launches[i]},
                    {"shared_bytes", kernel.shared_bytes()},
                    {"registers", kernel.registers()},
                    {"spill_bytes", kernel.spill_bytes()}});
  }
  return list;
}

} // namespace

std::string inspectJson(const LoadedPlan &loaded) {
  const plan::Plan &plan = loaded.plan();
  Json json;
  json["file"] = loaded.path();
  json["file_bytes"] = loaded.fileSize();
  json["format"] = {{"major", plan.format_major()}, {"minor", plan.format_minor()}};
  json["producer"] = producerOf(plan);
  json["model"] = modelOf(plan);
  json["target"] = targetOf(loaded);
  json["ranks"] = plan.programs()->size();
  json["mesh"] = {{"tp", plan.mesh()->tp()}, {"ep", plan.mesh()->ep()}, {"pp", plan.mesh()->pp()}};
  json["limits"] = limitsOf(plan);
  json["symbols"] = Json::array();
  for (const plan::Symbol *symbol : *plan.symbols())
    json["symbols"].push_back(
        {{"name", text(symbol->name())}, {"upper_bound", symbol->upper_bound()}});
  for (const char *key : {"memory", "entries", "kernels", "weights", "states", "segments"})
    json[key] = Json::array();
  json["kernels"] = kernelsOf(plan);
  for (const plan::Program *program : *plan.programs()) {
    json["memory"].push_back(memoryJson(*program));
    for (const plan::Entry *entry : *program->entries())
      json["entries"].push_back(entryOf(loaded, *program, *entry));
    for (const plan::Weight *weight : *program->weights())
      json["weights"].push_back(weightOf(loaded, *program, *weight));
    for (const plan::State *state : *program->states())
      json["states"].push_back(stateOf(*program, *state));
  }
  for (const plan::Segment *segment : *plan.segments())
    json["segments"].push_back({{"name", text(segment->name())},
                                {"offset", segment->offset()},
                                {"size", segment->size()},
                                {"hash", fmt::format("{:016x}", segment->hash())}});
  // Names need not be UTF-8, JSON must be.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace k3
