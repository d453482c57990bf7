//===- BytePairEncoder.h - Byte-level BPE over ranked tokens ----*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The merge table of a tiktoken vocabulary: turns one piece of text into token ids by merging the
// adjacent pair of lowest rank until none is left. Near linear in the piece, whatever text a user
// sends.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_TOKENIZER_BYTEPAIRENCODER_H
#define K3_RUNTIME_TOKENIZER_BYTEPAIRENCODER_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace k3 {

/// The id of a token is its rank. Moved, never copied: the tokens are views into one buffer.
class BytePairEncoder {
public:
  BytePairEncoder(BytePairEncoder &&) = default;
  BytePairEncoder &operator=(BytePairEncoder &&) = default;

  /// Memory for tokens of BYTES bytes in all.
  explicit BytePairEncoder(size_t bytes)
      : buffer_(std::make_unique<char[]>(bytes)), capacity_(bytes) {}

  /// Adds a token; false if another token has these bytes or this rank, or they are empty. All 256
  /// single bytes must be there before the first `encode`.
  bool add(std::string_view bytes, int32_t rank);

  std::optional<int32_t> find(std::string_view bytes) const;
  std::optional<std::string_view> bytesOf(int32_t rank) const;
  size_t size() const { return rankOf_.size(); }

  /// Work space of `encode`, kept by the caller so that many short pieces do not each allocate.
  struct Scratch {
    struct Node {
      uint32_t begin, end; ///< bytes of the piece that the node covers
      uint32_t next;       ///< index of the node behind it, or the number of nodes
      uint32_t previous;
      int32_t rank; ///< its token; below 0 once it was merged into the node before it
    };
    struct Pair {
      int32_t rank;
      uint32_t left;
      uint32_t end; ///< where the pair ended when it was queued: a pair that grew since is stale
    };
    std::vector<Node> nodes;
    std::vector<Pair> queue;
  };

  /// Appends the ids of PIECE (below 4 GiB) to IDS.
  void encode(std::string_view piece, Scratch &scratch, std::vector<int32_t> &ids) const;

private:
  void queuePair(std::string_view piece, uint32_t left, Scratch &scratch) const;

  std::unique_ptr<char[]> buffer_;
  size_t capacity_;
  size_t used_ = 0;
  size_t longest_ = 0;
  std::unordered_map<std::string_view, int32_t> rankOf_;
  std::vector<std::string_view> bytesOf_;
};

} // namespace k3

#endif // K3_RUNTIME_TOKENIZER_BYTEPAIRENCODER_H
