//===- Validate.cpp - Meaning of a plan -----------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of the checks and the parts they share. Expressions come first, because all sizes are
// written in them.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/Validate.h"

namespace k3 {

namespace {
constexpr size_t maxName = 4096;
constexpr uint32_t noLocation = UINT32_MAX;
} // namespace

Status PlanChecks::refuseText(const char *section, const std::string &message) const {
  return Status::refused(
      fmt::format("{}: section '{}': {}; rebuild the plan with k3c", path, section, message));
}

Status PlanChecks::checkName(const char *section, std::string_view who,
                             std::string_view name) const {
  if (name.empty() || name.size() > maxName)
    return refuse(section, "{}: its name has a wrong length (got {} bytes, expected 1 to {})", who,
                  name.size(), maxName);
  for (size_t i = 0; i < name.size(); ++i) {
    unsigned char byte = static_cast<unsigned char>(name[i]);
    if (byte < 0x20 || byte == 0x7f)
      return refuse(
          section, "{}: its name holds a control character (got byte {:#04x} at {}, expected text)",
          who, byte, i);
  }
  return Status::ok();
}

Status PlanChecks::checkLocation(const char *section, std::string_view who,
                                 uint32_t location) const {
  return location == noLocation
             ? Status::ok()
             : checkIndex(section, who, "location", location, plan.locations()->size());
}

Status validatePlan(const plan::Plan &plan, const std::string &path,
                    std::vector<ExprRange> &ranges) {
  PlanChecks checks{plan, path, ranges};
  K3_RETURN_IF_ERROR(validateExprs(checks));
  K3_RETURN_IF_ERROR(validateHead(checks));
  K3_RETURN_IF_ERROR(validateKernels(checks));
  for (const plan::Program *program : *plan.programs()) {
    K3_RETURN_IF_ERROR(validateMemory(checks, *program));
    K3_RETURN_IF_ERROR(validateStates(checks, *program));
    K3_RETURN_IF_ERROR(validateWeights(checks, *program));
    K3_RETURN_IF_ERROR(validateEntries(checks, *program));
  }
  return Status::ok();
}

} // namespace k3
