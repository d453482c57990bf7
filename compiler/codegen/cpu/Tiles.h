//===- Tiles.h - Tile values during lowering --------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile value is an expression that gives the code of an element or of eight neighbours: a buffer,
// a read of a view, or arithmetic on others. An expression with one reader is never stored, which
// is how chains of ops become one loop.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_CODEGEN_CPU_TILES_H
#define K3_COMPILER_CODEGEN_CPU_TILES_H

#include "compiler/codegen/cpu/Code.h"
#include "dialects/tile/TileOps.h"

#include <memory>

namespace k3::cpu {

class Expr;

/// The place of a tile value. Readers hold the place, so that a pending expression can be replaced
/// by its buffer.
struct Slot {
  std::shared_ptr<Expr> expr;
};
using Tile = std::shared_ptr<Slot>;

/// Which elements of a tile are read.
struct Access {
  llvm::SmallVector<mlir::Value> index;
  /// 1, or kLanes: the elements from `index` on along the last dimension.
  int64_t width = 1;
  /// False where the reader has made sure that the elements are inside every bound.
  bool checked = true;
  /// The last index counts through the whole tile, the others are zero.
  bool flat = false;
};

class Expr {
public:
  enum class Kind { Buffer, View, Splat, Map, Cast, Dequantize, Other };

  Expr(Kind kind, llvm::ArrayRef<int64_t> shape, mlir::Type element)
      : kind(kind), shape(shape), element(element) {}
  virtual ~Expr() = default;

  /// The elements, in the compute type.
  virtual mlir::Value at(Code &c, const Access &access) = 0;
  /// How many elements of the row at `index` vectors may read without looking at bounds; null: all
  /// of them.
  virtual mlir::Value safeExtent(Code &c, llvm::ArrayRef<mlir::Value> index) { return {}; }
  /// True if elements can be counted through in row-major order (Access::flat).
  virtual bool isFlat() { return false; }
  /// True if element i depends on element i of `pointer` only, for every buffer at `pointer` that
  /// is read.
  virtual bool readsInPlace(mlir::Value pointer) { return true; }
  virtual void visitChildren(llvm::function_ref<void(Tile &)> visit) {}
  /// The view that this expression itself reads, on the tile level.
  virtual mlir::Value viewRead() const { return {}; }

  const Kind kind;
  llvm::SmallVector<int64_t> shape;
  mlir::Type element;

  int64_t rank() const { return shape.size(); }
  int64_t numElements() const;
  bool isSingle() const { return numElements() == 1; }
};

/// Elements that lie in memory of this kernel.
class BufferExpr : public Expr {
public:
  static bool classof(const Expr *expr) { return expr->kind == Kind::Buffer; }
  BufferExpr(llvm::ArrayRef<int64_t> shape, mlir::Type element, mlir::Value pointer,
             llvm::ArrayRef<int64_t> strides)
      : Expr(Kind::Buffer, shape, element), pointer(pointer), strides(strides) {}
  static std::shared_ptr<BufferExpr> dense(llvm::ArrayRef<int64_t> shape, mlir::Type element,
                                           mlir::Value pointer);

  mlir::Value at(Code &c, const Access &access) override;
  bool isFlat() override { return isDense(); }
  bool readsInPlace(mlir::Value other) override { return pointer != other || isDense(); }
  bool isDense() const;
  mlir::Value offset(Code &c, llvm::ArrayRef<mlir::Value> index) const;
  void store(Code &c, mlir::Value value, llvm::ArrayRef<mlir::Value> index) const;

  /// The allocation, and where in it the tile begins.
  mlir::Value pointer;
  mlir::Value origin;
  llvm::SmallVector<int64_t> strides;
  /// Elements of each dimension that may be other than zero; empty: all of them.
  llvm::SmallVector<mlir::Value> valid;
};

/// A rectangle of a view: the address of its first element, strides, and how many elements of each
/// dimension exist.
struct Window {
  mlir::Value base;
  mlir::Value origin;
  llvm::SmallVector<int64_t> strides;
  /// Elements that exist along each dimension of the tile; a constant where it is known.
  llvm::SmallVector<mlir::Value> valid;
  mlir::Type element;
  /// The kernel's parameter, and the offsets on the tile level, to compare windows with.
  mlir::Value view;
  llvm::SmallVector<mlir::Value> offsets, bounds;

