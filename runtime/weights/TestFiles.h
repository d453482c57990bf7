//===- TestFiles.h - Small checkpoints for tests ----------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A temporary folder, and safetensors bytes from a list of tensors. Written apart from the
// product's own writer, so that reader and writer cannot be wrong in the same way.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_WEIGHTS_TESTFILES_H
#define K3_RUNTIME_WEIGHTS_TESTFILES_H

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace k3 {

/// A folder that goes away with the object.
class TestFolder {
public:
  TestFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "k3-test-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~TestFolder() { std::filesystem::remove_all(root_); }
  TestFolder(const TestFolder &) = delete;
  TestFolder &operator=(const TestFolder &) = delete;

  std::string path(const std::string &name) const {
    return name.empty() ? root_ : root_ + "/" + name;
  }
  void write(const std::string &name, const std::string &bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  void remove(const std::string &name) const { std::filesystem::remove(path(name)); }

private:
  std::string root_;
};

struct TestTensor {
  std::string name, dtype;
  std::vector<uint64_t> shape;
  std::string bytes;
};

/// The bytes of VALUES.
template <typename T> std::string bytesOf(const std::vector<T> &values) {
  return std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
}

inline std::string safetensorsBytes(const std::vector<TestTensor> &tensors) {
  std::string header = "{", data;
  for (const TestTensor &tensor : tensors) {
    header += header.size() > 1 ? ",\"" : "\"";
    header += tensor.name;
    header += "\":{\"dtype\":\"";
    header += tensor.dtype;
    header += "\",\"shape\":[";
    for (size_t i = 0; i < tensor.shape.size(); ++i)
      header.append(i ? "," : "").append(std::to_string(tensor.shape[i]));
    header.append("],\"data_offsets\":[").append(std::to_string(data.size())).append(",");
    data += tensor.bytes;
    header.append(std::to_string(data.size())).append("]}");
  }
  header += "}";
  const uint64_t length = header.size();
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  return file + header + data;
}

} // namespace k3

#endif // K3_RUNTIME_WEIGHTS_TESTFILES_H
