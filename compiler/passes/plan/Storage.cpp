//===- Storage.cpp - Buffers of a program ---------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns parameters, states and tensor types into buffers, and lays the arenas out. All sizes are
// taken at the upper bounds of the symbols and are checked for overflow.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/plan/Storage.h"

#include "dialects/tile/TileOps.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace k3 {

using host::ArenaClass;
using host::ExprAttr;

FailureOr<StorageLimits> StorageLimits::read(ModuleOp module) {
  auto limits = module->getAttrOfType<DictionaryAttr>(model::kLimitsAttr);
  if (!limits)
    return module.emitError() << "module: has no " << model::kLimitsAttr
                              << ", which says for how many tokens and sequences memory is planned";
  auto get = [&](StringRef name) { return limits.getAs<IntegerAttr>(name).getInt(); };
  return StorageLimits{get("max_seqs"), get("max_context"), get("page_tokens")};
}

Storage::Storage(ModuleOp module, StorageLimits limits)
    : context_(module.getContext()), symbols_(module), limits_(limits) {
  for (auto kernel : module.getOps<tile::KernelOp>())
    names_.insert(kernel.getSymName());
  for (unsigned kind = 0; kind < std::size(arenaSizes_); ++kind)
    names_.insert(arenaName(static_cast<ArenaClass>(kind)));
}

// ------------------------------------------------------------------------------------------------
// names and shapes

std::string Storage::uniqueName(StringRef name) {
  if (names_.insert(name).second)
    return name.str();
  unsigned &next = nextSuffix_.try_emplace(name, 2).first->second;
  while (true) {
    std::string candidate = (name + "_" + Twine(next++)).str();
    if (names_.insert(candidate).second)
      return candidate;
  }
}

/// `name` with the layer for every `{L}`.
static std::string instantiate(StringRef name, int64_t layer) {
  std::string result, number = std::to_string(layer);
  for (size_t at; (at = name.find(model::kLayerPlaceholder)) != StringRef::npos;) {
    result += (name.take_front(at) + number).str();
    name = name.drop_front(at + model::kLayerPlaceholder.size());
  }
  return result + name.str();
}

FailureOr<std::string> Storage::instanceName(Operation *user, StringRef name,
                                             std::optional<int64_t> layer) {
  if (!name.contains(model::kLayerPlaceholder))
    return name.str();
  if (!layer)
    return user->emitError() << "'" << name << "': is used where no layer is known; put "
                             << model::kLayerAttr << " on the call";
  return instantiate(name, *layer);
}

SmallVector<ExprAttr> Storage::shapeOf(RankedTensorType type) const {
  SmallVector<ExprAttr> shape;
  for (int64_t extent : type.getShape())
    shape.push_back(
        ShapedType::isDynamic(extent)
            ? ExprAttr::getSymbol(context_, cast<model::SymAttr>(type.getEncoding()).getName())
            : constant(extent));
  return shape;
}

FailureOr<BufferId> Storage::add(StringRef name, ArenaClass kind, Type dtype,
                                 ArrayRef<ExprAttr> shape, Location loc) {
  if (!dtype.isF32() && !dtype.isBF16() && !dtype.isSignlessInteger(32) &&
      !dtype.isSignlessInteger(64) && !dtype.isSignlessInteger(8))
    return emitError(loc) << "'" << name << "': no element type of a plan (got " << dtype
                          << ", expected f32, bf16, i32, i64 or i8)";
  int64_t size = host::elementBytes(dtype);
  for (ExprAttr extent : shape) {
    std::optional<host::ExprRange> range = host::rangeOf(extent, [&](StringRef symbol) {
      auto declared = symbols_.lookup<model::SymbolOp>(symbol);
      return declared ? std::optional(declared.getUpper()) : std::nullopt;
    });
    if (!range)
      return emitError(loc) << "'" << name << "': extent " << extent << " has no upper bound";
    if (__builtin_mul_overflow(size, range->high, &size) || size > INT64_MAX / 2)
      return emitError(loc) << "'" << name << "': needs more than 2^62 bytes at the upper bound "
                            << range->high << " of extent " << extent;
  }
  SmallVector<Attribute> extents(shape.begin(), shape.end());
  buffers_.push_back({uniqueName(name), kind, dtype, ArrayAttr::get(context_, extents), size, 0,
                      /*isUsed=*/true, loc});
  return buffers_.size() - 1;
}

