//===- TileMath.h - Short words for tiles and scalars -----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Thin helpers over tile ops, so that a lowering reads like its formula: scalar expressions inside
// tile.map, and the few compositions of reduce and map that every row-wise op needs.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_PASSES_LOWER_TILEMATH_H
#define K3_COMPILER_PASSES_LOWER_TILEMATH_H

#include "compiler/passes/lower/KernelBuilder.h"

#include <functional>

namespace k3::lower {

/// A scalar SSA value with arithmetic: f32 unless a comparison or an i32 index.
struct Scalar {
  mlir::ImplicitLocOpBuilder *b;
  mlir::Value v;

  Scalar constant(double value) const;
  Scalar operator+(Scalar o) const;
  Scalar operator-(Scalar o) const;
  Scalar operator*(Scalar o) const;
  Scalar operator/(Scalar o) const;
  Scalar operator*(double o) const { return *this * constant(o); }
  Scalar operator+(double o) const { return *this + constant(o); }
  Scalar operator/(double o) const { return *this / constant(o); }
  Scalar operator-() const;
};

Scalar exp(Scalar x);
Scalar tanh(Scalar x);
Scalar sqrt(Scalar x);
Scalar sigmoid(Scalar x);
/// max(x, 0) + log1p(exp(-|x|)): no overflow at either end.
Scalar softplus(Scalar x);
Scalar minimum(Scalar x, Scalar y);
Scalar maximum(Scalar x, Scalar y);
/// condition (i1) ? x : y
Scalar select(Scalar condition, Scalar x, Scalar y);
/// Comparisons of i32 values.
Scalar lessThan(Scalar x, Scalar y);
Scalar lessEqual(Scalar x, Scalar y);
Scalar equal(Scalar x, Scalar y);
/// Rounds to `type` (bf16) and back; f32 stays.
Scalar roundTo(Scalar x, mlir::Type type);

using MapFn = std::function<Scalar(llvm::ArrayRef<Scalar>)>;

/// Tile-level words over one kernel.
class TileMath {
public:
  explicit TileMath(KernelBuilder &k) : k(k), b(k.b) {}

  tile::TileType f32(llvm::ArrayRef<int64_t> shape);
  tile::TileType i32(llvm::ArrayRef<int64_t> shape);
  llvm::ArrayRef<int64_t> shape(mlir::Value t);

  /// f32 result of the broadcast shape of the inputs.
  mlir::Value map(mlir::ValueRange inputs, const MapFn &fn);
  mlir::Value map(llvm::ArrayRef<int64_t> shape, mlir::ValueRange inputs, const MapFn &fn);
  /// i32 result of the broadcast shape of the inputs.
  mlir::Value mapInt(mlir::ValueRange inputs, const MapFn &fn);
  mlir::Value sum(mlir::Value t, int64_t axis);
  mlir::Value max(mlir::Value t, int64_t axis);
  mlir::Value splat(llvm::ArrayRef<int64_t> shape, double value);
  mlir::Value iota(llvm::ArrayRef<int64_t> shape, int64_t axis);
  mlir::Value reshape(mlir::Value t, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value t);
  mlir::Value extract(mlir::Value t, llvm::ArrayRef<int64_t> shape, mlir::ValueRange offsets);
  mlir::Value mma(mlir::Value acc, mlir::Value a, mlir::Value bOperand, bool transposeA = false,
                  bool transposeB = false);

  /// Loads f32 (or i32, i8) elements of a view.
  mlir::Value load(mlir::Value view, llvm::ArrayRef<int64_t> shape, mlir::ValueRange offsets,
                   mlir::ValueRange bounds);
  void store(mlir::Value t, mlir::Value view, mlir::ValueRange offsets, mlir::ValueRange bounds);
  /// One i32 element as index.
  mlir::Value readIndex(mlir::Value view, mlir::ValueRange offsets, mlir::ValueRange bounds);

  /// for i = lower; i < upper; i += step, carrying values from `fn` to the next iteration.
  mlir::ValueRange
  loop(mlir::Value lower, mlir::Value upper, int64_t step, mlir::ValueRange inits,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> fn);
  /// Runs `fn` where the condition, the same for the whole block, holds.
  void when(mlir::Value condition, llvm::function_ref<void()> fn);
  mlir::Value atLeast(mlir::Value x, mlir::Value y);
  mlir::Value lessIndex(mlir::Value x, mlir::Value y);
  mlir::Value selectIndex(mlir::Value condition, mlir::Value x, mlir::Value y);

  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value minIndex(mlir::Value x, mlir::Value y);
  mlir::Value maxIndex(mlir::Value x, mlir::Value y);
  mlir::Value div(mlir::Value x, mlir::Value y);
  mlir::Value rem(mlir::Value x, mlir::Value y);

  /// x / sqrt(mean(x²) + eps) along the last axis, times a gain that broadcasts.
  mlir::Value rmsNorm(mlir::Value x, mlir::Value gain, double eps, mlir::Type roundType);
  /// x / sqrt(sum(x²) + 1e-6) * scale along the last axis: the eps is on the sum.
  mlir::Value l2Norm(mlir::Value x, double scale);

private:
  KernelBuilder &k;
  mlir::ImplicitLocOpBuilder &b;
};

} // namespace k3::lower

#endif // K3_COMPILER_PASSES_LOWER_TILEMATH_H
