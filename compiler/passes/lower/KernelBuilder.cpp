//===- KernelBuilder.cpp - Builds one tile kernel and its launch ----------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Argument collection, sharing of equal kernels, and the view types of host values.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/lower/KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace k3::lower {

// ------------------------------------------------------------------------------------------------
// kernel table

KernelTable::KernelTable(ModuleOp module) : module(module) {
  for (Operation &op : *module.getBody())
    if (auto name = op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
      names.insert(name.getValue());
}

StringAttr KernelTable::intern(tile::KernelOp kernel, StringRef name) {
  // Locations and the name are not part of what a kernel computes.
  kernel.setSymName("");
  std::string body;
  llvm::raw_string_ostream os(body);
  kernel->print(os, OpPrintingFlags().printGenericOpForm().useLocalScope());
  if (auto it = byBody.find(body); it != byBody.end()) {
    kernel.erase();
    return it->second;
  }
  std::string unique = name.str();
  for (int version = 2; !names.insert(unique).second; ++version)
    unique = (name + "_v" + llvm::Twine(version)).str();
  kernel.setSymName(unique);
  return byBody[body] = kernel.getSymNameAttr();
}

// -------------------------------------------------------------------------------------------------
// host values

Columns resolveColumns(Value value) {
  Columns columns{value, 0, cast<RankedTensorType>(value.getType()).getDimSize(1)};
  while (auto slice = columns.tensor.getDefiningOp<model::SliceOp>()) {
    columns.begin += slice.getBegin();
    columns.tensor = slice.getX();
  }
  return columns;
}

tile::ViewType getViewType(Type type) {
  MLIRContext *context = type.getContext();
  auto get = [&](ArrayRef<int64_t> shape, Type element) {
    return tile::ViewType::get(context, shape, element);
  };
  return llvm::TypeSwitch<Type, tile::ViewType>(type)
      .Case<RankedTensorType>(
          [&](RankedTensorType t) { return get(t.getShape(), t.getElementType()); })
      .Case<model::KdaStateType>([&](model::KdaStateType t) {
        bool kv = t.getOrder() == model::StateOrder::KeyValue;
        return get({ShapedType::kDynamic, t.getHeads(), kv ? t.getKey() : t.getValue(),
                    kv ? t.getValue() : t.getKey()},
                   t.getElementType());
      })
      .Case<model::ConvStateType>([&](model::ConvStateType t) {
        return get({ShapedType::kDynamic, t.getTaps(), t.getChannels()}, t.getElementType());
      })
      .Case<model::LatentCacheType>([&](model::LatentCacheType t) {
        return get({ShapedType::kDynamic, t.getPage(), t.getWidth()}, t.getElementType());
      })
      .Case<model::StackType>([&](model::StackType t) {
        int64_t rows = t.getTokens().empty() ? t.getRows() : ShapedType::kDynamic;
        return get({rows, t.getCapacity(), t.getHidden()}, t.getElementType());
      });
}

/// The symbol of the first extent, or empty and the static count.
static std::pair<StringRef, int64_t> getRowCount(Type type) {
  return llvm::TypeSwitch<Type, std::pair<StringRef, int64_t>>(type)
      .Case<RankedTensorType>([](RankedTensorType t) -> std::pair<StringRef, int64_t> {
        if (auto sym = dyn_cast_or_null<model::SymAttr>(t.getEncoding()))
          return {sym.getName(), 0};
        return {"", t.getDimSize(0)};
      })
      .Case<model::StackType>([](model::StackType t) -> std::pair<StringRef, int64_t> {
        return {t.getTokens(), t.getRows()};
      })
      .Case<model::BatchType>([](model::BatchType t) -> std::pair<StringRef, int64_t> {
        return {t.getSeqs(), t.getRows()};
      });
}

int64_t mostRows(Type type, OpBuilder &host) {
  auto [symbol, count] = getRowCount(type);
  if (symbol.empty())
    return count;
  auto module = host.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  return module.lookupSymbol<model::SymbolOp>(symbol).getUpper();
}

// -----------------------------------------------------------------------------------------------------
// builder

KernelBuilder::KernelBuilder(OpBuilder &host, KernelTable &table, Location loc, TypeRange results)
    : b(loc, host.getContext()), host(host), table(table), resultTypes(results) {
  OpBuilder::InsertionGuard guard(host);
  auto module = host.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  host.setInsertionPointToEnd(module.getBody());
  kernel = tile::KernelOp::create(host, loc, "building", ArrayRef<Type>());
  Block &body = kernel.getBody().front();
  for (Type type : resultTypes)
    resultViews.push_back(body.addArgument(getViewType(type), loc));
  if (!body.empty())
    b.setInsertionPoint(&body.back());
  else
    b.setInsertionPointToEnd(&body);
}

Value KernelBuilder::addArgument(Value hostValue, Type type) {
  auto [it, inserted] = arguments.try_emplace(hostValue);
  if (inserted) {
    it->second = kernel.getBody().front().insertArgument(inputs.size(), type, b.getLoc());
    inputs.push_back(hostValue);
  }
  return it->second;
}

Value KernelBuilder::view(Value hostValue) {
  return addArgument(hostValue, getViewType(hostValue.getType()));
}

static tile::ViewType asRows(Type tensor, int64_t width) {
  return tile::ViewType::get(tensor.getContext(), {ShapedType::kDynamic, width},
                             cast<RankedTensorType>(tensor).getElementType());
}

Value KernelBuilder::rowsView(Value hostValue, int64_t width) {
  return addArgument(hostValue, asRows(hostValue.getType(), width));
}

Value KernelBuilder::resultRowsView(unsigned i, int64_t width) {
  resultViews[i].setType(asRows(resultTypes[i], width));
  return resultViews[i];
}

Value KernelBuilder::batchView(Value batch, StringRef field) {
  Value &known = batchFields[{batch, StringAttr::get(b.getContext(), field)}];
  if (known)
    return view(known);
  auto type = cast<model::BatchType>(batch.getType());
  bool perToken = field.starts_with("token_"), ragged = !type.getTokens().empty();
  StringRef symbol = perToken ? type.getTokens() : type.getSeqs();
  int64_t rows = ragged ? ShapedType::kDynamic : type.getRows() + (field == "seq_offsets");
  SmallVector<int64_t> shape{rows};
  if (field == "page_table") {
    auto limits =
        kernel->getParentOfType<ModuleOp>()->getAttrOfType<DictionaryAttr>(model::kLimitsAttr);
    auto get = [&](StringRef name) { return limits.getAs<IntegerAttr>(name).getInt(); };
    shape.push_back(llvm::divideCeil(get("max_context"), get("page_tokens")));
  }
  Attribute encoding = ragged ? model::SymAttr::get(b.getContext(), symbol) : Attribute();
  known = model::BatchFieldOp::create(
      host, b.getLoc(), RankedTensorType::get(shape, b.getI32Type(), encoding), batch, field);
  return view(known);
}

Value KernelBuilder::scalar(Value hostIndex) {
  if (auto constant = hostIndex.getDefiningOp<arith::ConstantIndexOp>())
    return index(constant.value());
  return addArgument(hostIndex, b.getIndexType());
}

Value KernelBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, b.getLoc(), value);
}

