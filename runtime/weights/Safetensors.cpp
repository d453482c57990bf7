//===- Safetensors.cpp - Reading safetensors files --------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The header is read as a stream of JSON events, because a tree keeps neither duplicate names nor
// the difference between 1 and 1.0. Structure comes first, then the ranges, then the cover of the
// file.
//
//===----------------------------------------------------------------------===//

#include "runtime/weights/Safetensors.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unordered_set>
#include <utility>

using namespace k3;

namespace {

struct TypeName {
  std::string_view name;
  ElementType type;
  uint64_t size;
};

constexpr TypeName Types[] = {
    {"F32", ElementType::F32, 4}, {"BF16", ElementType::BF16, 2}, {"F16", ElementType::F16, 2},
    {"U8", ElementType::U8, 1},   {"I32", ElementType::I32, 4},   {"I64", ElementType::I64, 8},
};

/// Collects tensors from JSON events. Levels: 0 outside, 1 the object of names, 2 one tensor or the
/// metadata, 3 a list.
class HeaderEvents {
public:
  std::vector<TensorInfo> tensors;
  std::string error;

  bool null() { return unexpected("null"); }
  bool boolean(bool) { return unexpected("a boolean"); }
  bool number_integer(int64_t value) { return unexpected(fmt::format("the number {}", value)); }
  bool number_float(double, const std::string &text) { return unexpected("the number " + text); }
  bool binary(nlohmann::json::binary_t &) { return unexpected("binary data"); }

  bool number_unsigned(uint64_t value) {
    if (level_ != 3)
      return unexpected(fmt::format("the number {}", value));
    std::vector<uint64_t> &list = key_ == "shape" ? tensors.back().shape : offsets_;
    if (list.size() >= 64)
      return fail("has a list of more than 64 numbers");
    list.push_back(value);
    return true;
  }

  bool string(std::string &value) {
    if (level_ == 2 && metadata_)
      return true;
    if (level_ != 2 || key_ != "dtype")
      return unexpected("the string \"" + value + "\"");
    for (const TypeName &known : Types) {
      if (known.name == value) {
        tensors.back().type = known.type;
        return true;
      }
    }
    return fail(fmt::format(
        "has an unknown element type (got \"{}\", expected F32, BF16, F16, U8, I32 or I64)",
        value));
  }

  bool start_object(size_t) {
    if (level_ == 0) {
      level_ = 1;
      return true;
    }
    if (level_ != 1)
      return unexpected("an object");
    level_ = 2;
    metadata_ = name_ == "__metadata__";
    keys_ = 0;
    offsets_.clear();
    if (!metadata_) {
      tensors.emplace_back();
      tensors.back().name = name_;
    }
    return true;
  }

  bool key(std::string &value) {
    if (level_ == 1) {
      name_ = value;
      key_.clear();
      if (!names_.insert(value).second)
        return fail("appears twice");
      return true;
    }
    key_ = value;
    if (metadata_)
      return true;
    unsigned bit = value == "dtype"          ? 1u
                   : value == "shape"        ? 2u
                   : value == "data_offsets" ? 4u
                                             : 0u;
    if (!bit)
      return fail(fmt::format("has the unknown key \"{}\"", value));
    if (keys_ & bit)
      return fail(fmt::format("has the key \"{}\" twice", value));
    keys_ |= bit;
    return true;
  }

  bool end_object() {
    if (level_ == 2 && !metadata_) {
      if (keys_ != 7)
        return fail("lacks one of dtype, shape and data_offsets");
      if (offsets_.size() != 2)
        return fail(fmt::format("has {} data_offsets (expected 2)", offsets_.size()));
      // Offsets from the start of the tensor bytes; the caller moves and checks them.
      tensors.back().begin = offsets_[0];
      tensors.back().bytes = offsets_[1];
    }
    --level_;
    return true;
  }

  bool start_array(size_t) {
    if (level_ != 2 || metadata_ || key_ == "dtype")
      return unexpected("a list");
    level_ = 3;
    return true;
  }

  bool end_array() {
    level_ = 2;
    return true;
  }

  bool parse_error(size_t position, const std::string &, const nlohmann::detail::exception &) {
    error = fmt::format("the header is not valid JSON (at byte {} of it)", position);
    return false;
  }

private:
  bool fail(std::string what) {
    error = fmt::format("tensor '{}': {}", name_, what);
    return false;
  }
  bool unexpected(std::string what) {
    if (level_ == 0)
      error = fmt::format("the header is not an object (got {})", what);
    else
      return fail(fmt::format("has {} at \"{}\"", what, key_));
    return false;
  }

  int level_ = 0;
  bool metadata_ = false;
  unsigned keys_ = 0;
  std::string name_, key_;
  std::vector<uint64_t> offsets_;
  std::unordered_set<std::string> names_;
};

} // namespace

uint64_t k3::elementSize(ElementType type) { return Types[static_cast<size_t>(type)].size; }

std::string_view k3::elementTypeName(ElementType type) {
  return Types[static_cast<size_t>(type)].name;
}

