//===- Contract.cpp - Ops that combine many elements as CUDA C++ ----------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reductions, scans, solves and selections. Each is shared out so that the threads of a
// warp read neighbouring words.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cuda/KernelPrinter.h"

using namespace mlir;

namespace k3::cuda {

static tile::TileType typeOf(Value tile) { return cast<tile::TileType>(tile.getType()); }

static std::string digits(int64_t number) { return std::to_string(number); }

/// 2D index, and everything of a rank-2 tile that the printer needs of it.
static At at2(const Twine &row, const Twine &column) { return At{"", {row.str(), column.str()}}; }

void KernelPrinter::printInsert(tile::InsertOp insert) {
  tile::TileType type = typeOf(insert.getResult()), part = typeOf(insert.getPart());
  bool inPlace = storage.bufferOf(insert.getDest()) == storage.bufferOf(insert.getResult());
  access({insert.getPart(), insert.getDest()}, {insert.getResult()});
  if (!inPlace) {
    std::string e = openLoop(type.getNumElements());
    At at{e, {}};
    put(insert.getResult(), at, element(insert.getDest(), at));
    close();
    barrier();
    access({insert.getPart()}, {insert.getResult()});
  }
  std::string e = openLoop(part.getNumElements());
  At at{e, {}}, to;
  for (auto [i, offset] : llvm::zip(dims(at, part.getShape()), insert.getOffsets()))
    to.dims.push_back("static_cast<int>(" + scalar(offset) + " + " + i + ")");
  put(insert.getResult(), to, element(insert.getPart(), at));
  close();
}

void KernelPrinter::printDequantize(tile::DequantizeOp op) {
  access({op.getPacked(), op.getScale()}, {op.getResult()});
  tile::TileType type = typeOf(op.getResult());
  std::string e = openLoop(type.getNumElements());
  At at{e, {}};
  ArrayRef<std::string> index = dims(at, type.getShape());
  std::string row = index[0], column = index[1];
  std::string codes = element(op.getPacked(), at2(row, "(" + column + " / 2)"));
  std::string scale = element(op.getScale(), at2(row, "(" + column + " / 32)"));
  put(op.getResult(), at, "k3_mxfp4(" + codes + ", " + column + " & 1, " + scale + ")");
  close();
}

// ------------------------------------------------------------------------------------------------
// reductions

void KernelPrinter::printReduce(tile::ReduceOp reduce) {
  tile::TileType type = typeOf(reduce.getInput());
  int64_t axis = reduce.getAxis(), extent = type.getDimSize(axis), inner = 1;
  for (int64_t i = axis + 1; i < type.getRank(); ++i)
    inner *= type.getDimSize(i);
  int64_t count = typeOf(reduce.getResult()).getNumElements();
  bool add = reduce.getKind() == tile::ReduceKind::Add;
  StringRef combine = add ? "k3_add" : "k3_maximum", start = add ? "0.0f" : "(-k3_infinity)";
  bool wide = isBlockWide(reduce);
  // Thread by thread where neighbouring results lie beside each other, else a warp a result.
  bool single = !wide && (inner >= 32 || (extent <= 4 && inner == 1));
  int64_t lanes = wide ? kThreads : single ? 1 : 32;
  SmallVector<unsigned> scratch;
  if (wide)
    scratch.push_back(*storage.scratchOf(reduce));
  access({reduce.getInput()}, {reduce.getResult()}, scratch);
  std::string r = fresh("r"), k = fresh("k"), sum = fresh("sum"), rest = fresh("rest");
  std::string first = wide ? "0" : single ? "threadIdx.x" : "threadIdx.x / 32";
  open("for (int " + r + " = " + first + "; " + r + " < " + digits(count) + "; " + r +
       " += " + (wide ? "1" : digits(kThreads / lanes)) + ")");
  line() << "float " << sum << " = " << start << ";\n";
  std::string lane = wide ? "threadIdx.x" : single ? "0" : "threadIdx.x % 32";
  open("for (int " + k + " = " + lane + "; " + k + " < " + digits(extent) + "; " + k +
       " += " + digits(lanes) + ")");
  At at;
  at.linear = inner == 1 ? "(" + r + " * " + digits(extent) + " + " + k + ")"
                         : "((" + r + " / " + digits(inner) + " * " + digits(extent) + " + " + k +
                               ") * " + digits(inner) + " + " + r + " % " + digits(inner) + ")";
  std::string value = element(reduce.getInput(), at);
  line() << sum << " = " << combine << "(" << sum << ", " << value << ");\n";
  close();
  if (!single)
    line() << sum << " = k3_warp_" << (add ? "sum" : "max") << "(" << sum << ");\n";
  if (wide) {
    const std::string &partial = bufferNames[scratch[0]];
    open("if (threadIdx.x % 32 == 0)");
    line() << partial << "[threadIdx.x / 32] = " << sum << ";\n";
    close();
    line() << "__syncthreads();\n";
    line() << sum << " = " << start << ";\n";
    line() << "for (int w = 0; w < " << kWarps << "; ++w)\n";
    line() << "  " << sum << " = " << combine << "(" << sum << ", " << partial << "[w]);\n";
    // The next round writes the partial results again.
    line() << "__syncthreads();\n";
    open("if (threadIdx.x == 0)");
  } else if (!single) {
    open("if (threadIdx.x % 32 == 0)");
  }
  put(reduce.getResult(), At{r, {}}, sum);
  if (!single)
    close();
  close();
}

void KernelPrinter::printScan(tile::ScanOp scan) {
  tile::TileType type = typeOf(scan.getInput());
  int64_t axis = scan.getAxis(), extent = type.getDimSize(axis), inner = 1;
  for (int64_t i = axis + 1; i < type.getRank(); ++i)
    inner *= type.getDimSize(i);
  access({scan.getInput()}, {scan.getResult()});
  std::string lineName = openLoop(type.getNumElements() / extent), k = fresh("k"),
              sum = fresh("sum");
  line() << (type.getElementType().isInteger(32) ? "int " : "float ") << sum << " = 0;\n";
  open("for (int " + k + " = 0; " + k + " < " + digits(extent) + "; ++" + k + ")");
  At at;
  at.linear = "((" + lineName + " / " + digits(inner) + " * " + digits(extent) + " + " + k +
              ") * " + digits(inner) + " + " + lineName + " % " + digits(inner) + ")";
  std::string next = element(scan.getInput(), at);
  line() << sum << " += " << next << ";\n";
  put(scan.getResult(), at, sum);
  close();
  close();
}

// ------------------------------------------------------------------------------------------------
// selection and solve

/// The rank of an element is the number of elements before it: no order of the threads matters and
/// every rank is taken once.
void KernelPrinter::printTopK(tile::TopKOp top) {
  int64_t n = typeOf(top.getInput()).getNumElements(), k = typeOf(top.getIds()).getNumElements();
  access({top.getInput()}, {top.getValues(), top.getIds()});
  std::string e = openLoop(n), other = fresh("other"), rank = fresh("rank");
  std::string value = element(top.getInput(), At{e, {}});
  line() << "int " << rank << " = 0;\n";
  open("for (int " + other + " = 0; " + other + " < " + digits(n) + "; ++" + other + ")");
  std::string rival = element(top.getInput(), At{other, {}});
  line() << rank << " += k3_before(" << rival << ", " << other << ", " << value << ", " << e
         << ");\n";
  close();
  open("if (" + rank + " < " + digits(k) + ")");
  put(top.getValues(), At{rank, {}}, value);
  put(top.getIds(), At{rank, {}}, e);
  close();
  close();
}

/// A thread a column, which it keeps in registers: every row that is known is taken from all later
/// ones at once, so that a column costs as many dependent steps as it has rows.
void KernelPrinter::printTriSolve(tile::TriSolveOp solve) {
  int64_t rows = typeOf(solve.getB()).getDimSize(0), columns = typeOf(solve.getB()).getDimSize(1);
  access({solve.getL(), solve.getB()}, {solve.getResult()});
  std::string n = openLoop(columns), i = fresh("row"), j = fresh("before"), x = fresh("column");
  std::string head = "; " + i + " < " + digits(rows) + "; ++" + i + ")";
  line() << "float " << x << "[" << rows << "];\n";
  line() << "#pragma unroll\n";
  open("for (int " + i + " = 0" + head);
  std::string right = element(solve.getB(), at2(i, n));
  line() << x << "[" << i << "] = " << right << ";\n";
  close();
  line() << "#pragma unroll\n";
  open("for (int " + j + " = 0; " + j + " < " + digits(rows) + "; ++" + j + ")");
  put(solve.getResult(), at2(j, n), x + "[" + j + "]");
  line() << "#pragma unroll\n";
  open("for (int " + i + " = " + j + " + 1" + head);
  std::string factor = element(solve.getL(), at2(i, j));
  line() << x << "[" << i << "] -= " << factor << " * " << x << "[" << j << "];\n";
  close();
  close();
  close();
}

} // namespace k3::cuda
