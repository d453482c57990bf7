//===- HandlePool.cpp - Numbered things with generations --------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The generation rises at each acquire and at each release, so its lowest bit says whether the
// thing is taken.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/HandlePool.h"

using namespace k3;

HandlePool::HandlePool(uint32_t count) : generations_(count, 0) {
  free_.reserve(count);
  for (uint32_t index = count; index-- > 0;)
    free_.push_back(index);
}

std::optional<Handle> HandlePool::acquire() {
  if (free_.empty())
    return std::nullopt;
  const uint32_t index = free_.back();
  free_.pop_back();
  return Handle{index, ++generations_[index]};
}

bool HandlePool::isCurrent(Handle handle) const {
  return handle.index < generations_.size() && generations_[handle.index] == handle.generation &&
         handle.generation % 2 == 1;
}

bool HandlePool::release(Handle handle) {
  if (!isCurrent(handle))
    return false;
  ++generations_[handle.index];
  free_.push_back(handle.index);
  return true;
}
