//===- safetensors_fuzz.cpp - Fuzzing the safetensors reader ----*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives arbitrary bytes to the header parser as if they were a file. Whatever it accepts must
// describe ranges inside the file that do not overlap.
//
//===----------------------------------------------------------------------===//

#include "runtime/weights/Safetensors.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // The first two bytes choose how many bytes of tensors follow the header.
  if (size < 2)
    return 0;
  uint16_t tensorBytes;
  std::memcpy(&tensorBytes, data, 2);
  const std::string_view header(reinterpret_cast<const char *>(data) + 2, size - 2);
  const uint64_t fileSize = 8 + header.size() + tensorBytes;
  auto tensors = k3::parseSafetensorsHeader("fuzz", header, fileSize);
  if (!tensors)
    return 0;
  uint64_t at = 8 + header.size();
  for (const k3::TensorInfo &tensor : *tensors) {
    if (tensor.begin != at || tensor.bytes > fileSize - at ||
        tensor.elements() * k3::elementSize(tensor.type) != tensor.bytes)
      std::abort();
    at += tensor.bytes;
  }
  if (at != fileSize)
    std::abort();
  return 0;
}
