//===- Plan.cpp - A plan in memory, checked -------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks in layers, each safe only behind the one before: header, size, hash, structure, segments,
// meaning. They are always on; the largest plans take a fraction of a second.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/Plan.h"

#include "support/File.h"
#include "support/Format.h"
#include "support/Hash.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

namespace k3 {

namespace {

// The deepest table is plan > program > entry > command > launch > argument, with vectors between.
constexpr uint32_t maxNesting = 32;

Status refuse(const std::string &path, const char *section, const std::string &message) {
  return Status::refused(
      fmt::format("{}: section '{}': {}; write the plan again with k3c", path, section, message));
}

Status checkHeader(const std::string &path, const PlanHeader &header, uint64_t fileSize) {
  if (std::memcmp(header.magic, planMagic, sizeof(planMagic)) != 0)
    return refuse(path, "header",
                  "is not a plan (got other first bytes, expected the mark of a .k3plan)");
  if (header.formatMajor != planFormatMajor)
    return Status::refused(
        fmt::format("{}: section 'header': has another format (got {}.{}, expected {}.x); {}", path,
                    header.formatMajor, header.formatMinor, planFormatMajor,
                    header.formatMajor > planFormatMajor
                        ? "update k3, or rebuild the plan with the k3c of this k3"
                        : "rebuild the plan with the k3c of this k3"));
  uint64_t hash =
      hashBytes({reinterpret_cast<const char *>(&header), offsetof(PlanHeader, headerHash)});
  if (hash != header.headerHash)
    return refuse(
        path, "header",
        fmt::format("is damaged (got hash {:016x}, expected {:016x})", hash, header.headerHash));
  if (header.fileSize != fileSize)
    return refuse(path, "header",
                  fmt::format("the file has a wrong size (got {} bytes, expected {})", fileSize,
                              header.fileSize));
  if (header.reserved != 0)
    return refuse(path, "header",
                  fmt::format("a reserved field is used (got {}, expected 0)", header.reserved));
  if (header.flatbufferOffset != sizeof(PlanHeader))
    return refuse(path, "header",
                  fmt::format("the flatbuffer begins at a wrong place (got {}, expected {})",
                              header.flatbufferOffset, sizeof(PlanHeader)));
  uint64_t most =
      std::min<uint64_t>(fileSize - sizeof(PlanHeader), FLATBUFFERS_MAX_BUFFER_SIZE - 1);
  if (header.flatbufferSize > most)
    return refuse(path, "header",
                  fmt::format("the flatbuffer is too large (got {} bytes, expected at most {})",
                              header.flatbufferSize, most));
  return Status::ok();
}

Status checkHeader(const std::string &path, std::string_view bytes, uint64_t fileSize) {
  if (bytes.size() < sizeof(PlanHeader))
    return refuse(path, "header",
                  fmt::format("is cut off (got {} bytes, expected at least {})", bytes.size(),
                              sizeof(PlanHeader)));
  PlanHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  return checkHeader(path, header, fileSize);
}

Status checkStructure(const std::string &path, std::string_view flatbuffer,
                      const PlanHeader &header) {
  uint64_t hash = hashBytes(flatbuffer);
  if (hash != header.flatbufferHash)
    return refuse(path, "flatbuffer",
                  fmt::format("is damaged (got hash {:016x}, expected {:016x})", hash,
                              header.flatbufferHash));
  flatbuffers::Verifier::Options options;
  options.max_depth = maxNesting;
  // A table takes eight bytes with the reference to it, so an honest file cannot hold more; one
  // whose tables are shared a thousandfold would keep the checks busy for hours.
  options.max_tables = static_cast<flatbuffers::uoffset_t>(flatbuffer.size() / 8 + 1);
  auto *data = reinterpret_cast<const uint8_t *>(flatbuffer.data());
  flatbuffers::Verifier verifier(data, flatbuffer.size(), options);
  if (flatbuffer.size() < 8 || !plan::VerifyPlanBuffer(verifier))
    return refuse(path, "flatbuffer",
                  fmt::format("is not well-formed (got {} bytes, expected a plan of format {}.{})",
                              flatbuffer.size(), header.formatMajor, header.formatMinor));
  const plan::Plan &plan = *plan::GetPlan(data);
  if (plan.format_major() != header.formatMajor || plan.format_minor() != header.formatMinor)
    return refuse(path, "flatbuffer",
                  fmt::format("has another format than the header (got {}.{}, expected {}.{})",
                              plan.format_major(), plan.format_minor(), header.formatMajor,
                              header.formatMinor));
  return Status::ok();
}

Status checkPadding(const std::string &path, std::string_view bytes, uint64_t begin, uint64_t end) {
  std::string_view padding = bytes.substr(begin, end - begin);
  size_t at = padding.find_first_not_of('\0');
  if (at == std::string_view::npos)
    return Status::ok();
  return refuse(
      path, "segments",
      fmt::format("the space between segments is damaged (got byte {:#04x} at {}, expected 0)",
                  static_cast<unsigned char>(padding[at]), begin + at));
}

/// Segments follow each other with zeros up to the next border; the last one ends the file.
Status checkSegments(const std::string &path, std::string_view bytes, const plan::Plan &plan,
                     uint64_t end) {
  std::unordered_set<std::string_view> names;
  const auto &segments = *plan.segments();
  for (uint32_t i = 0; i < segments.size(); ++i) {
    const plan::Segment &segment = *segments[i];
    std::string_view name = segment.name()->string_view().substr(0, 64);
    std::string who = fmt::format("segment {} '{}'", i, name);
    if (!names.insert(segment.name()->string_view()).second)
      return refuse(
          path, "segments",
          fmt::format("{}: its name is taken (got it twice, expected unique names)", who));
    uint64_t begin = alignUp(end, planSegmentAlignment);
    if (segment.offset() != begin)
      return refuse(path, "segments",
                    fmt::format("{}: begins at a wrong place (got {}, expected {})", who,
                                segment.offset(), begin));
    if (begin > bytes.size() || !segment.size() || segment.size() > bytes.size() - begin)
      return refuse(
          path, "segments",
          fmt::format("{}: has a wrong size (got {} bytes at {}, expected 1 or more within {})",
                      who, segment.size(), begin, bytes.size()));
    K3_RETURN_IF_ERROR(checkPadding(path, bytes, end, begin));
    uint64_t hash = hashBytes(bytes.substr(begin, segment.size()));
    if (hash != segment.hash())
      return refuse(path, "segments",
                    fmt::format("{}: is damaged (got hash {:016x}, expected {:016x})", who, hash,
                                segment.hash()));
    end = begin + segment.size();
  }
  if (end != bytes.size())
    return refuse(path, "segments",
                  fmt::format("there are bytes behind the last one (got {} bytes, expected {})",
                              bytes.size(), end));
  return Status::ok();
}

} // namespace

Result<AlignedBytes> AlignedBytes::allocate(uint64_t size, const std::string &forWhat) {
  AlignedBytes bytes;
  bytes.size_ = size;
  if (size > INT64_MAX - planAlignment)
    return Status::failed(
        fmt::format("{}: is too large for memory (got {} bytes); check the file", forWhat, size));
  bytes.bytes_.reset(static_cast<uint8_t *>(
      std::aligned_alloc(planAlignment, alignUp(std::max<uint64_t>(size, 1), planAlignment))));
  if (!bytes.bytes_)
    return Status::failed(fmt::format(
        "{}: does not fit the memory (got {}, which could not be allocated); free some memory",
        forWhat, formatBytes(size)));
  return bytes;
}

std::string_view LoadedPlan::segment(uint32_t index) const {
  const plan::Segment &segment = *(*plan_->segments())[index];
  return bytes_.view().substr(segment.offset(), segment.size());
}

uint64_t LoadedPlan::elements(const plan::Buffer &buffer) const {
  uint64_t count = 1;
  for (uint32_t dim : *buffer.shape())
    count *= static_cast<uint64_t>(upperBound(dim));
  return count;
}

Result<LoadedPlan> checkPlan(AlignedBytes bytes, std::string path) {
  std::string_view file = bytes.view();
  K3_RETURN_IF_ERROR(checkHeader(path, file, file.size()));
  PlanHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  std::string_view flatbuffer = file.substr(header.flatbufferOffset, header.flatbufferSize);
  K3_RETURN_IF_ERROR(checkStructure(path, flatbuffer, header));

  LoadedPlan loaded;
  loaded.path_ = std::move(path);
  loaded.plan_ = plan::GetPlan(flatbuffer.data());
  loaded.bytes_ = std::move(bytes);
  K3_RETURN_IF_ERROR(checkSegments(loaded.path_, file, *loaded.plan_,
                                   header.flatbufferOffset + header.flatbufferSize));
  K3_RETURN_IF_ERROR(validatePlan(*loaded.plan_, loaded.path_, loaded.ranges_));
  return loaded;
}

Result<LoadedPlan> loadPlan(const std::string &path) {
  K3_ASSIGN_OR_RETURN(File file, File::open(path));
  // The header first: memory for the rest is taken only if it is a plan.
  char header[sizeof(PlanHeader)];
  uint64_t headerSize = std::min<uint64_t>(file.size(), sizeof(header));
  K3_RETURN_IF_ERROR(file.readAt(0, header, headerSize));
  K3_RETURN_IF_ERROR(checkHeader(path, std::string_view(header, headerSize), file.size()));
  K3_ASSIGN_OR_RETURN(AlignedBytes bytes, AlignedBytes::allocate(file.size(), path));
  K3_RETURN_IF_ERROR(file.readAt(0, bytes.data(), file.size()));
  return checkPlan(std::move(bytes), path);
}

Result<LoadedPlan> parsePlan(std::string_view bytes, std::string path) {
  K3_ASSIGN_OR_RETURN(AlignedBytes copy, AlignedBytes::allocate(bytes.size(), path));
  std::copy(bytes.begin(), bytes.end(), copy.data());
  return checkPlan(std::move(copy), std::move(path));
}

} // namespace k3
