//===- Code.h - Words for low-level code ------------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thin layer over an OpBuilder: index arithmetic that folds, typed memory access through raw
// pointers, vectors of eight. Everything the CPU lowering emits goes through these words.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_CODEGEN_CPU_CODE_H
#define K3_COMPILER_CODEGEN_CPU_CODE_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace k3::cpu {

/// Lanes of the vectors that are emitted: eight f32 fill an AVX2 register.
inline constexpr int64_t kLanes = 8;

/// An element type in memory: bf16 is held as i16, i1 as i8, everything else as itself.
mlir::Type storageType(mlir::Type element);
/// An element type in registers: bf16 is computed on as f32.
mlir::Type computeType(mlir::Type element);
int64_t storageBytes(mlir::Type element);
/// `type` itself for width 1, else a vector of it.
mlir::Type withWidth(mlir::Type type, int64_t width);
/// The value of a constant index or integer.
std::optional<int64_t> constantOf(mlir::Value value);
bool isConstant(mlir::Value value, int64_t expected);

class Code {
public:
  explicit Code(mlir::OpBuilder builder, mlir::Location loc) : b(builder), loc(loc) {}

  mlir::OpBuilder b;
  mlir::Location loc;

  // Indices; the results fold when the operands are constants.
  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value add(mlir::Value x, int64_t y) { return add(x, index(y)); }
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, int64_t y);
  mlir::Value min(mlir::Value x, mlir::Value y);
  mlir::Value max(mlir::Value x, mlir::Value y);
  mlir::Value div(mlir::Value x, int64_t y);
  mlir::Value rem(mlir::Value x, int64_t y);
  mlir::Value less(mlir::Value x, mlir::Value y);
  mlir::Value lessUnsigned(mlir::Value x, mlir::Value y);
  mlir::Value both(mlir::Value x, mlir::Value y);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  /// The largest multiple of `step` that is not above x (x >= 0).
  mlir::Value roundDown(mlir::Value x, int64_t step);

  // Constants and shapes of values, scalar or vector.
  mlir::Value f32(double value, int64_t width = 1);
  mlir::Value i32(int64_t value, int64_t width = 1);
  mlir::Value zero(mlir::Type element, int64_t width);
  mlir::Value splat(mlir::Value scalar, int64_t width);
  /// Converts an index or integer to i32 / i64.
  mlir::Value toI32(mlir::Value value);
  mlir::Value toI64(mlir::Value value);
  mlir::Value toIndex(mlir::Value value);
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z);
  /// Sum of the lanes, as a tree.
  mlir::Value sumLanes(mlir::Value vector);

  // Memory: `offset` counts elements of type `element`.
  mlir::Value address(mlir::Value pointer, mlir::Value offset, mlir::Type element);
  mlir::Value load(mlir::Value pointer, mlir::Value offset, mlir::Type element, int64_t width);
  void store(mlir::Value value, mlir::Value pointer, mlir::Value offset, mlir::Type element);
  /// Widens what lies in memory to the compute type (bf16 to f32, the byte of an i1 to i1), and
  /// back with rounding.
  mlir::Value fromStorage(mlir::Value raw, mlir::Type element);
  mlir::Value toStorage(mlir::Value value, mlir::Type element);
  /// An f32 value rounded to bf16 (nearest, ties to even, NaN stays NaN), still as f32.
  mlir::Value roundToBf16(mlir::Value value);

  // Control flow.
  void loop(mlir::Value lower, mlir::Value upper, int64_t step,
            llvm::function_ref<void(mlir::Value)> body);
  /// A loop with carried values. A single iteration that is known now leaves no loop behind.
  llvm::SmallVector<mlir::Value>
  loop(mlir::Value lower, mlir::Value upper, int64_t step, mlir::ValueRange inits,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);
  void when(mlir::Value condition, llvm::function_ref<void()> body);
  /// The value of `body` where the condition holds, else zero.
  mlir::Value valueIf(mlir::Value condition, mlir::Type type,
                      llvm::function_ref<mlir::Value()> body);

private:
  mlir::Value roundedBits(mlir::Value value);
};

} // namespace k3::cpu

#endif // K3_COMPILER_CODEGEN_CPU_CODE_H
