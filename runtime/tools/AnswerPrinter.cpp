//===- AnswerPrinter.cpp - Tokens to standard output ------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model may choose an id that no token has; that is its answer, so it is shown as U+FFFD and
// counted, not an error.
//
//===----------------------------------------------------------------------===//

#include "runtime/tools/AnswerPrinter.h"

#include "support/Format.h"
#include "support/Log.h"
#include "support/StandardStreams.h"
#include "support/Utf8.h"

#include <utility>

using namespace k3;

void AnswerPrinter::beginStep(uint64_t tokens) {
  if (recorder_)
    recorder_->beginStep(tokens);
}

void AnswerPrinter::endStep(std::span<const float> logits) {
  if (recorder_)
    recorder_->addLogits(logits);
}

Status AnswerPrinter::token(int32_t id, bool stop) {
  const bool first = std::exchange(first_, false);
  if (!tokenizer_)
    return writeStandardOutput(fmt::format("{}{}", first ? "" : ",", id));
  if (stop)
    return Status::ok();
  if (Result<std::string> bytes = tokenizer_->decode({&id, 1})) {
    held_ += *bytes;
  } else {
    held_ += "\xEF\xBF\xBD";
    ++unknown_;
  }
  const std::string ready = held_.substr(0, completeUtf8Prefix(held_));
  held_.erase(0, ready.size());
  return writeStandardOutput(ready);
}

Status AnswerPrinter::finish() {
  const std::string rest = std::exchange(held_, "") + "\n";
  if (unknown_)
    logWarning(fmt::format(
        "answer: {} ids have no token and are shown as U+FFFD; --print-ids shows them", unknown_));
  return writeStandardOutput(rest);
}
