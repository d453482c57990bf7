//===- HostCpu.cpp - CPU features of this machine -------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler's builtin reads cpuid and also asks whether the system saves the wide registers. It
// wants literals, so the list is spelled out.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/HostCpu.h"

#include <algorithm>

namespace k3 {

std::string_view hostArchitecture() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "unknown";
#endif
}

namespace {

std::vector<std::string> detect() {
  std::vector<std::string> features;
#if defined(__x86_64__)
  __builtin_cpu_init();
#define K3_FEATURE(NAME)                                                                           \
  if (__builtin_cpu_supports(NAME))                                                                \
    features.push_back(NAME);
  K3_FEATURE("adx")
  K3_FEATURE("aes")
  K3_FEATURE("avx")
  K3_FEATURE("avx2")
  K3_FEATURE("avx512bf16")
  K3_FEATURE("avx512bitalg")
  K3_FEATURE("avx512bw")
  K3_FEATURE("avx512cd")
  K3_FEATURE("avx512dq")
  K3_FEATURE("avx512f")
  K3_FEATURE("avx512fp16")
  K3_FEATURE("avx512ifma")
  K3_FEATURE("avx512vbmi")
  K3_FEATURE("avx512vbmi2")
  K3_FEATURE("avx512vl")
  K3_FEATURE("avx512vnni")
  K3_FEATURE("avx512vpopcntdq")
  K3_FEATURE("avxvnni")
  K3_FEATURE("bmi")
  K3_FEATURE("bmi2")
  K3_FEATURE("cmov")
  K3_FEATURE("f16c")
  K3_FEATURE("fma")
  K3_FEATURE("fsgsbase")
  K3_FEATURE("gfni")
  K3_FEATURE("lzcnt")
  K3_FEATURE("mmx")
  K3_FEATURE("movbe")
  K3_FEATURE("pclmul")
  K3_FEATURE("popcnt")
  K3_FEATURE("rdrnd")
  K3_FEATURE("rdseed")
  K3_FEATURE("sha")
  K3_FEATURE("sse")
  K3_FEATURE("sse2")
  K3_FEATURE("sse3")
  K3_FEATURE("sse4.1")
  K3_FEATURE("sse4.2")
  K3_FEATURE("ssse3")
  K3_FEATURE("vaes")
  K3_FEATURE("vpclmulqdq")
  K3_FEATURE("xsave")
#undef K3_FEATURE
  std::sort(features.begin(), features.end());
#endif
  return features;
}

} // namespace

const std::vector<std::string> &hostCpuFeatures() {
  static const std::vector<std::string> features = detect();
  return features;
}

} // namespace k3
