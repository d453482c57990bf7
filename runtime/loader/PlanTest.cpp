//===- PlanTest.cpp - Tests of the plan file ------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The frame of the file: a good one loads, any changed or missing byte is refused in one sentence,
// other versions are handled as promised.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/Plan.h"
#include "runtime/loader/PlanWriter.h"
#include "runtime/loader/TestPlan.h"
#include "support/File.h"
#include "support/Hash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <unistd.h>

namespace k3 {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

PlanHeader headerOf(const std::string &bytes) {
  PlanHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  return header;
}

/// BYTES with another header, whose hash is right.
std::string withHeader(std::string bytes, PlanHeader header) {
  header.headerHash =
      hashBytes({reinterpret_cast<const char *>(&header), offsetof(PlanHeader, headerHash)});
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

std::string refusal(std::string_view bytes) {
  Result<LoadedPlan> loaded = parsePlan(bytes, "t.k3plan");
  EXPECT_FALSE(loaded.isOk());
  if (loaded)
    return "accepted";
  EXPECT_EQ(loaded.status().code(), Code::Refused);
  return loaded.status().message();
}

/// One line, with the file, the section, and what to do.
void expectOneSentence(const std::string &message) {
  EXPECT_THAT(message, StartsWith("t.k3plan: section '"));
  EXPECT_EQ(message.find('\n'), std::string::npos);
  EXPECT_NE(message.find("(got "), std::string::npos) << message;
  EXPECT_NE(message.find("expected "), std::string::npos) << message;
  EXPECT_NE(message.find("; "), std::string::npos) << message;
}

TEST(Plan, loads) {
  TestPlan test = makeTestPlan();
  Result<LoadedPlan> loaded = parsePlan(test.bytes(), "t.k3plan");
  ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
  EXPECT_EQ(loaded->plan().kernels()->size(), 2u);
  EXPECT_EQ(loaded->segment(0), std::string(100, 'x'));
  EXPECT_EQ(loaded->segment(1), "second");
  EXPECT_EQ(loaded->path(), "t.k3plan");
  const plan::Program &program = *(*loaded->plan().programs())[0];
  EXPECT_EQ(loaded->elements(*(*program.buffers())[BufferLogits]), 32u);
  EXPECT_EQ(loaded->upperBound(0), 8);
  // Stays valid when it is moved.
  const plan::Plan *before = &loaded->plan();
  LoadedPlan moved = std::move(*loaded);
  EXPECT_EQ(&moved.plan(), before);
  EXPECT_EQ(moved.segment(1), "second");
}

TEST(Plan, loadsFromAFile) {
  std::string path = testing::TempDir() + "/k3-plan-" + std::to_string(::getpid());
  TestPlan test = makeTestPlan();
  std::string bytes = test.bytes();
  ASSERT_TRUE(writeFileAtomic(path, bytes).isOk());
  Result<LoadedPlan> loaded = loadPlan(path);
  ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
  EXPECT_EQ(loaded->fileSize(), bytes.size());
  for (size_t size :
       {size_t{0}, size_t{1}, size_t{63}, size_t{64}, size_t{5000}, bytes.size() - 1}) {
    ASSERT_TRUE(writeFileAtomic(path, bytes.substr(0, size)).isOk());
    Result<LoadedPlan> cut = loadPlan(path);
    ASSERT_FALSE(cut.isOk()) << size;
    EXPECT_THAT(cut.status().message(), StartsWith(path + ": section 'header': ")) << size;
  }
  ::unlink(path.c_str());
  EXPECT_EQ(loadPlan(path).status().message(),
            path + ": cannot be opened (No such file or directory); check the path");
}

TEST(Plan, bytesAreTheSameEachTime) {
  TestPlan a = makeTestPlan(), b = makeTestPlan();
  std::string first = a.bytes();
  EXPECT_EQ(first, b.bytes());
  EXPECT_EQ(first, a.bytes()); // also from structs that were written before
}

TEST(Plan, layoutIsAsDocumented) {
  TestPlan test = makeTestPlan();
  std::string bytes = test.bytes();
  PlanHeader header = headerOf(bytes);
  EXPECT_EQ(bytes.substr(0, 8), std::string("K3PLAN\x1a\n"));
  EXPECT_EQ(header.fileSize, bytes.size());
  EXPECT_EQ(header.flatbufferOffset, 64u);
  EXPECT_EQ(bytes.substr(64 + 4, 4), "K3PL");
  for (const auto &segment : test.plan.segments)
    EXPECT_EQ(segment->offset % 4096, 0u);
  EXPECT_EQ(test.plan.segments[1]->offset + test.plan.segments[1]->size, bytes.size());
}

TEST(Plan, everyFlippedBitIsRefused) {
  TestPlan test = makeTestPlan();
  std::string bytes = test.bytes();
  ASSERT_TRUE(parsePlan(bytes, "t.k3plan").isOk());
  std::set<std::string> sections;
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      std::string message = refusal(bytes);
      ASSERT_NE(message, "accepted") << "byte " << at << " bit " << bit;
      expectOneSentence(message);
      size_t quote = message.find('\'');
      sections.insert(message.substr(quote + 1, message.find('\'', quote + 1) - quote - 1));
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
    }
  // The flips reached each part of the file.
  EXPECT_EQ(sections, (std::set<std::string>{"header", "flatbuffer", "segments"}));
}

TEST(Plan, everyLengthButTheRightOneIsRefused) {
  TestPlan test = makeTestPlan();
  std::string bytes = test.bytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    std::string message = refusal(std::string_view(bytes).substr(0, size));
    ASSERT_NE(message, "accepted") << size;
    expectOneSentence(message);
  }
  EXPECT_EQ(refusal(bytes + '\0'), "t.k3plan: section 'header': the file has a wrong size (got " +
                                       std::to_string(bytes.size() + 1) + " bytes, expected " +
                                       std::to_string(bytes.size()) +
                                       "); write the plan again with k3c");
}

