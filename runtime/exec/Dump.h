//===- Dump.h - Everything a run computed, in a file ------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects logits and taps while an answer is made and adds the states of its sequence at the end,
// in the layouts of the reference, so that one file can be held against it position by position.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_EXEC_DUMP_H
#define K3_RUNTIME_EXEC_DUMP_H

#include "runtime/exec/Session.h"
#include "runtime/weights/SafetensorsWriter.h"
#include "support/Status.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace k3 {

/// Bytes of host memory that a dump of TOKENS fed positions takes, for the budget; the largest
/// number when they do not fit 64 bits.
uint64_t dumpBytes(const plan::Plan &plan, const plan::Program &program, uint64_t tokens);

class DumpRecorder : public TapSink {
public:
  /// A step of TOKENS tokens of the one sequence follows.
  void beginStep(uint64_t tokens) { stepTokens_ = tokens; }
  void addLogits(std::span<const float> rows) {
    logits_.insert(logits_.end(), rows.begin(), rows.end());
  }
  /// Keeps the rows of the sequence's tokens; rows of padding come after them.
  void tap(std::string_view name, plan::DType type, std::span<const uint64_t> shape,
           const std::byte *data) override;

  /// Writes `ids` I32, `logits` [fed, vocabulary], the taps [fed, ...] and, by name, the states of
  /// SEQUENCE: KdaState [heads, key, value], ConvState [width - 1, channels] oldest first,
  /// LatentCache [tokens, width].
  Status write(const std::string &path, const Session &session, const Sequence &sequence,
               std::vector<int32_t> ids);

private:
  struct TapRows {
    std::vector<uint64_t> rowShape;
    std::vector<float> values;
  };
  uint64_t stepTokens_ = 0;
  std::vector<float> logits_;
  std::map<std::string, TapRows, std::less<>> taps_;
};

} // namespace k3

#endif // K3_RUNTIME_EXEC_DUMP_H
