//===- Loops.cpp - Element loops ------------------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns expressions into loops over rows with vectors of eight along them. A remainder that does
// not fill a vector is computed element by element.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cpu/Kernel.h"

using namespace mlir;

namespace k3::cpu {

/// Calls `inner` with every index of the outer dimensions, the last one being zero.
static void loopOuter(Code &c, ArrayRef<int64_t> shape, ArrayRef<Value> limits,
                      SmallVector<Value> &index, llvm::function_ref<void()> inner) {
  unsigned d = index.size();
  if (d + 1 == shape.size()) {
    inner();
    return;
  }
  c.loop(c.index(0), limits.empty() ? c.index(shape[d]) : limits[d], 1, [&](Value i) {
    index.push_back(i);
    loopOuter(c, shape, limits, index, inner);
    index.pop_back();
  });
}

void KernelLowering::forEach(ArrayRef<int64_t> shape, ArrayRef<Value> limits,
                             llvm::function_ref<Value(ArrayRef<Value>)> safe,
                             llvm::function_ref<void(const Access &)> body) {
  SmallVector<Value> outer;
  loopOuter(c, shape, limits, outer, [&] {
    Access access;
    access.index = outer;
    access.index.push_back(c.index(0));
    Value end = limits.empty() ? c.index(shape.back()) : limits.back();
    Value vectorEnd = c.index(0);
    if (shape.back() >= kLanes) {
      Value extent = safe ? safe(access.index) : Value();
      vectorEnd = c.roundDown(extent ? c.min(end, extent) : end, kLanes);
    }
    auto loop = [&](Value from, Value to, int64_t width) {
      c.loop(from, to, width, [&](Value i) {
        access.index.back() = i;
        access.width = width;
        body(access);
      });
    };
    loop(c.index(0), vectorEnd, kLanes);
    loop(vectorEnd, end, 1);
  });
}

void KernelLowering::evaluate(Expr &expr, BufferExpr &into) {
  if (into.isDense() && expr.isFlat() && expr.rank() > 1) {
    forEach({expr.numElements()}, {}, nullptr, [&](const Access &linear) {
      Access access = linear;
      access.flat = true;
      access.index.insert(access.index.begin(), expr.rank() - 1, c.index(0));
      c.store(expr.at(c, access), into.pointer, linear.index.back(), into.element);
    });
    return;
  }
  forEach(
      expr.shape, {}, [&](ArrayRef<Value> index) { return expr.safeExtent(c, index); },
      [&](const Access &access) { into.store(c, expr.at(c, access), access.index); });
}

void KernelLowering::evaluateAll(MapExpr &expr, ArrayRef<std::shared_ptr<BufferExpr>> into) {
  forEach(
      expr.shape, {}, [&](ArrayRef<Value> index) { return expr.safeExtent(c, index); },
      [&](const Access &access) {
        for (auto [value, buffer] : llvm::zip_equal(expr.all(c, access), into))
          buffer->store(c, value, access.index);
      });
}

void KernelLowering::copy(BufferExpr &from, BufferExpr &into) { evaluate(from, into); }

} // namespace k3::cpu
