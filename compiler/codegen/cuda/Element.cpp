//===- Element.cpp - One element of a tile as CUDA C++ --------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile with a buffer is read from it; any other is computed on the spot from the elements of its
// operands, which is how chains of elementwise ops become one loop.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cuda/KernelPrinter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace k3::cuda {

static ArrayRef<int64_t> shapeOf(Value tile) {
  return cast<tile::TileType>(tile.getType()).getShape();
}

static std::optional<int64_t> constantOf(Value value) {
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    if (auto integer = dyn_cast<IntegerAttr>(constant.getValue()))
      return integer.getInt();
  return std::nullopt;
}

// ------------------------------------------------------------------------------------------------
// indices

const std::string &KernelPrinter::linear(At &at, ArrayRef<int64_t> shape) {
  if (!at.linear.empty())
    return at.linear;
  std::string sum;
  int64_t stride = 1;
  for (int64_t i = shape.size() - 1; i >= 0; stride *= shape[i], --i) {
    if (shape[i] == 1 || at.dims[i] == "0")
      continue;
    std::string term = stride == 1 ? at.dims[i] : at.dims[i] + " * " + std::to_string(stride);
    sum = sum.empty() ? term : term + " + " + sum;
  }
  return at.linear = sum.empty() ? "0" : "(" + sum + ")";
}

ArrayRef<std::string> KernelPrinter::dims(At &at, ArrayRef<int64_t> shape) {
  if (!at.dims.empty() || shape.empty())
    return at.dims;
  int64_t stride = 1, first = 0;
  while (first + 1 < int64_t(shape.size()) && shape[first] == 1)
    ++first;
  at.dims.assign(shape.size(), "0");
  for (int64_t i = shape.size() - 1; i >= 0; stride *= shape[i], --i) {
    if (shape[i] == 1)
      continue;
    std::string value = at.linear;
    if (stride != 1)
      value += " / " + std::to_string(stride);
    if (i != first)
      value = (stride == 1 ? value : "(" + value + ")") + " % " + std::to_string(shape[i]);
    if (value == at.linear) {
      at.dims[i] = value;
      continue;
    }
    at.dims[i] = fresh("i");
    line() << "const int " << at.dims[i] << " = " << value << ";\n";
  }
  return at.dims;
}

std::string KernelPrinter::openLoop(int64_t count) {
  std::string e = fresh("e");
  open("for (int " + e + " = threadIdx.x; " + e + " < " + std::to_string(count) + "; " + e +
       " += " + std::to_string(kThreads) + ")");
  return e;
}

// ------------------------------------------------------------------------------------------------
// memory

/// The place of element `index` in a buffer.
std::string KernelPrinter::indexIn(unsigned buffer, StringRef index) const {
  return storage.buffer(buffer).swizzled ? "k3_swizzled(" + index.str() + ")" : index.str();
}

std::string KernelPrinter::stored(unsigned buffer, StringRef index) const {
  std::string place = bufferNames[buffer] + "[" + indexIn(buffer, index) + "]";
  return storage.buffer(buffer).element.isBF16() ? "k3_float(" + place + ")" : place;
}

void KernelPrinter::put(Value tile, At at, StringRef value) {
  unsigned index = *storage.bufferOf(tile);
  Type element = storage.buffer(index).element;
  std::string text = value.str();
  if (element.isBF16())
    text = "k3_narrow(" + text + ")";
  line() << bufferNames[index] << "[" << indexIn(index, linear(at, shapeOf(tile))) << "] = " << text
         << ";\n";
}

/// Element (i, j) of the rows that a tile names: the condition under which it exists, and its
/// index.
std::pair<std::string, std::string> KernelPrinter::rowPlace(Value view, Value rows, Value rowBound,
                                                            Value column, Value columnBound,
                                                            StringRef i, StringRef j) {
  int64_t width = cast<tile::ViewType>(view.getType()).getShape()[1];
  std::string row = element(rows, At{i.str(), {}}),
              from = j == "0" ? scalar(column) : "(" + scalar(column) + " + " + j.str() + ")";
  return {row + " >= 0 && " + row + " < " + scalar(rowBound) + " && " + from + " >= 0 && " + from +
              " < " + scalar(columnBound),
          row + " * " + std::to_string(width) + "LL + " + from};
}

/// The condition under which an element exists (empty: always) and its index in the view.
std::pair<std::string, std::string> KernelPrinter::placeInView(Value view, ValueRange offsets,
                                                               ValueRange bounds,
                                                               tile::TileType type, At at) {
  ArrayRef<int64_t> shape = cast<tile::ViewType>(view.getType()).getShape();
  ArrayRef<std::string> index = dims(at, type.getShape());
  int64_t leading = shape.size() - type.getRank(), stride = 1;
  SmallVector<std::string> conditions;
  std::string place;
  for (int64_t i = shape.size() - 1; i >= 0; --i) {
    std::optional<int64_t> offset = constantOf(offsets[i]), bound = constantOf(bounds[i]);
    int64_t extent = i < leading ? 1 : type.getDimSize(i - leading);
    std::string from = scalar(offsets[i]), at = from;
    if (i >= leading && index[i - leading] != "0")
      at = offset == 0 ? index[i - leading] : "(" + from + " + " + index[i - leading] + ")";
    if (!offset || *offset < 0)
      conditions.push_back(from + " >= 0");
    if (!offset || !bound || *offset + extent > *bound)
      conditions.push_back(at + " < " + scalar(bounds[i]));
    if (offset != 0 || at != from) {
      std::string term = stride == 1 ? at : at + " * " + std::to_string(stride) + "LL";
      place = place.empty() ? term : term + " + " + place;
    }
    stride *= i ? shape[i] : 1;
  }
  return {llvm::join(llvm::reverse(conditions), " && "), place.empty() ? "0" : place};
}

