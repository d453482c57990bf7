//===- Scan.cpp - The gated delta rule, token by token and in chunks ------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One block a head and sequence keeps the state in a tile over all tokens of the step. A static
// batch (decode) takes one recurrence step with convolution and norm around it; a ragged one takes
// chunks in the WY form of docs/model.md, on a GPU with several blocks for the value columns of a
// head and a second kernel for the norm over all of them.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/lower/Conv.h"
#include "compiler/passes/lower/Lowering.h"

using namespace mlir;

namespace k3::lower {

namespace {

/// What both forms of the recurrence share: the shapes, the views, and the values of this block's
/// head.
class Scan {
public:
  Scan(model::FusedOp group, KernelBuilder &k, const Knobs &knobs, int64_t columns)
      : k(k), m(k), knobs(knobs), kda(*group.getBody().front().getOps<model::KdaOp>().begin()),
        state(cast<model::KdaStateType>(kda.getState().getType())), columns(columns),
        head(k.blockId(tile::GridAxis::X)), sequence(k.blockId(tile::GridAxis::Y)) {
    if (columns < state.getValue())
      first = m.mul(k.blockId(tile::GridAxis::Z), k.index(columns));
    narrow =
        knobs.scanNarrow && cast<RankedTensorType>(kda.getQ().getType()).getElementType().isBF16();
    for (auto norm : group.getBody().front().getOps<model::GatedRmsNormOp>())
      gatedNorm = norm;
    for (auto conv : group.getBody().front().getOps<model::ShortConvOp>())
      convs[conv.getResult()] = conv;
  }

  void runStep();
  void runChunks();
  /// The gated norm of rows that the blocks of a head have stored in `o`.
  void runNorm(Value o);

private:
  KernelBuilder &k;
  TileMath m;
  const Knobs &knobs;
  model::KdaOp kda;
  model::KdaStateType state;
  model::GatedRmsNormOp gatedNorm;
  DenseMap<Value, model::ShortConvOp> convs;
  /// Value columns of this block, and the first of them where they are not all of the head's.
  int64_t columns;
  Value head, sequence, first;
  bool narrow = false;