  mlir::Value offset(Code &c, llvm::ArrayRef<mlir::Value> index) const;
};

/// A bounded read of global memory.
class ViewExpr : public Expr {
public:
  static bool classof(const Expr *expr) { return expr->kind == Kind::View; }
  ViewExpr(llvm::ArrayRef<int64_t> shape, mlir::Type element, Window window, mlir::Value zeros)
      : Expr(Kind::View, shape, element), window(std::move(window)), zeros(zeros) {}
  mlir::Value at(Code &c, const Access &access) override;
  mlir::Value safeExtent(Code &c, llvm::ArrayRef<mlir::Value> index) override;
  mlir::Value viewRead() const override { return window.view; }
  bool isFlat() override;
  bool isFull(int64_t dim) const { return isConstant(window.valid[dim], shape[dim]); }

  Window window;

private:
  /// True where every index but the last is inside its bound.
  mlir::Value outerInside(Code &c, llvm::ArrayRef<mlir::Value> index);
  /// A row of zeros, read in place of rows that do not exist.
  mlir::Value zeros;
};

/// Rows of a view, chosen by an index tile.
class GatherExpr : public Expr {
public:
  GatherExpr(llvm::ArrayRef<int64_t> shape, mlir::Type element, Window window, Tile rows,
             mlir::Value rowBound, mlir::Value zeros)
      : Expr(Kind::Other, shape, element), window(std::move(window)), rows(rows),
        rowBound(rowBound), zeros(zeros) {}
  mlir::Value at(Code &c, const Access &access) override;
  mlir::Value safeExtent(Code &c, llvm::ArrayRef<mlir::Value> index) override;
  void visitChildren(llvm::function_ref<void(Tile &)> visit) override { visit(rows); }
  mlir::Value viewRead() const override { return window.view; }

  Window window;

private:
  mlir::Value row(Code &c, mlir::Value m);
  Tile rows;
  mlir::Value rowBound, zeros;
};

class SplatExpr : public Expr {
public:
  static bool classof(const Expr *expr) { return expr->kind == Kind::Splat; }
  SplatExpr(llvm::ArrayRef<int64_t> shape, mlir::Type element, mlir::Value scalar)
      : Expr(Kind::Splat, shape, element), scalar(scalar) {}
  mlir::Value at(Code &c, const Access &access) override { return c.splat(scalar, access.width); }
  bool isFlat() override { return true; }

