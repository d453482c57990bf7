//===- StandardStreams.h - Standard output, used with care -------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tool may be started with closed streams, and what it writes to may go away. Both end in a
// status and never in a signal, or in messages inside the file that was opened next.
//
//===----------------------------------------------------------------------===//

#ifndef K3_SUPPORT_STANDARDSTREAMS_H
#define K3_SUPPORT_STANDARDSTREAMS_H

#include "support/Status.h"

#include <string_view>

namespace k3 {

/// First thing in main: descriptors 0 to 2 are taken from here on, and a reader that is gone is an
/// error of the write. A closed standard output stays one that cannot be written.
void guardStandardStreams();

/// Writes TEXT to standard output, and all that waits there before it.
Status writeStandardOutput(std::string_view text);

} // namespace k3

#endif // K3_SUPPORT_STANDARDSTREAMS_H
