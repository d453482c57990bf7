//===- ValidateHead.cpp - Facts, limits, target and mesh of a plan --------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What stands once in a plan. Sizes that are compared with 32-bit ids at run time are bounded here,
// so that nobody has to think of it later.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/PlanFormat.h"
#include "runtime/loader/Validate.h"

namespace k3 {

namespace {

/// Text that may be missing or empty but is printed.
Status checkText(const PlanChecks &checks, const char *section, const char *who,
                 const flatbuffers::String *text) {
  return !text || text->size() == 0 ? Status::ok()
                                    : checks.checkName(section, who, text->string_view());
}

Status checkModel(const PlanChecks &checks) {
  const plan::Model &model = *checks.plan.model();
  K3_RETURN_IF_ERROR(checks.checkName("model", "the model", model.name()->string_view()));
  K3_RETURN_IF_ERROR(
      checkText(checks, "model", "the hash of the configuration", model.config_hash()));
  K3_RETURN_IF_ERROR(checkText(checks, "model", "the hash of the index", model.index_hash()));
  uint64_t parts = uint64_t{model.kda_layers()} + model.mla_layers();
  if (model.layers() != parts)
    return checks.refuse(
        "model", "the kinds of layers do not add up (got {} KDA and {} MLA, expected {} in total)",
        model.kda_layers(), model.mla_layers(), model.layers());
  if (model.vocab_size() > INT32_MAX)
    return checks.refuse("model",
                         "the vocabulary is too large for 32-bit ids (got {}, expected at most {})",
                         model.vocab_size(), INT32_MAX);
  if (model.bos_token_id() < -1 || model.bos_token_id() > INT32_MAX)
    return checks.refuse("model",
                         "the first token's id is out of range (got {}, expected -1 to {})",
                         model.bos_token_id(), INT32_MAX);
  if (model.eos_token_ids())
    for (int64_t id : *model.eos_token_ids())
      if (id < 0 || id > INT32_MAX)
        return checks.refuse("model", "a stop id is out of range (got {}, expected 0 to {})", id,
                             INT32_MAX);
  return Status::ok();
}

Status checkLimits(const PlanChecks &checks) {
  const plan::Limits &limits = *checks.plan.limits();
  const struct {
    const char *name;
    uint64_t value;
  } all[] = {{"max_tokens", limits.max_tokens()},   {"max_seqs", limits.max_seqs()},
             {"max_context", limits.max_context()}, {"max_logit_rows", limits.max_logit_rows()},
             {"page_tokens", limits.page_tokens()}, {"cache_pages", limits.cache_pages()}};
  for (const auto &limit : all)
    if (limit.value > INT32_MAX)
      return checks.refuse("limits", "{} is too large for 32-bit ids (got {}, expected at most {})",
                           limit.name, limit.value, INT32_MAX);
  return Status::ok();
}

Status checkTargetTable(const PlanChecks &checks) {
  const plan::Target &target = *checks.plan.target();
  K3_RETURN_IF_ERROR(checks.checkName("target", "the target", target.name()->string_view()));
  K3_RETURN_IF_ERROR(checks.checkName("target", "the triple", target.triple()->string_view()));
  std::string_view last;
  for (const flatbuffers::String *feature : *target.features()) {
    std::string_view name = feature->string_view();
    K3_RETURN_IF_ERROR(checks.checkName("target", "a feature", name));
    if (name <= last)
      return checks.refuse(
          "target", "the features are not sorted or not unique (got '{}' after '{}')", name, last);
    last = name;
  }
  return Status::ok();
}

Status checkMesh(const PlanChecks &checks) {
  const plan::Mesh &mesh = *checks.plan.mesh();
  constexpr uint64_t maxAxis = 1 << 16;
  for (uint64_t axis : {mesh.tp(), mesh.ep(), mesh.pp()})
    if (axis < 1 || axis > maxAxis)
      return checks.refuse(
          "mesh", "an axis is out of range (got tp {}, ep {}, pp {}, expected 1 to {} each)",
          mesh.tp(), mesh.ep(), mesh.pp(), maxAxis);
  uint64_t ranks = uint64_t{mesh.tp()} * mesh.ep() * mesh.pp();
  const auto &programs = *checks.plan.programs();
  if (programs.size() != ranks)
    return checks.refuse("programs", "there is not one program a rank (got {}, expected {})",
                         programs.size(), ranks);
  for (uint32_t i = 0; i < programs.size(); ++i)
    if (programs[i]->rank() != i)
      return checks.refuse("programs", "program {} is for another rank (got {}, expected {})", i,
                           programs[i]->rank(), i);
  return Status::ok();
}

Status checkProducer(const PlanChecks &checks) {
  const plan::Producer &producer = *checks.plan.producer();
  K3_RETURN_IF_ERROR(
      checks.checkName("producer", "the version", producer.version()->string_view()));
  K3_RETURN_IF_ERROR(
      checks.checkName("producer", "the LLVM version", producer.llvm_version()->string_view()));
  K3_RETURN_IF_ERROR(checkText(checks, "producer", "the NVRTC version", producer.nvrtc_version()));
  for (const flatbuffers::String *flag : *producer.flags())
    K3_RETURN_IF_ERROR(checks.checkName("producer", "a flag", flag->string_view()));
  return Status::ok();
}

} // namespace

Status validateHead(const PlanChecks &checks) {
  K3_RETURN_IF_ERROR(checkProducer(checks));
  K3_RETURN_IF_ERROR(checkModel(checks));
  K3_RETURN_IF_ERROR(checkLimits(checks));
  K3_RETURN_IF_ERROR(checkTargetTable(checks));
  K3_RETURN_IF_ERROR(checkMesh(checks));
  const auto &locations = *checks.plan.locations();
  for (uint32_t i = 0; i < locations.size(); ++i) {
    std::string who = fmt::format("location {}", i);
    K3_RETURN_IF_ERROR(checks.checkName("locations", who, locations[i]->file()->string_view()));
    K3_RETURN_IF_ERROR(checkText(checks, "locations", who.c_str(), locations[i]->key()));
  }
  return Status::ok();
}

} // namespace k3