std::string KernelPrinter::loadElement(Value view, ValueRange offsets, ValueRange bounds,
                                       tile::TileType type, At at) {
  auto [condition, place] = placeInView(view, offsets, bounds, type, at);
  Type element = cast<tile::ViewType>(view.getType()).getElementType();
  std::string value = names.lookup(view) + "[" + place + "]";
  if (element.isBF16())
    value = "k3_float(" + value + ")";
  StringRef zero = isa<FloatType>(element) ? "0.0f" : "0";
  std::string name = fresh("load");
  line() << "const " << scalarType(element) << " " << name << " = "
         << (condition.empty() ? value : condition + " ? " + value + " : " + zero.str()) << ";\n";
  return name;
}

// ------------------------------------------------------------------------------------------------
// values

void KernelPrinter::mapElement(tile::MapOp map, At at, SmallVectorImpl<std::string> &results) {
  ArrayRef<int64_t> shape = shapeOf(map->getResult(0));
  Block &body = map.getBody().front();
  for (auto [input, argument] : llvm::zip(map.getInputs(), body.getArguments())) {
    At from = at;
    if (shapeOf(input) != shape) {
      ArrayRef<std::string> all = dims(at, shape);
      from = At();
      for (auto [extent, index] : llvm::zip(shapeOf(input), all))
        from.dims.push_back(extent == 1 ? "0" : index);
    }
    names[argument] = element(input, from);
  }
  for (Operation &op : body.without_terminator())
    printScalar(op);
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(scalar(value));
}

std::string KernelPrinter::element(Value tile, At at) {
  ArrayRef<int64_t> shape = shapeOf(tile);
  if (std::optional<unsigned> buffer = storage.bufferOf(tile)) {
    std::string value = stored(*buffer, linear(at, shape));
    std::string name = fresh("x");
    line() << "const " << scalarType(cast<tile::TileType>(tile.getType()).getElementType()) << " "
           << name << " = " << value << ";\n";
    return name;
  }
  Operation *op = tile.getDefiningOp();
  if (auto splat = dyn_cast<tile::SplatOp>(op)) {
    std::string value = scalar(splat.getScalar());
    return splat.getScalar().getType().isIndex() ? "static_cast<int>(" + value + ")" : value;
  }
  if (auto iota = dyn_cast<tile::IotaOp>(op)) {
    std::string start = scalar(iota.getStart()), index = dims(at, shape)[iota.getAxis()];
    return "static_cast<int>(" + start + " + " + index + ")";
  }
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return loadElement(load.getView(), load.getOffsets(), load.getBounds(),
                       cast<tile::TileType>(tile.getType()), at);
  if (auto map = dyn_cast<tile::MapOp>(op)) {
    SmallVector<std::string> results;
    mapElement(map, at, results);
    bool narrow = cast<tile::TileType>(tile.getType()).getElementType().isBF16();
    return narrow ? "k3_round(" + results[0] + ")" : results[0];
  }
  if (auto cast = dyn_cast<tile::CastOp>(op)) {
    std::string value = element(cast.getInput(), at);
    Type to = llvm::cast<tile::TileType>(tile.getType()).getElementType();
    Type from = llvm::cast<tile::TileType>(cast.getInput().getType()).getElementType();
    if (to.isBF16())
      return "k3_round(" + value + ")";
    return isa<FloatType>(from) ? value : "static_cast<float>(" + value + ")";
  }
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) {
    At from;
    from.linear = linear(at, shape);
    return element(reshape.getInput(), from);
  }
  ArrayRef<std::string> index = dims(at, shape);
  At from;
  if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
    from.dims = {index[1], index[0]};
    return element(transpose.getInput(), from);
  }
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    for (auto [extent, i] : llvm::zip(shapeOf(broadcast.getInput()), index))
      from.dims.push_back(extent == 1 ? "0" : i);
    return element(broadcast.getInput(), from);
  }
  if (auto extract = dyn_cast<tile::ExtractOp>(op)) {
    for (auto [i, offset] : llvm::zip(index, extract.getOffsets()))
      from.dims.push_back(
          constantOf(offset) == 0 ? i : "static_cast<int>(" + scalar(offset) + " + " + i + ")");
    return element(extract.getInput(), from);
  }
  refuse(op, "is not generated for GPUs");
  return "0";
}

} // namespace k3::cuda
