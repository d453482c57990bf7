//===- SupportTest.cpp - Tests of support ---------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers, hashes and files, with the exact text of what users see.
//
//===----------------------------------------------------------------------===//

#include "support/File.h"
#include "support/Format.h"
#include "support/Hash.h"
#include "support/Log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace k3 {
namespace {

using testing::HasSubstr;

class FileTest : public testing::Test {
protected:
  void SetUp() override {
    dir_ = std::filesystem::path(testing::TempDir()) /
           ("k3-file-" + std::to_string(::getpid()) + "-" +
            testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(dir_);
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }
  std::string path(const char *name) const { return (dir_ / name).string(); }

  std::filesystem::path dir_;
};

TEST(Format, bytesHaveBinaryUnits) {
  EXPECT_EQ(formatBytes(0), "0 B");
  EXPECT_EQ(formatBytes(1023), "1023 B");
  EXPECT_EQ(formatBytes(1024), "1.00 KiB");
  EXPECT_EQ(formatBytes(1024 * 1024 - 1), "1.00 MiB");
  EXPECT_EQ(formatBytes(1560860324864), "1.42 TiB");
  EXPECT_EQ(formatBytes(UINT64_MAX), "16.00 EiB");
}

TEST(Format, ratesHaveDecimalUnits) {
  EXPECT_EQ(formatRate(6.2e9), "6.2 GB/s");
  EXPECT_EQ(formatRate(999.96), "1.0 kB/s");
  EXPECT_EQ(formatRate(0), "0.0 B/s");
  EXPECT_EQ(formatRate(std::nan("")), "0.0 B/s");
}

TEST(Format, durations) {
  EXPECT_EQ(formatDuration(0.85), "850 ms");
  EXPECT_EQ(formatDuration(12.34), "12.3 s");
  EXPECT_EQ(formatDuration(59.96), "1 min 00 s");
  EXPECT_EQ(formatDuration(245), "4 min 05 s");
  EXPECT_EQ(formatDuration(7620), "2 h 07 min");
  EXPECT_EQ(formatDuration(-1), "?");
  EXPECT_EQ(formatDuration(1e300), "> 30 years");
}

TEST(Format, counts) {
  EXPECT_EQ(formatCount(0), "0");
  EXPECT_EQ(formatCount(999), "999");
  EXPECT_EQ(formatCount(1000), "1,000");
  EXPECT_EQ(formatCount(2779931834976), "2,779,931,834,976");
}

TEST(Format, printableIsOneLineOfUtf8) {
  EXPECT_EQ(printable("path/é/漢/😀: 'x'"), "path/é/漢/😀: 'x'");
  EXPECT_EQ(printable(std::string_view("a\nb\0c\x1b[31m\x7f\t", 12)),
            "a\\x0ab\\x00c\\x1b[31m\\x7f\\x09");
  EXPECT_EQ(printable("\xc2\x85\xc2\xa0"), "\\xc2\\x85\xc2\xa0");
  // Alone, cut, too long, a surrogate, beyond the last character.
  EXPECT_EQ(printable("\x80 \xff \xe6\xbc"), "\\x80 \\xff \\xe6\\xbc");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");
  EXPECT_EQ(printable("\xe0\x9f\xbf"), "\\xe0\\x9f\\xbf");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(printable("\xf0\x8f\xbf\xbf"), "\\xf0\\x8f\\xbf\\xbf");
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable(std::string(8192, 'a')), std::string(8192, 'a'));
  EXPECT_EQ(printable(std::string(8193, 'a')), std::string(8192, 'a') + "...");
}

TEST(Hash, isXxh3) {
  EXPECT_EQ(hashBytes(""), 0x2d06800538d394c2u);
  EXPECT_NE(hashBytes("a"), hashBytes("b"));
}

TEST_F(FileTest, writesAndReadsBack) {
  ASSERT_TRUE(writeFileAtomic(path("a"), "hello").isOk());
  ASSERT_TRUE(writeFileAtomic(path("a"), "hello world").isOk());
  Result<std::string> whole = readFile(path("a"));
  ASSERT_TRUE(whole.isOk());
  EXPECT_EQ(*whole, "hello world");
  Result<File> file = File::open(path("a"));
  ASSERT_TRUE(file.isOk());
  EXPECT_EQ(file->size(), 11u);
  char part[5];
  ASSERT_TRUE(file->readAt(6, part, 5).isOk());
  EXPECT_EQ(std::string(part, 5), "world");
  // No temporary file stays.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_), {}), 1);
}

TEST_F(FileTest, stagesInANamedFileWhereThereAreNoOthers) {
  const std::string_view parts[] = {"hello"}, more[] = {"hello", " world"};
  ASSERT_TRUE(writeFileAtomic(path("a"), parts, Staging::Named).isOk());
  ASSERT_TRUE(writeFileAtomic(path("a"), more, Staging::Named).isOk());
  EXPECT_EQ(*readFile(path("a")), "hello world");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_), {}), 1);
  std::filesystem::create_directory(path("folder"));
  for (Staging staging : {Staging::Anonymous, Staging::Named}) {
    EXPECT_EQ(writeFileAtomic(path("folder"), parts, staging).message(),
              path("folder") + ": cannot be replaced (Is a directory); check the folder and its "
                               "permissions");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_), {}), 2);
  }
}

TEST_F(FileTest, leavesNothingWhenTheProcessIsEnded) {
  const pid_t child = ::fork();
  if (child == 0) {
    // The signal of this limit ends the process in the middle of the write.
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_DFL);
    ::_exit(writeFileAtomic(path("a"), std::string(1 << 16, 'a')).exitCode());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(std::filesystem::is_empty(dir_));
}

