//===- ValidateTest.cpp - Tests of a plan's meaning -----------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each rule, the test plan with one thing wrong and the sentence that says so. Commands are in
// ValidateCommandsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/ValidateTesting.h"

namespace k3 {
namespace {

using plan::ExprOp;

TEST(Validate, theTestPlanIsGood) {
  TestPlan test = makeTestPlan();
  EXPECT_EQ(refusalOf(test), "");
}

TEST(Validate, symbols) {
  EXPECT_REFUSED(
      "symbols",
      "symbol 1 'S': its upper bound is out of range (got 0, expected 1 to 9223372036854775807)",
      t.plan.symbols[1]->upper_bound = 0);
  EXPECT_REFUSED(
      "symbols",
      "symbol 0 'T': its upper bound is out of range (got 9223372036854775808, expected 1 to "
      "9223372036854775807)",
      t.plan.symbols[0]->upper_bound = uint64_t{1} << 63);
  EXPECT_REFUSED("symbols", "symbol 1 'T': its name is taken (got it twice, expected unique names)",
                 t.plan.symbols[1]->name = "T");
  EXPECT_REFUSED("symbols",
                 "symbol 0: its name has a wrong length (got 0 bytes, expected 1 to 4096)",
                 t.plan.symbols[0]->name = "");
  EXPECT_REFUSED("symbols",
                 "symbol 0: its name has a wrong length (got 5000 bytes, expected 1 to 4096)",
                 t.plan.symbols[0]->name = std::string(5000, 'x'));
  EXPECT_REFUSED("symbols",
                 "symbol 0: its name holds a control character (got byte 0x1b at 1, expected text)",
                 t.plan.symbols[0]->name = "T\x1b[2J");
  EXPECT_REFUSED(
      "symbols", "there are too many (got 65, expected at most 64)",
      while (t.plan.symbols.size() < 65) {
        t.plan.symbols.push_back(std::make_unique<plan::SymbolT>());
        t.plan.symbols.back()->upper_bound = 1;
      });
}

TEST(Validate, expressions) {
  EXPECT_REFUSED("exprs", "expression 0: its symbol does not exist (got 2, expected less than 2)",
                 t.plan.exprs[0]->value = 2);
  EXPECT_REFUSED("exprs", "expression 0: its symbol does not exist (got -1, expected less than 2)",
                 t.plan.exprs[0]->value = -1);
  EXPECT_REFUSED("exprs", "expression 2: its constant is negative (got -1, expected at least 0)",
                 t.plan.exprs[2]->value = -1);
  EXPECT_REFUSED("exprs", "expression 2: its operation is unknown (got 9, expected at most 8)",
                 t.plan.exprs[2]->op = static_cast<ExprOp>(9));
  // Itself, or anything after it, would be a cycle.
  EXPECT_REFUSED("exprs",
                 "expression 8: its operand does not come before it (got 8, expected less than 8)",
                 t.expr(ExprOp::Add, 0, 8));
  EXPECT_REFUSED(
      "exprs",
      "expression 8: its operand does not come before it (got 4294967295, expected less than 8)",
      t.expr(ExprOp::Add, UINT32_MAX, 0));
  EXPECT_REFUSED("exprs",
                 "expression 9: is not safe within the symbols' bounds because it overflows 64 "
                 "bits (got operands up to "
                 "9223372036854775807 and 1)",
                 t.constant(INT64_MAX);
                 t.expr(ExprOp::Add, 8, 2));
  EXPECT_REFUSED("exprs",
                 "expression 9: is not safe within the symbols' bounds because it overflows 64 "
                 "bits (got operands up to "
                 "8 and 4611686018427387904)",
                 t.constant(int64_t{1} << 62);
                 t.expr(ExprOp::Mul, 0, 8));
  EXPECT_REFUSED("exprs",
                 "expression 8: has no value at the symbols' upper bounds because it becomes "
                 "negative (got operands 2 "
                 "and 8)",
                 t.expr(ExprOp::Sub, 1, 0));
  EXPECT_REFUSED("exprs",
                 "expression 8: is not safe within the symbols' bounds because it becomes negative "
                 "(got operands up to 1 "
                 "and 4)",
                 t.expr(ExprOp::Sub, 2, 4));
  EXPECT_REFUSED("exprs",
                 "expression 9: is not safe within the symbols' bounds because it divides by zero "
                 "(got operands up to 8 "
                 "and 0)",
                 t.constant(0);
                 t.expr(ExprOp::CeilDiv, 0, 8));
  EXPECT_REFUSED("exprs",
                 "expression 264: is nested too deeply (got 257 levels, expected at most 256)",
                 uint32_t node = 0;
                 for (int i = 0; i < 257; ++i) node = t.expr(ExprOp::Max, node, 2));
}

TEST(Validate, aDifferenceCountsAtItsLargest) {
  // 9 - T is 1 at the upper bound, but 9 when T is 0: a buffer of that length must hold 9.
  EXPECT_REFUSED(
      "buffers",
      "rank 0 buffer 0 'ids': is smaller than its shape (got 32 bytes, expected at least 36)",
      uint32_t nine = t.constant(9);
      t.program().buffers[0]->shape = {t.expr(ExprOp::Sub, nine, 0)};
      t.program().buffers[0]->size = 32);
}

TEST(Validate, head) {
  EXPECT_REFUSED("model",
                 "the kinds of layers do not add up (got 1 KDA and 1 MLA, expected 3 in total)",
                 t.plan.model->layers = 3);
  EXPECT_REFUSED(
      "model",
      "the vocabulary is too large for 32-bit ids (got 2147483648, expected at most 2147483647)",
      t.plan.model->vocab_size = uint64_t{1} << 31);
  EXPECT_REFUSED("model",
                 "the first token's id is out of range (got -2, expected -1 to 2147483647)",
                 t.plan.model->bos_token_id = -2);
  EXPECT_REFUSED("model", "a stop id is out of range (got -1, expected 0 to 2147483647)",
                 t.plan.model->eos_token_ids = {1, -1});
  EXPECT_REFUSED(
      "model",
      "the hash of the configuration: its name holds a control character (got byte 0x0a at 0, "
      "expected text)",
      t.plan.model->config_hash = "\n");
  EXPECT_REFUSED(
      "limits",
      "cache_pages is too large for 32-bit ids (got 2147483648, expected at most 2147483647)",
      t.plan.limits->cache_pages = uint64_t{1} << 31);
  EXPECT_REFUSED("target", "the features are not sorted or not unique (got 'sse' after 'sse2')",
                 t.plan.target->features = (std::vector<std::string>{"sse2", "sse"}));
  EXPECT_REFUSED("target", "the features are not sorted or not unique (got 'sse' after 'sse')",
                 t.plan.target->features = (std::vector<std::string>{"sse", "sse"}));
  EXPECT_REFUSED("mesh", "an axis is out of range (got tp 0, ep 1, pp 1, expected 1 to 65536 each)",
                 t.plan.mesh->tp = 0);
  EXPECT_REFUSED("programs", "there is not one program a rank (got 1, expected 2)",
                 t.plan.mesh->tp = 2);
  EXPECT_REFUSED("programs", "there is not one program a rank (got 0, expected 1)",
                 t.plan.programs.clear());
  EXPECT_REFUSED("programs", "program 0 is for another rank (got 1, expected 0)",
                 t.program().rank = 1);
  EXPECT_REFUSED("locations",
                 "location 0: its name has a wrong length (got 0 bytes, expected 1 to 4096)",
                 t.plan.locations[0]->file = "");
}

TEST(Validate, kernelsAndImages) {
  EXPECT_REFUSED("images", "image 0: its segment does not exist (got 2, expected less than 2)",
                 t.plan.images[0]->segment = 2);
  EXPECT_REFUSED("images", "image 0: its kind is unknown (got 2, expected at most 1)",
                 t.plan.images[0]->kind = static_cast<plan::ImageKind>(2));
  EXPECT_REFUSED(
      "kernels",
      "kernel 1 'k3_head_h4_f32': its image does not exist (got 1, expected less than 1)",
      t.plan.kernels[1]->image = 1);
  EXPECT_REFUSED(
      "kernels",
      "kernel 1 'k3_embed_h4_f32': its name is taken (got it twice, expected unique names)",
      t.plan.kernels[1]->name = t.plan.kernels[0]->name);
  EXPECT_REFUSED(
      "kernels",
      "kernel 1 'k3_head_h4_f32': parameter 0 is of an unknown kind (got 2, expected at most 1)",
      t.plan.kernels[1]->params[0] = static_cast<plan::ArgKind>(2));
  EXPECT_REFUSED(
      "kernels",
      "kernel 1 'k3_head_h4_f32': has too many parameters (got 4097, expected at most 4096)",
      t.plan.kernels[1]->params.resize(4097));
  EXPECT_REFUSED(
      "kernels",
      "kernel 1 'k3_head_h4_f32': its block has a wrong number of axes (got 2, expected 3)",
      t.plan.kernels[1]->block.resize(2));
  EXPECT_REFUSED(
      "kernels",
      "kernel 1 'k3_head_h4_f32': its block is out of range (got 1x2x1, expected 1 to 1 threads)",
      t.plan.kernels[1]->block[1] = 2);
  EXPECT_REFUSED(
      "kernels",
      "kernel 0 'k3_embed_h4_f32': its block is out of range (got 64x32x1, expected 1 to 1024 "
      "threads)",
      t.plan.images[0]->kind = plan::ImageKind::Cubin;
      t.plan.kernels[0]->block = (std::vector<uint32_t>{64, 32, 1}));
  EXPECT_REFUSED(
      "kernels",
      "kernel 1 'k3_head_h4_f32': its location does not exist (got 1, expected less than 1)",
      t.plan.kernels[1]->location = 1);
}

TEST(Validate, arenas) {
  EXPECT_REFUSED("arenas", "rank 0 arena 1: its class is unknown (got 6, expected at most 5)",
                 t.program().arenas[1]->cls = static_cast<plan::ArenaClass>(6));
  for (uint64_t alignment : {0, 1, 32, 96})
    EXPECT_REFUSED("arenas",
                   "rank 0 arena 2: its alignment is wrong (got " + std::to_string(alignment) +
                       ", expected a power of two from 64 to 1073741824)",
                   t.program().arenas[2]->alignment = alignment);
  EXPECT_REFUSED("arenas",
                 "rank 0 arena 3: the sizes overflow (got 9223372036854775807 bytes, expected "
                 "9223372036854775807 at most "
                 "in total)",
                 t.program().arenas[3]->size = INT64_MAX);
}

TEST(Validate, buffers) {
  EXPECT_REFUSED("buffers",
                 "rank 0 buffer 1 'logits': its arena does not exist (got 6, expected less than 6)",
                 t.program().buffers[1]->arena = 6);
  EXPECT_REFUSED("buffers",
                 "rank 0 buffer 1 'logits': its dtype is unknown (got 5, expected at most 4)",
                 t.program().buffers[1]->dtype = static_cast<plan::DType>(5));
  EXPECT_REFUSED(
      "buffers",
      "rank 0 buffer 1 'logits': its offset is not aligned (got 32, expected a multiple of 64)",
      t.program().buffers[1]->offset = 32);
  EXPECT_REFUSED(
      "buffers",
      "rank 0 buffer 1 'logits': ends outside its arena (got 128 bytes at offset 128, expected "
      "within 192)",
      t.program().buffers[1]->offset = 128);
  EXPECT_REFUSED("buffers",
                 "rank 0 buffer 1 'logits': ends outside its arena (got 18446744073709551615 bytes "
                 "at offset 64, expected "
                 "within 192)",
                 t.program().buffers[1]->size = UINT64_MAX);
  EXPECT_REFUSED("buffers",
                 "rank 0 buffer 1 'logits': ends outside its arena (got 128 bytes at offset "
                 "18446744073709551552, "
                 "expected within 192)",
                 t.program().buffers[1]->offset = uint64_t{0} - 64);
  EXPECT_REFUSED(
      "buffers",
      "rank 0 buffer 1 'logits': its expression does not exist (got 99, expected less than 8)",
      t.program().buffers[1]->shape[0] = 99);
  EXPECT_REFUSED(
      "buffers",
      "rank 0 buffer 1 'logits': is smaller than its shape (got 127 bytes, expected at least 128)",
      t.program().buffers[1]->size = 127);
  EXPECT_REFUSED("buffers",
                 "rank 0 buffer 1 'logits': has too many dimensions (got 17, expected at most 16)",
                 t.program().buffers[1]->shape.assign(17, 2));
  EXPECT_REFUSED("buffers",
                 "rank 0 buffer 1 'logits': its shape overflows 64 bits at an extent of "
                 "4611686018427387904 (got more "
                 "than 2^64 bytes, expected at most 128)",
                 uint32_t huge = t.constant(int64_t{1} << 62);
                 t.program().buffers[1]->shape = {huge, huge});
  EXPECT_REFUSED("buffers",
                 "rank 0 buffer 0: its name has a wrong length (got 0 bytes, expected 1 to 4096)",
                 t.program().buffers[0]->name = "");
}

TEST(Validate, states) {
  EXPECT_REFUSED(
      "states",
      "rank 0 state 0 'layers.0.kda_state': its kind is unknown (got 3, expected at most 2)",
      t.program().states[0]->kind = static_cast<plan::StateKind>(3));
  EXPECT_REFUSED("states",
                 "rank 0 state 0 'layers.0.kda_state': its buffer does not exist (got 8, expected "
                 "less than 8)",
                 t.program().states[0]->buffer = 8);
  EXPECT_REFUSED("states",
                 "rank 0 state 0 'layers.0.kda_state': has a wrong number of dimensions for a KDA "
                 "state (got 2, expected "
                 "3)",
                 t.program().states[0]->shape.pop_back());
  EXPECT_REFUSED(
      "states",
      "rank 0 state 0 'layers.0.kda_state': lies in the wrong arena for a KDA state (got Cache, "
      "expected State)",
      t.program().states[0]->buffer = BufferCache);
  EXPECT_REFUSED("states",
                 "rank 0 state 0 'layers.0.kda_state': the order of its axes is unknown (got '', "
                 "expected 'kv' "
                 "or 'vk')",
                 t.program().states[0]->order = "");
  EXPECT_REFUSED("states",
                 "rank 0 state 1 'layers.0.kda_state': its name is taken (got it twice, expected "
                 "unique names)",
                 t.program().states[1]->name = "layers.0.kda_state");
  EXPECT_REFUSED("states",
                 "rank 0 state 0 'layers.0.kda_state': a slot is smaller than its shape (got 63 "
                 "bytes, expected "
                 "at least 64)",
                 t.program().states[0]->slot_bytes = 63);
  EXPECT_REFUSED(
      "states",
      "rank 0 state 0 'layers.0.kda_state': its slots do not fit the buffer (got 2 of 65 bytes, "
      "expected within 128)",
      t.program().states[0]->slot_bytes = 65);
  EXPECT_REFUSED("states",
                 "rank 0 state 0 'layers.0.kda_state': its slots do not fit the buffer (got 2 of "
                 "9223372036854775808 "
                 "bytes, expected within 128)",
                 t.program().states[0]->slot_bytes = uint64_t{1} << 63);
  EXPECT_REFUSED(
      "states",
      "rank 0 state 0 'layers.0.kda_state': the shape of a slot overflows 64 bits at an extent of "
      "4611686018427387904 (got more than 2^64 bytes, expected at most 64)",
      t.program().states[0]->shape[2] = uint64_t{1} << 62);
  EXPECT_REFUSED("states",
                 "rank 0 state 0 'layers.0.kda_state': has fewer slots than the plan's limits (got "
                 "2, expected "
                 "at least 3)",
                 t.plan.limits->max_seqs = 3);
  EXPECT_REFUSED(
      "states",
      "rank 0 state 2 'layers.1.latent_cache': has fewer pages than the plan's limits (got 4, "
      "expected at least 5)",
      t.plan.limits->cache_pages = 5);
  EXPECT_REFUSED("states",
                 "rank 0 state 2 'layers.1.latent_cache': its pages have another length than the "
                 "plan's (got 4 "
                 "tokens, expected 2)",
                 t.plan.limits->page_tokens = 2);
  EXPECT_REFUSED(
      "states",
      "rank 0 state 1 'layers.0.conv_state.q': its buffer has no dimension for slots (got 0 "
      "dimensions, expected at least 1)",
      t.program().buffers[BufferConv]->shape.clear());
}

TEST(Validate, weights) {
  EXPECT_REFUSED(
      "weights",
      "rank 0 weight 0 'layers.0.w': its buffer does not exist (got 8, expected less than 8)",
      t.program().weights[0]->buffer = 8);
  EXPECT_REFUSED("weights",
                 "rank 0 weight 0 'layers.0.w': lies in the wrong arena (got Io, expected Weights)",
                 t.program().weights[0]->buffer = BufferLogits);
  EXPECT_REFUSED(
      "weights",
      "rank 0 weight 1 'layers.0.w': its name is taken (got it twice, expected unique names)",
      t.program().weights[1]->name = "layers.0.w");
  EXPECT_REFUSED("weights",
                 "rank 0 weight 0 'layers.0.w': its shape depends on symbols (got 0 to 8, expected "
                 "a constant)",
                 t.program().buffers[BufferWeight]->shape[0] = 0);
  EXPECT_REFUSED(
      "weights",
      "rank 0 weight 0 'layers.0.w': its pieces do not fill it (got 16 elements, expected 32)",
      t.program().weights[0]->pieces.pop_back());
  EXPECT_REFUSED(
      "weights",
      "rank 0 weight 0 'layers.0.w': its pieces do not fill it (got 0 elements, expected 32)",
      t.program().weights[0]->pieces.clear());
  EXPECT_REFUSED("weights",
                 "rank 0 weight 0 'layers.0.w': two of its pieces overlap (got element 12 twice, "
                 "expected once)",
                 t.program().weights[0]->pieces[1]->dst_begin = 12);
  EXPECT_REFUSED(
      "buffers",
      "rank 0: 'layers.0.w' and 'layers.0.b' share memory (got byte 64 of arena 0 twice, expected "
      "once)",
      t.program().buffers[BufferBias]->offset = 64);
}

#define EXPECT_PIECE_REFUSED(WHAT, ...)                                                            \
  EXPECT_REFUSED("weights", "rank 0 weight 0 'layers.0.w' piece " WHAT,                            \
                 auto &p = t.program().weights[0]->pieces;                                         \
                 plan::PieceT &range = *p[0]; plan::PieceT &transposed = *p[1]; (void)range;       \
                 (void)transposed; __VA_ARGS__)

TEST(Validate, pieces) {
  EXPECT_PIECE_REFUSED("1: its transform is unknown (got 2, expected at most 1)",
                       transposed.transform = static_cast<plan::PackTransform>(2));
  EXPECT_PIECE_REFUSED(
      "1: is empty (got 0 rows, 4 columns, 1 tensors, expected at least 1 of each)",
      transposed.rows = 0);
  EXPECT_PIECE_REFUSED(
      "0: is empty (got 2 rows, 4 columns, 0 tensors, expected at least 1 of each)",
      range.count = 0);
  EXPECT_PIECE_REFUSED(
      "0: 'a.{}.{}' has more than one place for the index (got several, expected one {})",
      range.source = "a.{}.{}");
  EXPECT_PIECE_REFUSED(
      "0: 'a.b' has no place for the index (got 2 tensors, expected {} in the name)",
      range.source = "a.b");
  EXPECT_PIECE_REFUSED(
      "0: its range of tensors overflows (got 2 tensors from 18446744073709551615)",
      range.first = UINT64_MAX);
  EXPECT_PIECE_REFUSED("1: its source rows overlap (got a stride of 3, expected at least 4)",
                       transposed.src_row_stride = 3);
  EXPECT_PIECE_REFUSED(
      "1: its source rectangle overflows 63 bits (got 4x4 from 18446744073709551615 with stride 4)",
      transposed.src_begin = UINT64_MAX);
  EXPECT_PIECE_REFUSED(
      "1: its source rectangle overflows 63 bits (got 4x4 from 0 with stride 9223372036854775807)",
      transposed.src_row_stride = INT64_MAX);
  EXPECT_PIECE_REFUSED("1: its rows overlap in the weight (got a stride of 3, expected at least 4)",
                       transposed.dst_row_stride = 3);
  EXPECT_PIECE_REFUSED(
      "0: its tensors overlap in the weight (got a stride of 3, expected at least 4)",
      range.dst_index_stride = 3);
  EXPECT_PIECE_REFUSED(
      "1: its rectangle overflows 63 bits (got 1 of 4x4 from 18446744073709551615)",
      transposed.dst_begin = UINT64_MAX);
  EXPECT_PIECE_REFUSED("1: ends outside the weight (got element 33, expected at most 32)",
                       transposed.dst_begin = 17);
  EXPECT_PIECE_REFUSED("0: ends outside the weight (got element 41, expected at most 32)",
                       range.dst_index_stride = 33);
}

TEST(Validate, interleavedPiecesAreFine) {
  // Two tensors whose rows alternate, as when gate and up projections are packed together.
  TestPlan t = makeTestPlan();
  plan::PieceT &range = *t.program().weights[0]->pieces[0];
  range.dst_index_stride = 4;
  range.dst_row_stride = 8;
  EXPECT_EQ(refusalOf(t), "");
}

TEST(Validate, entries) {
  EXPECT_REFUSED("entries",
                 "rank 0 entry 'prefill': its kind is unknown (got 3, expected at most 2)",
                 t.entry(0).kind = static_cast<plan::EntryKind>(3));
  EXPECT_REFUSED("entries",
                 "rank 0 entry 'decode_1': its number of rows is out of range (got 0, expected 1 "
                 "to 2147483647)",
                 t.entry(1).bucket = 0);
  EXPECT_REFUSED("entries",
                 "rank 0 entry 'prefill': its name is taken (got it twice, expected unique names)",
                 t.entry(1).name = "prefill");
  EXPECT_REFUSED("entries",
                 "rank 0 entry 'prefill': its symbol does not exist (got 2, expected less than 2)",
                 t.entry(0).symbols[1] = 2);
  EXPECT_REFUSED("entries",
                 "rank 0 entry 'prefill': a symbol is listed more than once (got symbol 0 twice, "
                 "expected once)",
                 t.entry(0).symbols[1] = 0);
  EXPECT_REFUSED(
      "entries",
      "rank 0 entry 'prefill' input 0: its buffer does not exist (got 8, expected less than 8)",
      t.entry(0).inputs[0]->buffer = 8);
  EXPECT_REFUSED(
      "entries",
      "rank 0 entry 'prefill' output 0: its buffer does not exist (got 8, expected less than 8)",
      t.entry(0).outputs[0]->buffer = 8);
  EXPECT_REFUSED(
      "entries",
      "rank 0 entry 'prefill' input 1 'ids': its name is taken (got it twice, expected unique "
      "names)",
      t.entry(0).inputs.push_back(std::make_unique<plan::EntryArgT>(*t.entry(0).inputs[0])));
  EXPECT_REFUSED(
      "entries",
      "rank 0 entry 'prefill' tap 0: its command does not exist (got 7, expected less than 7)",
      t.entry(0).taps[0]->after = 7);
  EXPECT_REFUSED(
      "entries",
      "rank 0 entry 'prefill' tap 0: its buffer does not exist (got 8, expected less than 8)",
      t.entry(0).taps[0]->buffer = 8);
  EXPECT_REFUSED(
      "entries",
      "rank 0 entry 'prefill' tap 1 'layers.0.h': its name is taken (got it twice, expected unique "
      "names)",
      t.entry(0).taps.push_back(std::make_unique<plan::TapT>(*t.entry(0).taps[0])));
}

} // namespace
} // namespace k3