TEST(Plan, otherFilesAreRefused) {
  EXPECT_EQ(
      refusal(""),
      "t.k3plan: section 'header': is cut off (got 0 bytes, expected at least 64); write the plan "
      "again with k3c");
  EXPECT_EQ(refusal(std::string(100, '{')),
            "t.k3plan: section 'header': is not a plan (got other first bytes, expected "
            "the mark of a .k3plan); write the plan again with k3c");
}

TEST(Plan, otherMajorIsRefusedWithBothVersions) {
  TestPlan test = makeTestPlan();
  std::string bytes = test.bytes();
  PlanHeader header = headerOf(bytes);
  header.formatMajor = 2;
  header.formatMinor = 3;
  EXPECT_EQ(refusal(withHeader(bytes, header)),
            "t.k3plan: section 'header': has another format (got 2.3, expected 1.x); update k3, or "
            "rebuild the plan with "
            "the k3c of this k3");
  header.formatMajor = 0;
  EXPECT_EQ(refusal(withHeader(bytes, header)),
            "t.k3plan: section 'header': has another format (got 0.3, expected 1.x); "
            "rebuild the plan with the k3c of this k3");
}

TEST(Plan, newerMinorIsAccepted) {
  TestPlan test = makeTestPlan();
  std::string bytes = test.bytes();
  PlanHeader header = headerOf(bytes);
  header.formatMinor = 7;
  // Header and flatbuffer must agree.
  EXPECT_THAT(
      refusal(withHeader(bytes, header)),
      HasSubstr(
          "section 'flatbuffer': has another format than the header (got 1.0, expected 1.7)"));
  std::string flatbuffer = bytes.substr(header.flatbufferOffset, header.flatbufferSize);
  auto *plan = reinterpret_cast<flatbuffers::Table *>(
      flatbuffers::GetMutableRoot<plan::Plan>(flatbuffer.data()));
  // A minor of 0 is a default that is not stored, so the plan is built with another one.
  EXPECT_FALSE(plan->SetField<uint32_t>(plan::Plan::VT_FORMAT_MINOR, 7, 0));
  test.plan.format_minor = 7;
  flatbuffers::FlatBufferBuilder builder;
  plan::FinishPlanBuffer(builder, plan::CreatePlan(builder, &test.plan));
  std::string newer(reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize());
  ASSERT_EQ((newer.size() + 64 + 4095) / 4096, (flatbuffer.size() + 64 + 4095) / 4096);
  header.flatbufferSize = newer.size();
  header.flatbufferHash = hashBytes(newer);
  bytes.replace(64, newer.size(), newer);
  Result<LoadedPlan> loaded = parsePlan(withHeader(bytes, header), "t.k3plan");
  EXPECT_TRUE(loaded.isOk()) << loaded.status().message();
}

TEST(Plan, headerFieldsAreChecked) {
  TestPlan test = makeTestPlan();
  std::string bytes = test.bytes();
  const PlanHeader good = headerOf(bytes);
  PlanHeader header = good;
  header.reserved = 1;
  EXPECT_THAT(refusal(withHeader(bytes, header)),
              HasSubstr("a reserved field is used (got 1, expected 0)"));
  header = good;
  header.flatbufferOffset = 128;
  EXPECT_THAT(refusal(withHeader(bytes, header)),
              HasSubstr("the flatbuffer begins at a wrong place (got 128, expected 64)"));
  header = good;
  header.flatbufferSize = UINT64_MAX;
  EXPECT_THAT(refusal(withHeader(bytes, header)),
              HasSubstr("the flatbuffer is too large (got 18446744073709551615"));
  for (uint64_t size : {0, 1, 7, 8, 100}) {
    header = good;
    header.flatbufferSize = size;
    header.flatbufferHash = hashBytes(std::string_view(bytes).substr(64, size));
    EXPECT_THAT(refusal(withHeader(bytes, header)),
                HasSubstr("section 'flatbuffer': is not well-formed"))
        << size;
  }
}

