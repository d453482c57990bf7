//===- Link.cpp - Object files to a shared object -------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the linker on a temporary folder that is removed again. Nothing of the folder's name reaches
// the result.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cpu/Native.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

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

static std::string readFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

Result<std::string> linkSharedObject(llvm::ArrayRef<std::string> objects) {
  K3_ASSIGN_OR_RETURN(std::string linker, findLinker());
  llvm::SmallString<128> folder;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("k3-link", folder))
    return Status::failed("linker: a temporary folder cannot be made (" + error.message() + ")");
  llvm::scope_exit cleanup([&] { llvm::sys::fs::remove_directories(folder); });
  auto inFolder = [&](const std::string &name) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    return std::string(path);
  };

  std::vector<std::string> arguments = {linker,
                                        "-shared",
                                        "--build-id=none",
                                        "-z",
                                        "defs",
                                        "-O2",
                                        "--hash-style=gnu",
                                        "-s",
                                        "-z",
                                        "noexecstack",
                                        "-o",
                                        inFolder("kernels.so")};
  for (auto [i, object] : llvm::enumerate(objects)) {
    std::string path = inFolder(std::to_string(i) + ".o");
    std::error_code error;
    llvm::raw_fd_ostream file(path, error);
    if (!error) {
      file << object;
      file.close();
      error = file.error();
    }
    if (error) {
      file.clear_error();
      return Status::failed("linker: a temporary object file cannot be written (" +
                            error.message() + ")");
    }
    arguments.push_back(path);
  }

  std::string log = inFolder("log"), problem;
  std::vector<llvm::StringRef> views(arguments.begin(), arguments.end());
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""), llvm::StringRef(log),
                                                llvm::StringRef(log)};
  int status = llvm::sys::ExecuteAndWait(linker, views, std::nullopt, redirects, 0, 0, &problem);
  if (status != 0) {
    std::string said = problem + readFile(log);
    return Status::failed("linker: " + linker + " failed with status " + std::to_string(status) +
                          " (" + llvm::StringRef(said).split('\n').first.str() + ")");
  }
  std::string image = readFile(inFolder("kernels.so"));
  if (image.empty())
    return Status::failed("linker: " + linker + " wrote no shared object");
  return image;
}

} // namespace k3::cpu
