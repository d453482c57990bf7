//===- Storage.cpp - Where the tiles of a kernel live ---------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops are numbered in program order. A value that is made outside of a loop and read inside lives
// until the loop ends; a carried tile has one buffer for all iterations.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cuda/Storage.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace k3::cuda {

static constexpr int64_t kAlignment = 16;

int64_t bytesOf(Type element) { return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8); }

bool isRenaming(Operation *op) {
  return isa_and_nonnull<tile::ExtractOp, tile::ReshapeOp, tile::TransposeOp, tile::BroadcastOp>(
      op);
}

static int64_t elementsOf(Value tile) {
  return cast<tile::TileType>(tile.getType()).getNumElements();
}

bool isBlockWide(tile::ReduceOp op) { return elementsOf(op.getResult()) < kWarps; }

static bool isFree(Operation *op) { return isa_and_nonnull<tile::SplatOp, tile::IotaOp>(op); }

// ------------------------------------------------------------------------------------------------
// which tiles are computed where they are read

Storage::Storage(tile::KernelOp kernel) : kernel(kernel) {
  kernel.walk([&](Operation *op) {
    if (auto store = dyn_cast<tile::StoreOp>(op))
      written.insert(store.getView());
    else if (auto scatter = dyn_cast<tile::ScatterOp>(op))
      written.insert(scatter.getView());
    else if (auto loop = dyn_cast<tile::ForOp>(op)) {
      if (std::optional<Stream> stream = Stream::match(loop))
        streams.try_emplace(op, *stream);
    } else if (auto role = dyn_cast<tile::RoleOp>(op); role && problem.empty())
      problem = "tile.role is not generated for GPUs yet; use a schedule without roles";
  });
  Block &body = kernel.getBody().front();
  int64_t position = 0;
  number(body, position);
  chooseInlined(body);
  noteReads(body);
  assign(body);
  kernel.walk([&](tile::MmaOp mma) { swizzle(mma); });
  place();
}

void Storage::number(Block &block, int64_t &position) {
  for (Operation &op : block) {
    positions[&op] = position++;
    if (isa<tile::ForOp, tile::IfOp>(op))
      number(op.getRegion(0).front(), position);
    ends[&op] = position++;
  }
}

/// Whether the one reader of a tile asks for each element at most once and in the same block.
bool Storage::isReadOnce(Value tile) const {
  if (!tile.hasOneUse())
    return false;
  OpOperand &use = *tile.getUses().begin();
  Operation *user = use.getOwner();
  if (user->getBlock() != tile.getDefiningOp()->getBlock())
    return false;
  if (isRenaming(user))
    return elementsOf(user->getResult(0)) <= elementsOf(tile) && isReadOnce(user->getResult(0));
  if (auto map = dyn_cast<tile::MapOp>(user))
    return elementsOf(map->getResult(0)) == elementsOf(tile);
  if (auto mma = dyn_cast<tile::MmaOp>(user)) {
    unsigned operand = use.getOperandNumber();
    return operand == 0 || (operand == 2 && mma.getM() == 1);
  }
  return isa<tile::CastOp, tile::ReduceOp, tile::ScanOp, tile::StoreOp, tile::ScatterOp,
             tile::InsertOp, tile::StageOp, tile::DequantizeOp, tile::ForOp>(user);
}

void Storage::chooseInlined(Block &block) {
  for (Operation &op : block) {
    // Tiles of a stream exist in registers alone.
    if (streams.contains(&op))
      continue;
    if (isa<tile::ForOp, tile::IfOp>(op)) {
      chooseInlined(op.getRegion(0).front());
      continue;
    }
    if (op.getNumResults() != 1 || !isa<tile::TileType>(op.getResult(0).getType()))
      continue;
    Value result = op.getResult(0);
    bool yielded =
        llvm::any_of(result.getUsers(), [](Operation *o) { return isa<tile::YieldOp>(o); });
    if (isFree(&op))
      inlined.insert(result);
    else if (isRenaming(&op) && !yielded)
      inlined.insert(result);
    else if (isa<tile::MapOp, tile::CastOp>(op) && isReadOnce(result))
      inlined.insert(result);
    else if (auto load = dyn_cast<tile::LoadOp>(op);
             load && !written.contains(load.getView()) && isReadOnce(result))
      inlined.insert(result);
  }
}

// ------------------------------------------------------------------------------------------------
// reads

void Storage::collect(Value tile, bool same, SmallVectorImpl<Leaf> &leaves) const {
  Operation *op = tile.getDefiningOp();
  if (!op || !inlined.contains(tile)) {
    leaves.push_back({tile, same});
    return;
  }
  if (auto load = dyn_cast<tile::LoadOp>(op))
    leaves.push_back({load.getView(), false});
  for (Value operand : op->getOperands()) {
    if (!isa<tile::TileType>(operand.getType()))
      continue;
    bool still = same && !isa<tile::ExtractOp, tile::TransposeOp, tile::BroadcastOp>(op) &&
                 elementsOf(operand) == elementsOf(tile);
    collect(operand, still, leaves);
  }
}

