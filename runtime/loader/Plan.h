//===- Plan.h - A plan in memory, checked -----------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only way a plan enters the runtime. Whoever holds a LoadedPlan may follow every index, offset
// and expression in it without looking: header, hashes, structure and meaning have all been
// checked.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_LOADER_PLAN_H
#define K3_RUNTIME_LOADER_PLAN_H

#include "runtime/loader/PlanFormat.h"
#include "runtime/loader/Validate.h"
#include "runtime/schema/plan_generated.h"
#include "support/Status.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace k3 {

/// Memory on a 64-byte border, as the alignment check of flatbuffers needs it.
class AlignedBytes {
public:
  /// Fails when there is no memory, instead of throwing.
  static Result<AlignedBytes> allocate(uint64_t size, const std::string &forWhat);

  uint8_t *data() { return bytes_.get(); }
  std::string_view view() const { return {reinterpret_cast<const char *>(bytes_.get()), size_}; }

private:
  struct Free {
    void operator()(uint8_t *bytes) const { std::free(bytes); }
  };
  std::unique_ptr<uint8_t, Free> bytes_;
  uint64_t size_ = 0;
};

/// Can be moved; references into it stay valid.
class LoadedPlan {
public:
  const plan::Plan &plan() const { return *plan_; }
  const std::string &path() const { return path_; }
  uint64_t fileSize() const { return bytes_.view().size(); }
  /// The bytes of segment INDEX, valid as long as this object.
  std::string_view segment(uint32_t index) const;
  /// The largest value that expression EXPR can take.
  int64_t upperBound(uint32_t expr) const { return ranges_[expr].high; }
  /// Product of the upper bounds of the dimensions.
  uint64_t elements(const plan::Buffer &buffer) const;

private:
  friend Result<LoadedPlan> checkPlan(AlignedBytes bytes, std::string path);
  LoadedPlan() = default;

  std::string path_;
  AlignedBytes bytes_;
  const plan::Plan *plan_ = nullptr;
  std::vector<ExprRange> ranges_;
};

/// Reads and checks the plan at PATH. Everything that is wrong with it is one sentence: `PATH:
/// section 'kernels': ...`.
Result<LoadedPlan> loadPlan(const std::string &path);

/// The same for bytes in memory; PATH is what messages call them.
Result<LoadedPlan> parsePlan(std::string_view bytes, std::string path);

/// Refuses a plan that the machine at hand cannot run: another device, another architecture,
/// missing CPU features.
Status checkTarget(const LoadedPlan &plan);

} // namespace k3

#endif // K3_RUNTIME_LOADER_PLAN_H
