//===- PreTokenizer.h - Cutting text into pieces for BPE --------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The official pre-tokeniser: cuts text into the pieces (words, numbers, runs of Han, white space)
// inside which byte pairs may merge. Its cuts decide token ids, so it follows the reference also
// where that is odd.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_TOKENIZER_PRETOKENIZER_H
#define K3_RUNTIME_TOKENIZER_PRETOKENIZER_H

#include "support/Status.h"

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace k3 {

/// The reference cuts text into blocks of this many characters before anything else …
inline constexpr size_t kMaxBlockChars = 400'000;
/// … and a block wherever a run of white space, or of anything else, gets longer than this.
inline constexpr size_t kMaxRunChars = 25'000;

/// Cuts TEXT, valid UTF-8, into the sections that the pattern is applied to one by one. For a short
/// text that is the text itself; white space here is what Python's `str.isspace` says, as in the
/// reference.
std::vector<std::string_view> cutLongText(std::string_view text);

/// The compiled pattern; copies share it, and any number of threads may use it at once.
class PreTokenizer {
public:
  static Result<PreTokenizer> create();

  /// The pieces of TEXT, valid UTF-8, in order; joined they are TEXT again. They point into TEXT.
  Result<std::vector<std::string_view>> split(std::string_view text) const;

private:
  struct Pattern;
  explicit PreTokenizer(std::shared_ptr<const Pattern> pattern) : pattern_(std::move(pattern)) {}

  std::shared_ptr<const Pattern> pattern_;
};

} // namespace k3

#endif // K3_RUNTIME_TOKENIZER_PRETOKENIZER_H
