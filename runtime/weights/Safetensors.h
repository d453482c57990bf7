//===- Safetensors.h - Reading safetensors files ----------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the header of one safetensors file and trusts nothing in it: every offset, shape and name
// is checked before a byte of a tensor is read. The file stays open, and tensor bytes are read with
// pread, never mapped.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_WEIGHTS_SAFETENSORS_H
#define K3_RUNTIME_WEIGHTS_SAFETENSORS_H

#include "support/File.h"
#include "support/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k3 {

/// Element types that a checkpoint of this family may hold.
enum class ElementType : uint8_t { F32, BF16, F16, U8, I32, I64 };

/// Bytes of one element.
uint64_t elementSize(ElementType type);
/// The spelling of the file format: "BF16".
std::string_view elementTypeName(ElementType type);
/// "[3, 4]"
std::string shapeString(const std::vector<uint64_t> &shape);

/// One tensor of a file. `begin` counts from the start of the file, so that it can be given to
/// pread.
struct TensorInfo {
  std::string name;
  ElementType type = ElementType::F32;
  std::vector<uint64_t> shape;
  uint64_t begin = 0;
  uint64_t bytes = 0;

  /// Product of the shape; 1 for a scalar.
  uint64_t elements() const { return bytes / elementSize(type); }
};

/// The largest header that is read; the official K3 shards have 0.8 MB.
inline constexpr uint64_t MaxSafetensorsHeader = 100u << 20;

/// Parses HEADER, the JSON text after the 8 length bytes, of a file of FILE_SIZE bytes. The tensors
/// come back in the order of their bytes and cover all bytes after the header without gap or
/// overlap. FILE is for messages.
Result<std::vector<TensorInfo>> parseSafetensorsHeader(const std::string &file,
                                                       std::string_view header, uint64_t fileSize);

/// An open safetensors file. Reading is thread-safe.
class SafetensorsFile {
public:
  static Result<SafetensorsFile> open(const std::string &path);
  const std::string &path() const { return file_.path(); }
  const std::vector<TensorInfo> &tensors() const { return tensors_; }
  /// The tensor of that name, or null.
  const TensorInfo *find(std::string_view name) const;
  /// Reads bytes [OFFSET, OFFSET + SIZE) of TENSOR.
  Status read(const TensorInfo &tensor, uint64_t offset, void *to, uint64_t size) const;

private:
  SafetensorsFile(File file, std::vector<TensorInfo> tensors)
      : file_(std::move(file)), tensors_(std::move(tensors)) {}
  File file_;
  std::vector<TensorInfo> tensors_;
};

} // namespace k3

#endif // K3_RUNTIME_WEIGHTS_SAFETENSORS_H
