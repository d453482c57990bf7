//===- StepIndicesTest.cpp - Tests of indices of a step ---------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two live sequences and one row of padding pass; then one index at a time is made wrong. What
// the padding has in the page table is never looked at.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/StepIndices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace k3;

namespace {

struct Step {
  std::vector<int32_t> slots = {1, 0, -1}, offsets = {0, 2, 3, 4}, tokenSeq = {0, 0, 1, 2},
                       tokenPos = {3, 4, 0, 0}, pages = {2, 1, 0, -9, 99, 99};

  std::string refusal() const {
    plan::LimitsT limits;
    limits.max_seqs = 2;
    limits.max_context = 8;
    limits.page_tokens = 4;
    limits.cache_pages = 3;
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(plan::Limits::Pack(builder, &limits));
    StepIndices indices(4);
    indices.set("seq_slots", slots, 3);
    indices.set("seq_offsets", offsets, 4);
    indices.set("token_seq", tokenSeq, 4);
    indices.set("token_pos", tokenPos, 4);
    indices.set("page_table", pages, 3);
    return indices.check("f", *flatbuffers::GetRoot<plan::Limits>(builder.GetBufferPointer()))
        .message();
  }
};

std::string refusal(void (*change)(Step &)) {
  Step step;
  change(step);
  return step.refusal();
}

TEST(StepIndicesTest, AcceptsAStep) { EXPECT_EQ(Step().refusal(), ""); }

TEST(StepIndicesTest, RefusesWrongIndices) {
  EXPECT_EQ(refusal([](Step &s) { s.slots[0] = 5; }),
            "f: tensor 'seq_slots': slot 5 of sequence 0 does not exist (got 5, expected -1 to 1)");
  EXPECT_EQ(refusal([](Step &s) { s.slots[0] = 0; }),
            "f: tensor 'seq_slots': sequence 1 has the slot of another (got 0, expected one of its "
            "own)");
  EXPECT_EQ(refusal([](Step &s) { s.offsets[0] = 1; }),
            "f: tensor 'seq_offsets': offset 0 is out of order (got 1, expected 0)");
  EXPECT_EQ(refusal([](Step &s) { s.offsets[2] = 1; }),
            "f: tensor 'seq_offsets': offset 2 is out of order (got 1, expected at least 2)");
  EXPECT_EQ(refusal([](Step &s) { s.offsets[3] = 2000000; }),
            "f: tensor 'seq_offsets' does not end at the number of tokens (got 2000000, expected "
            "4)");
  EXPECT_EQ(refusal([](Step &s) { s.tokenSeq[3] = 3; }),
            "f: tensor 'token_seq': sequence 3 of token 3 does not exist (got 3, expected 0 to 2)");
  EXPECT_EQ(refusal([](Step &s) { s.tokenSeq[1] = 1; }),
            "f: tensor 'token_seq': token 1 is not one of sequence 1 (got 1, expected 2 to 2 by "
            "'seq_offsets')");
  EXPECT_EQ(refusal([](Step &s) { s.tokenPos[2] = 8; }),
            "f: tensor 'token_pos': position of token 2 is beyond the context (got 8, expected 0 "
            "to 7)");
  EXPECT_EQ(refusal([](Step &s) { s.pages[1] = 3; }),
            "f: tensor 'page_table': page 1 of sequence 0 does not exist (got 3, expected 0 to 2)");
  EXPECT_EQ(refusal([](Step &s) { s.pages[2] = 2; }),
            "f: tensor 'page_table': page 0 of sequence 1 is used twice (got 2, expected one of "
            "its own)");
}

} // namespace
