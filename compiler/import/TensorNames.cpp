//===- TensorNames.cpp - Which tensors a checkpoint has ----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A name is matched by hashing it with its numbers taken out, so that the cost of a name does not
// depend on the number of templates.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/TensorNames.h"

#include <algorithm>
#include <charconv>

namespace k3 {

bool TensorNames::canonical(std::string_view name, std::string &key, std::vector<Slot> &slots) {
  key.clear();
  slots.clear();
  for (size_t at = 0; at <= name.size();) {
    size_t end = std::min(name.find('.', at), name.size());
    std::string_view part = name.substr(at, end - at);
    uint64_t number = 0;
    if (part.size() == 3 && part[0] == '{' && part[2] == '}') {
      slots.push_back({part[1] == 'L' ? 'L' : 'E', 0});
      key += '#';
    } else if (!part.empty() && part.find_first_not_of("0123456789") == part.npos) {
      // A number is written in one way only: `01` names nothing.
      auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), number);
      if (error != std::errc() || (part.size() > 1 && part[0] == '0'))
        return false;
      slots.push_back({'=', number});
      key += '#';
    } else {
      key += part;
    }
    if (end < name.size())
      key += '.';
    at = end + 1;
  }
  return true;
}

size_t TensorNames::add(const std::string &name, size_t layers, size_t copies) {
  auto [known, added] = byName_.try_emplace(name, patterns_.size());
  if (!added) {
    Pattern &pattern = patterns_[known->second];
    pattern.copies = std::max(pattern.copies, copies);
    return known->second;
  }
  Template entry{patterns_.size(), {}};
  std::string key;
  canonical(name, key, entry.slots);
  byKey_[key].push_back(std::move(entry));
  patterns_.push_back({name, layers, copies, std::vector<PresentTensor>(layers)});
  return patterns_.size() - 1;
}

std::optional<size_t> TensorNames::find(std::string_view name) const {
  auto found = byName_.find(std::string(name));
  return found == byName_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<TensorNames::Match> TensorNames::match(std::string_view name) const {
  // Reused between calls: half a million names should not cost a million allocations.
  thread_local std::string key;
  thread_local std::vector<Slot> numbers;
  if (!canonical(name, key, numbers))
    return std::nullopt;
  auto found = byKey_.find(key);
  if (found == byKey_.end())
    return std::nullopt;
  for (const Template &candidate : found->second) {
    const Pattern &pattern = patterns_[candidate.pattern];
    Match match{candidate.pattern, 0, 0, true};
    bool fits = candidate.slots.size() == numbers.size();
    for (size_t i = 0; fits && i < numbers.size(); ++i) {
      uint64_t number = numbers[i].number;
      char kind = candidate.slots[i].kind;
      if (numbers[i].kind != '=')
        fits = false; // a name of a checkpoint with braces in it
      else if (kind == '=')
        fits = candidate.slots[i].number == number;
      else
        (kind == 'L' ? match.layer : match.copy) = number;
    }
    if (!fits)
      continue;
    match.inRange = match.layer < pattern.layers && match.copy < pattern.copies;
    return match;
  }
  return std::nullopt;
}

bool TensorNames::record(const Match &match, uint32_t shard) {
  PresentTensor &present = at(match.pattern, match.layer);
  if (present.shards.empty())
    present.shards.resize(patterns_[match.pattern].copies);
  uint32_t &entry = present.shards[match.copy];
  if (entry != 0)
    return false;
  entry = shard + 1;
  ++present.count;
  return true;
}

std::string TensorNames::instance(std::string_view pattern, size_t layer, size_t copy) {
  std::string result;
  for (size_t at = 0; at < pattern.size();) {
    if (pattern[at] == '{' && at + 2 < pattern.size() && pattern[at + 2] == '}') {
      result += std::to_string(pattern[at + 1] == 'L' ? layer : copy);
      at += 3;
    } else {
      result += pattern[at++];
    }
  }
  return result;
}

void NameSummary::add(std::string_view pattern, std::string name, int64_t count) {
  count_ += count;
  auto [known, added] = byPattern_.try_emplace(std::string(pattern), classes_.size());
  if (added)
    classes_.push_back({std::string(pattern), std::move(name), count});
  else
    classes_[known->second].count += count;
}

std::string NameSummary::text(size_t limit) const {
  std::string result;
  int64_t rest = count_;
  for (size_t i = 0; i < std::min(limit, classes_.size()); ++i) {
    const Class &entry = classes_[i];
    rest -= entry.count;
    result += result.empty() ? "" : ", ";
    result += entry.first;
    if (entry.count > 1)
      result += " and " + std::to_string(entry.count - 1) + " alike";
  }
  return rest > 0 ? result + ", and " + std::to_string(rest) + " more" : result;
}

} // namespace k3
