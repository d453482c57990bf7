//===- Mma.cpp - Products of tiles as CUDA C++ ----------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matrices of bf16 numbers in shared memory go to the tensor cores, others are multiplied in tiles
// of registers, and what is too small or too odd for either is one dot product a result. All three
// add the whole product to the accumulator at the end.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cuda/KernelPrinter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace k3::cuda {

static tile::TileType typeOf(Value tile) { return cast<tile::TileType>(tile.getType()); }

static std::string digits(int64_t number) { return std::to_string(number); }

static At at2(const Twine &row, const Twine &column) { return At{"", {row.str(), column.str()}}; }

/// The largest divisor of `count` up to `limit`.
static int64_t divisorUpTo(int64_t count, int64_t limit) {
  int64_t divisor = std::min(count, limit);
  while (count % divisor)
    --divisor;
  return divisor;
}

void KernelPrinter::printMma(tile::MmaOp mma) {
  access({mma.getAcc(), mma.getA(), mma.getB()}, {mma.getResult()});
  int64_t m = mma.getM(), n = mma.getN(), depth = mma.getK();
  if (m % 16 == 0 && n % 8 == 0 && depth % 16 == 0) {
    std::optional<Matrix> a = matrixOf(mma.getA()), b = matrixOf(mma.getB());
    if (a && b)
      return printTensorMma(mma, *a, *b);
  }
  if (m >= 8 && n >= 8 && m % 2 == 0 && n % 2 == 0)
    return printRegisterMma(mma);
  printDots(mma);
}

// ------------------------------------------------------------------------------------------------
// tensor cores

/// Rows of whole 16-byte words, which is what the tensor cores' operands are read in.
std::optional<KernelPrinter::Matrix> KernelPrinter::matrixOf(Value tile) {
  constexpr int64_t word = 8;
  int64_t stride = typeOf(tile).getShape().back();
  if (std::optional<unsigned> buffer = storage.bufferOf(tile)) {
    if (!storage.buffer(*buffer).element.isBF16() || stride % word)
      return std::nullopt;
    return Matrix{*buffer, "", stride};
  }
  Operation *op = tile.getDefiningOp();
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) {
    std::optional<unsigned> buffer = storage.bufferOf(reshape.getInput());
    if (!buffer || !storage.buffer(*buffer).element.isBF16() || stride % word)
      return std::nullopt;
    return Matrix{*buffer, "", stride};
  }
  auto extract = dyn_cast<tile::ExtractOp>(op);
  if (!extract || typeOf(extract.getInput()).getRank() != 2)
    return std::nullopt;
  std::optional<Matrix> whole = matrixOf(extract.getInput());
  APInt column;
  if (!whole || !matchPattern(extract.getOffsets()[1], m_ConstantInt(&column)) ||
      column.getSExtValue() % word)
    return std::nullopt;
  std::string row = scalar(extract.getOffsets()[0]);
  return Matrix{whole->buffer,
                whole->begin + row + " * " + digits(whole->stride) + " + " +
                    digits(column.getSExtValue()) + " + ",
                whole->stride};
}

