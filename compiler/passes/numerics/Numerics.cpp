//===- Numerics.cpp - Element types of activations, states and caches -----===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The importer writes every activation, conv state, cache and stack as bf16. For f32 this pass
// changes their types in one walk; weights keep the type of the checkpoint, and every op reads
// mixed types, so no cast is needed.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "dialects/k3/K3Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace k3 {
#define GEN_PASS_DEF_NUMERICSPASS
#include "compiler/passes/Passes.h.inc"
} // namespace k3

namespace {

using namespace k3::model;

/// The same type with f32 for bf16. Recurrent states are f32 already, i8 and i32 stay.
Type widen(Type type) {
  Type f32 = Float32Type::get(type.getContext());
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getElementType().isBF16() ? tensor.clone(f32) : tensor;
  if (auto conv = dyn_cast<ConvStateType>(type))
    return ConvStateType::get(type.getContext(), conv.getTaps(), conv.getChannels(), f32);
  if (auto cache = dyn_cast<LatentCacheType>(type))
    return LatentCacheType::get(type.getContext(), cache.getPage(), cache.getWidth(), f32);
  if (auto stack = dyn_cast<StackType>(type))
    return StackType::get(type.getContext(), stack.getCapacity(), stack.getHidden(), f32,
                          stack.getTokens(), stack.getRows());
  return type;
}

/// A body that takes a weight as argument would get it as an activation, in another type than its
/// storage.
LogicalResult refuseWeightArguments(ModuleOp module) {
  WalkResult walked = module.walk([](func::CallOp call) -> WalkResult {
    for (auto [index, operand] : llvm::enumerate(call.getOperands()))
      if (auto weight = operand.getDefiningOp<WeightOp>())
        return call.emitError() << "numerics: argument " << index << " of @" << call.getCallee()
                                << " is the weight @" << weight.getParam()
                                << "; use k3.weight inside of the function";
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

void widenValue(Value value) { value.setType(widen(value.getType())); }

void widenFunction(func::FuncOp func) {
  SmallVector<Type> arguments, results;
  for (Type type : func.getArgumentTypes())
    arguments.push_back(widen(type));
  for (Type type : func.getResultTypes())
    results.push_back(widen(type));
  func.setFunctionType(FunctionType::get(func.getContext(), arguments, results));
  func.walk([](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), widenValue);
    if (!isa<WeightOp>(op))
      llvm::for_each(op->getResults(), widenValue);
  });
  // What rounded to bf16 or back now changes nothing.
  func.walk([](CastOp cast) {
    if (cast.getX().getType() != cast.getResult().getType())
      return;
    cast.getResult().replaceAllUsesWith(cast.getX());
    cast.erase();
  });
}

struct Numerics : k3::impl::NumericsPassBase<Numerics> {
  using NumericsPassBase::NumericsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (dtype == "bf16")
      return;
    if (dtype != "f32") {
      module.emitError() << "--dtype " << dtype << ": unknown type (got '" << dtype
                         << "', expected bf16 or f32); leave --dtype out for bf16";
      return signalPassFailure();
    }
    if (failed(refuseWeightArguments(module)))
      return signalPassFailure();
    for (auto state : module.getOps<StateOp>())
      state.setType(widen(state.getType()));
    for (auto func : module.getOps<func::FuncOp>())
      widenFunction(func);
  }
};

} // namespace
