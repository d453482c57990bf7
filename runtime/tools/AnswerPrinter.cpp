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

#include "runtime/tokenizer/Utf8.h"
#include "support/Format.h"
#include "support/Log.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
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

/// A failure of standard output, if there was one.
static Status checkOutput() {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout))
    return Status::ok();
  return Status::failed(
      fmt::format("standard output: cannot be written: {}", std::strerror(errno)));
}

Status AnswerPrinter::token(int32_t id, bool stop) {
  const bool first = std::exchange(first_, false);
  if (!tokenizer_) {
    std::fputs(fmt::format("{}{}", first ? "" : ",", id).c_str(), stdout);
    return checkOutput();
  }
  if (stop)
    return Status::ok();
  if (Result<std::string> bytes = tokenizer_->decode({&id, 1})) {
    held_ += *bytes;
  } else {
    held_ += "\xEF\xBF\xBD";
    ++unknown_;
  }
  const size_t ready = completeUtf8Prefix(held_);
  std::fwrite(held_.data(), 1, ready, stdout);
  held_.erase(0, ready);
  return checkOutput();
}

Status AnswerPrinter::finish() {
  std::fwrite(held_.data(), 1, held_.size(), stdout);
  held_.clear();
  std::fputc('\n', stdout);
  if (unknown_)
    logWarning(fmt::format(
        "answer: {} ids have no token and are shown as U+FFFD; --print-ids shows them", unknown_));
  return checkOutput();
}
