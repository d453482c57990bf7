//===- KernelPrinter.h - One tile kernel as CUDA C++ ------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints the ops of a kernel in order. A tile op becomes a loop that the threads of a block share;
// barriers stand where one loop needs what another wrote.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_CODEGEN_CUDA_KERNELPRINTER_H
#define K3_COMPILER_CODEGEN_CUDA_KERNELPRINTER_H

#include "compiler/codegen/cuda/Storage.h"

#include "llvm/Support/raw_ostream.h"

#include <string>

namespace k3::cuda {

/// An element of a tile: by its number in row-major order, by one index a dimension, or both.
struct At {
  std::string linear;
  llvm::SmallVector<std::string> dims;
};

class KernelPrinter {
public:
  KernelPrinter(tile::KernelOp kernel, const Storage &storage)
      : kernel(kernel), storage(storage), os(text) {}

  /// The body as a device function and the kernel around it.
  mlir::FailureOr<std::string> print();

private:
  tile::KernelOp kernel;
  const Storage &storage;
  std::string text;
  llvm::raw_string_ostream os;
  unsigned indent = 1;
  unsigned counter = 0;
  llvm::DenseMap<mlir::Value, std::string> names;
  llvm::SmallVector<std::string> bufferNames;
  mlir::Attribute lastFile;
  unsigned lastLine = 0;
  bool failed = false;

  /// Ranges of shared memory, or views past the end of it, touched since the last barrier.
  using Range = std::pair<int64_t, int64_t>;
  llvm::SmallVector<Range> reads, writes;
  llvm::DenseMap<mlir::Value, int64_t> viewNumbers;

  // Text.
  llvm::raw_ostream &line();
  void open(const llvm::Twine &head);
  void close();
  std::string fresh(llvm::StringRef stem);
  void printPlace(mlir::Operation &op);
  void refuse(mlir::Operation *op, const llvm::Twine &why);

  // Barriers.
  Range rangeOf(mlir::Value tileOrView);
  Range rangeOfBuffer(unsigned index) const;
  void access(mlir::ValueRange readTiles, mlir::ValueRange writtenOnes,
              llvm::ArrayRef<unsigned> scratch = {});
  void barrier();
  void settle();

  // Indices.
  const std::string &linear(At &at, llvm::ArrayRef<int64_t> shape);
  llvm::ArrayRef<std::string> dims(At &at, llvm::ArrayRef<int64_t> shape);
  /// Opens the loop of all threads over `count` elements and returns the name of the element.
  std::string openLoop(int64_t count);

  // Scalars, Scalars.cpp.
  std::string scalar(mlir::Value value);
  void printScalar(mlir::Operation &op);

  // One element, Element.cpp.
  std::string element(mlir::Value tile, At at);
  std::string loadElement(mlir::Value view, mlir::ValueRange offsets, mlir::ValueRange bounds,
                          tile::TileType type, At at);
  std::pair<std::string, std::string> rowPlace(mlir::Value view, mlir::Value rows,
                                               mlir::Value rowBound, mlir::Value column,
                                               mlir::Value columnBound, llvm::StringRef i,
                                               llvm::StringRef j);
  std::pair<std::string, std::string> placeInView(mlir::Value view, mlir::ValueRange offsets,
                                                  mlir::ValueRange bounds, tile::TileType type,
                                                  At at);
  void mapElement(tile::MapOp map, At at, llvm::SmallVectorImpl<std::string> &results);
  std::string indexIn(unsigned buffer, llvm::StringRef index) const;
  std::string stored(unsigned buffer, llvm::StringRef index) const;
  void put(mlir::Value tile, At at, llvm::StringRef value);

  // Statements.
  void printBlock(mlir::Block &block);
  void printOp(mlir::Operation &op);
  void printElements(mlir::Operation &op);
  std::string openWordLoop(int64_t count, int64_t word);
  void printWords(tile::LoadOp load, int64_t word);
  void printWords(tile::StoreOp store, unsigned buffer, int64_t word);
  void printFor(tile::ForOp loop);
  void printIf(tile::IfOp branch);
  void printStore(tile::StoreOp store);
  void printScatter(tile::ScatterOp scatter);
  void printGather(tile::GatherOp gather);
  void printRead(tile::ReadOp read);
  void printCopy(tile::CopyOp copy);
  void printStage(tile::StageOp stage);
  void printFetch(tile::FetchOp fetch);
  void printInsert(tile::InsertOp insert);
  void printDequantize(tile::DequantizeOp op);
  void printReduce(tile::ReduceOp reduce);
  void printScan(tile::ScanOp scan);
  void printTopK(tile::TopKOp top);
  void printTriSolve(tile::TriSolveOp solve);

  // Products, Mma.cpp.
  /// bf16 numbers of a buffer from number `begin` on, `stride` of them from row to row.
  struct Matrix {
    unsigned buffer;
    std::string begin;
    int64_t stride;
  };
  std::optional<Matrix> matrixOf(mlir::Value tile);
  void printMma(tile::MmaOp mma);
  void printTensorMma(tile::MmaOp mma, Matrix a, Matrix b);
  void printRegisterMma(tile::MmaOp mma);
  void printDots(tile::MmaOp mma);

  // Contractions from memory, StreamPrinter.cpp and StagedPrinter.cpp.
  void printStream(const Stream &stream);
  void beginStream(const Stream &stream);
  void printFewRows(const Stream &stream);
  void printStaged(const Stream &stream);
  /// 32 codes of a row of a stage and their scale: where a thread reads them in the first stage,
  /// whether they exist, and where their numbers begin in a stage.
  struct PackedRow {
    std::string codes, scales, exists, begin;
  };
  PackedRow printPackedRow(const Stream &stream);
  struct RowPointer {
    std::string address, exists;
  };
  /// Rows `row` + `group` of a tile of `extent` rows, `group` one of `groups` numbers from 0 on.
  RowPointer printRowPointer(mlir::Operation *source, int64_t row, llvm::StringRef group,
                             int64_t groups, int64_t extent, const llvm::Twine &shift);
};

/// The C++ type of a scalar, or of an element in memory.
llvm::StringRef scalarType(mlir::Type type);
llvm::StringRef memoryType(mlir::Type type);
/// A constant in C++, exact.
std::string literal(mlir::Attribute value);

} // namespace k3::cuda

#endif // K3_COMPILER_CODEGEN_CUDA_KERNELPRINTER_H