/// Warps share out the 16 x 8 tiles of the result, columns first; a warp keeps up to eight of them
/// in registers through the inner extent.
void KernelPrinter::printTensorMma(tile::MmaOp mma, Matrix a, Matrix b) {
  int64_t rowTiles = mma.getM() / 16, columnTiles = mma.getN() / 8, depth = mma.getK();
  int64_t warpsN = divisorUpTo(columnTiles, kWarps),
          warpsM = divisorUpTo(rowTiles, kWarps / warpsN), warps = warpsM * warpsN;
  int64_t ofWarpM = rowTiles / warpsM, ofWarpN = columnTiles / warpsN;
  int64_t rows = divisorUpTo(ofWarpM, 4), columns = divisorUpTo(ofWarpN, 8 / rows),
          pairs = llvm::divideCeil(columns, 2), tiles = rows * columns;
  std::string warp = fresh("warp"), lane = fresh("lane"), m = fresh("m"), n = fresh("n"),
              k = fresh("k"), i = fresh("i"), sum = fresh("sum"), left = fresh("a"),
              right = fresh("b");
  open(warps == kWarps ? "" : "if (threadIdx.x < " + digits(warps * 32) + ")");
  line() << "const int " << warp << " = threadIdx.x / 32, " << lane << " = threadIdx.x % 32;\n";
  auto overTiles = [&](const std::string &name, const std::string &share, int64_t width,
                       int64_t step) {
    line() << "for (int " << name << " = " << share << " * " << width << ", " << name
           << "End = " << name << " + " << width << "; " << name << " < " << name << "End; " << name
           << " += " << step << ")\n";
  };
  overTiles(m, warp + " / " + digits(warpsN), ofWarpM * 16, rows * 16);
  overTiles(n, warp + " % " + digits(warpsN), ofWarpN * 8, columns * 8);
  open("");
  line() << "float " << sum << "[" << tiles << "][4] = {};\n";
  if (depth / 16 > 8)
    line() << "#pragma unroll 4\n";
  open("for (int " + k + " = 0; " + k + " < " + digits(depth) + "; " + k + " += 16)");
  line() << "unsigned " << left << "[" << rows << "][4], " << right << "[" << pairs << "][4];\n";
  // Lanes 8 i .. 8 i + 7 bring the rows of matrix i of four: of a, the rows of a result tile come
  // before the inner extent; of b, the inner extent comes before the second tile.
  auto each = [&](int64_t count) {
    line() << "#pragma unroll\n";
    line() << "for (int " << i << " = 0; " << i << " < " << count << "; ++" << i << ")";
  };
  std::string inWord = lane + " % 8", odd = lane + " / 8 % 2 * 8", upper = lane + " / 16 * 8";
  auto fetch = [&](const std::string &to, const Matrix &from, bool turned, const std::string &row,
                   const std::string &column) {
    os << "\n";
    line() << "  k3_matrices" << (turned ? "_turned(" : "(") << to << "[" << i << "], "
           << bufferNames[from.buffer] << " + "
           << indexIn(from.buffer, "(" + from.begin + "(" + row + " + " + inWord + ") * " +
                                       digits(from.stride) + " + " + column + ")")
           << ");\n";
  };
  std::string outer = m + " + " + i + " * 16 + " + odd, inner = k + " + " + upper;
  each(rows);
  if (mma.getTransposeA())
    fetch(left, a, true, inner, outer);
  else
    fetch(left, a, false, outer, inner);
  // An odd last tile is read twice rather than past the end.
  std::string second = columns % 2 == 0
                           ? upper
                           : "(" + i + " * 2 + 1 < " + digits(columns) + " ? " + upper + " : 0)";
  outer = n + " + " + i + " * 16 + " + second, inner = k + " + " + odd;
  each(pairs);
  if (mma.getTransposeB())
    fetch(right, b, false, outer, inner);
  else
    fetch(right, b, true, inner, outer);
  each(tiles);
  os << " {\n";
  ++indent;
  line() << "const unsigned *const column = " << right << "[" << i << " % " << columns << " / 2] + "
         << i << " % " << columns << " % 2 * 2;\n";
  std::string row = left + "[" + i + " / " + digits(columns) + "]";
  line() << "k3_mma(" << sum << "[" << i << "], " << row << "[0], " << row << "[1], " << row
         << "[2], " << row << "[3], column[0], column[1]);\n";
  close();
  close();
  each(tiles * 4);
  os << " {\n";
  ++indent;
  std::string rowName = fresh("row"), columnName = fresh("column");
  line() << "const int " << rowName << " = " << m << " + " << i << " / " << columns * 4
         << " * 16 + " << i << " % 4 / 2 * 8 + " << lane << " / 4;\n";
  line() << "const int " << columnName << " = " << n << " + " << i << " / 4 % " << columns
         << " * 8 + " << lane << " % 4 * 2 + " << i << " % 2;\n";
  At at = at2(rowName, columnName);
  std::string acc = element(mma.getAcc(), at);
  put(mma.getResult(), at, acc + " + " + sum + "[" + i + " / 4][" + i + " % 4]");
  close();
  close();
  close();
}

// ------------------------------------------------------------------------------------------------
// registers

