//===- PlanWriter.cpp - Lays out a plan file ------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The offsets of the segments depend on the size of the flatbuffer that holds them. So it is built
// twice: no field of the segment table is zero either time, so both have one size.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/PlanWriter.h"

#include "runtime/loader/Plan.h"
#include "support/Format.h"
#include "support/Hash.h"

#include <cstring>

namespace k3 {

namespace {

void build(flatbuffers::FlatBufferBuilder &builder, const plan::PlanT &plan) {
  builder.Clear();
  plan::FinishPlanBuffer(builder, plan::CreatePlan(builder, &plan));
}

/// Places the segments behind HEADSIZE bytes; returns the size of the file.
uint64_t placeSegments(plan::PlanT &plan, uint64_t headSize) {
  uint64_t end = headSize;
  for (auto &segment : plan.segments) {
    segment->offset = alignUp(end, planSegmentAlignment);
    end = segment->offset + segment->size;
  }
  return end;
}

} // namespace

Result<std::string> writeUncheckedPlan(plan::PlanT &plan, std::span<const SegmentBytes> segments) {
  plan.format_major = planFormatMajor;
  plan.format_minor = planFormatMinor;
  plan.segments.clear();
  for (const SegmentBytes &bytes : segments) {
    if (bytes.bytes.empty())
      return Status::refused(fmt::format(
          "segment '{}': is empty (got 0 bytes, expected at least 1); leave it out", bytes.name));
    auto segment = std::make_unique<plan::SegmentT>();
    segment->name = bytes.name;
    segment->size = bytes.bytes.size();
    segment->hash = hashBytes(bytes.bytes);
    plan.segments.push_back(std::move(segment));
  }
  flatbuffers::FlatBufferBuilder builder;
  placeSegments(plan, sizeof(PlanHeader));
  build(builder, plan);
  uint64_t size = builder.GetSize();
  uint64_t fileSize = placeSegments(plan, sizeof(PlanHeader) + size);
  build(builder, plan);
  if (builder.GetSize() != size)
    return Status::failed(
        fmt::format("plan: its flatbuffer changed its size while it was laid out (got {} bytes, "
                    "expected {}); report this as a bug",
                    builder.GetSize(), size));

  std::string_view flatbuffer(reinterpret_cast<const char *>(builder.GetBufferPointer()), size);
  PlanHeader header{};
  std::memcpy(header.magic, planMagic, sizeof(planMagic));
  header.formatMajor = planFormatMajor;
  header.formatMinor = planFormatMinor;
  header.fileSize = fileSize;
  header.flatbufferOffset = sizeof(PlanHeader);
  header.flatbufferSize = size;
  header.flatbufferHash = hashBytes(flatbuffer);
  header.headerHash =
      hashBytes({reinterpret_cast<const char *>(&header), offsetof(PlanHeader, headerHash)});

  std::string file;
  file.reserve(fileSize);
  file.append(reinterpret_cast<const char *>(&header), sizeof(header));
  file.append(flatbuffer);
  for (size_t i = 0; i < segments.size(); ++i) {
    file.resize(plan.segments[i]->offset);
    file.append(segments[i].bytes);
  }
  return file;
}

Result<std::string> writePlan(plan::PlanT &plan, std::span<const SegmentBytes> segments,
                              const std::string &name) {
  K3_ASSIGN_OR_RETURN(std::string file, writeUncheckedPlan(plan, segments));
  K3_RETURN_IF_ERROR(parsePlan(file, name).status());
  return file;
}

} // namespace k3