std::string k3::shapeString(const std::vector<uint64_t> &shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

Result<std::vector<TensorInfo>>
k3::parseSafetensorsHeader(const std::string &file, std::string_view header, uint64_t fileSize) {
  HeaderEvents events;
  if (!nlohmann::json::sax_parse(header.begin(), header.end(), &events)) {
    return Status::refused(
        fmt::format("{}: {}; the file is damaged or not safetensors", file, events.error));
  }
  const uint64_t base = 8 + header.size();
  const uint64_t dataSize = fileSize - base;
  for (TensorInfo &tensor : events.tensors) {
    const uint64_t begin = tensor.begin, end = tensor.bytes;
    if (begin > end) {
      return Status::refused(fmt::format("{}: tensor '{}': its data_offsets fall (got {} to {})",
                                         file, tensor.name, begin, end));
    }
    uint64_t need = elementSize(tensor.type);
    bool overflow = false;
    // A zero anywhere makes the product zero, so it must not hide behind an overflow of the others.
    if (std::find(tensor.shape.begin(), tensor.shape.end(), 0u) != tensor.shape.end())
      need = 0;
    for (uint64_t extent : tensor.shape)
      overflow |= __builtin_mul_overflow(need, extent, &need);
    if (overflow || need != end - begin) {
      return Status::refused(fmt::format(
          "{}: tensor '{}': {} of shape {} does not fill its data_offsets (got {} bytes, expected "
          "{})",
          file, tensor.name, elementTypeName(tensor.type), shapeString(tensor.shape), end - begin,
          overflow ? std::string("more than 2^64") : std::to_string(need)));
    }
    if (end > dataSize) {
      uint64_t expected = 0;
      for (const TensorInfo &other : events.tensors)
        expected =
            std::max(expected, &other < &tensor ? other.begin - base + other.bytes : other.bytes);
      return Status::refused(fmt::format(
          "{}: the file is truncated: tensor '{}' ends beyond it (got {} bytes, expected {}); "
          "fetch the file again",
          file, tensor.name, fileSize,
          expected > UINT64_MAX - base ? UINT64_MAX : base + expected));
    }
    tensor.begin = base + begin;
    tensor.bytes = end - begin;
  }
  std::sort(events.tensors.begin(), events.tensors.end(),
            [](const TensorInfo &a, const TensorInfo &b) {
              return std::tie(a.begin, a.bytes, a.name) < std::tie(b.begin, b.bytes, b.name);
            });
  uint64_t at = base;
  const TensorInfo *last = nullptr;
  for (const TensorInfo &tensor : events.tensors) {
    if (tensor.begin < at) {
      return Status::refused(
          fmt::format("{}: tensors '{}' and '{}' overlap by {} bytes; the file is damaged", file,
                      last->name, tensor.name, at - tensor.begin));
    }
    if (tensor.begin > at) {
      return Status::refused(
          fmt::format("{}: {} bytes before tensor '{}' belong to no tensor; the file is damaged",
                      file, tensor.begin - at, tensor.name));
    }
    at = tensor.begin + tensor.bytes;
    last = &tensor;
  }
  if (at != fileSize) {
    return Status::refused(fmt::format(
        "{}: {} bytes at the end belong to no tensor (got a file of {} bytes, expected {}); "
        "the file is damaged",
        file, fileSize - at, fileSize, at));
  }
  return std::move(events.tensors);
}

Result<SafetensorsFile> SafetensorsFile::open(const std::string &path) {
  K3_ASSIGN_OR_RETURN(File file, File::open(path));
  const uint64_t size = file.size();
  if (size < 8)
    return Status::refused(fmt::format(
        "{}: too short for a safetensors file (got {} bytes, expected at least 8)", path, size));
  unsigned char prefix[8];
  K3_RETURN_IF_ERROR(file.readAt(0, prefix, 8));
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | prefix[i];
  if (length > size - 8) {
    return Status::refused(fmt::format(
        "{}: the header does not fit in the file (got a length of {} bytes, expected at most {}); "
        "the file is truncated or not safetensors",
        path, length, size - 8));
  }
  if (length > MaxSafetensorsHeader) {
    return Status::refused(
        fmt::format("{}: the header is too long (got {} bytes, expected at most {})", path, length,
                    MaxSafetensorsHeader));
  }
  std::string header(length, '\0');
  K3_RETURN_IF_ERROR(file.readAt(8, header.data(), length));
  K3_ASSIGN_OR_RETURN(std::vector<TensorInfo> tensors, parseSafetensorsHeader(path, header, size));
  return SafetensorsFile(std::move(file), std::move(tensors));
}

const TensorInfo *SafetensorsFile::find(std::string_view name) const {
  for (const TensorInfo &tensor : tensors_) {
    if (tensor.name == name)
      return &tensor;
  }
  return nullptr;
}

Status SafetensorsFile::read(const TensorInfo &tensor, uint64_t offset, void *to,
                             uint64_t size) const {
  if (offset > tensor.bytes || size > tensor.bytes - offset) {
    return Status::failed(
        fmt::format("{}: tensor '{}': bytes {} to {} lie outside of it (it has {})", file_.path(),
                    tensor.name, offset, offset + size, tensor.bytes));
  }
  return file_.readAt(tensor.begin + offset, to, size);
}
