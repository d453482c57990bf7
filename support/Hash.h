//===- Hash.h - Checksum of bytes -------------------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// XXH3-64, which guards plan files against damage. It is no protection against an author with bad
// intentions: that is what the validation of a plan is for.
//
//===----------------------------------------------------------------------===//

#ifndef K3_SUPPORT_HASH_H
#define K3_SUPPORT_HASH_H

#include <cstdint>
#include <string_view>

namespace k3 {

/// XXH3-64 with seed 0.
uint64_t hashBytes(std::string_view bytes);

} // namespace k3

#endif // K3_SUPPORT_HASH_H
