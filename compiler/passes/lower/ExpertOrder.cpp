//===- ExpertOrder.cpp - Rows sorted by the expert that they go to --------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two kernels sort the (token, choice) pairs of a batch by expert without moving a row: one counts,
// the other writes where each pair goes. A block has one expert and reads all choices, so that the
// order is that of the tokens and every run gives the same bits.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/lower/ExpertOrder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace k3::lower {

namespace {

// Tokens of a step, and choices of a line: a running sum is one thread's work along a line, and
// then along the ends of the lines.
constexpr int64_t kTokens = 256, kLine = 32;

Scalar integer(Scalar like, int64_t value) {
  return {like.b, arith::ConstantOp::create(*like.b, like.b->getI32IntegerAttr(value))};
}
Scalar addInt(Scalar x, Scalar y) { return {x.b, arith::AddIOp::create(*x.b, x.v, y.v)}; }
Scalar subInt(Scalar x, Scalar y) { return {x.b, arith::SubIOp::create(*x.b, x.v, y.v)}; }
Scalar mulInt(Scalar x, Scalar y) { return {x.b, arith::MulIOp::create(*x.b, x.v, y.v)}; }
Scalar divInt(Scalar x, Scalar y) { return {x.b, arith::DivSIOp::create(*x.b, x.v, y.v)}; }
Scalar both(Scalar x, Scalar y) { return {x.b, arith::AndIOp::create(*x.b, x.v, y.v)}; }
Scalar toInt(Scalar x) { return {x.b, arith::FPToSIOp::create(*x.b, x.b->getI32Type(), x.v)}; }
Scalar toFloat(Scalar x) { return {x.b, arith::SIToFPOp::create(*x.b, x.b->getF32Type(), x.v)}; }

/// The choices of a batch as both kernels read them.
class Choices {
public:
  Choices(KernelBuilder &k, TileMath &m, Value ids)
      : k(k), m(m), view(k.view(ids)), rows(k.rows(ids.getType())),
        expert(k.blockId(tile::GridAxis::X)),
        topK(cast<RankedTensorType>(ids.getType()).getDimSize(1)) {}

  /// [1, 1] i32 of an index.
  Value number(Value index) { return tile::SplatOp::create(k.b, m.i32({1, 1}), index); }
  Value number(int64_t value) { return number(k.index(value)); }
  /// i32 numbers from `start` on along `axis`.
  Value count(ArrayRef<int64_t> shape, Value start, int64_t axis) {
    return tile::IotaOp::create(k.b, m.i32(shape), start, axis);
  }
  /// [kTokens, topK] i32: 1 where a choice of a token from `step` on is this block's expert.
  Value chosen(Value step) {
    Value tile = m.load(view, {kTokens, topK}, {step, k.index(0)}, {rows, k.index(topK)});
    Value token = count({kTokens, topK}, step, 0);
    return m.mapInt({tile, token, number(expert), number(rows)}, [&](ArrayRef<Scalar> s) {
      return select(both(equal(s[0], s[2]), lessThan(s[1], s[3])), integer(s[0], 1),
                    integer(s[0], 0));
    });
  }

  KernelBuilder &k;
  TileMath &m;
  Value view, rows, expert;
  int64_t topK;
};

/// counts [experts] i32.
Value countChoices(Value ids, int64_t experts, Context &context, Location loc) {
  auto type = RankedTensorType::get({experts}, context.host.getI32Type());
  KernelBuilder k(context.host, context.kernels, loc, {type});
  TileMath m(k);
  Choices choices(k, m, ids);
  Value none = tile::SplatOp::create(k.b, m.i32({kTokens, choices.topK}),
                                     arith::ConstantOp::create(k.b, k.b.getI32IntegerAttr(0)));
  Value sum = m.loop(k.index(0), choices.rows, kTokens, none, [&](Value step, ValueRange carried) {
    return SmallVector<Value>{m.mapInt({carried[0], choices.chosen(step)},
                                       [](ArrayRef<Scalar> s) { return addInt(s[0], s[1]); })};
  })[0];
  Value wide = m.map({sum}, [](ArrayRef<Scalar> s) { return toFloat(s[0]); });
  Value total =
      m.mapInt({m.sum(m.sum(wide, 1), 0)}, [](ArrayRef<Scalar> s) { return toInt(s[0]); });
  m.store(m.reshape(total, {1}), k.resultView(0), {choices.expert}, {k.index(experts)});
  std::string name =
      "expert_count_e" + std::to_string(experts) + "_k" + std::to_string(choices.topK);
  return k.finish(name, k.hostIndex(experts), k.hostIndex(1), k.hostIndex(1)).getResult(0);
}

} // namespace

