//===- SafetensorsWriter.cpp - Writing safetensors files --------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lays tensors out in the order of their names and hands the pieces to the writer of files as they
// lie, so that a dump is never held twice.
//
//===----------------------------------------------------------------------===//

#include "runtime/weights/SafetensorsWriter.h"

#include "runtime/weights/Safetensors.h"
#include "support/File.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

using namespace k3;

static uint64_t product(const std::vector<uint64_t> &shape) {
  uint64_t elements = 1;
  for (uint64_t extent : shape)
    elements *= extent;
  return elements;
}

void SafetensorsWriter::add(std::string name, std::vector<uint64_t> shape,
                            std::vector<float> values) {
  assert(product(shape) == values.size() && "a tensor needs as many values as its shape says");
  entries_.push_back({std::move(name), std::move(shape), std::move(values), {}, false});
}

void SafetensorsWriter::add(std::string name, std::vector<uint64_t> shape,
                            std::vector<int32_t> values) {
  assert(product(shape) == values.size() && "a tensor needs as many values as its shape says");
  entries_.push_back({std::move(name), std::move(shape), {}, std::move(values), true});
}

Status SafetensorsWriter::write(const std::string &path) const {
  std::vector<const Entry *> order;
  for (const Entry &entry : entries_)
    order.push_back(&entry);
  std::sort(order.begin(), order.end(),
            [](const Entry *a, const Entry *b) { return a->name < b->name; });
  // A reader would refuse the file; names come from plans, and a plan may use one for two things.
  for (size_t i = 1; i < order.size(); ++i) {
    if (order[i]->name == order[i - 1]->name)
      return Status::refused(fmt::format("{}: two tensors are called '{}' (expected unique names); "
                                         "rename an output, a tap or a state of the plan",
                                         path, order[i]->name));
  }

  std::string header = "{";
  uint64_t at = 0;
  for (const Entry *entry : order) {
    const uint64_t end = at + product(entry->shape) * 4;
    header += fmt::format(
        "{}{}:{{\"dtype\":\"{}\",\"shape\":{},\"data_offsets\":[{},{}]}}",
        at || header.size() > 1 ? "," : "",
        nlohmann::json(entry->name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
        entry->isInt ? "I32" : "F32", shapeString(entry->shape), at, end);
    at = end;
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');

  char prefix[8];
  for (int i = 0; i < 8; ++i)
    prefix[i] = static_cast<char>(static_cast<uint64_t>(header.size()) >> (8 * i));
  std::vector<std::string_view> parts = {{prefix, sizeof(prefix)}, header};
  for (const Entry *entry : order) {
    const std::span<const std::byte> bytes = entry->isInt ? std::as_bytes(std::span(entry->ints))
                                                          : std::as_bytes(std::span(entry->floats));
    parts.emplace_back(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  }
  return writeFileAtomic(path, parts);
}
