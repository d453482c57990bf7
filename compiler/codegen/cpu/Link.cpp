//===- Link.cpp - Object files to a shared object -------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the linker on anonymous files in memory: there is no temporary folder that could be full, or
// be left behind by a compilation that somebody ends. Their names never reach the result.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cpu/Native.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace k3::cpu {

static Result<std::string> findLinker() {
  for (llvm::StringRef name : {"ld.lld-22", "ld.lld"}) {
    if (auto found = llvm::sys::findProgramByName(name))
      return *found;
    if (auto found = llvm::sys::findProgramByName(name, {"/usr/lib/llvm-22/bin"}))
      return *found;
  }
  return Status::failed("linker: ld.lld-22 was not found on PATH; install the package lld-22");
}

namespace {

/// An anonymous file that the linker reaches by a path, because it inherits the descriptor.
class MemoryFile {
public:
  MemoryFile() : descriptor(memfd_create("k3-link", 0)) {}
  MemoryFile(MemoryFile &&other) : descriptor(std::exchange(other.descriptor, -1)) {}
  ~MemoryFile() {
    if (descriptor >= 0)
      close(descriptor);
  }

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor); }
  bool write(llvm::StringRef bytes) const {
    if (descriptor < 0)
      return false;
    llvm::raw_fd_ostream file(descriptor, /*shouldClose=*/false);
    file << bytes;
    file.flush();
    const bool good = !file.has_error();
    file.clear_error();
    return good;
  }
  std::string read() const {
    // As a stream: the size that a path gives is that of the link.
    auto buffer = llvm::MemoryBuffer::getFileAsStream(path());
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  }

private:
  int descriptor;
};

} // namespace

Result<std::string> linkSharedObject(llvm::ArrayRef<std::string> objects) {
  K3_ASSIGN_OR_RETURN(std::string linker, findLinker());
  std::vector<std::string> arguments = {
      linker, "-shared", "--build-id=none", "-z", "defs", "-O2", "--hash-style=gnu",
      "-s",   "-z",      "noexecstack",     "-o", "-"};
  std::vector<MemoryFile> inputs(objects.size());
  for (auto [input, object] : llvm::zip_equal(inputs, objects)) {
    if (!input.write(object))
      return Status::failed("linker: an object file cannot be kept in memory (got no anonymous "
                            "file of " +
                            std::to_string(object.size()) + " bytes); free some memory");
    arguments.push_back(input.path());
  }

  MemoryFile output, log;
  std::string outputPath = output.path(), logPath = log.path(), problem;
  std::vector<llvm::StringRef> views(arguments.begin(), arguments.end());
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""), llvm::StringRef(outputPath),
                                                llvm::StringRef(logPath)};
  int status = llvm::sys::ExecuteAndWait(linker, views, std::nullopt, redirects, 0, 0, &problem);
  if (status != 0) {
    std::string said = problem + log.read();
    return Status::failed("linker: " + linker + " failed with status " + std::to_string(status) +
                          " (" + llvm::StringRef(said).split('\n').first.str() + ")");
  }
  std::string image = output.read();
  if (image.empty())
    return Status::failed("linker: " + linker + " wrote no shared object");
  return image;
}

} // namespace k3::cpu
