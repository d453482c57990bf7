//===- WeightTasks.cpp - What has to be read, checked -----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A recipe knows rectangles, not shapes, so a shape is checked by what the rectangles say of it:
// the last axis must divide the distance of rows, nothing may lie outside, and nothing of a matrix
// may be left over at its end.
//
//===----------------------------------------------------------------------===//

#include "runtime/weights/WeightTasks.h"

#include "runtime/loader/DTypes.h"
#include "runtime/weights/PieceCopy.h"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>
#include <unordered_map>

using namespace k3;

namespace {

/// Large pieces are cut to this many bytes, so that two threads finish together.
constexpr uint64_t TaskBytes = 32u << 20;

/// Extents of SHAPE other than 1.
std::vector<uint64_t> squeezed(const std::vector<uint64_t> &shape) {
  std::vector<uint64_t> result;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(result),
               [](uint64_t extent) { return extent != 1; });
  return result;
}

class Planner {
public:
  Planner(const plan::Program &program, const Checkpoint &checkpoint,
          std::span<std::byte *const> addresses, bool wholeModel)
      : program_(program), checkpoint_(checkpoint), addresses_(addresses), wholeModel_(wholeModel) {
  }

  Result<WeightTasks> run();

private:
  Status addPiece(const plan::Weight &weight, const plan::Piece &piece);
  Status addTensor(const plan::Weight &weight, const plan::Piece &piece, uint64_t index,
                   const std::string &name);
  Status checkShape(const plan::Weight &weight, const plan::Piece &piece,
                    const TensorInfo &tensor) const;
  Status checkLeftovers() const;
  Status checkUnused();

  const plan::Program &program_;
  const Checkpoint &checkpoint_;
  std::span<std::byte *const> addresses_;
  bool wholeModel_;
  WeightTasks result_;
  std::vector<std::string> missing_;
  std::unordered_map<const TensorInfo *, uint64_t>
      usedEnd_; // tensor → one past its last element that is read
};

Status Planner::checkShape(const plan::Weight &weight, const plan::Piece &piece,
                           const TensorInfo &tensor) const {
  const std::vector<uint64_t> shape = squeezed(tensor.shape);
  const uint64_t lastAxis = shape.empty() ? 1 : shape.back();
  uint64_t end = 0;
  bool bad = __builtin_mul_overflow(piece.rows() - 1, piece.src_row_stride(), &end) ||
             __builtin_add_overflow(end, piece.src_begin(), &end) ||
             __builtin_add_overflow(end, piece.cols(), &end) || end > tensor.elements();
  // The rows of a recipe are whole rows of the tensor, or parts of it at equal distances; both
  // follow the last axis.
  if (piece.rows() > 1 && shape.size() > 1 && lastAxis)
    bad |= piece.src_row_stride() % lastAxis != 0;
  if (!bad)
    return Status::ok();
  return Status::refused(
      fmt::format("weight '{}': tensor '{}' has shape {}, which the plan was not compiled for (it "
                  "reads {} x {} elements, rows {} apart, "
                  "beginning at element {}); compile the plan for this checkpoint",
                  weight.name()->str(), tensor.name, shapeString(tensor.shape), piece.rows(),
                  piece.cols(), piece.src_row_stride(), piece.src_begin()));
}

Status Planner::addTensor(const plan::Weight &weight, const plan::Piece &piece, uint64_t index,
                          const std::string &name) {
  const TensorPlace *place = checkpoint_.find(name);
  if (!place) {
    missing_.push_back(name);
    return Status::ok();
  }
  const TensorInfo &tensor = *place->info;
  const plan::DType type = program_.buffers()->Get(weight.buffer())->dtype();
  if (!isExactConversion(tensor.type, type)) {
    return Status::refused(fmt::format("weight '{}': tensor '{}' has another element type than the "
                                       "plan (got {}, expected {}); compile "
                                       "the plan for this checkpoint",
                                       weight.name()->str(), name, elementTypeName(tensor.type),
                                       elementTypeName(type)));
  }
  K3_RETURN_IF_ERROR(checkShape(weight, piece, tensor));
  uint64_t &end = usedEnd_[&tensor];
  end =
      std::max(end, piece.src_begin() + (piece.rows() - 1) * piece.src_row_stride() + piece.cols());

  std::byte *to =
      addresses_[weight.buffer()] +
      (piece.dst_begin() + (index - piece.first()) * piece.dst_index_stride()) * dtypeBytes(type);
  const uint64_t rowBytes = piece.cols() * elementSize(tensor.type);
  const uint64_t step = std::max<uint64_t>(1, TaskBytes / std::max<uint64_t>(rowBytes, 1));
  for (uint64_t row = 0; row < piece.rows(); row += std::min(step, piece.rows() - row))
    result_.tasks.push_back(
        {*place, &piece, to, type, row, row + std::min(step, piece.rows() - row)});
  result_.bytes += rowBytes * piece.rows();
  ++result_.tensors;
  return Status::ok();
}

