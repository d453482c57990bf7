//===- AnswerPrinter.h - Tokens to standard output --------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints an answer while it is made, as text or as ids, without ever cutting a character in two,
// and feeds a dump on the way.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_TOOLS_ANSWERPRINTER_H
#define K3_RUNTIME_TOOLS_ANSWERPRINTER_H

#include "runtime/exec/Dump.h"
#include "runtime/exec/Generation.h"
#include "runtime/tokenizer/Tokenizer.h"

#include <string>

namespace k3 {

class AnswerPrinter : public GenerationObserver {
public:
  /// Prints text with TOKENIZER, ids without one. RECORDER may be null.
  AnswerPrinter(const Tokenizer *tokenizer, DumpRecorder *recorder)
      : tokenizer_(tokenizer), recorder_(recorder) {}

  void beginStep(uint64_t tokens) override;
  void endStep(std::span<const float> logits) override;
  Status token(int32_t id, bool stop) override;
  TapSink *taps() override { return recorder_; }
  /// Whether a token came.
  bool started() const { return !first_; }
  /// Prints what was held back and the final newline.
  Status finish();

private:
  const Tokenizer *tokenizer_;
  DumpRecorder *recorder_;
  std::string held_; // the beginning of a character
  bool first_ = true;
  uint64_t unknown_ = 0;
};

} // namespace k3

#endif // K3_RUNTIME_TOOLS_ANSWERPRINTER_H