  mlir::Value scalar;
};

class IotaExpr : public Expr {
public:
  IotaExpr(llvm::ArrayRef<int64_t> shape, mlir::Type element, mlir::Value start, int64_t axis)
      : Expr(Kind::Other, shape, element), start(start), axis(axis) {}
  mlir::Value at(Code &c, const Access &access) override;

private:
  mlir::Value start;
  int64_t axis;
};

/// The scalar region of tile.map on the elements of others.
class MapExpr : public Expr {
public:
  MapExpr(llvm::ArrayRef<int64_t> shape, mlir::Type element, tile::MapOp op,
          llvm::ArrayRef<Tile> inputs, mlir::IRMapping &scalars)
      : Expr(Kind::Map, shape, element), op(op), inputs(inputs), scalars(scalars) {}
  mlir::Value at(Code &c, const Access &access) override { return all(c, access)[0]; }
  /// Every result of the map.
  llvm::SmallVector<mlir::Value> all(Code &c, const Access &access);
  mlir::Value safeExtent(Code &c, llvm::ArrayRef<mlir::Value> index) override;
  bool isFlat() override;
  bool readsInPlace(mlir::Value pointer) override;
  void visitChildren(llvm::function_ref<void(Tile &)> visit) override {
    llvm::for_each(inputs, visit);
  }

private:
  tile::MapOp op;
  llvm::SmallVector<Tile> inputs;
  mlir::IRMapping &scalars;
};

/// Another element type.
class CastExpr : public Expr {
public:
  CastExpr(llvm::ArrayRef<int64_t> shape, mlir::Type element, Tile input)
      : Expr(Kind::Cast, shape, element), input(input) {}
  mlir::Value at(Code &c, const Access &access) override;
  mlir::Value safeExtent(Code &c, llvm::ArrayRef<mlir::Value> index) override {
    return input->expr->safeExtent(c, index);
  }
  bool isFlat() override { return input->expr->isFlat(); }
  bool readsInPlace(mlir::Value pointer) override { return input->expr->readsInPlace(pointer); }
  void visitChildren(llvm::function_ref<void(Tile &)> visit) override { visit(input); }

private:
  Tile input;
};

/// The same elements at other indices: broadcast, transpose, or a change of unit dimensions.
class ReindexExpr : public Expr {
public:
  /// Dimension d of the input is read at `sources[d]` of this tile's index, or at 0 where that is
  /// -1.
  ReindexExpr(llvm::ArrayRef<int64_t> shape, mlir::Type element, Tile input,
              llvm::ArrayRef<int64_t> sources)
      : Expr(Kind::Other, shape, element), input(input), sources(sources) {}
  mlir::Value at(Code &c, const Access &access) override;
  mlir::Value safeExtent(Code &c, llvm::ArrayRef<mlir::Value> index) override;
  bool readsInPlace(mlir::Value pointer) override;
  void visitChildren(llvm::function_ref<void(Tile &)> visit) override { visit(input); }

private:
  llvm::SmallVector<mlir::Value> translate(Code &c, llvm::ArrayRef<mlir::Value> index);
  bool lastStaysLast() const { return sources.back() == rank() - 1; }
  Tile input;
  llvm::SmallVector<int64_t> sources;
};

/// MXFP4 codes and scales as numbers.
class DequantizeExpr : public Expr {
public:
  static bool classof(const Expr *expr) { return expr->kind == Kind::Dequantize; }
  DequantizeExpr(llvm::ArrayRef<int64_t> shape, mlir::Type element, Tile packed, Tile scale)
      : Expr(Kind::Dequantize, shape, element), packed(packed), scale(scale) {}
  mlir::Value at(Code &c, const Access &access) override;
  mlir::Value safeExtent(Code &c, llvm::ArrayRef<mlir::Value> index) override;
  void visitChildren(llvm::function_ref<void(Tile &)> visit) override {
    visit(packed), visit(scale);
  }
  /// Eight numbers from four bytes in an i32, without the scale.
  static mlir::Value decode(Code &c, mlir::Value word);
  /// The four bytes of columns k .. k+7 of row n.
  mlir::Value codes(Code &c, mlir::Value n, mlir::Value k, bool checked);
  mlir::Value scaleAt(Code &c, mlir::Value n, mlir::Value k, bool checked);
  /// 2^(s-127) of a scale byte: a denormal for 0, NaN for 255.
  static mlir::Value scaleOf(Code &c, mlir::Value byte);

  Tile packed, scale;
};

/// An element of a tile whose shape broadcasts to the shape that `access` is for.
mlir::Value readBroadcast(Code &c, Tile &tile, const Access &access);

/// True if the expression reads the allocation at `pointer`.
bool readsBuffer(Expr &expr, mlir::Value pointer);
/// True if the expression reads `memory`: an allocation, or a view of the kernel.
bool readsMemory(Expr &expr, mlir::Value memory);

/// True for the ops that `cloneScalarOp` knows.
bool isSupportedScalarOp(mlir::Operation *op);

/// The element-wise op `op` of a map's region on scalars or vectors.
mlir::Value cloneScalarOp(Code &c, mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands,
                          int64_t width);

} // namespace k3::cpu

#endif // K3_COMPILER_CODEGEN_CPU_TILES_H
