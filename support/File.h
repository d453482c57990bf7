//===- File.h - Files, read and replaced whole ------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Opening, positioned reading and atomic writing of files, with errors that name the file and the
// sizes. Files are read, never mapped: a mapped file that shrinks kills the process, and its pages
// are in no budget.
//
//===----------------------------------------------------------------------===//

#ifndef K3_SUPPORT_FILE_H
#define K3_SUPPORT_FILE_H

#include "support/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace k3 {

/// A regular file open for reading. Its size is taken once; a file that shrinks meanwhile is an
/// error of `readAt`.
class File {
public:
  /// Refuses what does not exist, cannot be read, or is no regular file.
  static Result<File> open(const std::string &path);

  File(File &&other) noexcept;
  File &operator=(File &&other) noexcept;
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  ~File();

  const std::string &path() const { return path_; }
  uint64_t size() const { return size_; }

  /// Reads exactly SIZE bytes at OFFSET; safe from several threads at once.
  Status readAt(uint64_t offset, void *out, uint64_t size) const;

private:
  File(std::string path, int descriptor, uint64_t size)
      : path_(std::move(path)), descriptor_(descriptor), size_(size) {}

  std::string path_;
  int descriptor_;
  uint64_t size_;
};

/// The whole file, refused when it is longer than MAXBYTES.
Result<std::string> readFile(const std::string &path, uint64_t maxBytes = UINT64_MAX);

/// Where new content waits until it is whole.
enum class Staging {
  /// In a file without a name, of which nothing stays when the process is ended: a named one where
  /// the file system has no such files.
  Anonymous,
  Named,
};

/// Writes PARTS, one after the other, to a new file in the folder of PATH and puts it in PATH's
/// place, so that PATH has the old or the new content at every moment. Nothing is left behind on
/// failure. A symbolic link stays one, and a device or pipe is written as it is. Safe from several
/// threads at once.
Status writeFileAtomic(const std::string &path, std::span<const std::string_view> parts,
                       Staging staging = Staging::Anonymous);
inline Status writeFileAtomic(const std::string &path, std::string_view bytes) {
  return writeFileAtomic(path, std::span(&bytes, 1));
}

/// Refuses PATH when `writeFileAtomic` could not put a file there as things are now: asked before
/// long work whose result would be lost.
Status checkWritable(const std::string &path);

} // namespace k3

#endif // K3_SUPPORT_FILE_H
