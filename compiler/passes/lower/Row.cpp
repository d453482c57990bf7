//===- Row.cpp - Row-wise chains: one kernel, one row a block -------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that needs one row of each operand: norms, residual mix and push, embedding, router,
// cache append, and the elementwise ops between them. The chain keeps its row in fragments; only
// what other groups read is stored.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/lower/Lowering.h"

using namespace mlir;

namespace k3::lower {

std::string typeName(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    type = tensor.getElementType();
  return type.isBF16() ? "bf16" : type.isF32() ? "f32" : "i32";
}

// --------------------------------------------------------------------------------------------------
// elementwise

Scalar gluScalar(Scalar gate, Scalar up, model::Activation activation, double beta,
                 std::optional<double> linearBeta) {
  if (activation == model::Activation::SwiGLU)
    return gate * sigmoid(gate) * up;
  Scalar squashed = tanh(gate / beta) * beta * sigmoid(gate);
  return linearBeta ? squashed * (tanh(up / *linearBeta) * *linearBeta) : squashed * up;
}

static std::optional<double> toDouble(std::optional<APFloat> value) {
  return value ? std::optional<double>(value->convertToDouble()) : std::nullopt;
}

Value lowerElementwise(Operation *op, TileMath &m, llvm::function_ref<Value(Value)> get) {
  auto element = [](Value v) { return cast<RankedTensorType>(v.getType()).getElementType(); };
  if (auto add = dyn_cast<model::AddOp>(op))
    return m.map({get(add.getX()), get(add.getY())}, [&](ArrayRef<Scalar> s) {
      return roundTo(s[0] + s[1], element(add.getResult()));
    });
  if (auto gate = dyn_cast<model::GateOp>(op))
    return m.map({get(gate.getX()), get(gate.getGate())}, [&](ArrayRef<Scalar> s) {
      return roundTo(s[0] * sigmoid(s[1]), element(gate.getResult()));
    });
  if (auto glu = dyn_cast<model::GluOp>(op))
    return m.map({get(glu.getGate()), get(glu.getUp())}, [&](ArrayRef<Scalar> s) {
      return roundTo(gluScalar(s[0], s[1], glu.getActivation(), glu.getBeta().convertToDouble(),
                               toDouble(glu.getLinearBeta())),
                     element(glu.getResult()));
    });
  if (auto conversion = dyn_cast<model::CastOp>(op))
    return m.map({get(conversion.getX())}, [&](ArrayRef<Scalar> s) {
      return roundTo(s[0], element(conversion.getResult()));
    });
  return {};
}

// --------------------------------------------------------------------------------------------------
// row chains

namespace {

/// Lowers the ops of one group for the row that this block handles.
class RowChain {
public:
  RowChain(KernelBuilder &k, Value rows)
      : k(k), m(k), rows(rows), row(k.blockId(tile::GridAxis::X)) {}

  /// Returns a short word for the kernel's name, or nothing for an op that is not row-wise.
  std::optional<StringRef> lower(Operation *op);
  Value get(Value value);
  void storeResult(Value value, unsigned i);

private:
  KernelBuilder &k;
  TileMath m;
  Value rows, row;
  TileMap tiles;

