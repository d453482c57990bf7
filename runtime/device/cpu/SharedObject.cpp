//===- SharedObject.cpp - Native code out of memory -------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The descriptor stays open as long as the object: the dynamic loader knows objects by their path,
// and a reused descriptor number would make it hand out the code of another plan.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/SharedObject.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace k3;

Result<SharedObject> SharedObject::open(std::string_view bytes, const std::string &name) {
  SharedObject object;
  object.name_ = name;
  object.fd_ = ::memfd_create("k3-kernels", MFD_CLOEXEC);
  if (object.fd_ < 0)
    return Status::failed(
        fmt::format("{}: no memory file for the kernels: {}", name, std::strerror(errno)));
  while (!bytes.empty()) {
    const ssize_t written = ::write(object.fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return Status::failed(
          fmt::format("{}: cannot place the kernels in memory: {}", name, std::strerror(errno)));
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  const std::string path = fmt::format("/proc/self/fd/{}", object.fd_);
  object.handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!object.handle_) {
    const char *reason = ::dlerror();
    return Status::failed(fmt::format("{}: the dynamic loader refuses the kernels: {}", name,
                                      reason ? reason : "no reason given"));
  }
  return object;
}

SharedObject::SharedObject(SharedObject &&other) noexcept
    : name_(std::move(other.name_)), handle_(std::exchange(other.handle_, nullptr)),
      fd_(std::exchange(other.fd_, -1)) {}

SharedObject &SharedObject::operator=(SharedObject &&other) noexcept {
  std::swap(name_, other.name_);
  std::swap(handle_, other.handle_);
  std::swap(fd_, other.fd_);
  return *this;
}

SharedObject::~SharedObject() {
  if (handle_)
    ::dlclose(handle_);
  if (fd_ >= 0)
    ::close(fd_);
}

Result<void *> SharedObject::symbol(const std::string &name) const {
  ::dlerror();
  void *address = ::dlsym(handle_, name.c_str());
  if (!address)
    return Status::refused(fmt::format(
        "{}: kernel '{}' is not exported by its image; the plan is inconsistent, compile it again",
        name_, name));
  return address;
}
