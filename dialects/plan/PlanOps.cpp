//===- PlanOps.cpp - Verifiers of the plan dialect ------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranges, alignment and the symbols that declarations and commands name.
//
//===----------------------------------------------------------------------===//

#include "dialects/plan/PlanOps.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace k3::host;

#define GET_OP_CLASSES
#include "dialects/plan/PlanOps.cpp.inc"

// ------------------------------------------------------------------------------------------------------ helpers

template <typename OpTy> static FailureOr<OpTy> lookup(Operation *op, SymbolTableCollection &symbols, FlatSymbolRefAttr name, StringRef what) {
  auto found = symbols.lookupNearestSymbolFrom<OpTy>(op, name);
  if (!found)
    return op->emitOpError() << "names " << what << " " << name << ", which is not declared";
  return found;
}

static LogicalResult checkBuffer(Operation *op, SymbolTableCollection &symbols, FlatSymbolRefAttr name) {
  return lookup<BufferOp>(op, symbols, name, "buffer");
}

static LogicalResult checkResults(Operation *op, AffineMap map, unsigned count, StringRef what) {
  if (map.getNumDims() != 0 || map.getNumResults() != count)
    return op->emitOpError() << "expected " << count << " expressions over symbols as " << what << " (got "
                             << map.getNumResults() << " over " << map.getNumDims() << " dimensions)";
  return success();
}

static LogicalResult checkArgs(Operation *op, SymbolTableCollection &symbols, ArrayAttr args) {
  for (auto [i, arg] : llvm::enumerate(args)) {
    if (auto buffer = dyn_cast<FlatSymbolRefAttr>(arg)) {
      if (failed(checkBuffer(op, symbols, buffer)))
        return failure();
    } else if (auto scalar = dyn_cast<AffineMapAttr>(arg)) {
      if (failed(checkResults(op, scalar.getValue(), 1, "a scalar argument")))
        return failure();
    } else {
      return op->emitOpError() << "argument " << i << " is neither a buffer nor an expression (got " << arg << ")";
    }
  }
  return success();
}

// ------------------------------------------------------------------------------------------------- declarations

LogicalResult SymbolOp::verify() {
  if (getUpper() < 1)
    return emitOpError() << "needs an upper bound of at least 1 (got " << getUpper() << ")";
  return success();
}

LogicalResult ArenaOp::verify() {
  if (getSize() < 0 || !llvm::isPowerOf2_64(getAlignment()))
    return emitOpError() << "needs a size of at least 0 and an alignment that is a power of two (got " << getSize()
                         << " and " << getAlignment() << ")";
  return success();
}

LogicalResult BufferOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto arena = lookup<ArenaOp>(*this, symbols, getArenaAttr(), "arena");
  if (failed(arena))
    return failure();
  if (getOffset() < 0 || getSize() < 0 || getOffset() % 64 != 0 || getOffset() + getSize() > (*arena).getSize())
    return emitOpError() << "takes bytes " << getOffset() << " to " << getOffset() + getSize() << " of arena " << getArenaAttr()
                         << " (expected a multiple of 64, and at most " << (*arena).getSize() << ")";
  return success();
}

LogicalResult StateOp::verifySymbolUses(SymbolTableCollection &symbols) { return checkBuffer(*this, symbols, getBufferAttr()); }

LogicalResult WeightOp::verifySymbolUses(SymbolTableCollection &symbols) { return checkBuffer(*this, symbols, getBufferAttr()); }

LogicalResult EntryOp::verify() {
  for (DictionaryAttr dictionary : {getInputs(), getOutputs()})
    for (NamedAttribute item : dictionary)
      if (!isa<FlatSymbolRefAttr>(item.getValue()))
        return emitOpError() << "binds " << item.getName() << " to " << item.getValue() << " (expected a buffer)";
  if (getKind() == EntryKind::Decode && getBucket() < 1)
    return emitOpError() << "of kind decode needs a bucket of at least 1 (got " << getBucket() << ")";
  return success();
}

// ----------------------------------------------------------------------------------------------------- commands

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = lookup<KernelOp>(*this, symbols, getKernelAttr(), "kernel");
  if (failed(kernel) || failed(checkResults(*this, getGrid(), 3, "the grid")) || failed(checkArgs(*this, symbols, getArgs())))
    return failure();
  ArrayRef<bool> params = (*kernel).getParams();
  if (params.size() != getArgs().size())
    return emitOpError() << "passes " << getArgs().size() << " arguments to " << getKernelAttr() << " (expected " << params.size() << ")";
  for (auto [i, param] : llvm::enumerate(params))
    if (param != isa<FlatSymbolRefAttr>(getArgs()[i]))
      return emitOpError() << "argument " << i << " of " << getKernelAttr() << " is " << (param ? "a scalar" : "a buffer")
                           << " (expected " << (param ? "a buffer" : "a scalar") << ")";
  return success();
}

LogicalResult CopyOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return success(succeeded(checkBuffer(*this, symbols, getSrcAttr())) && succeeded(checkBuffer(*this, symbols, getDstAttr())) &&
                 succeeded(checkResults(*this, getBytes(), 1, "the number of bytes")));
}

LogicalResult FillOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (getValue() < 0 || getValue() > 255)
    return emitOpError() << "fills with a byte (got " << getValue() << ")";
  return success(succeeded(checkBuffer(*this, symbols, getDstAttr())) && succeeded(checkResults(*this, getBytes(), 1, "the number of bytes")));
}

LogicalResult CollectiveOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return success(succeeded(checkBuffer(*this, symbols, getSrcAttr())) && succeeded(checkBuffer(*this, symbols, getDstAttr())) &&
                 succeeded(checkResults(*this, getCount(), 1, "the count")));
}

static LogicalResult checkEvent(Operation *op, int64_t event) {
  if (event < 0)
    return op->emitOpError() << "needs an event of at least 0 (got " << event << ")";
  return success();
}
LogicalResult RecordOp::verifySymbolUses(SymbolTableCollection &) { return checkEvent(*this, getEvent()); }
LogicalResult WaitOp::verifySymbolUses(SymbolTableCollection &) { return checkEvent(*this, getEvent()); }
LogicalResult HostCallOp::verifySymbolUses(SymbolTableCollection &symbols) { return checkArgs(*this, symbols, getArgs()); }
LogicalResult TapOp::verifySymbolUses(SymbolTableCollection &symbols) { return checkBuffer(*this, symbols, getBufferAttr()); }
