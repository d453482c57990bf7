//===- ValidateStates.cpp - States and caches of a plan -------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A slot or page is found by multiplication at run time, without a look at the buffer's end. So the
// buffer has to hold every slot that the plan's limits allow.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/DTypes.h"
#include "runtime/loader/Validate.h"

#include <algorithm>
#include <unordered_set>

namespace k3 {

namespace {

struct KindFacts {
  const char *name;
  uint32_t rank;
  plan::ArenaClass arena;
};

KindFacts factsOf(plan::StateKind kind) {
  switch (kind) {
  case plan::StateKind::KdaState:
    return {"KDA state", 3, plan::ArenaClass::State};
  case plan::StateKind::ConvState:
    return {"convolution state", 2, plan::ArenaClass::State};
  case plan::StateKind::LatentCache:
    return {"latent cache", 2, plan::ArenaClass::Cache};
  }
  return {"state", 0, plan::ArenaClass::State};
}

Status checkSlots(const PlanChecks &checks, const std::string &who, const plan::Program &program,
                  const plan::State &state) {
  const plan::Buffer &buffer = *(*program.buffers())[state.buffer()];
  uint64_t bytes = dtypeBytes(buffer.dtype());
  for (uint64_t extent : *state.shape())
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      return checks.refuse("states",
                           "{}: the shape of a slot overflows 64 bits at an extent of {} (got more "
                           "than 2^64 bytes, expected at most {})",
                           who, extent, state.slot_bytes());
  if (state.slot_bytes() < std::max<uint64_t>(bytes, 1))
    return checks.refuse(
        "states", "{}: a slot is smaller than its shape (got {} bytes, expected at least {})", who,
        state.slot_bytes(), std::max<uint64_t>(bytes, 1));
  if (buffer.shape()->size() == 0)
    return checks.refuse(
        "states",
        "{}: its buffer has no dimension for slots (got 0 dimensions, expected at least 1)", who);
  uint64_t slots = static_cast<uint64_t>(checks.ranges[(*buffer.shape())[0]].high);
  const plan::Limits &limits = *checks.plan.limits();
  bool isCache = state.kind() == plan::StateKind::LatentCache;
  uint64_t needed = isCache ? limits.cache_pages() : limits.max_seqs();
  if (slots < needed)
    return checks.refuse("states",
                         "{}: has fewer {} than the plan's limits (got {}, expected at least {})",
                         who, isCache ? "pages" : "slots", slots, needed);
  uint64_t total = 0;
  if (__builtin_mul_overflow(slots, state.slot_bytes(), &total) || total > buffer.size())
    return checks.refuse(
        "states", "{}: its slots do not fit the buffer (got {} of {} bytes, expected within {})",
        who, slots, state.slot_bytes(), buffer.size());
  if (isCache && limits.page_tokens() && (*state.shape())[0] != limits.page_tokens())
    return checks.refuse(
        "states", "{}: its pages have another length than the plan's (got {} tokens, expected {})",
        who, (*state.shape())[0], limits.page_tokens());
  return Status::ok();
}

Status checkState(const PlanChecks &checks, const plan::Program &program, const std::string &who,
                  const plan::State &state) {
  if (state.kind() > plan::StateKind::MAX)
    return checks.refuse("states", "{}: its kind is unknown (got {}, expected at most {})", who,
                         static_cast<unsigned>(state.kind()),
                         static_cast<unsigned>(plan::StateKind::MAX));
  K3_RETURN_IF_ERROR(
      checks.checkIndex("states", who, "buffer", state.buffer(), program.buffers()->size()));
  KindFacts facts = factsOf(state.kind());
  if (state.shape()->size() != facts.rank)
    return checks.refuse("states",
                         "{}: has a wrong number of dimensions for a {} (got {}, expected {})", who,
                         facts.name, state.shape()->size(), facts.rank);
  const plan::Buffer &buffer = *(*program.buffers())[state.buffer()];
  plan::ArenaClass cls = (*program.arenas())[buffer.arena()]->cls();
  if (cls != facts.arena)
    return checks.refuse("states", "{}: lies in the wrong arena for a {} (got {}, expected {})",
                         who, facts.name, plan::EnumNameArenaClass(cls),
                         plan::EnumNameArenaClass(facts.arena));
  if (state.kind() == plan::StateKind::KdaState) {
    std::string_view order = state.order() ? state.order()->string_view() : "";
    if (order != "kv" && order != "vk")
      return checks.refuse("states",
                           "{}: the order of its axes is unknown (got '{}', expected 'kv' or 'vk')",
                           who, order.substr(0, 16));
  }
  return checkSlots(checks, who, program, state);
}

} // namespace

Status validateStates(const PlanChecks &checks, const plan::Program &program) {
  const auto &states = *program.states();
  std::unordered_set<std::string_view> names;
  for (uint32_t i = 0; i < states.size(); ++i) {
    std::string_view name = states[i]->name()->string_view();
    K3_RETURN_IF_ERROR(
        checks.checkName("states", fmt::format("rank {} state {}", program.rank(), i), name));
    std::string who = fmt::format("rank {} state {} '{}'", program.rank(), i, name);
    if (!names.insert(name).second)
      return checks.refuse("states", "{}: its name is taken (got it twice, expected unique names)",
                           who);
    K3_RETURN_IF_ERROR(checkState(checks, program, who, *states[i]));
  }
  return Status::ok();
}

} // namespace k3
