//===- ConfigKeys.h - Keys that are known and not read -----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Configurations carry dozens of stock keys without effect on the forward pass. Knowing them keeps
// the list of unknown keys short enough to be read.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_IMPORT_CONFIGKEYS_H
#define K3_COMPILER_IMPORT_CONFIGKEYS_H

#include <string>
#include <string_view>

namespace k3 {

/// The key is part of the official classes or of stock configurations and changes nothing that is
/// computed.
bool isKnownUnusedKey(std::string_view key);

/// Why a model of this type is not supported (`sparse attention, mHC`), or an empty text for a type
/// nobody knows.
std::string_view unsupportedReason(std::string_view modelType);

} // namespace k3

#endif // K3_COMPILER_IMPORT_CONFIGKEYS_H
