//===- StandardStreamsTest.cpp - Tests of standard output --------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each test runs in a process of its own, because closed descriptors stay closed.
//
//===----------------------------------------------------------------------===//

#include "support/StandardStreams.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

using namespace k3;

namespace {

/// The exit status of CHECK in a child: its number, or -1 when a signal ended it.
int inChild(const std::function<int()> &check) {
  const pid_t child = ::fork();
  if (child == 0)
    ::_exit(check());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool failsWith(const Status &status, const char *reason) {
  return status.exitCode() == 1 &&
         status.message() == std::string("standard output: cannot be written (") + reason +
                                 "); check where it goes";
}

TEST(StandardStreams, AReaderThatIsGoneIsAnError) {
  EXPECT_EQ(inChild([] {
              int ends[2];
              if (::pipe(ends) != 0)
                return 9;
              ::dup2(ends[1], STDOUT_FILENO);
              ::close(ends[0]);
              guardStandardStreams();
              return failsWith(writeStandardOutput("text"), "Broken pipe") ? 0 : 1;
            }),
            0);
}

TEST(StandardStreams, AFullDiskIsAnError) {
  EXPECT_EQ(inChild([] {
              ::dup2(::open("/dev/full", O_WRONLY), STDOUT_FILENO);
              return failsWith(writeStandardOutput("text"), "No space left on device") ? 0 : 1;
            }),
            0);
}

TEST(StandardStreams, ClosedOnesAreNotGivenToFiles) {
  EXPECT_EQ(inChild([] {
              for (int descriptor : {0, 1, 2})
                ::close(descriptor);
              guardStandardStreams();
              if (::open("/dev/null", O_RDONLY) <= STDERR_FILENO)
                return 1;
              if (!failsWith(writeStandardOutput("text"), "Bad file descriptor"))
                return 2;
              return ::write(STDERR_FILENO, "x", 1) == 1 ? 0 : 3;
            }),
            0);
}

TEST(StandardStreams, OpenOnesStayWhatTheyAre) {
  EXPECT_EQ(inChild([] {
              int ends[2];
              if (::pipe(ends) != 0)
                return 9;
              ::dup2(ends[1], STDOUT_FILENO);
              guardStandardStreams();
              if (!writeStandardOutput("text"))
                return 1;
              char read[5];
              return ::read(ends[0], read, sizeof(read)) == 4 ? 0 : 2;
            }),
            0);
}

} // namespace
