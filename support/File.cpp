//===- File.cpp - Files, read and replaced whole --------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Thin over open, pread, write and rename: loops over short transfers and interrupted calls live
// here once.
//
//===----------------------------------------------------------------------===//

#include "support/File.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace k3 {

namespace {

// Linux transfers at most this many bytes in one call.
constexpr uint64_t maxTransfer = 1u << 30;

std::string reason(int error) { return std::error_code(error, std::generic_category()).message(); }

using Parts = std::span<const std::string_view>;

Status writeAll(int descriptor, const std::string &path, Parts parts) {
  for (std::string_view bytes : parts) {
    while (!bytes.empty()) {
      ssize_t done =
          ::write(descriptor, bytes.data(), std::min<uint64_t>(bytes.size(), maxTransfer));
      if (done < 0 && errno == EINTR)
        continue;
      if (done < 0)
        return Status::failed(
            fmt::format("{}: cannot be written ({}, {} bytes left); check space and permissions",
                        path, reason(errno), bytes.size()));
      bytes.remove_prefix(static_cast<size_t>(done));
    }
  }
  return Status::ok();
}

std::string folderOf(const std::string &path) {
  const size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

/// What a link points to; PATH itself when there is none.
std::string resolved(const std::string &path) {
  char *target = ::realpath(path.c_str(), nullptr);
  const std::string result = target ? target : path;
  ::free(target);
  return result;
}

/// Calls MAKE with names beside PATH until one is free; NAME gets it. Negative with errno when
/// there can be none.
template <typename Make> int makeBeside(const std::string &path, std::string &name, Make make) {
  static std::atomic<uint64_t> next = 0;
  for (int attempt = 0; attempt < 100; ++attempt) {
    name = fmt::format("{}.{}-{}", path, ::getpid(), next++);
    const int made = make(name.c_str());
    if (made >= 0 || errno != EEXIST)
      return made;
  }
  return -1;
}

} // namespace

Result<File> File::open(const std::string &path) {
  // Without O_NONBLOCK, opening a named pipe by mistake would wait for a writer for ever.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return Status::refused(
        fmt::format("{}: cannot be opened ({}); check the path", path, reason(errno)));
  struct stat info;
  File file(path, descriptor, 0);
  if (::fstat(descriptor, &info) != 0)
    return Status::failed(fmt::format("{}: its size cannot be read ({}); check the file system",
                                      path, reason(errno)));
  if (S_ISDIR(info.st_mode))
    return Status::refused(
        fmt::format("{}: is not a file (got a folder, expected a file); check the path", path));
  if (!S_ISREG(info.st_mode))
    return Status::refused(fmt::format(
        "{}: is not a regular file (got a device or pipe, expected a file); check the path", path));
  file.size_ = static_cast<uint64_t>(info.st_size);
  return file;
}

File::File(File &&other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

File &File::operator=(File &&other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

File::~File() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

Status File::readAt(uint64_t offset, void *out, uint64_t size) const {
  if (offset > size_ || size > size_ - offset)
    return Status::refused(
        fmt::format("{}: is too short (got {} bytes, expected {} at offset {}); fetch it again",
                    path_, size_, size, offset));
  char *to = static_cast<char *>(out);
  while (size) {
    ssize_t done =
        ::pread(descriptor_, to, std::min(size, maxTransfer), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return Status::failed(fmt::format("{}: cannot be read at offset {} ({}); check the disk",
                                        path_, offset, reason(errno)));
    if (done == 0)
      return Status::failed(fmt::format(
          "{}: became shorter while it was read (got its end at {}, expected {} bytes); "
          "do not change it meanwhile",
          path_, offset, size_));
    to += done;
    offset += static_cast<uint64_t>(done);
    size -= static_cast<uint64_t>(done);
  }
  return Status::ok();
}

Result<std::string> readFile(const std::string &path, uint64_t maxBytes) {
  K3_ASSIGN_OR_RETURN(File file, File::open(path));
  if (file.size() > maxBytes)
    return Status::refused(
        fmt::format("{}: is too large (got {} bytes, expected at most {}); check the path", path,
                    file.size(), maxBytes));
  std::string bytes(file.size(), '\0');
  K3_RETURN_IF_ERROR(file.readAt(0, bytes.data(), bytes.size()));
  return bytes;
}

/// Devices and pipes are written as they are: replacing them would take them away from the system.
static Status writeInPlace(const std::string &path, Parts parts) {
  int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0)
    return Status::failed(
        fmt::format("{}: cannot be opened ({}); check its permissions", path, reason(errno)));
  Status status = writeAll(descriptor, path, parts);
  if (::close(descriptor) != 0 && status.isOk())
    status = Status::failed(fmt::format("{}: cannot be written ({}); check space and permissions",
                                        path, reason(errno)));
  return status;
}

Status writeFileAtomic(const std::string &target, std::span<const std::string_view> parts,
                       Staging staging) {
  // What a link points to is replaced, not the link.
  const std::string path = resolved(target);
  struct stat existing;
  if (::stat(path.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode) &&
      !S_ISDIR(existing.st_mode))
    return writeInPlace(path, parts);
  // The mode is that of any new file, which mkstemp would not give.
  std::string name;
  int descriptor = -1;
  if (staging == Staging::Anonymous)
    descriptor = ::open(folderOf(path).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  if (descriptor < 0)
    descriptor = makeBeside(path, name, [](const char *free) {
      return ::open(free, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    });
  if (descriptor < 0)
    return Status::failed(fmt::format(
        "{}: cannot be created ({}); check the folder and its permissions", path, reason(errno)));
  Status status = writeAll(descriptor, path, parts);
  // A link cannot replace a file, so it gets a name first, and only now that it is whole.
  if (status.isOk() && name.empty()) {
    const std::string self = fmt::format("/proc/self/fd/{}", descriptor);
    if (makeBeside(path, name, [&](const char *free) {
          return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, free, AT_SYMLINK_FOLLOW);
        }) < 0) {
      status = Status::failed(fmt::format(
          "{}: cannot be named ({}); check the folder and its permissions", path, reason(errno)));
      name.clear();
    }
  }
  if (::close(descriptor) != 0 && status.isOk())
    status = Status::failed(fmt::format("{}: cannot be written ({}); check space and permissions",
                                        path, reason(errno)));
  if (status.isOk() && ::rename(name.c_str(), path.c_str()) != 0)
    status = Status::failed(fmt::format(
        "{}: cannot be replaced ({}); check the folder and its permissions", path, reason(errno)));
  if (!status.isOk() && !name.empty())
    ::unlink(name.c_str());
  return status;
}

Status checkWritable(const std::string &target) {
  const std::string path = resolved(target);
  struct stat existing;
  const bool exists = ::stat(path.c_str(), &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode))
    return Status::failed(fmt::format(
        "{}: is a folder (expected the file to write); give the name of a file", target));
  // A device is opened, a file is replaced in its folder.
  const std::string asked = exists && !S_ISREG(existing.st_mode) ? path : folderOf(path);
  if (::access(asked.c_str(), W_OK) != 0)
    return Status::failed(fmt::format(
        "{}: cannot be created ({}); check the folder and its permissions", target, reason(errno)));
  return Status::ok();
}

} // namespace k3
