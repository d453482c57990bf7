//===- Sha256Test.cpp - Tests of the fingerprint --------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Against the published vectors, and the same bytes through a file.
//
//===----------------------------------------------------------------------===//

#include "support/Sha256.h"
#include "support/File.h"

#include <gtest/gtest.h>

namespace k3 {
namespace {

TEST(Sha256, publishedVectors) {
  EXPECT_EQ(*sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(*sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(*sha256Hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, fileInPieces) {
  std::string path = testing::TempDir() + "/k3-sha256-" + std::to_string(::getpid());
  std::string bytes(3000001, 'x');
  ASSERT_TRUE(writeFileAtomic(path, bytes).isOk());
  EXPECT_EQ(*sha256OfFile(path), *sha256Hex(bytes));
  ASSERT_TRUE(writeFileAtomic(path, "").isOk());
  EXPECT_EQ(*sha256OfFile(path), *sha256Hex(""));
  ::unlink(path.c_str());
}

TEST(Sha256, missingFile) {
  EXPECT_EQ(sha256OfFile("/nonexistent").status().code(), Code::Refused);
}

} // namespace
} // namespace k3
