//===- HandlePool.h - Numbered things with generations ----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Hands out state slots and cache pages from a fixed pool. A handle carries the generation of its
// thing, so that one that was given back cannot reach what now belongs to another sequence.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_EXEC_HANDLEPOOL_H
#define K3_RUNTIME_EXEC_HANDLEPOOL_H

#include <cstdint>
#include <optional>
#include <vector>

namespace k3 {

struct Handle {
  uint32_t index = 0;
  uint32_t generation = 0;
  bool operator==(const Handle &) const = default;
};

class HandlePool {
public:
  explicit HandlePool(uint32_t count);

  /// The free thing that was given back last (at first: the lowest index), or nothing when all are
  /// taken.
  std::optional<Handle> acquire();
  /// Gives a thing back. False, without an effect, when the handle is not the present owner's.
  bool release(Handle handle);
  bool isCurrent(Handle handle) const;

  uint32_t size() const { return static_cast<uint32_t>(generations_.size()); }
  uint32_t available() const { return static_cast<uint32_t>(free_.size()); }

private:
  std::vector<uint32_t> generations_; // odd: taken
  std::vector<uint32_t> free_;        // a stack
};

} // namespace k3

#endif // K3_RUNTIME_EXEC_HANDLEPOOL_H
