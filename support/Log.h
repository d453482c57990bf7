//===- Log.h - Messages to the person at the terminal -----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that is not a program's result goes through here, to standard error. Standard output
// stays clean for text, ids and JSON.
//
//===----------------------------------------------------------------------===//

#ifndef K3_SUPPORT_LOG_H
#define K3_SUPPORT_LOG_H

#include "support/Status.h"

#include <string_view>

namespace k3 {

enum class LogLevel { Error, Warning, Info, Debug };

/// Messages above LEVEL are dropped; Info is what a program starts with.
void setLogLevel(LogLevel level);

void logError(std::string_view message);
void logWarning(std::string_view message);
void logInfo(std::string_view message);

/// Logs the message of a failure and returns the exit status it stands for; a success is silent and
/// gives 0.
int reportStatus(const Status &status);

} // namespace k3

#endif // K3_SUPPORT_LOG_H
