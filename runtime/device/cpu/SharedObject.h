//===- SharedObject.h - Native code out of memory ---------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Opens the shared object that a CPU plan carries, without a file on disk: its bytes go into an
// anonymous memory file that the dynamic loader opens by its descriptor.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_DEVICE_CPU_SHAREDOBJECT_H
#define K3_RUNTIME_DEVICE_CPU_SHAREDOBJECT_H

#include "support/Status.h"

#include <string>
#include <string_view>

namespace k3 {

class SharedObject {
public:
  /// Opens the object in BYTES; NAME is for messages.
  static Result<SharedObject> open(std::string_view bytes, const std::string &name);
  SharedObject(SharedObject &&other) noexcept;
  SharedObject &operator=(SharedObject &&other) noexcept;
  ~SharedObject();

  /// The address of an exported symbol.
  Result<void *> symbol(const std::string &name) const;

private:
  SharedObject() = default;
  std::string name_;
  void *handle_ = nullptr;
  int fd_ = -1;
};

} // namespace k3

#endif // K3_RUNTIME_DEVICE_CPU_SHAREDOBJECT_H
