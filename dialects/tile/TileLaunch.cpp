//===- TileLaunch.cpp - The rules of a launch -----------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks a launch against the kernel that its symbol names. The values of an entry may be of a
// dialect that tile does not know (states, caches), so only tensors and indices are compared in
// full.
//
//===----------------------------------------------------------------------===//

#include "dialects/tile/TileOps.h"

using namespace mlir;
using namespace k3::tile;

/// Whether a kernel parameter can stand for the tensor: the same element and extents, and a view
/// with a dynamic first extent takes any number of rows, or, of two extents, equal parts of rows.
static bool accepts(ViewType view, RankedTensorType tensor) {
  ArrayRef<int64_t> want = view.getShape(), got = tensor.getShape();
  if (view.getElementType() == tensor.getElementType() && want.size() == 2 && got.size() == 2 &&
      ShapedType::isDynamic(want[0]) && !ShapedType::isDynamic(want[1]) && got[1] % want[1] == 0)
    return true;
  return view.getElementType() == tensor.getElementType() && want.size() == got.size() &&
         want.drop_front() == got.drop_front() &&
         (want.front() == got.front() || ShapedType::isDynamic(want.front()));
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  Operation *symbol = symbolTable.lookupNearestSymbolFrom(*this, getKernelAttr());
  if (!symbol)
    return emitOpError() << "kernel @" << getKernel() << ": not found in this module";
  auto kernel = dyn_cast<KernelOp>(symbol);
  if (!kernel)
    return emitOpError() << "kernel @" << getKernel() << ": is no kernel (got " << symbol->getName()
                         << ", expected tile.kernel)";

  ArrayRef<Type> parameters = kernel.getArgumentTypes();
  size_t count = getInputs().size() + getNumResults();
  if (parameters.size() != count)
    return emitOpError() << "kernel @" << getKernel() << ": wrong number of arguments (got "
                         << getInputs().size() << " inputs and " << getNumResults()
                         << " results, expected " << parameters.size() << " together)";
  for (auto [index, result] : llvm::enumerate(getResultTypes()))
    if (!isa<RankedTensorType>(result))
      return emitOpError() << "result " << index << ": must be a ranked tensor (got " << result
                           << ")";

  SmallVector<Type> given(getInputs().getTypes());
  llvm::append_range(given, getResultTypes());
  for (auto [index, type, parameter] : llvm::enumerate(given, parameters)) {
    bool fits;
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      fits = isa<ViewType>(parameter) && accepts(cast<ViewType>(parameter), tensor);
    else if (type.isIndex())
      fits = parameter.isIndex();
    else
      fits = isa<ViewType>(parameter);
    if (!fits)
      return emitOpError() << "kernel @" << getKernel() << ", parameter " << index
                           << ": type does not fit (got " << type << ", expected " << parameter
                           << ")";
  }
  return success();
}
