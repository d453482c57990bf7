//===- K3Dialect.cpp - Registration and attributes of the k3 dialect ------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers types, attributes and ops, and checks the discardable attributes that entries, layer
// bodies and calls carry.
//
//===----------------------------------------------------------------------===//

#include "dialects/k3/K3Dialect.h"
#include "dialects/k3/K3Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;
using namespace k3::model;

#include "dialects/k3/K3Dialect.cpp.inc"
#include "dialects/k3/K3Enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/k3/K3Attrs.cpp.inc"

void K3Dialect::initialize() {
  registerTypes();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/k3/K3Attrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/k3/K3Ops.cpp.inc"
      >();
}

LogicalResult PieceAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef source,
                                int64_t rows, int64_t cols, int64_t begin, int64_t srcStride,
                                int64_t at, int64_t dstStride, int64_t count, int64_t indexStride,
                                bool transpose) {
  if (source.empty())
    return emitError() << "piece: expected the name of a checkpoint tensor (got none)";
  for (auto [name, value] :
       {std::pair<StringRef, int64_t>{"rows", rows}, {"cols", cols}, {"count", count}})
    if (value < 1)
      return emitError() << "piece of '" << source << "': expected " << name
                         << " to be at least 1 (got " << value << ")";
  for (auto [name, value] : {std::pair<StringRef, int64_t>{"begin", begin},
                             {"src_stride", srcStride},
                             {"at", at},
                             {"dst_stride", dstStride},
                             {"index_stride", indexStride}})
    if (value < 0)
      return emitError() << "piece of '" << source << "': expected " << name
                         << " to be at least 0 (got " << value << ")";
  int64_t rowLength = transpose ? rows : cols;
  if (dstStride != 0 && dstStride < rowLength)
    return emitError() << "piece of '" << source << "': rows of " << rowLength
                       << " elements overlap at dst_stride " << dstStride;
  if (srcStride != 0 && srcStride < cols)
    return emitError() << "piece of '" << source << "': rows of " << cols
                       << " elements overlap at src_stride " << srcStride;
  if (count > 1 && !source.contains("{E}"))
    return emitError() << "piece of '" << source << "': a count of " << count
                       << " needs {E} in the source";
  return success();
}

/// The number of an integer attribute that must be at least `least`.
static LogicalResult verifyInteger(Operation *op, NamedAttribute attr, int64_t least) {
  auto integer = dyn_cast<IntegerAttr>(attr.getValue());
  if (!integer || !integer.getType().isSignlessInteger(64))
    return op->emitError() << attr.getName().getValue() << ": expected a 64-bit integer (got "
                           << attr.getValue() << ")";
  if (integer.getInt() < least)
    return op->emitError() << attr.getName().getValue() << ": expected at least " << least
                           << " (got " << integer.getInt() << ")";
  return success();
}

/// An entry names every argument except its batch, and every result; a name is used once among
/// each.
static LogicalResult verifyEntry(func::FuncOp func, Attribute value) {
  auto kind = dyn_cast<StringAttr>(value);
  if (!kind || !llvm::is_contained({"prefill", "decode", "generic"}, kind.getValue()))
    return func.emitError() << kEntryAttr
                            << ": expected \"prefill\", \"decode\" or \"generic\" (got " << value
                            << ")";
  if (func.isPrivate())
    return func.emitError() << kEntryAttr << ": an entry is called from outside; make @"
                            << func.getSymName() << " public";
  if (kind.getValue() == "decode" && !func->hasAttr(kBucketAttr))
    return func.emitError() << "entry @" << func.getSymName() << ": a decode entry needs "
                            << kBucketAttr << ", its number of sequences";

  llvm::SmallDenseSet<StringRef> names;
  unsigned batches = 0;
  for (auto [index, type] : llvm::enumerate(func.getArgumentTypes())) {
    if (isa<BatchType>(type)) {
      if (++batches > 1)
        return func.emitError() << "entry @" << func.getSymName() << ": argument " << index
                                << " is a second batch; an entry has at most 1";
      continue;
    }
    auto name = func.getArgAttrOfType<StringAttr>(index, kNameAttr);
    if (!name)
      return func.emitError() << "entry @" << func.getSymName() << ": argument " << index
                              << " has no " << kNameAttr;
    if (!names.insert(name.getValue()).second)
      return func.emitError() << "entry @" << func.getSymName() << ": argument " << index
                              << " repeats the name '" << name.getValue() << "'";
  }
  for (unsigned index = 0; index < func.getNumResults(); ++index) {
    auto name = func.getResultAttrOfType<StringAttr>(index, kNameAttr);
    if (!name)
      return func.emitError() << "entry @" << func.getSymName() << ": result " << index
                              << " has no " << kNameAttr;
    if (!names.insert(name.getValue()).second)
      return func.emitError() << "entry @" << func.getSymName() << ": result " << index
                              << " repeats the name '" << name.getValue() << "'";
  }
  return success();
}

