//===- Hash.cpp - Checksum of bytes ---------------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only file that sees xxhash.h: inlined, so that nothing is linked for it.
//
//===----------------------------------------------------------------------===//

#include "support/Hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace k3 {

uint64_t hashBytes(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

} // namespace k3
