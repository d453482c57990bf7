//===- ValidateWeights.cpp - Weights of a plan ----------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each piece must stay inside its weight, and the pieces of a weight must fill it. Exactly disjoint
// is checked where the pieces are few runs; for finely interleaved ones their sizes must add up.
//
//===----------------------------------------------------------------------===//

#include "runtime/loader/Validate.h"

#include <algorithm>
#include <unordered_set>

namespace k3 {

namespace {

// Above this many runs in a weight only the sum of the sizes is checked.
constexpr uint64_t maxRuns = 4096;

/// How a piece lies in the weight: `count` times `rows` rows of `cols` elements.
struct Target {
  uint64_t rows, cols;
};

Target targetOf(const plan::Piece &piece) {
  return piece.transform() == plan::PackTransform::Transpose ? Target{piece.cols(), piece.rows()}
                                                             : Target{piece.rows(), piece.cols()};
}

/// begin + (count-1)*outer + (rows-1)*inner + cols, or false if that does not fit 63 bits.
bool endOf(uint64_t begin, uint64_t count, uint64_t outer, uint64_t rows, uint64_t inner,
           uint64_t cols, uint64_t &end) {
  uint64_t outerSpan = 0, innerSpan = 0;
  return !__builtin_mul_overflow(count - 1, outer, &outerSpan) &&
         !__builtin_mul_overflow(rows - 1, inner, &innerSpan) &&
         !__builtin_add_overflow(begin, outerSpan, &end) &&
         !__builtin_add_overflow(end, innerSpan, &end) &&
         !__builtin_add_overflow(end, cols, &end) && end <= INT64_MAX;
}

Status checkPieceSource(const PlanChecks &checks, const std::string &who,
                        const plan::Piece &piece) {
  std::string_view source = piece.source()->string_view();
  K3_RETURN_IF_ERROR(checks.checkName("weights", who, source));
  size_t holder = source.find("{}");
  bool isRange = holder != std::string_view::npos;
  if (isRange && source.find("{}", holder + 2) != std::string_view::npos)
    return checks.refuse(
        "weights",
        "{}: '{}' has more than one place for the index (got several, expected one {{}})", who,
        source);
  if (piece.count() > 1 && !isRange)
    return checks.refuse(
        "weights",
        "{}: '{}' has no place for the index (got {} tensors, expected {{}} in the name)", who,
        source, piece.count());
  uint64_t last = 0;
  if (__builtin_add_overflow(piece.first(), piece.count(), &last) || last > INT64_MAX)
    return checks.refuse("weights", "{}: its range of tensors overflows (got {} tensors from {})",
                         who, piece.count(), piece.first());
  if (piece.rows() > 1 && piece.src_row_stride() < piece.cols())
    return checks.refuse("weights",
                         "{}: its source rows overlap (got a stride of {}, expected at least {})",
                         who, piece.src_row_stride(), piece.cols());
  uint64_t end = 0;
  if (!endOf(piece.src_begin(), 1, 0, piece.rows(), piece.src_row_stride(), piece.cols(), end))
    return checks.refuse(
        "weights", "{}: its source rectangle overflows 63 bits (got {}x{} from {} with stride {})",
        who, piece.rows(), piece.cols(), piece.src_begin(), piece.src_row_stride());
  return Status::ok();
}

Status checkPiece(const PlanChecks &checks, const std::string &who, const plan::Piece &piece,
                  uint64_t elements) {
  if (piece.transform() > plan::PackTransform::MAX)
    return checks.refuse("weights", "{}: its transform is unknown (got {}, expected at most {})",
                         who, static_cast<unsigned>(piece.transform()),
                         static_cast<unsigned>(plan::PackTransform::MAX));
  if (!piece.rows() || !piece.cols() || !piece.count())
    return checks.refuse(
        "weights",
        "{}: is empty (got {} rows, {} columns, {} tensors, expected at least 1 of each)", who,
        piece.rows(), piece.cols(), piece.count());
  K3_RETURN_IF_ERROR(checkPieceSource(checks, who, piece));
  Target target = targetOf(piece);
  if (target.rows > 1 && piece.dst_row_stride() < target.cols)
    return checks.refuse(
        "weights", "{}: its rows overlap in the weight (got a stride of {}, expected at least {})",
        who, piece.dst_row_stride(), target.cols);
  if (piece.count() > 1 && piece.dst_index_stride() < target.cols)
    return checks.refuse(
        "weights",
        "{}: its tensors overlap in the weight (got a stride of {}, expected at least {})", who,
        piece.dst_index_stride(), target.cols);
  uint64_t end = 0;
  if (!endOf(piece.dst_begin(), piece.count(), piece.dst_index_stride(), target.rows,
             piece.dst_row_stride(), target.cols, end))
    return checks.refuse("weights", "{}: its rectangle overflows 63 bits (got {} of {}x{} from {})",
                         who, piece.count(), target.rows, target.cols, piece.dst_begin());
  if (end > elements)
    return checks.refuse("weights",
                         "{}: ends outside the weight (got element {}, expected at most {})", who,
                         end, elements);
  return Status::ok();
}

struct Run {
  uint64_t begin, end;
};

/// Appends the contiguous runs of PIECE; false when there are too many to look at one by one.
bool appendRuns(const plan::Piece &piece, std::vector<Run> &runs) {
  Target target = targetOf(piece);
  uint64_t rows = target.rows, cols = target.cols, count = piece.count();
  if (rows == 1 || piece.dst_row_stride() == cols) {
    cols *= rows;
    rows = 1;
  }
  if (rows == 1 && piece.dst_index_stride() == cols) {
    cols *= count;
    count = 1;
  }
  uint64_t total = 0;
  if (__builtin_mul_overflow(rows, count, &total) ||
      total > maxRuns - std::min<uint64_t>(maxRuns, runs.size()))
    return false;
  for (uint64_t i = 0; i < count; ++i)
    for (uint64_t row = 0; row < rows; ++row) {
      uint64_t begin =
          piece.dst_begin() + i * piece.dst_index_stride() + row * piece.dst_row_stride();
      runs.push_back({begin, begin + cols});
    }
  return true;
}

Status checkCover(const PlanChecks &checks, const std::string &who, const plan::Weight &weight,
                  uint64_t elements) {
  uint64_t sum = 0;
  std::vector<Run> runs;
  bool exact = true;
  for (const plan::Piece *piece : *weight.pieces()) {
    uint64_t size = 0;
    if (__builtin_mul_overflow(piece->rows(), piece->cols(), &size) ||
        __builtin_mul_overflow(size, piece->count(), &size) ||
        __builtin_add_overflow(sum, size, &sum))
      return checks.refuse("weights", "{}: the sizes of its pieces overflow 64 bits", who);
    exact = exact && appendRuns(*piece, runs);
  }
  if (sum != elements)
    return checks.refuse("weights", "{}: its pieces do not fill it (got {} elements, expected {})",
                         who, sum, elements);
  if (!exact)
    return Status::ok();
  std::sort(runs.begin(), runs.end(), [](const Run &a, const Run &b) { return a.begin < b.begin; });
  for (size_t i = 1; i < runs.size(); ++i)
    if (runs[i].begin < runs[i - 1].end)
      return checks.refuse("weights",
                           "{}: two of its pieces overlap (got element {} twice, expected once)",
                           who, runs[i].begin);
  return Status::ok();
}

Status checkWeight(const PlanChecks &checks, const plan::Program &program, const std::string &who,
                   const plan::Weight &weight) {
  K3_RETURN_IF_ERROR(
      checks.checkIndex("weights", who, "buffer", weight.buffer(), program.buffers()->size()));
  const plan::Buffer &buffer = *(*program.buffers())[weight.buffer()];
  plan::ArenaClass cls = (*program.arenas())[buffer.arena()]->cls();
  if (cls != plan::ArenaClass::Weights)
    return checks.refuse("weights", "{}: lies in the wrong arena (got {}, expected Weights)", who,
                         plan::EnumNameArenaClass(cls));
  uint64_t elements = 1;
  for (uint32_t dim : *buffer.shape()) {
    const ExprRange &range = checks.ranges[dim];
    if (range.low != range.high)
      return checks.refuse("weights",
                           "{}: its shape depends on symbols (got {} to {}, expected a constant)",
                           who, range.low, range.high);
    elements *= static_cast<uint64_t>(range.high); // no overflow: the buffer holds it
  }
  for (uint32_t i = 0; i < weight.pieces()->size(); ++i)
    K3_RETURN_IF_ERROR(
        checkPiece(checks, fmt::format("{} piece {}", who, i), *(*weight.pieces())[i], elements));
  return checkCover(checks, who, weight, elements);
}

/// Weights and states live as long as the session; no two of them may share a byte.
Status checkLongLived(const PlanChecks &checks, const plan::Program &program) {
  struct Range {
    uint32_t arena;
    uint64_t begin, end;
    std::string_view name;
  };
  std::vector<Range> ranges;
  auto add = [&](uint32_t index, std::string_view name) {
    const plan::Buffer &buffer = *(*program.buffers())[index];
    if (buffer.size())
      ranges.push_back({buffer.arena(), buffer.offset(), buffer.offset() + buffer.size(), name});
  };
  for (const plan::Weight *weight : *program.weights())
    add(weight->buffer(), weight->name()->string_view());
  for (const plan::State *state : *program.states())
    add(state->buffer(), state->name()->string_view());
  std::sort(ranges.begin(), ranges.end(), [](const Range &a, const Range &b) {
    return std::pair(a.arena, a.begin) < std::pair(b.arena, b.begin);
  });
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].arena == ranges[i - 1].arena && ranges[i].begin < ranges[i - 1].end)
      return checks.refuse(
          "buffers",
          "rank {}: '{}' and '{}' share memory (got byte {} of arena {} twice, expected once)",
          program.rank(), ranges[i - 1].name, ranges[i].name, ranges[i].begin, ranges[i].arena);
  return Status::ok();
}

} // namespace

Status validateWeights(const PlanChecks &checks, const plan::Program &program) {
  const auto &weights = *program.weights();
  std::unordered_set<std::string_view> names;
  for (uint32_t i = 0; i < weights.size(); ++i) {
    std::string_view name = weights[i]->name()->string_view();
    K3_RETURN_IF_ERROR(
        checks.checkName("weights", fmt::format("rank {} weight {}", program.rank(), i), name));
    std::string who = fmt::format("rank {} weight {} '{}'", program.rank(), i, name);
    if (!names.insert(name).second)
      return checks.refuse("weights", "{}: its name is taken (got it twice, expected unique names)",
                           who);
    K3_RETURN_IF_ERROR(checkWeight(checks, program, who, *weights[i]));
  }
  return checkLongLived(checks, program);
}

} // namespace k3