// ------------------------------------------------------------------------------------------------
// weights and states

ArrayAttr Storage::pieces(model::ParamOp param, std::optional<int64_t> layer) {
  SmallVector<Attribute> result;
  for (model::PieceAttr piece : param.getPieceList()) {
    // Only a param with a layer in its name has one in its sources.
    std::string source = layer ? instantiate(piece.getSource(), *layer) : piece.getSource().str();
    // The file format has one placeholder, for the index of a range.
    if (size_t at = source.find("{E}"); at != std::string::npos)
      source.replace(at, 3, "{}");
    int64_t rowLength = piece.getTranspose() ? piece.getRows() : piece.getCols();
    result.push_back(host::PieceAttr::get(
        context_, StringAttr::get(context_, source), piece.getRows(), piece.getCols(),
        piece.getBegin(), piece.getSrcStride() ? piece.getSrcStride() : piece.getCols(),
        piece.getAt(), piece.getDstStride() ? piece.getDstStride() : rowLength, /*first=*/0,
        piece.getCount(), piece.getIndexStride(), piece.getTranspose()));
  }
  return ArrayAttr::get(context_, result);
}

FailureOr<BufferId> Storage::weight(model::WeightOp op, std::optional<int64_t> layer) {
  auto param = symbols_.lookup<model::ParamOp>(op.getParam());
  if (!param)
    return op.emitOpError() << "no such param (got @" << op.getParam() << ")";
  FailureOr<std::string> name = instanceName(op, op.getParam(), layer);
  if (failed(name))
    return failure();
  if (auto known = weightIds_.find(*name); known != weightIds_.end())
    return known->second;
  auto type = cast<RankedTensorType>(param.getType());
  FailureOr<BufferId> id =
      add(*name, ArenaClass::Weights, type.getElementType(), shapeOf(type), param.getLoc());
  if (failed(id))
    return failure();
  weights_.push_back({*name, *id, pieces(param, layer)});
  weightIds_[*name] = *id;
  return id;
}

FailureOr<BufferId> Storage::state(model::RefOp op, std::optional<int64_t> layer) {
  auto declared = symbols_.lookup<model::StateOp>(op.getState());
  if (!declared)
    return op.emitOpError() << "no such state (got @" << op.getState() << ")";
  FailureOr<std::string> name = instanceName(op, op.getState(), layer);
  if (failed(name))
    return failure();
  if (auto known = stateIds_.find(*name); known != stateIds_.end())
    return known->second;

  StateInfo info{*name, 0, host::StateKind::ConvState, {}, 0, ""};
  ArenaClass kind = ArenaClass::State;
  int64_t slots = limits_.maxSeqs;
  Type dtype;
  if (auto kda = dyn_cast<model::KdaStateType>(declared.getType())) {
    bool isKv = kda.getOrder() == model::StateOrder::KeyValue;
    info.kind = host::StateKind::KdaState;
    info.shape = {kda.getHeads(), isKv ? kda.getKey() : kda.getValue(),
                  isKv ? kda.getValue() : kda.getKey()};
    info.order = isKv ? "kv" : "vk";
    dtype = kda.getElementType();
  } else if (auto conv = dyn_cast<model::ConvStateType>(declared.getType())) {
    info.shape = {conv.getTaps(), conv.getChannels()};
    dtype = conv.getElementType();
  } else {
    auto cache = cast<model::LatentCacheType>(declared.getType());
    if (cache.getPage() != limits_.pageTokens)
      return op.emitOpError() << "cache '" << *name << "': its pages differ from "
                              << model::kLimitsAttr << " (got " << cache.getPage()
                              << " tokens, expected " << limits_.pageTokens << ")";
    info.kind = host::StateKind::LatentCache;
    info.shape = {cache.getPage(), cache.getWidth()};
    dtype = cache.getElementType();
    kind = ArenaClass::Cache;
    slots *= limits_.pagesPerSequence(); // both have 31 bits
    if (slots > std::numeric_limits<int32_t>::max())
      return op.emitOpError() << "cache '" << *name
                              << "': too many pages to number in 32 bits (got " << slots << " for "
                              << limits_.maxSeqs << " sequences of " << limits_.maxContext
                              << " tokens, expected at most " << std::numeric_limits<int32_t>::max()
                              << "); lower max_seqs or max_context";
  }
  SmallVector<ExprAttr> shape{constant(slots)};
  for (int64_t extent : info.shape)
    shape.push_back(constant(extent));
  FailureOr<BufferId> id = add(*name, kind, dtype, shape, declared.getLoc());
  if (failed(id))
    return failure();
  info.buffer = *id;
  info.slotBytes = buffers_[*id].size / slots;
  states_.push_back(info);
  stateIds_[*name] = *id;
  return id;
}

