//===- ProgramWriter.h - One program as plain structs -----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns a plan.program op into the table Program of the schema, one op after the other.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_SERIALIZE_PROGRAMWRITER_H
#define K3_COMPILER_SERIALIZE_PROGRAMWRITER_H

#include "compiler/serialize/Tables.h"

namespace k3 {

/// The program, with its expressions, kernels and locations added to `tables`. The op has passed
/// its verifier.
std::unique_ptr<plan::ProgramT> writeProgram(host::ProgramOp program, Tables &tables);

} // namespace k3

#endif // K3_COMPILER_SERIALIZE_PROGRAMWRITER_H
