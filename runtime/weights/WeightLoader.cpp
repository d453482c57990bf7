//===- WeightLoader.cpp - Filling a plan's weights --------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A few threads take reads in file order; each has one staging buffer, reads as many rows as fit
// into it, and moves them to their place. Two threads keep a disk busy while the other one copies.
//
//===----------------------------------------------------------------------===//

#include "runtime/weights/WeightLoader.h"

#include "runtime/loader/DTypes.h"
#include "runtime/weights/PieceCopy.h"
#include "runtime/weights/Progress.h"
#include "runtime/weights/WeightTasks.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

using namespace k3;

namespace {

/// Gaps between rows up to this size are read along, because one large read is faster than many
/// small ones.
constexpr uint64_t GapBytes = 64u << 10;

class Streamer {
public:
  Streamer(const Checkpoint &checkpoint, const WeightTasks &work, const WeightLoadOptions &options)
      : checkpoint_(checkpoint), work_(work), options_(options),
        progress_("weights", work.bytes, options.quiet) {}

  Status run();

private:
  void worker(std::byte *staging);
  Status runTask(const WeightTask &task, std::byte *staging);
  Status move(const WeightTask &task, std::byte *staging, uint64_t row, uint64_t rows, uint64_t col,
              uint64_t cols);

  const Checkpoint &checkpoint_;
  const WeightTasks &work_;
  const WeightLoadOptions &options_;
  Progress progress_;
  std::atomic<size_t> next_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned running_ = 0; // under mutex_
  Status error_;         // under mutex_: the first one
};

/// Reads columns [col, col + cols) of ROWS rows and puts them in their place.
Status Streamer::move(const WeightTask &task, std::byte *staging, uint64_t row, uint64_t rows,
                      uint64_t col, uint64_t cols) {
  const plan::Piece &piece = *task.piece;
  const TensorInfo &tensor = *task.place.info;
  const uint64_t size = elementSize(tensor.type);
  const uint64_t begin = piece.src_begin() + row * piece.src_row_stride() + col;
  const uint64_t span = (rows - 1) * piece.src_row_stride() + cols;
  K3_RETURN_IF_ERROR(checkpoint_.read(task.place, begin * size, staging, span * size));

  if (tensor.type == ElementType::U8 && tensor.name.ends_with("weight_scale")) {
    if (const void *bad = std::memchr(staging, 255, span)) {
      return Status::refused(fmt::format(
          "tensor '{}': scale byte {} is 255, which stands for NaN; the checkpoint is damaged",
          tensor.name,
          begin + static_cast<uint64_t>(static_cast<const std::byte *>(bad) - staging)));
    }
  }
  const bool transpose = piece.transform() == plan::PackTransform::Transpose;
  const uint64_t rowStride = transpose ? 1 : piece.dst_row_stride();
  const uint64_t colStride = transpose ? piece.dst_row_stride() : 1;
  copyRectangle(staging, tensor.type,
                task.to + (row * rowStride + col * colStride) * dtypeBytes(task.toType),
                task.toType, {rows, cols, piece.src_row_stride(), rowStride, colStride});
  progress_.add(rows * cols * size);
  return Status::ok();
}

Status Streamer::runTask(const WeightTask &task, std::byte *staging) {
  const plan::Piece &piece = *task.piece;
  const uint64_t capacity = options_.stagingBytes / elementSize(task.place.info->type);
  const uint64_t gap = piece.src_row_stride() - std::min(piece.cols(), piece.src_row_stride());
  uint64_t rowsAtOnce = 1;
  if (gap * elementSize(task.place.info->type) <= GapBytes && piece.cols() <= capacity)
    rowsAtOnce = 1 + (capacity - piece.cols()) / std::max<uint64_t>(piece.src_row_stride(), 1);
  for (uint64_t row = task.rowBegin; row < task.rowEnd;) {
    const uint64_t rows = std::min(rowsAtOnce, task.rowEnd - row);
    for (uint64_t col = 0; col < piece.cols();) {
      const uint64_t cols = std::min(capacity, piece.cols() - col);
      K3_RETURN_IF_ERROR(move(task, staging, row, rows, col, cols));
      col += cols;
    }
    row += rows;
  }
  return Status::ok();
}

void Streamer::worker(std::byte *staging) {
  Status status;
  while (status.isOk()) {
    const size_t task = next_.fetch_add(1);
    if (task >= work_.tasks.size())
      break;
    status = runTask(work_.tasks[task], staging);
  }
  if (!status.isOk())
    next_ = work_.tasks.size();
  std::lock_guard<std::mutex> lock(mutex_);
  if (!status.isOk() && error_.isOk())
    error_ = std::move(status);
  --running_;
  changed_.notify_one();
}

Status Streamer::run() {
  const unsigned wanted = std::max(1u, options_.threads);
  std::vector<std::unique_ptr<std::byte[]>> staging;
  for (unsigned i = 0; i < wanted; ++i) {
    staging.emplace_back(new (std::nothrow) std::byte[options_.stagingBytes]);
    if (!staging.back())
      return Status::failed(fmt::format(
          "weights: there is no memory for the staging buffers (got {} of {}, {} bytes each); free "
          "some memory",
          i, wanted, options_.stagingBytes));
  }
  std::vector<std::thread> threads;
  threads.reserve(wanted);
  running_ = wanted;
  try {
    for (auto &buffer : staging)
      threads.emplace_back([this, to = buffer.get()] { worker(to); });
  } catch (const std::system_error &) {
    // Fewer threads are slower, and without any this one does the work.
    {
      std::lock_guard<std::mutex> lock(mutex_);
      running_ -= wanted - static_cast<unsigned>(std::max<size_t>(threads.size(), 1));
    }
    if (threads.empty())
      worker(staging.front().get());
  }
  {
    std::unique_lock<std::mutex> lock(mutex_);
    while (
        !changed_.wait_for(lock, std::chrono::milliseconds(100), [this] { return running_ == 0; }))
      progress_.tick();
  }
  for (std::thread &thread : threads)
    thread.join();
  if (error_.isOk())
    progress_.finish();
  return error_;
}

} // namespace

Result<WeightLoadReport> k3::loadWeights(const plan::Program &program, const Checkpoint &checkpoint,
                                         std::span<std::byte *const> addresses,
                                         const WeightLoadOptions &options) {
  K3_ASSIGN_OR_RETURN(WeightTasks work,
                      planWeightTasks(program, checkpoint, addresses, options.wholeModel));
  K3_RETURN_IF_ERROR(Streamer(checkpoint, work, options).run());
  return WeightLoadReport{work.tensors, work.bytes, std::move(work.skipped)};
}