  void lowerMix(model::AttnResMixOp op);
  void lowerPush(model::AttnResPushOp op);
  void lowerRouter(model::RouterOp op);
  Value limitToGroups(model::RouterOp op, Value biased);
  void lowerAppend(model::LatentAppendOp op);
  void lowerCombine(model::CombineOp op);
  Value loadGain(Value weight);
  Type element(Value v) { return cast<RankedTensorType>(v.getType()).getElementType(); }
  double eps(APFloat value) { return value.convertToDouble(); }
};

} // namespace

Value RowChain::get(Value value) {
  if (Value known = tiles.lookup(value))
    return known;
  Columns source = resolveColumns(value);
  // A slice of a value computed in this chain is a part of its tile.
  if (Value known = tiles.lookup(source.tensor))
    return tiles[value] = m.extract(known, {1, source.cols}, {k.index(0), k.index(source.begin)});
  Value tile = m.load(k.view(source.tensor), {1, source.cols}, {row, k.index(source.begin)},
                      {rows, k.index(source.begin + source.cols)});
  return tiles[value] = tile;
}

/// A weight vector [N] as a [1, N] tile.
Value RowChain::loadGain(Value weight) {
  auto type = cast<RankedTensorType>(weight.getType());
  int64_t n = type.getNumElements();
  if (type.getRank() == 2)
    return m.load(k.view(weight), {1, n}, {k.index(0), k.index(0)}, {k.index(1), k.index(n)});
  return m.reshape(m.load(k.view(weight), {n}, {k.index(0)}, {k.index(n)}), {1, n});
}

void RowChain::lowerMix(model::AttnResMixOp op) {
  Value h = get(op.getH());
  int64_t width = m.shape(h)[1];
  Value u = m.map({loadGain(op.getNorm()), loadGain(op.getQuery())},
                  [](ArrayRef<Scalar> s) { return s[0] * s[1]; });
  auto score = [&](Value v) {
    Value squares = m.sum(m.map({v}, [](ArrayRef<Scalar> s) { return s[0] * s[0]; }), 1);
    Value dot = m.sum(m.map({u, v}, [](ArrayRef<Scalar> s) { return s[0] * s[1]; }), 1);
    return m.map({dot, squares}, [&](ArrayRef<Scalar> s) {
      return s[0] / sqrt(s[1] / double(width) + eps(op.getEps()));
    });
  };
  // Softmax over depth, online: the running sum first, then the finished blocks.
  Value stack = k.view(op.getStack());
  auto stackType = cast<model::StackType>(op.getStack().getType());
  SmallVector<Value> inits{h, score(h), m.splat({1, 1}, 1.0)};
  ValueRange mixed =
      m.loop(k.index(0), k.scalar(op.getCount()), 1, inits, [&](Value block, ValueRange carried) {
        Value acc = carried[0], top = carried[1], total = carried[2];
        Value v = m.reshape(m.load(stack, {1, 1, width}, {row, block, k.index(0)},
                                   {rows, k.index(stackType.getCapacity()), k.index(width)}),
                            {1, width});
        Value s = score(v);
        Value next = m.map({top, s}, [](ArrayRef<Scalar> x) { return maximum(x[0], x[1]); });
        Value keep = m.map({top, next}, [](ArrayRef<Scalar> x) { return exp(x[0] - x[1]); });
        Value share = m.map({s, next}, [](ArrayRef<Scalar> x) { return exp(x[0] - x[1]); });
        Value sum = m.map({acc, keep, v, share},
                          [](ArrayRef<Scalar> x) { return x[0] * x[1] + x[2] * x[3]; });
        Value weight =
            m.map({total, keep, share}, [](ArrayRef<Scalar> x) { return x[0] * x[1] + x[2]; });
        return SmallVector<Value>{sum, next, weight};
      });
  tiles[op.getResult()] = m.map({mixed[0], mixed[2]}, [&](ArrayRef<Scalar> s) {
    return roundTo(s[0] / s[1], element(op.getResult()));
  });
}

void RowChain::lowerPush(model::AttnResPushOp op) {
  auto type = cast<model::StackType>(op.getStack().getType());
  Value h = get(op.getH());
  int64_t width = m.shape(h)[1];
  Value index = k.scalar(op.getIndex());
  m.store(m.reshape(h, {1, 1, width}), k.view(op.getStack()), {row, index, k.index(0)},
          {rows, k.index(type.getCapacity()), k.index(width)});
}

/// Biased scores with the experts of every group but the best `topk_groups` set to -inf.
Value RowChain::limitToGroups(model::RouterOp op, Value biased) {
  int64_t groups = op.getGroups(), keep = op.getTopkGroups();
  int64_t experts = m.shape(biased)[1], width = experts / groups;
  auto topK = [&](Value t, int64_t count) {
    return tile::TopKOp::create(k.b, TypeRange{m.f32({1, count}), m.i32({1, count})}, t);
  };
  Value scores = m.splat({1, groups}, 0.0);
  for (int64_t g = 0; g < groups; ++g) {
    Value part = m.extract(biased, {1, width}, {k.index(0), k.index(g * width)});
    Value best = m.sum(topK(part, std::min<int64_t>(2, width)).getValues(), 1);
    scores = tile::InsertOp::create(k.b, scores.getType(), best, scores,
                                    ValueRange{k.index(0), k.index(g)});
  }
  Value chosen = topK(scores, keep).getIds();
  Value ids = m.iota({1, groups}, 1);
  Value kept = m.splat({1, groups}, 0.0);
  for (int64_t j = 0; j < keep; ++j) {
    Value id = m.extract(chosen, {1, 1}, {k.index(0), k.index(j)});
    kept = m.map({ids, id, kept}, [](ArrayRef<Scalar> s) {
      return select(equal(s[0], s[1]), s[2].constant(1.0), s[2]);
    });
  }
  Value spread = m.map(
      {m.reshape(biased, {groups, width}), m.reshape(kept, {groups, 1})}, [](ArrayRef<Scalar> s) {
        Scalar on{s[1].b, arith::CmpFOp::create(*s[1].b, arith::CmpFPredicate::OGT, s[1].v,
                                                s[1].constant(0.5).v)};
        return select(on, s[0], s[0].constant(-std::numeric_limits<double>::infinity()));
      });
  return m.reshape(spread, {1, experts});
}

void RowChain::lowerRouter(model::RouterOp op) {
  Value logits = get(op.getLogits());
  int64_t experts = m.shape(logits)[1], topK = op.getTopK();
  Value scores;
  if (op.getScore() == model::RouterScore::Sigmoid) {
    scores = m.map({logits}, [](ArrayRef<Scalar> s) { return sigmoid(s[0]); });
  } else {
    Value top = m.max(logits, 1);
    Value powers = m.map({logits, top}, [](ArrayRef<Scalar> s) { return exp(s[0] - s[1]); });
    scores = m.map({powers, m.sum(powers, 1)}, [](ArrayRef<Scalar> s) { return s[0] / s[1]; });
  }
  Value biased =
      m.map({scores, loadGain(op.getBias())}, [](ArrayRef<Scalar> s) { return s[0] + s[1]; });
  // A NaN sorts last and would drop its expert in silence; it has to reach the logits, where the
  // request is failed.
  Value faults =
      m.sum(m.map({biased},
                  [](ArrayRef<Scalar> s) {
                    Scalar bad{s[0].b, arith::CmpFOp::create(*s[0].b, arith::CmpFPredicate::UNO,
                                                             s[0].v, s[0].v)};
                    return select(bad, s[0], s[0].constant(0.0));
                  }),
            1);
  if (op.getGroups() > 1 && op.getGroups() > op.getTopkGroups())
    biased = limitToGroups(op, biased);
  auto best = tile::TopKOp::create(k.b, TypeRange{m.f32({1, topK}), m.i32({1, topK})}, biased);

  // The weight of an expert is its score without the bias, so it is picked out of the scores again.
  Value ids = m.iota({1, experts}, 1), places = m.iota({1, topK}, 1);
  Value weights = m.loop(
      k.index(0), k.index(topK), 1, {m.splat({1, topK}, 0.0)}, [&](Value j, ValueRange carried) {
        Value id = m.extract(best.getIds(), {1, 1}, {k.index(0), j});
        Value picked = m.sum(m.map({ids, id, scores},
                                   [](ArrayRef<Scalar> s) {
                                     return select(equal(s[0], s[1]), s[2], s[2].constant(0.0));
                                   }),
                             1);
        Value here = tile::IotaOp::create(k.b, m.i32({1, 1}), j, 1);
        Value next = m.map({carried[0], places, here, picked}, [](ArrayRef<Scalar> s) {
          return select(equal(s[1], s[2]), s[3], s[0]);
        });
        return SmallVector<Value>{next};
      })[0];
  weights = m.map({weights, faults}, [](ArrayRef<Scalar> s) { return s[0] + s[1]; });
  double scale = op.getScale().convertToDouble();
  // A single chosen expert keeps its score: the official code does not divide it by itself.
  if (topK > 1 && op.getRenormalize())
    weights = m.map({weights, m.sum(weights, 1)},
                    [&](ArrayRef<Scalar> s) { return s[0] / (s[1] + 1e-20) * scale; });
  else
    weights = m.map({weights}, [&](ArrayRef<Scalar> s) { return s[0] * scale; });
  tiles[op.getIds()] = best.getIds();
  tiles[op.getWeights()] = weights;
}

void RowChain::lowerAppend(model::LatentAppendOp op) {
  auto cache = cast<model::LatentCacheType>(op.getCache().getType());
  Value seqs = k.rows(op.getBatch().getType());
  Value tokens = k.rows(op.getKv().getType());
  Value sequence = m.readIndex(k.batchView(op.getBatch(), "token_seq"), {row}, {tokens});
  Value position = m.readIndex(k.batchView(op.getBatch(), "token_pos"), {row}, {tokens});
  Value slot = m.readIndex(k.batchView(op.getBatch(), "seq_slots"), {sequence}, {seqs});

  Value kv = get(op.getKv());
  int64_t latent = cast<RankedTensorType>(op.getGain().getType()).getNumElements();
  int64_t rest = cache.getWidth() - latent;
  Value zero = k.index(0), page = k.index(cache.getPage());
  Value normed = m.rmsNorm(m.extract(kv, {1, latent}, {zero, zero}), loadGain(op.getGain()),
                           eps(op.getEps()), cache.getElementType());
  m.when(m.atLeast(slot, zero), [&] {
    Value table = k.batchView(op.getBatch(), "page_table");
    int64_t pages = cast<tile::ViewType>(table.getType()).getShape()[1];
    Value pageIndex = m.readIndex(table, {sequence, m.div(position, page)}, {seqs, k.index(pages)});
    Value inPage = m.rem(position, page);
    Value cacheView = k.view(op.getCache());
    // The page table is checked on the host each step, so a page id is its own bound here.
    Value pageBound = m.add(pageIndex, k.index(1));
    m.store(m.reshape(normed, {1, 1, latent}), cacheView, {pageIndex, inPage, zero},
            {pageBound, page, k.index(latent)});
    if (rest > 0)
      m.store(m.reshape(m.extract(kv, {1, rest}, {zero, k.index(latent)}), {1, 1, rest}), cacheView,
              {pageIndex, inPage, k.index(latent)}, {pageBound, page, k.index(cache.getWidth())});
  });
}

void RowChain::lowerCombine(model::CombineOp op) {
  Value x = get(op.getX()), weights = get(op.getWeights());
  int64_t count = m.shape(weights)[1], width = m.shape(x)[1] / count;
  Value parts = m.reshape(x, {count, width}), shares = m.reshape(weights, {count, 1});
  Value total = m.sum(m.map({parts, shares}, [](ArrayRef<Scalar> s) { return s[0] * s[1]; }), 0);
  tiles[op.getResult()] =
      m.map({total}, [&](ArrayRef<Scalar> s) { return roundTo(s[0], element(op.getResult())); });
}

std::optional<StringRef> RowChain::lower(Operation *op) {
  auto loadRow = [&](Value ids, Value table) {
    auto type = cast<RankedTensorType>(table.getType());
    Value id = m.readIndex(k.view(ids), {row}, {rows});
    int64_t width = type.getDimSize(1);
    return m.load(k.view(table), {1, width}, {id, k.index(0)},
                  {k.rows(table.getType()), k.index(width)});
  };
  return llvm::TypeSwitch<Operation *, std::optional<StringRef>>(op)
      .Case<model::EmbedOp>([&](auto op) {
        return tiles[op.getResult()] = loadRow(op.getIds(), op.getTable()), "embed";
      })
      .Case<model::TakeRowsOp>(
          [&](auto op) { return tiles[op.getResult()] = loadRow(op.getRows(), op.getX()), "take"; })
      .Case<model::RmsNormOp>([&](auto op) {
        tiles[op.getResult()] = m.rmsNorm(get(op.getX()), loadGain(op.getGain()), eps(op.getEps()),
                                          element(op.getResult()));
        return "norm";
      })
      .Case<model::GatedRmsNormOp>([&](auto op) {
        Value x = get(op.getX()), gain = loadGain(op.getGain());
        int64_t width = m.shape(gain)[1], heads = m.shape(x)[1] / width;
        Value normed =
            m.rmsNorm(m.reshape(x, {heads, width}), gain, eps(op.getEps()), k.b.getF32Type());
        Value gate = m.reshape(get(op.getGate()), {heads, width});
        Value y = m.map({normed, gate}, [&](ArrayRef<Scalar> s) {
          return roundTo(s[0] * sigmoid(s[1]), element(op.getResult()));
        });
        tiles[op.getResult()] = m.reshape(y, {1, heads * width});
        return "gatednorm";
      })
      .Case<model::AttnResMixOp>([&](auto op) { return lowerMix(op), "mix"; })
      .Case<model::AttnResPushOp>([&](auto op) { return lowerPush(op), "push"; })
      .Case<model::RouterOp>([&](auto op) { return lowerRouter(op), "route"; })
      .Case<model::LatentAppendOp>([&](auto op) { return lowerAppend(op), "append"; })
      .Case<model::CombineOp>([&](auto op) { return lowerCombine(op), "combine"; })
      .Default([&](Operation *op) -> std::optional<StringRef> {
        Value tile = lowerElementwise(op, m, [&](Value v) { return get(v); });
        if (!tile)
          return std::nullopt;
        tiles[op->getResult(0)] = tile;
        return op->getName().stripDialect();
      });
}

void RowChain::storeResult(Value value, unsigned i) {
  Value tile = tiles.lookup(value);
  int64_t width = m.shape(tile)[1];
  m.store(tile, k.resultView(i), {row, k.index(0)}, {rows, k.index(width)});
}

LogicalResult lowerRow(model::FusedOp group, Context &context) {
  // Every op of the chain has the same rows; the first one tells which.
  Operation &first = group.getBody().front().front();
  Type rowType = first.getNumResults() ? first.getResult(0).getType() : Type();
  if (auto push = dyn_cast<model::AttnResPushOp>(first))
    rowType = push.getH().getType();
  else if (auto append = dyn_cast<model::LatentAppendOp>(first))
    rowType = append.getKv().getType();
  if (!rowType || !isa<RankedTensorType>(rowType) || cast<RankedTensorType>(rowType).getRank() != 2)
    return first.emitOpError("is not row-wise and cannot stand in a group of family row");
  KernelBuilder k(context.host, context.kernels, group.getLoc(), group.getResultTypes());
  RowChain chain(k, k.rows(rowType));
  std::string name = "row";
  for (Operation &op : group.getBody().front().without_terminator()) {
    std::optional<StringRef> word = chain.lower(&op);
    if (!word)
      return op.emitOpError("is not row-wise and cannot stand in a group of family row");
    name += ("_" + *word).str();
  }
  Operation *yield = group.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(yield->getOperands()))
    chain.storeResult(value, i);
  auto shaped = cast<RankedTensorType>(rowType);
  name += "_w" + std::to_string(shaped.getDimSize(1)) + "_" + typeName(shaped);
  tile::LaunchOp launch = k.finish(name, k.hostRows(rowType), k.hostIndex(1), k.hostIndex(1));
  group.replaceAllUsesWith(launch.getResults());
  group.erase();
  return success();
}

} // namespace k3::lower
