//===- SingleEntry.h - One entry alone --------------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs any entry of a plan on tensors from a file and writes out what it computed: the way one op
// is tested alone, without a model round it.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_EXEC_SINGLEENTRY_H
#define K3_RUNTIME_EXEC_SINGLEENTRY_H

#include "runtime/exec/Executor.h"
#include "runtime/weights/Safetensors.h"
#include "support/Status.h"

#include <string>

namespace k3 {

/// Runs entry NAME once and writes its outputs, and all states of the program whole, to OUTPUT.
///
/// INPUTS holds every input by name in its exact shape; I32 and F32 as they are, F32 also for a
/// BF16 buffer (rounded to nearest even), BF16 also for an F32 buffer. A symbol gets its value from
/// a dimension that is that symbol alone, or from a scalar I32 named "@" and the symbol. A tensor
/// with the name of a state presets it: all slots, [slots, shape...], or slot 0, [shape...], in the
/// order that the plan keeps. Any other name is refused.
Status runSingleEntry(Executor &executor, const std::string &name, const SafetensorsFile &inputs,
                      const std::string &output);

} // namespace k3

#endif // K3_RUNTIME_EXEC_SINGLEENTRY_H
