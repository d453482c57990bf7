//===- ValidateKernels.cpp - Kernels and images of a plan -----------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is a symbol of an image, an image is a segment of the file. Whether the symbol exists is
// seen when the image is opened.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/Validate.h"

#include <unordered_set>

namespace k3 {

namespace {

// Far above what any generated kernel has; parameters are copied for each launch.
constexpr uint32_t maxParams = 4096;
constexpr uint64_t maxThreads = 1024;

Status checkImages(const PlanChecks &checks) {
  const auto &images = *checks.plan.images();
  for (uint32_t i = 0; i < images.size(); ++i) {
    if (images[i]->kind() > plan::ImageKind::MAX)
      return checks.refuse("images", "image {}: its kind is unknown (got {}, expected at most {})",
                           i, static_cast<unsigned>(images[i]->kind()),
                           static_cast<unsigned>(plan::ImageKind::MAX));
    K3_RETURN_IF_ERROR(checks.checkIndex("images", fmt::format("image {}", i), "segment",
                                         images[i]->segment(), checks.plan.segments()->size()));
  }
  return Status::ok();
}

Status checkKernel(const PlanChecks &checks, const std::string &who, const plan::Kernel &kernel) {
  K3_RETURN_IF_ERROR(
      checks.checkIndex("kernels", who, "image", kernel.image(), checks.plan.images()->size()));
  const auto &params = *kernel.params();
  if (params.size() > maxParams)
    return checks.refuse("kernels", "{}: has too many parameters (got {}, expected at most {})",
                         who, params.size(), maxParams);
  for (uint32_t i = 0; i < params.size(); ++i)
    if (static_cast<plan::ArgKind>(params[i]) > plan::ArgKind::MAX)
      return checks.refuse(
          "kernels", "{}: parameter {} is of an unknown kind (got {}, expected at most {})", who, i,
          static_cast<unsigned>(params[i]), static_cast<unsigned>(plan::ArgKind::MAX));
  const auto &block = *kernel.block();
  if (block.size() != 3)
    return checks.refuse("kernels", "{}: its block has a wrong number of axes (got {}, expected 3)",
                         who, block.size());
  bool onCpu = (*checks.plan.images())[kernel.image()]->kind() == plan::ImageKind::CpuSharedObject;
  const uint64_t most = onCpu ? 1 : maxThreads;
  uint64_t threads = 1;
  for (uint64_t axis : block) {
    if (axis < 1 || axis > most || threads * axis > most)
      return checks.refuse("kernels",
                           "{}: its block is out of range (got {}x{}x{}, expected 1 to {} threads)",
                           who, block[0], block[1], block[2], most);
    threads *= axis;
  }
  return checks.checkLocation("kernels", who, kernel.location());
}

} // namespace

Status validateKernels(const PlanChecks &checks) {
  K3_RETURN_IF_ERROR(checkImages(checks));
  const auto &kernels = *checks.plan.kernels();
  std::unordered_set<std::string_view> names;
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    std::string_view name = kernels[i]->name()->string_view();
    K3_RETURN_IF_ERROR(checks.checkName("kernels", fmt::format("kernel {}", i), name));
    std::string who = fmt::format("kernel {} '{}'", i, name);
    if (!names.insert(name).second)
      return checks.refuse("kernels", "{}: its name is taken (got it twice, expected unique names)",
                           who);
    K3_RETURN_IF_ERROR(checkKernel(checks, who, *kernels[i]));
  }
  return Status::ok();
}

} // namespace k3
