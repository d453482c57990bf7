//===- Contract.cpp - Ops that combine many elements as CUDA C++ ----------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products, reductions, scans, solves and selections. Each is shared out so that the threads of a
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

/// A thread a column: what it needs of earlier rows it has written itself.
void KernelPrinter::printTriSolve(tile::TriSolveOp solve) {
  int64_t rows = typeOf(solve.getB()).getDimSize(0), columns = typeOf(solve.getB()).getDimSize(1);
  access({solve.getL(), solve.getB()}, {solve.getResult()});
  std::string n = openLoop(columns), i = fresh("row"), j = fresh("before"), sum = fresh("sum");
  open("for (int " + i + " = 0; " + i + " < " + digits(rows) + "; ++" + i + ")");
  std::string right = element(solve.getB(), at2(i, n));
  line() << "float " << sum << " = " << right << ";\n";
  open("for (int " + j + " = 0; " + j + " < " + i + "; ++" + j + ")");
  std::string factor = element(solve.getL(), at2(i, j));
  line() << sum << " -= " << factor << " * "
         << stored(*storage.bufferOf(solve.getResult()), j + " * " + digits(columns) + " + " + n)
         << ";\n";
  close();
  put(solve.getResult(), at2(i, n), sum);
  close();
  close();
}

// ------------------------------------------------------------------------------------------------
// products

void KernelPrinter::printMma(tile::MmaOp mma) {
  int64_t m = mma.getM(), n = mma.getN(), depth = mma.getK();
  bool ta = mma.getTransposeA(), tb = mma.getTransposeB();
  access({mma.getAcc(), mma.getA(), mma.getB()}, {mma.getResult()});
  // Few results share their inner extent between the lanes of a warp; rows of weights are read
  // along the inner extent, so that a warp reads them in one piece.
  int64_t lanes = 1;
  bool direct = tb && !storage.bufferOf(mma.getB());
  while (lanes < 32 && lanes < depth && (direct || m * n * lanes * 2 <= kThreads))
    lanes *= 2;
  std::string e = fresh("e"), k = fresh("k"), sum = fresh("sum"), step = fresh("step");
  std::string lane = "threadIdx.x % " + digits(lanes);
  // Every lane of a warp takes part in the exchange, so the loop runs over whole warps.
  int64_t perRound = kThreads / lanes, rounds = llvm::divideCeil(m * n, perRound) * perRound;
  open("for (int " + e + " = threadIdx.x / " + digits(lanes) + "; " + e + " < " +
       digits(lanes == 1 ? m * n : rounds) + "; " + e + " += " + digits(perRound) + ")");
  std::string row = fresh("m"), column = fresh("n");
  line() << "const int " << row << " = " << e << " / " << n << ", " << column << " = " << e << " % "
         << n << ";\n";
  line() << "float " << sum << " = 0.0f;\n";
  bool partly = lanes > 1 && rounds != m * n;
  if (partly)
    open("if (" + e + " < " + digits(m * n) + ")");
  open("for (int " + step + " = " + (lanes == 1 ? "0" : lane) + "; " + step + " < " +
       digits(depth) + "; " + step + " += " + digits(lanes) + ")");
  // Columns of a product with stored rows start one word apart, or all threads of a warp would
  // read one bank.
  bool rotate = lanes == 1 && tb;
  if (rotate)
    line() << "const int " << k << " = (" << step << " + " << column << ") % " << depth << ";\n";
  std::string at = rotate ? k : step;
  std::string a = element(mma.getA(), ta ? at2(at, row) : at2(row, at));
  std::string b = element(mma.getB(), tb ? at2(column, at) : at2(at, column));
  line() << sum << " = fmaf(" << a << ", " << b << ", " << sum << ");\n";
  close();
  if (partly)
    close();
  if (lanes > 1) {
    line() << sum << " = k3_lanes_sum<" << lanes << ">(" << sum << ");\n";
    std::string inside = partly ? " && " + e + " < " + digits(m * n) : "";
    open("if (" + lane + " == 0" + inside + ")");
  }
  std::string acc = element(mma.getAcc(), At{e, {}});
  put(mma.getResult(), At{e, {}}, acc + " + " + sum);
  if (lanes > 1)
    close();
  close();
}

} // namespace k3::cuda
