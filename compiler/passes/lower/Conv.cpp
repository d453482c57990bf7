//===- Conv.cpp - Short causal convolution over ragged rows ---------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A ragged convolution is two kernels: every token reads its last inputs from the piece or from the
// state, then the state of each sequence takes the last rows of the piece. The order of the two
// launches keeps the reads before the writes.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/lower/Conv.h"
#include "compiler/passes/lower/Lowering.h"

using namespace mlir;

namespace k3::lower {

/// Weights of `width` channels from `channel` as [taps, width].
static Value loadTaps(model::ShortConvOp conv, KernelBuilder &k, TileMath &m, Value channel,
                      Value limit, int64_t width) {
  int64_t taps = cast<RankedTensorType>(conv.getWeight().getType()).getDimSize(1);
  return m.transpose(m.load(k.view(conv.getWeight()), {width, taps}, {channel, k.index(0)},
                            {limit, k.index(taps)}));
}

static Value silu(TileMath &m, Value t, Type element) {
  return m.map({t}, [&](ArrayRef<Scalar> s) { return roundTo(s[0] * sigmoid(s[0]), element); });
}

static Value addTap(TileMath &m, Value acc, Value tap, Value input) {
  return m.map({acc, tap, input}, [](ArrayRef<Scalar> s) { return s[0] + s[1] * s[2]; });
}

Value lowerConvStep(model::ShortConvOp conv, KernelBuilder &k, TileMath &m, Value row, Value slot,
                    Value channel, int64_t width) {
  auto state = cast<model::ConvStateType>(conv.getState().getType());
  int64_t history = state.getTaps();
  Value zero = k.index(0), limit = m.add(channel, k.index(width)),
        slotLimit = m.add(slot, k.index(1));
  Columns source = resolveColumns(conv.getX());
  Value x = m.load(k.view(source.tensor), {1, width}, {row, m.add(channel, k.index(source.begin))},
                   {m.add(row, k.index(1)), m.add(limit, k.index(source.begin))});
  Value stateView = k.view(conv.getState());
  Value old = m.load(stateView, {history, width}, {slot, zero, channel},
                     {slotLimit, k.index(history), limit});
  Value taps = loadTaps(conv, k, m, channel, limit, width);
  auto rowOf = [&](Value t, int64_t i) { return m.extract(t, {1, width}, {k.index(i), zero}); };

  // Oldest input first, as over ragged rows, so that both forms round alike.
  Value acc = m.splat({1, width}, 0.0);
  for (int64_t i = 0; i < history; ++i)
    acc = addTap(m, acc, rowOf(taps, i), rowOf(old, i));
  acc = addTap(m, acc, rowOf(taps, history), x);

  if (history > 1)
    m.store(m.extract(old, {history - 1, width}, {k.index(1), zero}), stateView,
            {slot, zero, channel}, {slotLimit, k.index(history - 1), limit});
  m.store(x, stateView, {slot, k.index(history - 1), channel},
          {slotLimit, k.index(history), limit});
  return silu(m, acc, cast<RankedTensorType>(conv.getResult().getType()).getElementType());
}

namespace {

/// What both kernels of a ragged convolution need about one sequence and one block of channels.
struct RaggedConv {
  KernelBuilder &k;
  TileMath &m;
  model::ShortConvOp conv;
  int64_t width, history, channels;
  Columns source;
  Value sequence, slot, begin, end, channel, channelLimit;

  RaggedConv(KernelBuilder &k, TileMath &m, model::ShortConvOp conv, int64_t width)
      : k(k), m(m), conv(conv), width(width),
        history(cast<model::ConvStateType>(conv.getState().getType()).getTaps()),
        channels(cast<model::ConvStateType>(conv.getState().getType()).getChannels()),
        source(resolveColumns(conv.getX())) {
    channel = m.mul(k.blockId(tile::GridAxis::Y), k.index(width));
    channelLimit = k.index(channels);
  }

  void setSequence(Value index) {
    sequence = index;
    Value seqs = k.rows(conv.getBatch().getType());
    Value offsets = k.batchView(conv.getBatch(), "seq_offsets");
    slot = m.readIndex(k.batchView(conv.getBatch(), "seq_slots"), {index}, {seqs});
    begin = m.readIndex(offsets, {index}, {m.add(seqs, k.index(1))});
    end = m.readIndex(offsets, {m.add(index, k.index(1))}, {m.add(seqs, k.index(1))});
  }