SmallVector<Leaf> Storage::leavesOf(Value tile) const {
  SmallVector<Leaf> leaves;
  collect(tile, true, leaves);
  return leaves;
}

/// A read inside of a loop keeps what was made outside alive until the loop ends.
void Storage::noteRead(Value tile, Operation *reader) {
  for (Leaf leaf : leavesOf(tile)) {
    if (!isa<tile::TileType>(leaf.value.getType()))
      continue;
    // A stream reads what it adds to when it is over.
    int64_t at = streams.contains(reader) ? ends.lookup(reader) : positions.lookup(reader);
    Block *home = leaf.value.getParentBlock();
    for (Operation *op = reader; op && op->getBlock() != home; op = op->getParentOp())
      if (isa<tile::ForOp>(op->getParentOp()))
        at = std::max(at, ends.lookup(op->getParentOp()));
    int64_t &last = lastReads[leaf.value];
    last = std::max(last, at);
  }
}

void Storage::noteReads(Block &block) {
  for (Operation &op : block) {
    bool lazy = op.getNumResults() == 1 && inlined.contains(op.getResult(0));
    if (!lazy)
      for (Value operand : op.getOperands())
        if (isa<tile::TileType>(operand.getType()))
          noteRead(operand, &op);
    if (auto stream = streams.find(&op); stream != streams.end() && stream->second.xRows())
      noteRead(stream->second.xRows(), &op);
    if (isa<tile::ForOp, tile::IfOp>(op) && !streams.contains(&op))
      noteReads(op.getRegion(0).front());
  }
}

int64_t Storage::lastRead(Value tile) const {
  int64_t own = tile.getDefiningOp() ? positions.lookup(tile.getDefiningOp()) : 0;
  return std::max(own, lastReads.lookup(tile));
}

// ------------------------------------------------------------------------------------------------
// buffers

unsigned Storage::add(int64_t elements, Type element, int64_t position) {
  Buffer buffer;
  buffer.bytes = llvm::alignTo(elements * bytesOf(element), kAlignment);
  buffer.begin = buffer.end = position;
  buffer.element = element;
  buffers.push_back(buffer);
  return buffers.size() - 1;
}

/// Whether `tile` turns, op by op and without other readers, into what its loop yields as number
/// `index`: only then may it take the carried tile's buffer before the iteration ends.
static bool becomes(Value tile, unsigned index) {
  while (tile.hasOneUse()) {
    OpOperand &use = *tile.getUses().begin();
    Operation *user = use.getOwner();
    if (isa<tile::YieldOp>(user))
      return use.getOperandNumber() == index;
    if (!isa<tile::MapOp, tile::CastOp, tile::MmaOp, tile::InsertOp>(user) ||
        user->getNumResults() != 1)
      return false;
    tile = user->getResult(0);
  }
  return false;
}

/// The buffer of an operand that dies at `op` and is read at the element being written only.
std::optional<unsigned> Storage::reuse(Operation &op, Value result) const {
  if (!isa<tile::MapOp, tile::CastOp, tile::MmaOp, tile::TriSolveOp, tile::InsertOp>(op) ||
      op.getNumResults() != 1)
    return std::nullopt;
  unsigned candidate = isa<tile::TriSolveOp, tile::InsertOp>(op) ? 1 : 0;
  SmallVector<Leaf> all;
  for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
    if (!isa<tile::TileType>(operand.getType()))
      continue;
    bool pointwise = isa<tile::MapOp, tile::CastOp>(op) || i == candidate;
    collect(operand, pointwise && elementsOf(operand) == elementsOf(result), all);
  }
  int64_t at = positions.lookup(&op);
  Type element = cast<tile::TileType>(result.getType()).getElementType();
  for (Leaf leaf : all) {
    auto found = places.find(leaf.value);
    if (found == places.end() || !leaf.same || lastRead(leaf.value) > at ||
        leaf.value.getParentBlock() != op.getBlock())
      continue;
    const Buffer &buffer = buffers[found->second];
    if (buffer.element != element || elementsOf(leaf.value) != elementsOf(result))
      continue;
    auto carried = carries.find({op.getBlock(), found->second});
    if (carried == carries.end() ? buffer.end > at : !becomes(result, carried->second))
      continue;
    bool alone = llvm::all_of(all, [&](Leaf other) {
      auto place = places.find(other.value);
      return place == places.end() || place->second != found->second || other.same;
    });
    if (alone)
      return found->second;
  }
  return std::nullopt;
}

void Storage::assignResults(Operation &op, int64_t at) {
  for (Value result : op.getResults()) {
    auto type = dyn_cast<tile::TileType>(result.getType());
    if (!type || inlined.contains(result))
      continue;
    Type element = type.getElementType();
    // A bf16 number that was widened is kept as it came: half the room, the same value.
    if (auto load = dyn_cast<tile::LoadOp>(op))
      element = cast<tile::ViewType>(load.getView().getType()).getElementType();
    if (auto gather = dyn_cast<tile::GatherOp>(op))
      element = cast<tile::ViewType>(gather.getView().getType()).getElementType();
    std::optional<unsigned> place = reuse(op, result);
    unsigned index = place ? *place : add(type.getNumElements(), element, at);
    places[result] = index;
    int64_t last = isa<tile::AllocOp>(op) ? INT64_MAX : lastRead(result);
    buffers[index].end = std::max(buffers[index].end, last);
  }
}