  /// Columns of this head of a [T, heads * width] tensor: `count` rows from `row`, none at or past
  /// `limit`.
  Value headRows(Value value, int64_t width, int64_t count, Value row, Value limit) {
    Columns source = resolveColumns(value);
    Value column = m.add(m.mul(head, k.index(width)), k.index(source.begin));
    return m.load(k.view(source.tensor), {count, width}, {row, column},
                  {limit, m.add(column, k.index(width))});
  }
  Value vectorOfHead(Value weight, int64_t width) {
    Value begin = m.mul(head, k.index(width));
    return m.reshape(m.load(k.view(weight), {width}, {begin}, {m.add(begin, k.index(width))}),
                     {1, width});
  }
  /// This block's value columns of this head.
  Value valueRows(Value value, int64_t count, Value row, Value limit) {
    if (!first)
      return headRows(value, columns, count, row, limit);
    Columns source = resolveColumns(value);
    Value column =
        m.add(m.add(m.mul(head, k.index(state.getValue())), first), k.index(source.begin));
    return m.load(k.view(source.tensor), {count, columns}, {row, column},
                  {limit, m.add(column, k.index(columns))});
  }
  void storeRows(Value o, int64_t count, Value row, Value limit) {
    Value column = m.mul(head, k.index(state.getValue()));
    if (first)
      column = m.add(column, first);
    m.store(o, k.resultView(0), {row, column}, {limit, m.add(column, k.index(columns))});
  }
  Value loadState(Value slot) {
    bool kv = state.getOrder() == model::StateOrder::KeyValue;
    auto [shape, offsets, bounds] = placeOfState(slot, kv);
    Value t = m.load(k.view(kda.getState()), shape, offsets, bounds);
    return kv ? t : m.transpose(t);
  }
  void storeState(Value t, Value slot) {
    bool kv = state.getOrder() == model::StateOrder::KeyValue;
    if (!kv)
      t = m.transpose(t);
    auto [shape, offsets, bounds] = placeOfState(slot, kv);
    m.store(t, k.view(kda.getState()), offsets, bounds);
  }
  /// Shape, offsets and bounds of this block's part of the state in memory.
  std::tuple<SmallVector<int64_t>, SmallVector<Value>, SmallVector<Value>> placeOfState(Value slot,
                                                                                        bool kv) {
    SmallVector<int64_t> shape{state.getKey(), columns}, extents{state.getKey(), state.getValue()};
    Value zero = k.index(0);
    SmallVector<Value> offsets{zero, first ? first : zero};
    if (!kv) {
      std::swap(shape[0], shape[1]);
      std::swap(extents[0], extents[1]);
      std::swap(offsets[0], offsets[1]);
    }
    return {shape,
            {slot, head, offsets[0], offsets[1]},
            {m.add(slot, k.index(1)), k.index(state.getHeads()), k.index(extents[0]),
             k.index(extents[1])}};
  }
  /// Log decay of `count` tokens: [count, K], <= 0.
  Value logDecay(Value raw) {
    Value bias = vectorOfHead(kda.getDtBias(), state.getKey());
    Value a =
        m.map({m.reshape(m.load(k.view(kda.getALog()), {1}, {head}, {k.index(state.getHeads())}),
                         {1, 1})},
              [](ArrayRef<Scalar> s) { return exp(s[0]); });
    std::optional<double> lower;
    if (auto bound = kda.getLowerBound())
      lower = bound->convertToDouble();
    return m.map({raw, bias, a}, [&](ArrayRef<Scalar> s) {
      Scalar z = s[0] + s[1];
      return lower ? sigmoid(s[2] * z) * *lower : -(s[2] * softplus(z));
    });
  }
  Value beta(int64_t count, Value row, Value limit) {
    Columns source = resolveColumns(kda.getBeta());
    Value column = m.add(head, k.index(source.begin));
    Value raw = m.load(k.view(source.tensor), {count, 1}, {row, column},
                       {limit, m.add(column, k.index(1))});
    return m.map({raw}, [](ArrayRef<Scalar> s) { return sigmoid(s[0]); });
  }
  /// Rounds the outputs, applies the gated norm of the group, and stores `count` rows.
  void storeOutput(Value o, int64_t count, Value row, Value limit) {
    Type element = cast<RankedTensorType>(kda.getResult().getType()).getElementType();
    if (!element.isF32())
      o = m.map({o}, [&](ArrayRef<Scalar> s) { return roundTo(s[0], element); });
    if (gatedNorm && !first)
      o = normed(o, count, row, limit);
    storeRows(o, count, row, limit);
  }
  Value normed(Value o, int64_t count, Value row, Value limit) {
    int64_t width = state.getValue();
    Value gain = m.reshape(
        m.load(k.view(gatedNorm.getGain()), {width}, {k.index(0)}, {k.index(width)}), {1, width});
    Value scaled = m.rmsNorm(o, gain, gatedNorm.getEps().convertToDouble(), k.b.getF32Type());
    return m.map({scaled, headRows(gatedNorm.getGate(), width, count, row, limit)},
                 [](ArrayRef<Scalar> s) { return s[0] * sigmoid(s[1]); });
  }
  /// q, k or v of this head for one token, through the convolution of the group if it is part of
  /// it.
  Value stepInput(Value value, int64_t width, Value slot) {
    Value limit = m.add(sequence, k.index(1));
    if (auto conv = convs.lookup(value))
      return lowerConvStep(conv, k, m, sequence, slot, m.mul(head, k.index(width)), width);
    return headRows(value, width, 1, sequence, limit);
  }
  /// An operand of a score, or of a product with the state: as it is, or as the sum of two bf16
  /// numbers, of which the second holds what the first has rounded away.
  struct Operand {
    Value high, low;
  };
  Operand operand(Value t) {
    if (!narrow)
      return {t, Value()};
    Type bf16 = k.b.getBF16Type();
    auto cast = [&](Value tile) {
      return tile::CastOp::create(k.b, tile::TileType::get(m.shape(tile), bf16), tile);
    };
    Value rest = m.map({t}, [&](ArrayRef<Scalar> s) { return s[0] - roundTo(s[0], bf16); });
    return {cast(t), cast(rest)};
  }
  /// acc + a · b. The product of the two small parts is below what f32 keeps of the rest.
  Value multiply(Value acc, Operand a, Operand b, bool transposeB = false) {
    if (a.low)
      acc = m.mma(m.mma(acc, a.low, b.high, false, transposeB), a.high, b.low, false, transposeB);
    return m.mma(acc, a.high, b.high, false, transposeB);
  }
  /// Of keys with keys, below the diagonal, and of queries with keys, with the diagonal; elements
  /// above are not meaningful.
  std::pair<Value, std::function<Value()>> scores(Value q, Value key, Value decay, int64_t count);
  std::pair<Value, Value> halvedScores(Value q, Value key, Value decay, int64_t count);
  Value pairScores(Value x, Value y, Value decay, int64_t count);
  Value boundedScores(Value x, Value y, Value decay, int64_t count);
};

} // namespace

void Scan::runStep() {
  Value limit = m.add(sequence, k.index(1)), zero = k.index(0);
  Value slot = m.readIndex(k.batchView(kda.getBatch(), "seq_slots"), {sequence},
                           {k.rows(kda.getBatch().getType())});
  m.when(m.lessIndex(slot, zero), [&] {
    Value column = m.mul(head, k.index(state.getValue()));
    m.store(m.splat({1, state.getValue()}, 0.0), k.resultView(0), {sequence, column},
            {limit, m.add(column, k.index(state.getValue()))});
  });
  m.when(m.atLeast(slot, zero), [&] {
    Value q = m.l2Norm(stepInput(kda.getQ(), state.getKey(), slot),
                       1.0 / std::sqrt(double(state.getKey())));
    Value key = m.l2Norm(stepInput(kda.getK(), state.getKey(), slot), 1.0);
    Value v = stepInput(kda.getV(), state.getValue(), slot);
    Value g = logDecay(headRows(kda.getGate(), state.getKey(), 1, sequence, limit));
    Value b = beta(1, sequence, limit);

    // Decay first, then the correction, and the output reads the updated state.
    Value decay = m.transpose(m.map({g}, [](ArrayRef<Scalar> s) { return exp(s[0]); }));
    Value decayed = m.map({loadState(slot), decay}, [](ArrayRef<Scalar> s) { return s[0] * s[1]; });
    Value nothing = m.splat({1, state.getValue()}, 0.0);
    Value recalled = m.mma(nothing, key, decayed);
    Value error = m.map({v, recalled, b}, [](ArrayRef<Scalar> s) { return (s[0] - s[1]) * s[2]; });
    Value next = m.mma(decayed, key, error, /*transposeA=*/true);
    Value o = m.mma(nothing, q, next);
    storeState(next, slot);
    storeOutput(o, 1, sequence, limit);
  });
}

/// scores[i, j] = sum_d x[i, d] y[j, d] exp(G[i, d] - G[j, d]) for j <= i, by explicit pairs: every
/// exponent <= 0, so any gate is safe. Elements above the diagonal are not meaningful.
Value Scan::pairScores(Value x, Value y, Value decay, int64_t count) {
  int64_t width = m.shape(x)[1];
  Value zero = k.index(0);
  return m.loop(zero, k.index(count), 1, {m.splat({count, count}, 0.0)},
                [&](Value i, ValueRange carried) {
                  Value xi = m.extract(x, {1, width}, {i, zero}),
                        gi = m.extract(decay, {1, width}, {i, zero});
                  Value products = m.map({xi, gi, y, decay}, [](ArrayRef<Scalar> s) {
                    return s[0] * s[2] * exp(minimum(s[1] - s[3], s[1].constant(0.0)));
                  });
                  Value row = m.reshape(m.sum(products, 1), {1, count});
                  return SmallVector<Value>{tile::InsertOp::create(
                      k.b, carried[0].getType(), row, carried[0], ValueRange{i, zero})};
                })[0];
}

/// The same as one product around the middle row: with a gate bounded by -5 a token and 16 tokens a
/// chunk, the factors stay within exp(+-40).
Value Scan::boundedScores(Value x, Value y, Value decay, int64_t count) {
  int64_t width = m.shape(x)[1];
  Value middle = m.extract(decay, {1, width}, {k.index(count / 2), k.index(0)});
  Value left =
      m.map({x, decay, middle}, [](ArrayRef<Scalar> s) { return s[0] * exp(s[1] - s[2]); });
  Value right =
      m.map({y, decay, middle}, [](ArrayRef<Scalar> s) { return s[0] * exp(s[2] - s[1]); });
  return multiply(m.splat({count, count}, 0.0), operand(left), operand(right), true);
}

/// Rows i and j < i part at one size of group: i in its upper half, j in its lower. Around the last
/// row b of that half, exp(G_i - G_j) is exp(G_i - G_b) exp(G_b - G_j), and no exponent is
/// positive. So a size costs one tile of exponentials and one product for the keys and one for the
/// queries.
std::pair<Value, Value> Scan::halvedScores(Value q, Value key, Value decay, int64_t count) {
  int64_t width = m.shape(key)[1];
  Value zero = k.index(0), nothing = m.splat({count, count}, 0.0);
  Value rows = m.iota({count, 1}, 0), columns = m.iota({1, count}, 1);
  auto product = [](ArrayRef<Scalar> s) { return s[0] * s[1]; };
  Value own = m.sum(m.map({q, key}, product), 1);
  Value ofKeys = nothing;
  Value ofQueries = m.map({own, rows, columns}, [](ArrayRef<Scalar> s) {
    return select(equal(s[1], s[2]), s[0], s[0].constant(0.0));
  });
  for (int64_t half = 1; half < count; half *= 2) {
    Value groups = m.reshape(decay, {count / half / 2, half * 2, width});
    Value last = m.extract(groups, {count / half / 2, 1, width}, {zero, k.index(half - 1), zero});
    Value away = m.map({groups, last},
                       [](ArrayRef<Scalar> s) { return exp(minimum(s[0] - s[1], s[1] - s[0])); });
    away = m.reshape(away, {count, width});
    Operand right = operand(m.map({key, away}, product)), left = operand(m.map({q, away}, product));
    // Of i ^ j the highest bit is the size at which they part.
    auto choose = [&](ArrayRef<Scalar> s) {
      Scalar differ{s[0].b, arith::XOrIOp::create(*s[0].b, s[2].v, s[3].v)};
      auto size = [&](int64_t rows) {
        return Scalar{s[0].b, arith::ConstantOp::create(*s[0].b, s[0].b->getI32IntegerAttr(rows))};
      };
      return select(lessThan(differ, size(half)), s[0],
                    select(lessThan(differ, size(2 * half)), s[1], s[0]));
    };
    ofKeys = m.map({ofKeys, multiply(nothing, right, right, true), rows, columns}, choose);
    ofQueries = m.map({ofQueries, multiply(nothing, left, right, true), rows, columns}, choose);
  }
  return {ofKeys, ofQueries};
}

/// Scores of the keys, and a function that gives those of the queries where they are needed.
std::pair<Value, std::function<Value()>> Scan::scores(Value q, Value key, Value decay,
                                                      int64_t count) {
  // The factored scores rely on 5 nats a token; a wider bound takes the others.
  if (kda.getLowerBound() && kda.getLowerBound()->convertToDouble() >= -5.0 && count <= 16)
    return {boundedScores(key, key, decay, count),
            [=, this] { return boundedScores(q, key, decay, count); }};
  if (!knobs.scanHalves || !llvm::isPowerOf2_64(count))
    return {pairScores(key, key, decay, count),
            [=, this] { return pairScores(q, key, decay, count); }};
  auto [ofKeys, ofQueries] = halvedScores(q, key, decay, count);
  return {ofKeys, [ofQueries = ofQueries] { return ofQueries; }};
}

void Scan::runChunks() {
  int64_t count = knobs.chunk, key = state.getKey();
  Value zero = k.index(0), seqs = k.rows(kda.getBatch().getType());
  Value slot = m.readIndex(k.batchView(kda.getBatch(), "seq_slots"), {sequence}, {seqs});
  Value offsets = k.batchView(kda.getBatch(), "seq_offsets"), entries = m.add(seqs, k.index(1));
  Value begin = m.readIndex(offsets, {sequence}, {entries});
  Value end = m.readIndex(offsets, {m.add(sequence, k.index(1))}, {entries});

  m.when(m.lessIndex(slot, zero), [&] {
    m.loop(begin, end, count, {}, [&](Value row, ValueRange) {
      storeRows(m.splat({count, columns}, 0.0), count, row, end);
      return SmallVector<Value>{};
    });
  });
  m.when(m.atLeast(slot, zero), [&] {
    ValueRange last =
        m.loop(begin, end, count, {loadState(slot)}, [&](Value row, ValueRange carried) {
          Value s0 = carried[0];
          Value q =
              m.l2Norm(headRows(kda.getQ(), key, count, row, end), 1.0 / std::sqrt(double(key)));
          Value kk = m.l2Norm(headRows(kda.getK(), key, count, row, end), 1.0);
          Value v = valueRows(kda.getV(), count, row, end);
          Value b = beta(count, row, end);
          // Rows past the end must not decay the state; their keys are zero already.
          Value left = arith::IndexCastOp::create(k.b, k.b.getI32Type(), m.sub(end, row));
          Value g = m.map(
              {logDecay(headRows(kda.getGate(), key, count, row, end)), m.iota({count, 1}, 0)},
              [&](ArrayRef<Scalar> s) {
                return select(lessThan(s[1], Scalar{s[1].b, left}), s[0], s[0].constant(0.0));
              });
          Value decay = tile::ScanOp::create(k.b, g.getType(), g, 0);
          Value grown = m.map({decay}, [](ArrayRef<Scalar> s) { return exp(s[0]); });
          Value rows = m.iota({count, 1}, 0), numbers = m.iota({1, count}, 1);
          auto [ofKeys, ofQueries] = scores(q, kk, decay, count);
          Value lower = m.map({ofKeys, b, rows, numbers}, [](ArrayRef<Scalar> s) {
            return select(lessThan(s[3], s[2]), s[0] * s[1], s[0].constant(0.0));
          });
          Value reads = m.map({ofQueries(), rows, numbers}, [](ArrayRef<Scalar> s) {
            return select(lessEqual(s[2], s[1]), s[0], s[0].constant(0.0));
          });
          auto product = [](ArrayRef<Scalar> s) { return s[0] * s[1]; };
          Value nothing = m.splat({count, columns}, 0.0);
          Operand before = operand(s0);
          Value recalled = multiply(nothing, operand(m.map({kk, grown}, product)), before);
          Value rhs =
              m.map({v, recalled, b}, [](ArrayRef<Scalar> s) { return (s[0] - s[1]) * s[2]; });
          Value fresh = tile::TriSolveOp::create(k.b, lower, rhs);
          Value o =
              m.mma(multiply(nothing, operand(m.map({q, grown}, product)), before), reads, fresh);
          storeOutput(o, count, row, end);

          Value total = m.extract(decay, {1, key}, {k.index(count - 1), zero});
          Value fade = m.transpose(m.map({total}, [](ArrayRef<Scalar> s) { return exp(s[0]); }));
          Value faded = m.map({s0, fade}, product);
          Value late =
              m.map({kk, total, decay}, [](ArrayRef<Scalar> s) { return s[0] * exp(s[1] - s[2]); });
          return SmallVector<Value>{m.mma(faded, late, fresh, /*transposeA=*/true)};
        });
    storeState(last[0], slot);
  });
}

void Scan::runNorm(Value o) {
  int64_t count = knobs.chunk;
  Value row = m.mul(sequence, k.index(count)), limit = k.rows(kda.getResult().getType());
  storeRows(normed(headRows(o, state.getValue(), count, row, limit), count, row, limit), count, row,
            limit);
}

/// Value columns of a block of the chunked recurrence: as many whole eights as are allowed and
/// divide the head.
static int64_t chooseColumns(int64_t value, const Knobs &knobs) {
  for (int64_t columns = knobs.scanColumns / 8 * 8; columns > 0; columns -= 8)
    if (value % columns == 0)
      return columns;
  return value;
}

LogicalResult lowerScan(model::FusedOp group, Context &context) {
  auto kda = *group.getBody().front().getOps<model::KdaOp>().begin();
  auto state = cast<model::KdaStateType>(kda.getState().getType());
  auto batch = cast<model::BatchType>(kda.getBatch().getType());
  bool step = batch.getTokens().empty();
  int64_t value = state.getValue(), columns = step ? value : chooseColumns(value, context.knobs);
  bool norm = !group.getBody().front().getOps<model::GatedRmsNormOp>().empty();
  bool apart = norm && columns < value;
  SmallVector<Type> results(group.getResultTypes());
  if (apart)
    results = {kda.getResult().getType()};
  KernelBuilder k(context.host, context.kernels, group.getLoc(), results);
  Scan scan(group, k, context.knobs, columns);
  if (step)
    scan.runStep();
  else
    scan.runChunks();
  std::string suffix = "_h" + std::to_string(state.getHeads()) + "_k" +
                       std::to_string(state.getKey()) + "_v" + std::to_string(value) + "_" +
                       typeName(group.getResultTypes().front());
  std::string name =
      (step ? "delta_step" : "delta_chunk" + std::to_string(context.knobs.chunk)) + suffix;
  auto launch = k.finish(name, k.hostIndex(state.getHeads()), k.hostRows(batch),
                         k.hostIndex(value / columns));
  if (apart) {
    KernelBuilder after(context.host, context.kernels, group.getLoc(), group.getResultTypes());
    Scan(group, after, context.knobs, value).runNorm(launch.getResult(0));
    Value rows = after.hostCeilDiv(after.hostRows(kda.getResult().getType()), context.knobs.chunk);
    launch = after.finish("delta_norm" + suffix, after.hostIndex(state.getHeads()), rows,
                          after.hostIndex(1));
  }
  group.replaceAllUsesWith(launch.getResults());
  group.erase();
  return success();
}

} // namespace k3::lower
