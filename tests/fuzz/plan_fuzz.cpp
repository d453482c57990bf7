//===- plan_fuzz.cpp - Fuzzing of the plan loader -------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random files would all end at the hashes. So the input's hashes are put right first, and what is
// fuzzed is everything behind them: structure, meaning, and the tools that trust both.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/ExprTable.h"
#include "runtime/loader/Plan.h"
#include "runtime/tools/Inspect.h"
#include "support/Hash.h"

#include <cstdlib>
#include <cstring>

using namespace k3;

namespace {

/// Where a table has a hash for its segment, writes the right one.
void repairSegments(std::string &bytes, uint64_t flatbufferSize) {
  auto *data = reinterpret_cast<uint8_t *>(bytes.data()) + sizeof(PlanHeader);
  flatbuffers::Verifier verifier(data, flatbufferSize);
  if (flatbufferSize < 8 || !plan::VerifyPlanBuffer(verifier))
    return;
  for (const plan::Segment *segment : *plan::GetPlan(data)->segments()) {
    if (segment->offset() > bytes.size() || segment->size() > bytes.size() - segment->offset())
      continue;
    uint64_t hash = hashBytes(std::string_view(bytes).substr(segment->offset(), segment->size()));
    const auto *table = reinterpret_cast<const flatbuffers::Table *>(segment);
    const_cast<flatbuffers::Table *>(table)->SetField<uint64_t>(plan::Segment::VT_HASH, hash, 0);
  }
}

std::string repaired(std::string bytes) {
  if (bytes.size() < sizeof(PlanHeader))
    return bytes;
  PlanHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  std::memcpy(header.magic, planMagic, sizeof(planMagic));
  header.formatMajor = planFormatMajor;
  header.fileSize = bytes.size();
  header.flatbufferOffset = sizeof(PlanHeader);
  header.reserved = 0;
  uint64_t most = bytes.size() - sizeof(PlanHeader);
  if (header.flatbufferSize > most)
    header.flatbufferSize = most;
  repairSegments(bytes, header.flatbufferSize);
  header.flatbufferHash =
      hashBytes(std::string_view(bytes).substr(sizeof(PlanHeader), header.flatbufferSize));
  header.headerHash =
      hashBytes({reinterpret_cast<const char *>(&header), offsetof(PlanHeader, headerHash)});
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

void exercise(const LoadedPlan &plan) {
  (void)checkTarget(plan);
  (void)inspectTable(plan);
  (void)inspectJson(plan);
  std::vector<int64_t> symbols;
  for (const plan::Symbol *symbol : *plan.plan().symbols())
    symbols.push_back(static_cast<int64_t>(symbol->upper_bound()));
  // What validation has promised: a value at the upper bounds, within the known range.
  for (uint32_t i = 0; i < plan.plan().exprs()->size(); ++i) {
    ExprTable table(plan.plan());
    uint32_t slot = table.add(i);
    if (!table.evaluate(symbols) || table.value(slot) < 0 || table.value(slot) > plan.upperBound(i))
      std::abort();
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string bytes(reinterpret_cast<const char *>(data), size);
  (void)parsePlan(bytes, "fuzz.k3plan");
  Result<LoadedPlan> plan = parsePlan(repaired(std::move(bytes)), "fuzz.k3plan");
  if (plan)
    exercise(*plan);
  else if (plan.status().message().find('\n') != std::string::npos)
    std::abort();
  return 0;
}