/// The results have buffers as those of any op; what the warps add up lives at the loop alone, and
/// so do stages, where the results may lie when all have been read.
void Storage::assignStream(const Stream &stream) {
  Operation *op = stream.loop;
  int64_t at = positions.lookup(op);
  if (stream.isStaged()) {
    scratches[op] = add(kStages * stream.stageNumbers(), BFloat16Type::get(op->getContext()), at);
    assignResults(*op, ends.lookup(op));
  } else {
    scratches[op] = add(stream.partialNumbers(), Float32Type::get(op->getContext()), at);
    assignResults(*op, at);
  }
}

void Storage::assign(Block &block) {
  for (Operation &op : block) {
    if (auto reduce = dyn_cast<tile::ReduceOp>(op); reduce && isBlockWide(reduce))
      scratches[&op] = add(kWarps, Float32Type::get(op.getContext()), positions.lookup(&op));
    auto stream = streams.find(&op);
    if (stream != streams.end()) {
      assignStream(stream->second);
      continue;
    }
    auto loop = dyn_cast<tile::ForOp>(op);
    if (!loop) {
      assignResults(op, positions.lookup(&op));
      if (isa<tile::IfOp>(op))
        assign(op.getRegion(0).front());
      continue;
    }
    int64_t at = positions.lookup(&op), end = ends.lookup(&op);
    Operation *yield = loop.getBody().front().getTerminator();
    for (auto [i, result] : llvm::enumerate(loop.getResults())) {
      auto type = dyn_cast<tile::TileType>(result.getType());
      if (!type)
        continue;
      Value init = loop.getInits()[i], carried = loop.getBody().getArgument(i + 1);
      auto found = places.find(init);
      bool taken =
          found != places.end() && lastRead(init) <= at && buffers[found->second].end <= at &&
          buffers[found->second].element == type.getElementType() &&
          init.getParentBlock() == op.getBlock() && llvm::count(loop.getInits(), init) == 1;
      unsigned index =
          taken ? found->second : add(type.getNumElements(), type.getElementType(), at);
      places[carried] = places[result] = index;
      buffers[index].end = std::max({buffers[index].end, end, lastRead(result)});
      carries[{&loop.getBody().front(), index}] = i;
      if (auto argument = dyn_cast<BlockArgument>(yield->getOperand(i));
          argument && argument != carried && problem.empty())
        problem = "a loop yields a tile that another carried tile began with, which is not "
                  "generated for GPUs; copy it with tile.map first";
    }
    assign(loop.getBody().front());
  }
}

/// Operands that tensor cores may read are stored in the order in which eight rows meet no bank
/// twice. It permutes lines of 128 bytes, of which a buffer then has a whole number.
void Storage::swizzle(tile::MmaOp mma) {
  if (mma.getM() % 16)
    return;
  for (Value operand : {mma.getA(), mma.getB()})
    for (Leaf leaf : leavesOf(operand)) {
      auto found = places.find(leaf.value);
      if (found == places.end() || !buffers[found->second].element.isBF16())
        continue;
      Buffer &buffer = buffers[found->second];
      buffer.swizzled = true;
      buffer.bytes = llvm::alignTo(buffer.bytes, 128);
    }
}

/// First fit, largest lives first: buffers that are alive together do not overlap.
void Storage::place() {
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(buffers.size()));
  llvm::stable_sort(order,
                    [&](unsigned a, unsigned b) { return buffers[a].bytes > buffers[b].bytes; });
  SmallVector<unsigned> placed;
  for (unsigned index : order) {
    Buffer &buffer = buffers[index];
    SmallVector<std::pair<int64_t, int64_t>> taken;
    for (unsigned other : placed)
      if (buffers[other].begin <= buffer.end && buffer.begin <= buffers[other].end)
        taken.push_back({buffers[other].offset, buffers[other].offset + buffers[other].bytes});
    llvm::sort(taken);
    int64_t offset = 0;
    for (auto [from, to] : taken) {
      if (offset + buffer.bytes <= from)
        break;
      offset = std::max(offset, to);
    }
    buffer.offset = offset;
    total = std::max(total, offset + buffer.bytes);
    placed.push_back(index);
  }
}

std::optional<unsigned> Storage::bufferOf(Value tile) const {
  auto found = places.find(tile);
  return found == places.end() ? std::nullopt : std::optional<unsigned>(found->second);
}

const Stream *Storage::streamOf(tile::ForOp loop) const {
  auto found = streams.find(loop);
  return found == streams.end() ? nullptr : &found->second;
}

std::optional<unsigned> Storage::scratchOf(Operation *op) const {
  auto found = scratches.find(op);
  return found == scratches.end() ? std::nullopt : std::optional<unsigned>(found->second);
}

} // namespace k3::cuda