/// Ranks along one axis of a mesh, as the loader of plans takes them.
static constexpr int64_t kMostRanks = 1 << 16;

/// A dictionary on the module that has these keys and no other, each from 1 to `most`.
static LogicalResult verifyIntegerDictionary(Operation *op, NamedAttribute attr,
                                             ArrayRef<StringRef> required, int64_t most) {
  auto dictionary = dyn_cast<DictionaryAttr>(attr.getValue());
  if (!isa<ModuleOp>(op) || !dictionary)
    return op->emitError() << attr.getName().getValue()
                           << ": expected a dictionary on the module (got " << attr.getValue()
                           << ")";
  for (StringRef key : required) {
    auto value = dictionary.getAs<IntegerAttr>(key);
    if (!value)
      return op->emitError() << attr.getName().getValue() << ": '" << key
                             << "' is missing or no integer";
    if (!value.getType().isSignlessInteger(64))
      return op->emitError() << attr.getName().getValue() << ": expected '" << key
                             << "' to be a 64-bit integer (got " << value << ")";
    if (value.getInt() < 1)
      return op->emitError() << attr.getName().getValue() << ": expected '" << key
                             << "' to be at least 1 (got " << value.getInt() << ")";
    if (value.getInt() > most)
      return op->emitError() << attr.getName().getValue() << ": expected '" << key
                             << "' to be at most " << most << " (got " << value.getInt() << ")";
  }
  for (NamedAttribute entry : dictionary)
    if (!llvm::is_contained(required, entry.getName().getValue()))
      return op->emitError() << attr.getName().getValue() << ": unknown key '"
                             << entry.getName().getValue() << "' (expected "
                             << llvm::join(required, ", ") << ")";
  return success();
}

LogicalResult K3Dialect::verifyOperationAttribute(Operation *op, NamedAttribute attr) {
  StringRef name = attr.getName().getValue();
  if (name == kEntryAttr || name == kBucketAttr) {
    auto func = dyn_cast<func::FuncOp>(op);
    if (!func)
      return op->emitError() << name << ": belongs on a func.func (got " << op->getName() << ")";
    if (name == kEntryAttr)
      return verifyEntry(func, attr.getValue());
    if (!func->hasAttr(kEntryAttr))
      return op->emitError() << name << ": belongs on an entry; add " << kEntryAttr;
    return verifyInteger(op, attr, 1);
  }
  if (name == kLayerAttr) {
    if (!isa<func::CallOp>(op))
      return op->emitError() << name << ": belongs on a func.call (got " << op->getName() << ")";
    return verifyInteger(op, attr, 0);
  }
  if (name == kMeshAttr)
    return verifyIntegerDictionary(op, attr, {"tp", "ep", "pp"}, kMostRanks);
  if (name == kLimitsAttr)
    return verifyIntegerDictionary(
        op, attr, {"max_tokens", "max_seqs", "max_context", "max_logit_rows", "page_tokens"},
        std::numeric_limits<int32_t>::max());
  if (name == kNameAttr)
    return op->emitError() << name << ": belongs on an argument or a result of an entry";
  return success();
}

/// Of the attributes of this dialect only `k3.name` goes on arguments and results.
static LogicalResult verifyName(Operation *op, StringRef what, unsigned index,
                                NamedAttribute attr) {
  if (attr.getName() != kNameAttr)
    return op->emitError() << attr.getName().getValue() << ": does not belong on " << what << ' '
                           << index << "; only " << kNameAttr << " does";
  auto name = dyn_cast<StringAttr>(attr.getValue());
  if (!name || name.getValue().empty())
    return op->emitError() << kNameAttr << " of " << what << ' ' << index
                           << ": expected a string with a name in it (got " << attr.getValue()
                           << ")";
  return success();
}

LogicalResult K3Dialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argIndex,
                                                  NamedAttribute attr) {
  return verifyName(op, "argument", argIndex, attr);
}

LogicalResult K3Dialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned resultIndex,
                                                     NamedAttribute attr) {
  return verifyName(op, "result", resultIndex, attr);
}
