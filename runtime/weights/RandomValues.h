//===- RandomValues.h - Tensors that nobody trained -------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random tensors of a checkpoint in the distributions that the tests' reference writes, for
// measuring a model whose checkpoint is not at hand. An element depends on the seed, the name of
// its tensor and its place alone, so parts can be made in any order, by any number of threads.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_WEIGHTS_RANDOMVALUES_H
#define K3_RUNTIME_WEIGHTS_RANDOMVALUES_H

#include "runtime/schema/plan_generated.h"
#include "support/Status.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace k3 {

/// One tensor of a checkpoint. A pair `x_packed`, `x_scale` of U8 holds the numbers of `x` in
/// MXFP4, rounded as in a real checkpoint: the two halves agree with each other.
class RandomTensor {
public:
  /// ROWLENGTH counts elements of TYPE (bytes, for U8) of one row of the tensor; the spread of a
  /// matrix follows from it. A type or name that no checkpoint of a text model has is refused.
  static Result<RandomTensor> create(uint64_t seed, std::string_view name, uint64_t rowLength,
                                     plan::DType type);

  /// Writes elements [FIRST, FIRST + COUNT) of the tensor, taken row by row, to TO.
  void fill(uint64_t first, uint64_t count, std::byte *to) const;

private:
  enum class Kind { Normal, Uniform, Codes, Scales };

  RandomTensor() = default;
  void numbers(uint64_t first, uint64_t count, float *to) const;
  uint8_t group(uint64_t number, uint8_t *codes) const;
  void fillNumbers(uint64_t first, uint64_t count, std::byte *to) const;
  void fillCodes(uint64_t first, uint64_t count, uint8_t *to) const;

  Kind kind_ = Kind::Normal;
  plan::DType type_ = plan::DType::BF16;
  uint64_t key_ = 0;
  float scale_ = 0; // of the integer that stands for a draw
  float shift_ = 0;
};

} // namespace k3

#endif // K3_RUNTIME_WEIGHTS_RANDOMVALUES_H
