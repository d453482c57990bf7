//===- Verify.cpp - Checks of a whole k3 module ---------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks every function once for symbols and shapes, and once over the calls for layers. Types are
// shared, so each distinct type is looked at once however often it occurs.
//
//===----------------------------------------------------------------------===//

#include "dialects/k3/Verify.h"
#include "dialects/k3/K3Check.h"
#include "dialects/k3/K3Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace k3::model;

namespace {

class ModuleVerifier {
public:
  explicit ModuleVerifier(ModuleOp module) : module(module) {}
  LogicalResult run();

private:
  LogicalResult verifyType(Operation *op, Type type);
  LogicalResult verifySymbol(Operation *op, StringRef symbol);
  LogicalResult verifyTypes(func::FuncOp func);
  LogicalResult verifyCalls(func::FuncOp func);
  LogicalResult verifyNoCycle(func::FuncOp func);

  ModuleOp module;
  llvm::StringSet<> symbols;
  llvm::DenseSet<Type> sound;
  /// First op of a function that needs a layer, for functions with one.
  llvm::DenseMap<func::FuncOp, Operation *> layered;
  llvm::DenseMap<StringRef, func::FuncOp> functions;
  llvm::DenseSet<Operation *> onPath, finished;
};

/// The name that an op uses with the layer in it, or nothing.
StringRef layeredName(Operation *op) {
  StringRef name;
  if (auto weight = dyn_cast<WeightOp>(op))
    name = weight.getParam();
  else if (auto ref = dyn_cast<RefOp>(op))
    name = ref.getState();
  else if (auto tap = dyn_cast<TapOp>(op))
    name = tap.getName();
  return name.contains(kLayerPlaceholder) ? name : StringRef();
}

LogicalResult ModuleVerifier::verifySymbol(Operation *op, StringRef symbol) {
  if (symbol.empty() || symbols.contains(symbol))
    return success();
  return op->emitError() << "symbol @" << symbol << " has no upper bound; declare k3.symbol @"
                         << symbol << " <= N";
}

LogicalResult ModuleVerifier::verifyType(Operation *op, Type type) {
  if (sound.contains(type))
    return success();
  if (std::optional<std::string> fault = findShapeFault(type))
    return op->emitError() << type << ": " << *fault;
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    if (failed(verifySymbol(op, rowsOf(tensor).symbol)))
      return failure();
  } else if (auto stack = dyn_cast<StackType>(type)) {
    if (failed(verifySymbol(op, stack.getTokens())))
      return failure();
  } else if (auto batch = dyn_cast<BatchType>(type)) {
    if (failed(verifySymbol(op, batch.getTokens())) || failed(verifySymbol(op, batch.getSeqs())))
      return failure();
  }
  sound.insert(type);
  return success();
}

LogicalResult ModuleVerifier::verifyTypes(func::FuncOp func) {
  for (TypeRange types : {TypeRange(func.getArgumentTypes()), TypeRange(func.getResultTypes())})
    for (Type type : types)
      if (failed(verifyType(func, type)))
        return failure();
  WalkResult walked = func.walk([&](Operation *op) -> WalkResult {
    for (Type type : op->getResultTypes())
      if (failed(verifyType(op, type)))
        return WalkResult::interrupt();
    if (!layeredName(op).empty())
      layered.try_emplace(func, op);
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult ModuleVerifier::verifyCalls(func::FuncOp func) {
  WalkResult walked = func.walk([&](func::CallOp call) -> WalkResult {
    auto found = functions.find(call.getCallee());
    if (found == functions.end())
      return call.emitError() << "@" << call.getCallee() << " is not a function of this module";
    func::FuncOp callee = found->second;
    if (callee.isDeclaration())
      return call.emitError() << "@" << call.getCallee()
                              << " has no body; calls are inlined, so it needs one";
    if (callee->hasAttr(kEntryAttr))
      return call.emitError()
             << "@" << call.getCallee()
             << " is an entry; only a run calls entries, so call a private function";
    Operation *use = layered.lookup(callee);
    if (use && !call->hasAttr(kLayerAttr))
      return call.emitError() << "@" << call.getCallee() << " uses '" << layeredName(use)
                              << "' but the call has no layer; add " << kLayerAttr;
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

/// Calls are inlined, so a function that reaches itself would never end.
LogicalResult ModuleVerifier::verifyNoCycle(func::FuncOp func) {
  if (finished.contains(func))
    return success();
  if (!onPath.insert(func).second)
    return func.emitError() << "@" << func.getSymName()
                            << " calls itself; calls are inlined, so they may not form a circle";
  WalkResult walked = func.walk([&](func::CallOp call) {
    return WalkResult(verifyNoCycle(functions.lookup(call.getCallee())));
  });
  onPath.erase(func);
  finished.insert(func);
  return failure(walked.wasInterrupted());
}

LogicalResult ModuleVerifier::run() {
  for (auto symbol : module.getOps<SymbolOp>())
    symbols.insert(symbol.getSymName());
  for (auto func : module.getOps<func::FuncOp>()) {
    functions[func.getSymName()] = func;
    if (failed(verifyTypes(func)))
      return failure();
    if (Operation *use = layered.lookup(func); use && func->hasAttr(kEntryAttr))
      return use->emitError() << "'" << layeredName(use) << "' needs a layer, but entry @"
                              << func.getSymName()
                              << " stands for none; use it in a private function called with "
                              << kLayerAttr;
  }
  for (auto func : module.getOps<func::FuncOp>())
    if (failed(verifyCalls(func)))
      return failure();
  for (auto func : module.getOps<func::FuncOp>())
    if (failed(verifyNoCycle(func)))
      return failure();
  return success();
}

} // namespace

LogicalResult k3::model::verifyModule(ModuleOp module) { return ModuleVerifier(module).run(); }
