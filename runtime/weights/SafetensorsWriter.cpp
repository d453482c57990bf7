//===- SafetensorsWriter.cpp - Writing safetensors files --------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lays tensors out in the order of their names and writes to a neighbour file that is renamed at
// the end, so that a full disk leaves no half-written dump behind.
//
//===----------------------------------------------------------------------===//

#include "runtime/weights/SafetensorsWriter.h"

#include "runtime/weights/Safetensors.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

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

  const std::string temporary = path + ".partial";
  FILE *file = std::fopen(temporary.c_str(), "wb");
  if (!file)
    return Status::failed(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  unsigned char prefix[8];
  for (int i = 0; i < 8; ++i)
    prefix[i] = static_cast<unsigned char>(static_cast<uint64_t>(header.size()) >> (8 * i));
  bool good = std::fwrite(prefix, 1, 8, file) == 8 &&
              std::fwrite(header.data(), 1, header.size(), file) == header.size();
  for (const Entry *entry : order) {
    const void *bytes =
        entry->isInt ? static_cast<const void *>(entry->ints.data()) : entry->floats.data();
    const size_t count = entry->isInt ? entry->ints.size() : entry->floats.size();
    good = good && (count == 0 || std::fwrite(bytes, 4, count, file) == count);
  }
  int error = good ? 0 : errno;
  if (std::fclose(file) != 0 && !error)
    error = errno;
  if (!error && std::rename(temporary.c_str(), path.c_str()) != 0)
    error = errno;
  if (error || !good) {
    std::remove(temporary.c_str());
    return Status::failed(fmt::format("{}: cannot be written: {}", path, std::strerror(error)));
  }
  return Status::ok();
}
