//===- Target.cpp - Whether this machine can run a plan -------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Asked before any memory is taken: a plan for another machine must end in one sentence that says
// which machine it wants, what this one has, and how to rebuild it.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/HostCpu.h"
#include "runtime/loader/Plan.h"
#include "support/Format.h"

#include <algorithm>

namespace k3 {

Status checkTarget(const LoadedPlan &loaded) {
  const plan::Target &target = *loaded.plan().target();
  std::string_view name = target.name()->string_view();
  auto refuse = [&](const std::string &what) {
    return Status::refused(fmt::format(
        "{}: target '{}': {}; rebuild the plan with k3c --target cpu", loaded.path(), name, what));
  };
  const bool gpu = name.starts_with("sm_");
  const plan::ImageKind expected = gpu ? plan::ImageKind::Cubin : plan::ImageKind::CpuSharedObject;
  for (const plan::Image *image : *loaded.plan().images())
    if (image->kind() != expected)
      return refuse(fmt::format("needs another device (got an image of kind {}, expected {})",
                                plan::EnumNameImageKind(image->kind()),
                                plan::EnumNameImageKind(expected)));
  // Whether the GPU at hand is the right one is for its driver to say.
  if (gpu)
    return Status::ok();
  std::string_view triple = target.triple()->string_view();
  std::string_view architecture = triple.substr(0, triple.find('-'));
  if (architecture != hostArchitecture())
    return refuse(fmt::format("is for another architecture (got {}, expected {})", architecture,
                              hostArchitecture()));
  std::string missing;
  const std::vector<std::string> &host = hostCpuFeatures();
  for (const flatbuffers::String *feature : *target.features())
    if (!std::binary_search(host.begin(), host.end(), feature->string_view()))
      missing += fmt::format("{}{}", missing.empty() ? "" : " ", feature->string_view());
  if (!missing.empty())
    return refuse(fmt::format(
        "needs CPU features that this machine lacks (got none of {}, expected all of them)",
        missing));
  return Status::ok();
}

} // namespace k3
