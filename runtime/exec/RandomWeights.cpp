//===- RandomWeights.cpp - A model without its checkpoint -----------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A recipe says where a tensor goes; here it is read the other way round: which elements of which
// tensors lie in a range of the weight. So a range can be made anywhere and sent to its place.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/RandomWeights.h"

#include "runtime/device/cpu/ThreadPool.h"
#include "runtime/loader/DTypes.h"
#include "runtime/weights/Progress.h"
#include "runtime/weights/RandomValues.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <mutex>
#include <string>

using namespace k3;

/// Bytes that one thread makes at once: they stay in its cache, and the recipe is walked anew for
/// each.
static constexpr uint64_t PartBytes = 1u << 20;

Result<std::optional<uint64_t>> k3::parseRandomWeights(std::string_view weights) {
  constexpr std::string_view Prefix = "random:";
  if (!weights.starts_with(Prefix))
    return std::optional<uint64_t>();
  const std::string_view digits = weights.substr(Prefix.size());
  uint64_t seed = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seed);
  if (error != std::errc() || end != digits.data() + digits.size())
    return Status::refused(fmt::format(
        "--weights: random weights need a seed (got \"{}\", expected random:SEED with a number of "
        "at most 64 bits)",
        weights));
  return std::optional<uint64_t>(seed);
}

namespace {

/// A range of a weight that is being made.
struct Range {
  uint64_t first, end; // elements of the weight
  std::byte *to;       // the element FIRST
  uint64_t elementBytes;

  std::byte *at(uint64_t element) const { return to + (element - first) * elementBytes; }
};

/// Makes what lies in RANGE of COUNT elements of TENSOR from SOURCE on, which go to element PLACE.
void makeRun(const RandomTensor &tensor, const Range &range, uint64_t source, uint64_t place,
             uint64_t count) {
  const uint64_t begin = std::max(place, range.first), end = std::min(place + count, range.end);
  if (begin < end)
    tensor.fill(source + (begin - place), end - begin, range.at(begin));
}

/// The rows [first, second) of ROWS rows at PLACE, STRIDE apart, that may reach into RANGE.
std::pair<uint64_t, uint64_t> rowsIn(const Range &range, uint64_t place, uint64_t rows,
                                     uint64_t stride) {
  if (stride == 0)
    return {0, rows};
  const uint64_t low = range.first > place ? (range.first - place) / stride : 0;
  const uint64_t high = range.end > place ? (range.end - place + stride - 1) / stride : 0;
  return {std::min(low, rows), std::min(high, rows)};
}

/// Makes what lies in RANGE of one rectangle, whose first element goes to PLACE.
void makeRectangle(const RandomTensor &tensor, const plan::Piece &piece, const Range &range,
                   uint64_t place) {
  const uint64_t stride = piece.dst_row_stride();
  if (piece.transform() == plan::PackTransform::Transpose) {
    const auto [begin, end] = rowsIn(range, place, piece.cols(), stride);
    for (uint64_t col = begin; col < end; ++col)
      for (uint64_t row = 0; row < piece.rows(); ++row)
        makeRun(tensor, range, piece.src_begin() + row * piece.src_row_stride() + col,
                place + col * stride + row, 1);
    return;
  }
  if (piece.src_row_stride() == piece.cols() && stride == piece.cols())
    return makeRun(tensor, range, piece.src_begin(), place, piece.rows() * piece.cols());
  const auto [begin, end] = rowsIn(range, place, piece.rows(), stride);
  for (uint64_t row = begin; row < end; ++row)
    makeRun(tensor, range, piece.src_begin() + row * piece.src_row_stride(), place + row * stride,
            piece.cols());
}

/// One past the last element of the weight that a rectangle at PLACE writes.
uint64_t endOf(const plan::Piece &piece, uint64_t place) {
  const bool turned = piece.transform() == plan::PackTransform::Transpose;
  const uint64_t rows = turned ? piece.cols() : piece.rows();
  const uint64_t cols = turned ? piece.rows() : piece.cols();
  return rows == 0 ? place : place + (rows - 1) * piece.dst_row_stride() + cols;
}

} // namespace

Status k3::makeRandomWeight(const plan::Program &program, const plan::Weight &weight, uint64_t seed,
                            uint64_t first, uint64_t count, std::byte *to) {
  const plan::DType type = program.buffers()->Get(weight.buffer())->dtype();
  const Range range{first, first + count, to, dtypeBytes(type)};
  std::memset(to, 0, count * range.elementBytes);
  for (const plan::Piece *piece : *weight.pieces()) {
    const std::string pattern = piece->source()->str();
    const size_t hole = pattern.find("{}");
    for (uint64_t i = 0; i < piece->count(); ++i) {
      const uint64_t place = piece->dst_begin() + i * piece->dst_index_stride();
      if (place >= range.end || endOf(*piece, place) <= range.first)
        continue;
      std::string name = pattern;
      if (hole != std::string::npos)
        name.replace(hole, 2, std::to_string(piece->first() + i));
      K3_ASSIGN_OR_RETURN(RandomTensor tensor,
                          RandomTensor::create(seed, name, piece->cols(), type));
      makeRectangle(tensor, *piece, range, place);
    }
  }
  return Status::ok();
}

Status k3::fillRandomWeights(Executor &executor, uint64_t seed, unsigned threads, bool quiet) {
  const plan::Program &program = executor.program();
  uint64_t total = 0;
  for (const plan::Weight *weight : *program.weights())
    total += program.buffers()->Get(weight->buffer())->size();
  Progress progress("random weights", total, quiet);
  K3_ASSIGN_OR_RETURN(std::unique_ptr<ThreadPool> pool, ThreadPool::create(threads));

  for (const plan::Weight *weight : *program.weights()) {
    const uint64_t elementBytes = dtypeBytes(program.buffers()->Get(weight->buffer())->dtype());
    struct Job {
      const plan::Program &program;
      const plan::Weight &weight;
      uint64_t seed, elementBytes, offset, bytes;
      std::byte *to;
      std::mutex mutex;
      Status error; // under mutex: the first one
    };
    const auto makeParts = [](void *context, int64_t begin, int64_t end) {
      Job &job = *static_cast<Job *>(context);
      const uint64_t from = static_cast<uint64_t>(begin) * PartBytes;
      const uint64_t to = std::min(static_cast<uint64_t>(end) * PartBytes, job.bytes);
      Status made = makeRandomWeight(job.program, job.weight, job.seed,
                                     (job.offset + from) / job.elementBytes,
                                     (to - from) / job.elementBytes, job.to + from);
      std::lock_guard<std::mutex> lock(job.mutex);
      if (job.error.isOk())
        job.error = std::move(made);
    };
    K3_RETURN_IF_ERROR(executor.write(
        weight->buffer(), [&](std::byte *to, uint64_t offset, uint64_t bytes) -> Status {
          Job job{program, *weight, seed, elementBytes, offset, bytes, to, {}, {}};
          pool->parallelFor(static_cast<int64_t>((bytes + PartBytes - 1) / PartBytes), 1, makeParts,
                            &job);
          progress.add(bytes);
          progress.tick();
          return std::move(job.error);
        }));
  }
  progress.finish();
  return Status::ok();
}