TEST_F(FileTest, saysBeforeTheWorkThatAFileCannotBeWritten) {
  EXPECT_TRUE(checkWritable(path("a")).isOk());
  EXPECT_TRUE(std::filesystem::is_empty(dir_));
  ASSERT_TRUE(writeFileAtomic(path("a"), "old").isOk());
  EXPECT_TRUE(checkWritable(path("a")).isOk());
  EXPECT_EQ(*readFile(path("a")), "old");
  EXPECT_TRUE(checkWritable("/dev/null").isOk());
  EXPECT_TRUE(checkWritable("a-file-in-this-folder").isOk());
  EXPECT_EQ(checkWritable(dir_.string()).message(),
            dir_.string() + ": is a folder (expected the file to write); give the name of a file");
  Status status = checkWritable(path("no/such/file"));
  EXPECT_EQ(status.code(), Code::Failed);
  EXPECT_EQ(status.message(), path("no/such/file") + ": cannot be created (No such file or "
                                                     "directory); check the folder and its "
                                                     "permissions");
}

TEST_F(FileTest, refusesReadingPastTheEnd) {
  ASSERT_TRUE(writeFileAtomic(path("a"), "hello").isOk());
  Result<File> file = File::open(path("a"));
  ASSERT_TRUE(file.isOk());
  char part[8];
  Status status = file->readAt(1, part, 5);
  EXPECT_EQ(status.code(), Code::Refused);
  EXPECT_EQ(status.message(),
            path("a") + ": is too short (got 5 bytes, expected 5 at offset 1); fetch it again");
  EXPECT_FALSE(file->readAt(UINT64_MAX, part, 2).isOk());
  EXPECT_FALSE(file->readAt(2, part, UINT64_MAX).isOk());
}

TEST_F(FileTest, noticesAFileThatShrinks) {
  ASSERT_TRUE(writeFileAtomic(path("a"), "hello").isOk());
  Result<File> file = File::open(path("a"));
  ASSERT_TRUE(file.isOk());
  std::filesystem::resize_file(path("a"), 2);
  char part[5];
  Status status = file->readAt(0, part, 5);
  EXPECT_EQ(status.code(), Code::Failed);
  EXPECT_THAT(status.message(),
              HasSubstr("became shorter while it was read (got its end at 2, expected 5 bytes)"));
}

TEST_F(FileTest, refusesWhatIsNoFile) {
  EXPECT_EQ(readFile(path("missing")).status().message(),
            path("missing") + ": cannot be opened (No such file or directory); check the path");
  EXPECT_THAT(readFile(dir_.string()).status().message(),
              HasSubstr("got a folder, expected a file"));
  EXPECT_THAT(readFile("/dev/null").status().message(), HasSubstr("is not a regular file"));
  ASSERT_TRUE(writeFileAtomic(path("a"), "hello").isOk());
  EXPECT_EQ(readFile(path("a"), 4).status().message(),
            path("a") + ": is too large (got 5 bytes, expected at most 4); check the path");
}

TEST_F(FileTest, failsToWriteIntoAMissingFolder) {
  Status status = writeFileAtomic(path("no/such/file"), "x");
  EXPECT_EQ(status.code(), Code::Failed);
  EXPECT_THAT(status.message(), HasSubstr("cannot be created (No such file or directory)"));
}

TEST_F(FileTest, writesPartsOneAfterTheOtherWithTheModeOfANewFile) {
  const mode_t before = ::umask(027);
  const std::string_view parts[] = {"he", "", "llo"};
  Status status = writeFileAtomic(path("a"), parts);
  EXPECT_EQ(::umask(before), 027u) << "the mask of the process was changed";
  ASSERT_TRUE(status.isOk()) << status.message();
  EXPECT_EQ(*readFile(path("a")), "hello");
  EXPECT_EQ(std::filesystem::status(path("a")).permissions(), std::filesystem::perms(0640));
}

TEST_F(FileTest, leavesLinksAndPipesWhatTheyAre) {
  ASSERT_TRUE(writeFileAtomic(path("a"), "old").isOk());
  std::filesystem::create_symlink("a", path("link"));
  ASSERT_TRUE(writeFileAtomic(path("link"), "new").isOk());
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(*readFile(path("a")), "new");

  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  int reader = ::open(path("pipe").c_str(), O_RDWR);
  ASSERT_GE(reader, 0);
  ASSERT_TRUE(writeFileAtomic(path("pipe"), "piped").isOk());
  char read[5];
  ASSERT_EQ(::read(reader, read, sizeof(read)), 5);
  EXPECT_EQ(std::string(read, 5), "piped");
  ::close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(path("pipe")));
}

TEST_F(FileTest, writesOneFileFromSeveralThreads) {
  const std::string contents[] = {std::string(1 << 16, 'a'), std::string(1 << 16, 'b')};
  std::vector<std::thread> threads;
  for (const std::string &content : contents)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i)
        EXPECT_TRUE(writeFileAtomic(path("a"), content).isOk());
    });
  for (std::thread &thread : threads)
    thread.join();
  const std::string last = *readFile(path("a"));
  EXPECT_TRUE(last == contents[0] || last == contents[1]);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_), {}), 1);
}

TEST(Log, writesToStandardErrorOnly) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  logInfo("a {} b");
  EXPECT_EQ(reportStatus(Status::refused("pl\ran: is bad")), 2);
  EXPECT_EQ(reportStatus(Status::failed("disk: is full")), 1);
  EXPECT_EQ(reportStatus(Status::ok()), 0);
  setLogLevel(LogLevel::Error);
  logWarning("dropped");
  setLogLevel(LogLevel::Info);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "a {} b\nerror: pl\\x0dan: is bad\nerror: disk: is full\n");
}

} // namespace
} // namespace k3
