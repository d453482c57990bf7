//===- Sha256.cpp - Fingerprint of an input file --------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One EVP context per call; a failure of the library (no memory, SHA-256 disabled by policy) is an
// error like any other.
//
//===----------------------------------------------------------------------===//

#include "support/Sha256.h"

#include "support/File.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace k3 {

namespace {

class Sha256 {
public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    good_ = context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1;
  }

  void update(std::string_view bytes) {
    good_ = good_ && EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1;
  }

  Result<std::string> finish() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    if (!good_ || EVP_DigestFinal_ex(context_.get(), digest, &size) != 1)
      return Status::failed(
          "libcrypto: SHA-256 is not available; check the system's OpenSSL configuration");
    std::string hex;
    for (unsigned int i = 0; i < size; ++i)
      hex += fmt::format("{:02x}", digest[i]);
    return hex;
  }

private:
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX *)> context_;
  bool good_ = false;
};

} // namespace

Result<std::string> sha256Hex(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

Result<std::string> sha256OfFile(const std::string &path) {
  K3_ASSIGN_OR_RETURN(File file, File::open(path));
  std::vector<char> block(std::min<uint64_t>(file.size(), 1 << 20));
  Sha256 hash;
  for (uint64_t at = 0; at < file.size(); at += block.size()) {
    size_t size = std::min<uint64_t>(block.size(), file.size() - at);
    K3_RETURN_IF_ERROR(file.readAt(at, block.data(), size));
    hash.update({block.data(), size});
  }
  return hash.finish();
}

} // namespace k3
