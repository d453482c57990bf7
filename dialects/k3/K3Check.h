//===- K3Check.h - Shape checks that the verifiers of k3 share --*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A verifier of k3 asks for the extents of its operands by name and compares them. The first
// difference is reported with both numbers, and what follows is skipped, so that a verifier reads
// like the table of shapes in its summary.
//
//===----------------------------------------------------------------------===//

#ifndef K3_DIALECTS_K3_K3CHECK_H
#define K3_DIALECTS_K3_K3CHECK_H

#include "dialects/k3/K3Dialect.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/TypeUtilities.h"

#include <optional>
#include <string>

namespace k3::model {

/// How many rows a value has: a symbol, or a number.
struct Rows {
  llvm::StringRef symbol;
  int64_t count = 0;
  bool operator==(const Rows &other) const = default;
  /// `@T`, or the number.
  std::string str() const;
};

/// What is wrong with the extents of a tensor by itself, or nothing: only the first extent may be
/// dynamic, and then its symbol is the encoding.
std::optional<std::string> findShapeFault(mlir::Type type);

/// The rows of a tensor whose shape is sound.
Rows rowsOf(mlir::RankedTensorType type);

/// Product and sum that stop at the largest number: attributes may hold anything.
int64_t times(int64_t a, int64_t b);
int64_t plus(int64_t a, int64_t b);

/// Collects the first fault of one op.
class Check {
public:
  explicit Check(mlir::Operation *op) : op(op) {}

  /// Columns of an activation [rows, columns]. All activations of one Check have the rows of its
  /// first.
  int64_t columns(llvm::StringRef name, mlir::Value value);
  /// A list with one number a row.
  void list(llvm::StringRef name, mlir::Value value);
  /// The batch and the stack have rows too.
  void batch(BatchType type);
  void stack(StackType type);

  /// Static extents of a weight of `rank` extents, of type bf16 or f32. Zeros after a failure.
  llvm::SmallVector<int64_t> weight(llvm::StringRef name, mlir::Value value, unsigned rank);
  /// The same for one half of an MXFP4 matrix, of type i8.
  llvm::SmallVector<int64_t> packed(llvm::StringRef name, mlir::Value value, unsigned rank);
  /// Number of elements of a weight of any rank.
  int64_t elements(llvm::StringRef name, mlir::Value value);

  /// `expected NAME got to equal OTHER want`.
  void equal(const llvm::Twine &name, int64_t got, const llvm::Twine &other, int64_t want);
  void atLeast(const llvm::Twine &name, int64_t got, int64_t least);
  void atMost(const llvm::Twine &name, int64_t got, const llvm::Twine &other, int64_t most);
  void elementType(llvm::StringRef name, mlir::Value value, mlir::Type type);
  void positive(llvm::StringRef name, double value);
  void negative(llvm::StringRef name, double value);
  /// The numbers of a gated activation: SiTU has a beta and perhaps a linear_beta, SwiGLU has
  /// neither.
  void activation(Activation kind, mlir::FloatAttr beta, mlir::FloatAttr linearBeta);
  /// An index operand that is a constant lies in first .. last.
  void constantIn(llvm::StringRef name, mlir::Value index, int64_t first, int64_t last);
  void fail(const llvm::Twine &message);

  mlir::LogicalResult result() const { return mlir::failure(failed); }

private:
  void sameRows(llvm::StringRef name, const Rows &got);
  mlir::RankedTensorType tensor(llvm::StringRef name, mlir::Value value, unsigned rank);
  llvm::SmallVector<int64_t> staticShape(llvm::StringRef name, mlir::Value value, unsigned rank,
                                         bool packed);

  mlir::Operation *op;
  bool failed = false;
  std::optional<Rows> rows;
  std::string firstName;
};

} // namespace k3::model

#endif // K3_DIALECTS_K3_K3CHECK_H
