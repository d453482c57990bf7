//===- Shard.cpp - Placement on the ranks of a mesh -----------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Puts the sizes of the mesh on the module. One rank holds everything, so nothing else changes;
// larger meshes are refused before any work is done for them.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace k3 {
#define GEN_PASS_DEF_SHARDPASS
#include "compiler/passes/Passes.h.inc"
} // namespace k3

namespace {

struct Shard : k3::impl::ShardPassBase<Shard> {
  using ShardPassBase::ShardPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    Builder builder(&getContext());
    SmallVector<NamedAttribute> mesh;
    for (auto [axis, size] : {std::pair<StringRef, int64_t>{"tp", tp}, {"ep", ep}, {"pp", pp}}) {
      if (failed(checkAxis(axis, size)))
        return signalPassFailure();
      mesh.push_back(builder.getNamedAttr(axis, builder.getI64IntegerAttr(size)));
    }
    module->setAttr(k3::model::kMeshAttr, builder.getDictionaryAttr(mesh));
  }

  /// Both the option and what an earlier run left on the module.
  LogicalResult checkAxis(StringRef axis, int64_t size) {
    if (auto given = getOperation()->getAttrOfType<DictionaryAttr>(k3::model::kMeshAttr))
      if (auto before = given.getAs<IntegerAttr>(axis); before && before.getInt() != size)
        return getOperation().emitError()
               << "--" << axis << ' ' << size << ": the module is made for another mesh (got "
               << size << ", expected " << before.getInt() << "); start from its configuration";
    if (size == 1)
      return success();
    return getOperation().emitError()
           << "--" << axis << ' ' << size << ": sharding over several ranks is not built yet (got "
           << size << ", expected 1); leave --" << axis << " out";
  }
};

} // namespace
