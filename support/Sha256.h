//===- Sha256.h - Fingerprint of an input file ------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SHA-256 of configuration and index, by which a plan says what it was made from. Only the compiler
// needs it: it links OpenSSL's libcrypto, which the runtime does not.
//
//===----------------------------------------------------------------------===//

#ifndef K3_SUPPORT_SHA256_H
#define K3_SUPPORT_SHA256_H

#include "support/Status.h"

#include <string>
#include <string_view>

namespace k3 {

/// 64 hexadecimal digits.
Result<std::string> sha256Hex(std::string_view bytes);

/// The same of a file, read in pieces.
Result<std::string> sha256OfFile(const std::string &path);

} // namespace k3

#endif // K3_SUPPORT_SHA256_H
