//===- StandardStreams.cpp - Standard output, used with care -----*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The next file that is opened gets the lowest free descriptor. Were that 2, every message would be
// written into it.
//
//===----------------------------------------------------------------------===//

#include "support/StandardStreams.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace k3 {

void guardStandardStreams() {
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) < 0) {
      // Read-only for standard output: a result that nobody can get is an error, a message is not.
      const int opened = ::open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY);
      if (opened >= 0 && opened != descriptor)
        ::close(opened);
    }
  std::signal(SIGPIPE, SIG_IGN);
}

Status writeStandardOutput(std::string_view text) {
  errno = 0;
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) == 0 && !std::ferror(stdout))
    return Status::ok();
  // An earlier write may have failed, and its reason be gone.
  return Status::failed(fmt::format("standard output: cannot be written{}; check where it goes",
                                    errno ? fmt::format(" ({})", std::strerror(errno)) : ""));
}

} // namespace k3