ExpertOrder orderByExpert(Value ids, int64_t experts, int64_t rowsOfTile, Context &context,
                          Location loc) {
  ExpertOrder &order = context.orders[ids];
  if (order.rows)
    return order;
  Value countsOfAll = countChoices(ids, experts, context, loc);

  int64_t topK = cast<RankedTensorType>(ids.getType()).getDimSize(1);
  Type i32 = context.host.getI32Type();
  int64_t pairs = mostRows(ids.getType(), context.host) * topK,
          ofOne = llvm::divideCeil(pairs, rowsOfTile);
  order.mostTiles = ofOne + experts;
  KernelBuilder k(context.host, context.kernels, loc,
                  {RankedTensorType::get({order.mostTiles * rowsOfTile, 2}, i32),
                   RankedTensorType::get({order.mostTiles + 1, 1}, i32)});
  TileMath m(k);
  Choices choices(k, m, ids);
  Value rowsView = k.resultView(0), tilesView = k.resultView(1),
        allRows = k.index(order.mostTiles * rowsOfTile), allTiles = k.index(order.mostTiles + 1),
        zero = k.index(0), one = k.index(1), two = k.index(2);
  Value tileRows = choices.number(rowsOfTile), expert = choices.number(choices.expert);
  auto scatter = [&](Value value, Value view, Value slots, Value bound, Value column, Value end) {
    int64_t count = m.shape(value)[0];
    tile::ScatterOp::create(k.b, value, view, m.reshape(slots, {count}), bound, column, end);
  };

  // Tiles of every expert, and of those before this one.
  Value counts =
      m.reshape(m.load(k.view(countsOfAll), {experts}, {zero}, {k.index(experts)}), {1, experts});
  Value tiles = m.mapInt({counts, tileRows}, [](ArrayRef<Scalar> s) {
    return divInt(addInt(s[0], subInt(s[1], integer(s[1], 1))), s[1]);
  });
  Value which = choices.count({1, experts}, zero, 1);
  auto sumWhere = [&](Value values, auto condition) {
    Value kept = m.map({values, which, expert}, [&](ArrayRef<Scalar> s) {
      return toFloat(select(condition(s[1], s[2]), s[0], integer(s[0], 0)));
    });
    return m.mapInt({m.sum(kept, 1)}, [](ArrayRef<Scalar> s) { return toInt(s[0]); });
  };
  Value before = sumWhere(tiles, [](Scalar i, Scalar e) { return lessThan(i, e); });
  Value total = sumWhere(tiles, [](Scalar i, Scalar e) { return equal(i, i); });
  Value ownTiles = sumWhere(tiles, [](Scalar i, Scalar e) { return equal(i, e); });
  Value own = sumWhere(counts, [](Scalar i, Scalar e) { return equal(i, e); });

  // Row 0 of the table is the number of tiles, row 1 + t the expert of tile t.
  Value first = m.mapInt({expert}, [](ArrayRef<Scalar> s) {
    return select(equal(s[0], integer(s[0], 0)), s[0], integer(s[0], -1));
  });
  scatter(total, tilesView, first, allTiles, zero, one);
  Value places =
      m.mapInt({choices.count({ofOne, 1}, zero, 0), before, ownTiles}, [](ArrayRef<Scalar> s) {
        return select(lessThan(s[0], s[2]), addInt(addInt(s[0], s[1]), integer(s[0], 1)),
                      integer(s[0], -1));
      });
  Value experts1 = tile::SplatOp::create(k.b, m.i32({ofOne, 1}), choices.expert);
  scatter(experts1, tilesView, places, allTiles, zero, one);

  // Rows of the last tile that no pair takes name nothing.
  Value rest = m.mapInt({choices.count({rowsOfTile, 1}, zero, 0), own, ownTiles, before, tileRows},
                        [](ArrayRef<Scalar> s) {
                          Scalar row = addInt(s[0], s[1]);
                          return select(lessThan(row, mulInt(s[2], s[4])),
                                        addInt(row, mulInt(s[3], s[4])), integer(s[0], -1));
                        });
  Value nothing = tile::SplatOp::create(k.b, m.i32({rowsOfTile, 2}),
                                        arith::ConstantOp::create(k.b, k.b.getI32IntegerAttr(-1)));
  scatter(nothing, rowsView, rest, allRows, zero, two);

  int64_t lines = kTokens * topK / kLine;
  Value begin = m.mapInt({before, tileRows}, [](ArrayRef<Scalar> s) { return mulInt(s[0], s[1]); });
  m.loop(zero, choices.rows, kTokens, begin, [&](Value step, ValueRange carried) {
    Value chosen = m.reshape(choices.chosen(step), {lines, kLine});
    Value within = tile::ScanOp::create(k.b, chosen, 1);
    Value ends = m.reshape(m.extract(within, {lines, 1}, {zero, k.index(kLine - 1)}), {1, lines});
    Value upTo = tile::ScanOp::create(k.b, ends, 1);
    Value slots = m.mapInt(
        {chosen, within, m.reshape(upTo, {lines, 1}), m.reshape(ends, {lines, 1}), carried[0]},
        [](ArrayRef<Scalar> s) {
          Scalar place = addInt(addInt(s[1], subInt(s[2], s[3])), s[4]);
          return select(equal(s[0], integer(s[0], 1)), subInt(place, integer(s[0], 1)),
                        integer(s[0], -1));
        });
    Value pair = choices.count({kTokens * topK, 1}, m.mul(step, k.index(topK)), 0);
    Value token = m.reshape(choices.count({kTokens, topK}, step, 0), {kTokens * topK, 1});
    scatter(pair, rowsView, slots, allRows, zero, two);
    scatter(token, rowsView, slots, allRows, one, two);
    Value found = m.extract(upTo, {1, 1}, {zero, k.index(lines - 1)});
    return SmallVector<Value>{
        m.mapInt({carried[0], found}, [](ArrayRef<Scalar> s) { return addInt(s[0], s[1]); })};
  });
  std::string name = "expert_order_e" + std::to_string(experts) + "_k" + std::to_string(topK) +
                     "_m" + std::to_string(rowsOfTile);
  auto launch = k.finish(name, k.hostIndex(experts), k.hostIndex(1), k.hostIndex(1));
  order.rows = launch.getResult(0);
  order.tiles = launch.getResult(1);
  return order;
}

} // namespace k3::lower