  /// Input number `place` of the sequence in this piece, [1, width]: from the piece if >= 0, else
  /// from the state.
  Value input(Value place) {
    Value zero = k.index(0);
    Value inPiece = m.atLeast(place, zero);
    Value row = m.add(begin, m.maxIndex(place, zero));
    Value fromPiece =
        m.load(k.view(source.tensor), {1, width}, {row, m.add(channel, k.index(source.begin))},
               {m.selectIndex(inPiece, end, zero), k.index(source.begin + channels)});
    // Outside the piece the place is -history .. -1; a bound of zero rows reads as zero.
    Value stateRow = m.maxIndex(m.add(place, k.index(history)), zero);
    Value fromState = m.load(
        k.view(conv.getState()), {1, width},
        {slot, m.minIndex(stateRow, k.index(history)), channel},
        {m.add(slot, k.index(1)), m.selectIndex(inPiece, zero, k.index(history)), channelLimit});
    return m.map({fromPiece, fromState}, [](ArrayRef<Scalar> s) { return s[0] + s[1]; });
  }
};

} // namespace

/// y for every token: grid (tokens, channel blocks).
static tile::LaunchOp lowerRows(model::FusedOp group, model::ShortConvOp conv, int64_t width,
                                Context &context) {
  KernelBuilder k(context.host, context.kernels, group.getLoc(), group.getResultTypes());
  TileMath m(k);
  RaggedConv r(k, m, conv, width);
  Value token = k.blockId(tile::GridAxis::X), tokens = k.rows(conv.getX().getType()),
        zero = k.index(0);
  r.setSequence(m.readIndex(k.batchView(conv.getBatch(), "token_seq"), {token}, {tokens}));
  Value resultBound = m.add(token, k.index(1));
  m.when(m.lessIndex(r.slot, zero), [&] {
    m.store(m.splat({1, width}, 0.0), k.resultView(0), {token, r.channel},
            {resultBound, r.channelLimit});
  });
  m.when(m.atLeast(r.slot, zero), [&] {
    Value taps = loadTaps(conv, k, m, r.channel, r.channelLimit, width);
    Value place = m.sub(token, r.begin), acc = m.splat({1, width}, 0.0);
    for (int64_t i = 0; i <= r.history; ++i)
      acc = addTap(m, acc, m.extract(taps, {1, width}, {k.index(i), zero}),
                   r.input(m.add(place, k.index(i - r.history))));
    Value y = silu(m, acc, cast<RankedTensorType>(conv.getResult().getType()).getElementType());
    m.store(y, k.resultView(0), {token, r.channel}, {resultBound, r.channelLimit});
  });
  std::string name =
      "conv_c" + std::to_string(r.channels) + "_" + typeName(conv.getResult().getType());
  return k.finish(name, k.hostRows(conv.getX().getType()),
                  k.hostIndex(llvm::divideCeil(r.channels, width)), k.hostIndex(1));
}

/// The state of every sequence: grid (sequences, channel blocks). Row i is input n - history + i of
/// the piece; rows are written in rising order and read at the same or a later row, so a short
/// piece shifts in place.
static void lowerStateUpdate(model::FusedOp group, model::ShortConvOp conv, int64_t width,
                             Context &context) {
  KernelBuilder k(context.host, context.kernels, group.getLoc(), TypeRange());
  TileMath m(k);
  RaggedConv r(k, m, conv, width);
  r.setSequence(k.blockId(tile::GridAxis::X));
  Value count = m.sub(r.end, r.begin), zero = k.index(0);
  Value active = arith::AndIOp::create(k.b, m.atLeast(r.slot, zero), m.lessIndex(zero, count));
  m.when(active, [&] {
    for (int64_t i = 0; i < r.history; ++i)
      m.store(r.input(m.add(count, k.index(i - r.history))), k.view(conv.getState()),
              {r.slot, k.index(i), r.channel},
              {m.add(r.slot, k.index(1)), k.index(r.history), r.channelLimit});
  });
  std::string name =
      "conv_state_c" + std::to_string(r.channels) + "_" + typeName(conv.getX().getType());
  k.finish(name, k.hostRows(conv.getBatch().getType()),
           k.hostIndex(llvm::divideCeil(r.channels, width)), k.hostIndex(1));
}

LogicalResult lowerConv(model::FusedOp group, Context &context) {
  auto conv = *group.getBody().front().getOps<model::ShortConvOp>().begin();
  auto state = cast<model::ConvStateType>(conv.getState().getType());
  auto batch = cast<model::BatchType>(conv.getBatch().getType());
  if (batch.getTokens().empty())
    return conv.emitOpError("over a static batch must stand in a group with its recurrence");
  int64_t width = std::min(state.getChannels(), context.knobs.convChannels);
  tile::LaunchOp rows = lowerRows(group, conv, width, context);
  lowerStateUpdate(group, conv, width, context);
  group.replaceAllUsesWith(rows.getResults());
  group.erase();
  return success();
}

} // namespace k3::lower