TEST(Plan, segmentTableIsChecked) {
  TestPlan test = makeTestPlan();
  const std::string good = test.bytes();
  auto rebuilt = [&] {
    flatbuffers::FlatBufferBuilder builder;
    plan::FinishPlanBuffer(builder, plan::CreatePlan(builder, &test.plan));
    std::string bytes = good;
    PlanHeader header = headerOf(bytes);
    EXPECT_EQ(builder.GetSize(), header.flatbufferSize);
    bytes.replace(64, builder.GetSize(), reinterpret_cast<const char *>(builder.GetBufferPointer()),
                  builder.GetSize());
    header.flatbufferHash = hashBytes(std::string_view(bytes).substr(64, builder.GetSize()));
    return withHeader(bytes, header);
  };
  plan::SegmentT &first = *test.plan.segments[0], &second = *test.plan.segments[1];
  const plan::SegmentT goodFirst = first, goodSecond = second;
  ASSERT_TRUE(parsePlan(rebuilt(), "t.k3plan").isOk());
  first.offset += 4096;
  EXPECT_EQ(refusal(rebuilt()),
            "t.k3plan: section 'segments': segment 0 'kernels.so': begins at a wrong place (got " +
                std::to_string(first.offset) + ", expected " + std::to_string(goodFirst.offset) +
                "); write the plan again with k3c");
  first = goodFirst;
  first.hash ^= 1;
  EXPECT_THAT(refusal(rebuilt()), HasSubstr("segment 0 'kernels.so': is damaged (got hash "));
  first = goodFirst;
  for (uint64_t size : {UINT64_MAX, UINT64_MAX - 4096, uint64_t{1} << 40, goodSecond.size + 1}) {
    second.size = size;
    EXPECT_THAT(refusal(rebuilt()),
                HasSubstr("segment 1 'notes': has a wrong size (got " + std::to_string(size)));
  }
  second.size = 5;
  second.hash = hashBytes("secon");
  EXPECT_THAT(refusal(rebuilt()), HasSubstr("there are bytes behind the last one (got "));
  test.segments[1].first = "kernels.so";
  EXPECT_THAT(
      refusal(test.bytes()),
      HasSubstr("segment 1 'kernels.so': its name is taken (got it twice, expected unique names)"));
}

TEST(Plan, sharedTablesCannotKeepTheChecksBusy) {
  // A million references to one table would pass the verifier's own limits.
  flatbuffers::FlatBufferBuilder builder;
  auto expr = plan::CreateExpr(builder);
  std::vector<flatbuffers::Offset<plan::Expr>> many(20000, expr);
  TestPlan test = makeTestPlan();
  std::string good = test.bytes();
  auto text = [&](const char *value) { return builder.CreateString(value); };
  auto producer =
      plan::CreateProducer(builder, text("v"), builder.CreateVectorOfStrings({}), text("l"));
  auto model = plan::CreateModel(builder, text("m"), text(""));
  auto limits = plan::CreateLimits(builder);
  auto target =
      plan::CreateTarget(builder, text("cpu"), text("x86_64"), builder.CreateVectorOfStrings({}));
  auto mesh = plan::CreateMesh(builder);
  auto symbols = builder.CreateVector(std::vector<flatbuffers::Offset<plan::Symbol>>());
  auto exprs = builder.CreateVector(many);
  auto programs = builder.CreateVector(std::vector<flatbuffers::Offset<plan::Program>>());
  auto kernels = builder.CreateVector(std::vector<flatbuffers::Offset<plan::Kernel>>());
  auto images = builder.CreateVector(std::vector<flatbuffers::Offset<plan::Image>>());
  auto segments = builder.CreateVector(std::vector<flatbuffers::Offset<plan::Segment>>());
  auto locations = builder.CreateVector(std::vector<flatbuffers::Offset<plan::Location>>());
  plan::FinishPlanBuffer(builder, plan::CreatePlan(builder, 1, 0, producer, model, limits, target,
                                                   mesh, symbols, exprs, programs, kernels, images,
                                                   segments, locations));
  PlanHeader header = headerOf(good);
  std::string bytes = good.substr(0, 64);
  bytes.append(reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize());
  header.fileSize = bytes.size();
  header.flatbufferSize = builder.GetSize();
  header.flatbufferHash = hashBytes(std::string_view(bytes).substr(64));
  EXPECT_THAT(refusal(withHeader(bytes, header)),
              HasSubstr("section 'flatbuffer': is not well-formed"));
}

TEST(PlanWriter, refusesWhatTheLoaderWouldRefuse) {
  TestPlan test = makeTestPlan();
  std::vector<SegmentBytes> segments = {{"kernels.so", "x"}};
  Result<std::string> good = writePlan(test.plan, segments, "out.k3plan");
  ASSERT_TRUE(good.isOk()) << good.status().message();
  test.plan.kernels[1]->image = 9;
  EXPECT_EQ(writePlan(test.plan, segments, "out.k3plan").status().message(),
            "out.k3plan: section 'kernels': kernel 1 'k3_head_h4_f32': its image does not exist "
            "(got 9, expected less than "
            "1); rebuild the plan with k3c");
  segments[0].bytes = "";
  EXPECT_EQ(writePlan(test.plan, segments).status().message(),
            "segment 'kernels.so': is empty (got 0 bytes, expected at least 1); leave it out");
}

} // namespace
} // namespace k3
