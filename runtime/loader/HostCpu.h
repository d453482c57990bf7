//===- HostCpu.h - CPU features of this machine -----------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the processor at hand can do, in the spelling of LLVM, which is the spelling of a plan's
// target. Asking before the first kernel runs turns an illegal instruction into a sentence.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_LOADER_HOSTCPU_H
#define K3_RUNTIME_LOADER_HOSTCPU_H

#include <string>
#include <string_view>
#include <vector>

namespace k3 {

/// The architecture this program was built for, as a triple begins: "x86_64".
std::string_view hostArchitecture();

/// Sorted. A feature that is not among them is missing, or this list does not know it: either way
/// it cannot be counted on.
const std::vector<std::string> &hostCpuFeatures();

} // namespace k3

#endif // K3_RUNTIME_LOADER_HOSTCPU_H
