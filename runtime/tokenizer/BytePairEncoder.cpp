//===- BytePairEncoder.cpp - Byte-level BPE over ranked tokens ------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Merging with a linked list of tokens and a heap of candidate pairs: each merge costs a logarithm
// instead of a scan, and pairs that a merge made stale are recognised by where they ended and
// dropped when they surface.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/BytePairEncoder.h"

#include <algorithm>
#include <cassert>
#include <cstring>

using namespace k3;

bool BytePairEncoder::add(std::string_view bytes, int32_t rank) {
  assert(rank >= 0 && used_ + bytes.size() <= capacity_ && "more bytes than announced");
  if (bytes.empty() || bytesOf(rank))
    return false;
  char *copy = buffer_.get() + used_;
  std::memcpy(copy, bytes.data(), bytes.size());
  std::string_view owned(copy, bytes.size());
  if (!rankOf_.emplace(owned, rank).second)
    return false;
  used_ += bytes.size();
  longest_ = std::max(longest_, bytes.size());
  if (bytesOf_.size() <= static_cast<size_t>(rank))
    bytesOf_.resize(static_cast<size_t>(rank) + 1);
  bytesOf_[static_cast<size_t>(rank)] = owned;
  return true;
}

std::optional<int32_t> BytePairEncoder::find(std::string_view bytes) const {
  // Most of what is asked for is no token; the longest ones are too long to be worth hashing.
  if (bytes.size() > longest_)
    return std::nullopt;
  auto it = rankOf_.find(bytes);
  if (it == rankOf_.end())
    return std::nullopt;
  return it->second;
}

std::optional<std::string_view> BytePairEncoder::bytesOf(int32_t rank) const {
  if (rank < 0 || static_cast<size_t>(rank) >= bytesOf_.size() ||
      bytesOf_[static_cast<size_t>(rank)].empty())
    return std::nullopt;
  return bytesOf_[static_cast<size_t>(rank)];
}

/// For a heap whose front is the pair of lowest rank, the leftmost of those.
static bool comesLater(const BytePairEncoder::Scratch::Pair &a,
                       const BytePairEncoder::Scratch::Pair &b) {
  return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
}

/// Appends the pair of the node LEFT and the one behind it, if together they are a token.
void BytePairEncoder::queuePair(std::string_view piece, uint32_t left, Scratch &scratch) const {
  const Scratch::Node &node = scratch.nodes[left];
  if (node.next == scratch.nodes.size())
    return;
  uint32_t end = scratch.nodes[node.next].end;
  if (std::optional<int32_t> rank = find(piece.substr(node.begin, end - node.begin)))
    scratch.queue.push_back({*rank, left, end});
}

void BytePairEncoder::encode(std::string_view piece, Scratch &scratch,
                             std::vector<int32_t> &ids) const {
  // A piece that is a token stays whole, even if no order of merges would build it: so does the
  // reference.
  if (std::optional<int32_t> rank = find(piece)) {
    ids.push_back(*rank);
    return;
  }
  auto &nodes = scratch.nodes;
  auto &queue = scratch.queue;
  nodes.clear();
  queue.clear();
  uint32_t count = static_cast<uint32_t>(piece.size());
  for (uint32_t i = 0; i < count; ++i) {
    std::optional<int32_t> rank = find(piece.substr(i, 1));
    assert(rank && "every single byte is a token");
    nodes.push_back({i, i + 1, i + 1, i - 1, *rank});
  }
  for (uint32_t i = 0; i < count; ++i)
    queuePair(piece, i, scratch);
  std::make_heap(queue.begin(), queue.end(), comesLater);

  auto pushPair = [&](uint32_t left) {
    size_t before = queue.size();
    queuePair(piece, left, scratch);
    if (queue.size() != before)
      std::push_heap(queue.begin(), queue.end(), comesLater);
  };
  while (!queue.empty()) {
    std::pop_heap(queue.begin(), queue.end(), comesLater);
    Scratch::Pair pair = queue.back();
    queue.pop_back();
    Scratch::Node &left = nodes[pair.left];
    if (left.rank < 0 || left.next == count || nodes[left.next].end != pair.end)
      continue;
    Scratch::Node &right = nodes[left.next];
    right.rank = -1;
    left.rank = pair.rank;
    left.end = right.end;
    left.next = right.next;
    if (left.next != count)
      nodes[left.next].previous = pair.left;
    pushPair(pair.left);
    if (pair.left != 0)
      pushPair(left.previous);
  }
  for (uint32_t i = 0; i != count; i = nodes[i].next)
    ids.push_back(nodes[i].rank);
}