Status Planner::addPiece(const plan::Weight &weight, const plan::Piece &piece) {
  if (piece.rows() == 0 || piece.cols() == 0)
    return Status::ok();
  const std::string pattern = piece.source()->str();
  const size_t hole = pattern.find("{}");
  for (uint64_t i = 0; i < piece.count(); ++i) {
    const uint64_t index = piece.first() + i;
    std::string name = pattern;
    if (hole != std::string::npos)
      name.replace(hole, 2, std::to_string(index));
    K3_RETURN_IF_ERROR(addTensor(weight, piece, index, name));
  }
  return Status::ok();
}

Status Planner::checkLeftovers() const {
  for (const auto &[tensor, end] : usedEnd_) {
    // A vector may be padded at its end: A_log is stored longer than there are heads.
    if (end < tensor->elements() && squeezed(tensor->shape).size() > 1) {
      return Status::refused(fmt::format("tensor '{}' has shape {}, which is larger than the plan "
                                         "was compiled for (got {} elements, "
                                         "expected {}); compile the plan for this checkpoint",
                                         tensor->name, shapeString(tensor->shape),
                                         tensor->elements(), end));
    }
  }
  return Status::ok();
}

/// Why a tensor may be left alone, or nothing.
std::string_view reasonToSkip(std::string_view name) {
  if (isVisionTensor(name))
    return "vision, which a text plan does not run";
  // The first mix has one row to choose from, so its weights cannot matter; official checkpoints
  // store them anyway.
  if (name.ends_with("layers.0.self_attention_res_norm.weight") ||
      name.ends_with("layers.0.self_attention_res_proj.weight"))
    return "first residual mix, which has one input";
  return {};
}

Status Planner::checkUnused() {
  std::vector<std::string_view> unknown;
  for (const SafetensorsFile &shard : checkpoint_.shards()) {
    for (const TensorInfo &tensor : shard.tensors()) {
      if (usedEnd_.contains(&tensor))
        continue;
      std::string_view reason = reasonToSkip(tensor.name);
      if (reason.empty()) {
        unknown.push_back(tensor.name);
        continue;
      }
      auto group =
          std::find_if(result_.skipped.begin(), result_.skipped.end(),
                       [&](const SkippedTensors &skipped) { return skipped.reason == reason; });
      if (group == result_.skipped.end())
        group = result_.skipped.insert(result_.skipped.end(), {reason, 0, 0});
      ++group->count;
      group->bytes += tensor.bytes;
    }
  }
  if (unknown.empty())
    return Status::ok();
  std::sort(unknown.begin(), unknown.end());
  const size_t shown = std::min<size_t>(unknown.size(), 5);
  return Status::refused(fmt::format(
      "{}: {} tensors are not used by the plan ({}{}); compile the plan for this checkpoint",
      checkpoint_.folder(), unknown.size(),
      fmt::join(unknown.begin(), unknown.begin() + static_cast<ptrdiff_t>(shown), ", "),
      unknown.size() > shown ? ", ..." : ""));
}

Result<WeightTasks> Planner::run() {
  for (const plan::Weight *weight : *program_.weights()) {
    for (const plan::Piece *piece : *weight->pieces())
      K3_RETURN_IF_ERROR(addPiece(*weight, *piece));
  }
  if (!missing_.empty()) {
    const size_t shown = std::min<size_t>(missing_.size(), 5);
    return Status::refused(fmt::format(
        "{}: {} tensors are missing that the plan reads ({}{}); compile the plan for this "
        "checkpoint",
        checkpoint_.folder(), missing_.size(),
        fmt::join(missing_.begin(), missing_.begin() + static_cast<ptrdiff_t>(shown), ", "),
        missing_.size() > shown ? ", ..." : ""));
  }
  if (wholeModel_) {
    K3_RETURN_IF_ERROR(checkLeftovers());
    K3_RETURN_IF_ERROR(checkUnused());
  }
  std::sort(result_.tasks.begin(), result_.tasks.end(),
            [](const WeightTask &a, const WeightTask &b) {
              return std::tuple(a.place.shard, a.place.info->begin, a.rowBegin) <
                     std::tuple(b.place.shard, b.place.info->begin, b.rowBegin);
            });
  return std::move(result_);
}

} // namespace

bool k3::isVisionTensor(std::string_view name) {
  return name.starts_with("vision_tower.") || name.starts_with("mm_projector.");
}

Result<WeightTasks> k3::planWeightTasks(const plan::Program &program, const Checkpoint &checkpoint,
                                        std::span<std::byte *const> addresses, bool wholeModel) {
  return Planner(program, checkpoint, addresses, wholeModel).run();
}