Value KernelBuilder::blockId(tile::GridAxis axis) {
  return tile::BlockIdOp::create(b, b.getIndexType(), axis);
}

Value KernelBuilder::rows(Type type) {
  auto [symbol, count] = getRowCount(type);
  if (symbol.empty())
    return index(count);
  Value &value = symbolScalars[symbol];
  if (!value)
    value = scalar(hostRows(type));
  return value;
}

Value KernelBuilder::hostRows(Type type) {
  auto [symbol, count] = getRowCount(type);
  if (symbol.empty())
    return hostIndex(count);
  return model::DimOp::create(host, b.getLoc(), host.getIndexType(), symbol);
}

Value KernelBuilder::hostIndex(int64_t value) {
  return arith::ConstantIndexOp::create(host, b.getLoc(), value);
}

Value KernelBuilder::hostCeilDiv(Value value, int64_t by) {
  if (by == 1)
    return value;
  return arith::CeilDivSIOp::create(host, b.getLoc(), value, hostIndex(by));
}

tile::LaunchOp KernelBuilder::finish(StringRef name, Value gridX, Value gridY, Value gridZ) {
  kernel.setFunctionType(b.getFunctionType(kernel.getBody().front().getArgumentTypes(), {}));
  StringAttr symbol = table.intern(kernel, name);
  return tile::LaunchOp::create(host, b.getLoc(), resultTypes, symbol.getValue(), gridX, gridY,
                                gridZ, inputs);
}

} // namespace k3::lower