// ------------------------------------------------------------------------------------------------
// values of a step

FailureOr<BufferId> Storage::io(StringRef role, StringRef name, Type dtype,
                                ArrayRef<ExprAttr> shape, Location loc) {
  std::string key = (role + ":" + name).str();
  auto [known, isNew] = ioRegionIds_.try_emplace(key, ioRegions_.size());
  if (isNew)
    ioRegions_.emplace_back();
  auto &region = ioRegions_[known->second];
  for (BufferId id : region)
    if (buffers_[id].dtype == dtype &&
        llvm::equal(buffers_[id].shape.getAsRange<ExprAttr>(), shape))
      return id;
  FailureOr<BufferId> id = add(name, ArenaClass::Io, dtype, shape, loc);
  if (succeeded(id))
    region.push_back(*id);
  return id;
}

FailureOr<BufferId> Storage::scratch(StringRef name, Type dtype, ArrayRef<ExprAttr> shape,
                                     Location loc) {
  return add(name, ArenaClass::Scratch, dtype, shape, loc);
}

void Storage::promote(BufferId id, StringRef name) {
  BufferInfo &buffer = buffers_[id];
  auto [known, isNew] = ioRegionIds_.try_emplace(("out:" + name).str(), ioRegions_.size());
  if (isNew)
    ioRegions_.emplace_back();
  ioRegions_[known->second].push_back(id);
  buffer.kind = ArenaClass::Io;
  buffer.name = uniqueName(name);
}

// ------------------------------------------------------------------------------------------------
// places

LogicalResult Storage::placeScratch(ArrayRef<BufferId> ids, ArrayRef<Lifetime> lifetimes,
                                    Location loc) {
  std::optional<MemoryPlan> plan = planMemory(lifetimes, host::bufferAlignment);
  if (!plan)
    return emitError(loc) << "entry: the values of a step need more than 2^63 bytes";
  for (auto [id, offset] : llvm::zip_equal(ids, plan->offsets))
    buffers_[id].offset = offset;
  int64_t &arena = arenaSizes_[static_cast<size_t>(ArenaClass::Scratch)];
  arena = std::max(arena, plan->size);
  return success();
}

LogicalResult Storage::placeRest(Location loc) {
  // Returns the offset of the next range of `size` bytes, or reports.
  auto take = [&](ArenaClass kind, int64_t size) -> FailureOr<int64_t> {
    int64_t &end = arenaSizes_[static_cast<size_t>(kind)], offset = end;
    if (size > INT64_MAX / 2 ||
        __builtin_add_overflow(end, llvm::alignTo(size, host::bufferAlignment), &end))
      return emitError(loc) << "arena '" << arenaName(kind) << "': needs more than 2^63 bytes";
    return offset;
  };
  for (BufferInfo &buffer : buffers_) {
    if (buffer.kind == ArenaClass::Io || buffer.kind == ArenaClass::Scratch)
      continue;
    FailureOr<int64_t> offset = take(buffer.kind, buffer.size);
    if (failed(offset))
      return failure();
    buffer.offset = *offset;
  }
  for (ArrayRef<BufferId> region : ioRegions_) {
    int64_t size = 0;
    for (BufferId id : region)
      size = std::max(size, buffers_[id].size);
    FailureOr<int64_t> offset = take(ArenaClass::Io, size);
    if (failed(offset))
      return failure();
    for (BufferId id : region)
      buffers_[id].offset = *offset;
  }
  return success();
}

} // namespace k3