/// A thread has up to 4 x 4 results. Where that leaves threads idle, lanes share out the inner
/// extent and add up; neighbouring lanes have neighbouring columns.
void KernelPrinter::printRegisterMma(tile::MmaOp mma) {
  int64_t m = mma.getM(), n = mma.getN(), depth = mma.getK();
  bool ta = mma.getTransposeA(), tb = mma.getTransposeB();
  int64_t rows = m % 4 == 0 ? 4 : 2, columns = n % 4 == 0 ? 4 : 2;
  if (m * n < 16 * 64)
    rows = columns = 2;
  int64_t across = n / columns, tiles = m / rows * across, lanes = 1;
  while (lanes < 16 && tiles * lanes * 2 <= kThreads && depth % (lanes * 2) == 0)
    lanes *= 2;
  int64_t ofWarp = 32 / lanes, perRound = kThreads / lanes;
  std::string tile = fresh("tile"), share = fresh("share"), k = fresh("k"), step = fresh("step"),
              sum = fresh("sum"), a = fresh("a"), b = fresh("b"), i = fresh("i"), m0 = fresh("m"),
              n0 = fresh("n"), index = fresh("index");
  // Lanes that add up go round together.
  bool partly = tiles % perRound != 0;
  int64_t count = lanes == 1 ? tiles : llvm::divideCeil(tiles, perRound) * perRound;
  line() << "const int " << share << " = threadIdx.x % 32 / " << ofWarp << ";\n";
  open("for (int " + tile + " = threadIdx.x / 32 * " + digits(ofWarp) + " + threadIdx.x % " +
       digits(ofWarp) + "; " + tile + " < " + digits(count) + "; " + tile +
       " += " + digits(perRound) + ")");
  std::string own = tile;
  if (partly && lanes > 1)
    own = "k3_min(" + tile + ", " + digits(tiles - 1) + ")";
  line() << "const int " << m0 << " = " << own << " / " << across << " * " << rows << ", " << n0
         << " = " << own << " % " << across << " * " << columns << ";\n";
  // Rows of a transposed b start in one bank, or nearly: every tile begins somewhere else.
  if (tb)
    line() << "const int first" << n0 << " = " << n0 << " / " << columns << " * " << lanes << " % "
           << depth << ";\n";
  line() << "float " << sum << "[" << rows << "][" << columns << "] = {};\n";
  open("for (int " + step + " = " + share + "; " + step + " < " + digits(depth) + "; " + step +
       " += " + digits(lanes) + ")");
  if (tb)
    line() << "const int " << k << " = " << step << " + first" << n0 << " < " << depth << " ? "
           << step << " + first" << n0 << " : " << step << " + first" << n0 << " - " << depth
           << ";\n";
  else
    k = step;
  line() << "float " << a << "[" << rows << "], " << b << "[" << columns << "];\n";
  auto each = [&](int64_t number) {
    line() << "#pragma unroll\n";
    open("for (int " + i + " = 0; " + i + " < " + digits(number) + "; ++" + i + ")");
  };
  each(rows);
  line() << "const int " << index << " = " << m0 << " + " << i << ";\n";
  std::string left = element(mma.getA(), ta ? at2(k, index) : at2(index, k));
  line() << a << "[" << i << "] = " << left << ";\n";
  close();
  each(columns);
  line() << "const int " << index << " = " << n0 << " + " << i << ";\n";
  std::string right = element(mma.getB(), tb ? at2(index, k) : at2(k, index));
  line() << b << "[" << i << "] = " << right << ";\n";
  close();
  each(rows * columns);
  std::string mine =
      sum + "[" + i + " / " + digits(columns) + "][" + i + " % " + digits(columns) + "]";
  line() << mine << " = fmaf(" << a << "[" << i << " / " << columns << "], " << b << "[" << i
         << " % " << columns << "], " << mine << ");\n";
  close();
  close();
  if (lanes > 1) {
    each(rows * columns);
    line() << "for (int distance = " << ofWarp << "; distance < 32; distance *= 2)\n";
    line() << "  " << mine << " += __shfl_xor_sync(0xffffffffu, " << mine << ", distance);\n";
    close();
    open("if (" + share + " == 0" +
         (partly ? " && " + tile + " < " + digits(tiles) : std::string()) + ")");
  }
  each(rows * columns);
  std::string row = fresh("row"), column = fresh("column");
  line() << "const int " << row << " = " << m0 << " + " << i << " / " << columns << ", " << column
         << " = " << n0 << " + " << i << " % " << columns << ";\n";
  At at = at2(row, column);
  std::string acc = element(mma.getAcc(), at);
  put(mma.getResult(), at, acc + " + " + mine);
  close();
  if (lanes > 1)
    close();
  close();
}

// ------------------------------------------------------------------------------------------------
// dot products

/// Any extents: a thread, or a few lanes, a result.
void KernelPrinter::printDots(tile::MmaOp mma) {
  int64_t m = mma.getM(), n = mma.getN(), depth = mma.getK();
  bool ta = mma.getTransposeA(), tb = mma.getTransposeB();
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
