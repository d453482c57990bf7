//===- SafetensorsWriter.h - Writing safetensors files ----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects F32 and I32 tensors and writes them as one safetensors file, for `--dump`. The file
// is the old one or the new one, never a part.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_WEIGHTS_SAFETENSORSWRITER_H
#define K3_RUNTIME_WEIGHTS_SAFETENSORSWRITER_H

#include "support/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace k3 {

class SafetensorsWriter {
public:
  /// Adds a tensor. VALUES has as many elements as the product of SHAPE.
  void add(std::string name, std::vector<uint64_t> shape, std::vector<float> values);
  void add(std::string name, std::vector<uint64_t> shape, std::vector<int32_t> values);
  /// Writes the tensors, sorted by name, to PATH. Refuses two tensors of one name.
  Status write(const std::string &path) const;

private:
  struct Entry {
    std::string name;
    std::vector<uint64_t> shape;
    std::vector<float> floats;
    std::vector<int32_t> ints;
    bool isInt;
  };
  std::vector<Entry> entries_;
};

} // namespace k3

#endif // K3_RUNTIME_WEIGHTS_SAFETENSORSWRITER_H
