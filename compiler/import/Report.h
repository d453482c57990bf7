//===- Report.h - The numbers of a model -------------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `k3c --dry-run` tells before anything is compiled: parameters, bytes, cache and state, and
// everything that was assumed on the way. A table for people, JSON with stable keys for scripts.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_IMPORT_REPORT_H
#define K3_COMPILER_IMPORT_REPORT_H

#include "compiler/import/Checkpoint.h"

#include <cstdint>
#include <string>
#include <vector>

namespace k3 {

/// Weights of one kind, as stored.
struct WeightKind {
  std::string name;
  int64_t parameters = 0;
  int64_t bytes = 0;
};

struct ModelReport {
  /// Padded tensors counted with the entries that count.
  int64_t textParameters = 0;
  int64_t visionParameters = 0;
  /// With all stored entries.
  int64_t storedTextParameters = 0;
  int64_t checkpointBytes = 0;
  int64_t tensors = 0;
  int64_t latentCacheBytesPerToken = 0;
  int64_t stateBytesPerSequence = 0;
  std::vector<WeightKind> weights;

  int64_t parametersTotal() const { return textParameters + visionParameters; }
  int64_t parametersStored() const { return storedTextParameters + visionParameters; }
};

/// ELEMENTBYTES is the size of an element of latent cache and conv state: 2 for `--dtype bf16`, 4
/// for f32.
ModelReport makeReport(const ImportedModel &model, int64_t elementBytes);

/// Both end in a newline. DTYPE is the name of what ELEMENTBYTES stood for.
std::string reportTable(const ImportedModel &model, const ModelReport &report,
                        const std::string &dtype);
std::string reportJson(const ImportedModel &model, const ModelReport &report,
                       const std::string &dtype);

/// 1234567 as `1,234,567`.
std::string groupDigits(int64_t number);

} // namespace k3

#endif // K3_COMPILER_IMPORT_REPORT_H
