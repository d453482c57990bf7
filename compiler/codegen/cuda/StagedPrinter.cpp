//===- StagedPrinter.cpp - Streams of many rows as CUDA C++ ---------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows of x and of the weights are copied to shared memory a few stages ahead of the tensor cores;
// MXFP4 codes are unpacked on the way. The matrices of a loop stand side by side, so that x is
// staged once for all of them.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cuda/KernelPrinter.h"

using namespace mlir;

namespace k3::cuda {

static std::string digits(int64_t number) { return std::to_string(number); }

/// The codes of a stage that this thread unpacks: 32 of a row, which have one scale.
KernelPrinter::PackedRow KernelPrinter::printPackedRow(const Stream &stream) {
  PackedRow packed{fresh("codes"), fresh("scales"), fresh("has"), fresh("begin")};
  SmallVector<RowPointer> codes, scales;
  for (auto [i, weight] : llvm::enumerate(stream.weights)) {
    std::string row = fresh("own");
    line() << "const int " << row << " = threadIdx.x / 2 - " << int64_t(i) * stream.paddedColumns()
           << ";\n";
    codes.push_back(printRowPointer(weight.load, 0, row, kStagedExtent, stream.columns,
                                    "threadIdx.x % 2 * 16"));
    scales.push_back(
        printRowPointer(weight.scale, 0, row, kStagedExtent, stream.columns, "threadIdx.x % 2"));
    codes.back().exists = "(" + row + " >= 0 && " + codes.back().exists + ")";
  }
  // Where no matrix has the row nothing is read.
  auto choose = [&](ArrayRef<RowPointer> pointers) {
    std::string text = pointers.front().address;
    for (size_t i = 1; i < pointers.size(); ++i)
      text = codes[i].exists + " ? " + pointers[i].address + " : " + text;
    return text;
  };
  std::string any = codes.front().exists;
  for (const RowPointer &more : ArrayRef(codes).drop_front())
    any += " || " + more.exists;
  line() << "const bool " << packed.exists << " = " << any << ";\n";
  line() << "const unsigned char *const " << packed.codes << " = " << choose(codes) << ", *const "
         << packed.scales << " = " << choose(scales) << ";\n";
  line() << "const int " << packed.begin << " = threadIdx.x / 2 * " << kStagedDepth
         << " + threadIdx.x % 2 * 32;\n";
  return packed;
}

void KernelPrinter::printStaged(const Stream &stream) {
  // A stage is a line of 128 bytes a row: eight words, which eight neighbouring threads copy.
  constexpr int64_t words = kStagedDepth / 8, lines = kThreads / words;
  tile::ForOp loop = stream.loop;
  int64_t warpsN = stream.warpColumns(), rowsOfWarp = kStagedExtent * warpsN / kWarps,
          rowTiles = rowsOfWarp / 16, padded = stream.paddedColumns(),
          numbers = stream.stageNumbers(), ofX = kStagedExtent * kStagedDepth;
  const std::string &ring = bufferNames[*storage.scratchOf(loop)];
  std::string first = fresh("line"), word = fresh("word"), lane = fresh("lane"), m = fresh("m"),
              n = fresh("n"), sum = fresh("sum"), at = fresh("at"), slot = fresh("slot"),
              a = fresh("a"), b = fresh("b"), k = fresh("k"), i = fresh("i");
  line() << "const int " << first << " = threadIdx.x / " << words << ", " << word
         << " = threadIdx.x % " << words << " * 8, " << lane << " = threadIdx.x % 32;\n";
  line() << "const int " << m << " = threadIdx.x / 32 / " << warpsN << " * " << rowsOfWarp << ", "
         << n << " = threadIdx.x / 32 % " << warpsN << " * 32;\n";
  // Rows that do not exist are zeros in shared memory; rows behind the padding are never read.
  SmallVector<RowPointer> rows;
  for (int64_t row = 0; row < kStagedExtent; row += lines)
    rows.push_back(printRowPointer(stream.x, row, first, lines, stream.rows, word));
  std::optional<PackedRow> packed;
  std::string held = fresh("held"), scale = fresh("scale");
  auto hold = [&](const std::string &from) {
    std::string exists =
        packed->exists + " && " + from + " + threadIdx.x % 2 * 32 < " + digits(stream.inner);
    line() << held << " = k3_load(" << packed->codes << " + (" << from << ") / 2, " << exists
           << ");\n";
    line() << scale << " = " << exists << " ? " << packed->scales << "[(" << from
           << ") / 32] : 0;\n";
  };
  if (stream.isPacked()) {
    packed = printPackedRow(stream);
    line() << "k3_words " << held << ";\n";
    line() << "int " << scale << ";\n";
    hold("0");
  } else {
    for (StreamWeight weight : stream.weights)
      for (int64_t row = 0; row < padded; row += lines)
        rows.push_back(printRowPointer(weight.load, row, first, lines, stream.columns, word));
  }

  auto unrolled = [&](int64_t count) {
    line() << "#pragma unroll\n";
    open("for (int " + i + " = 0; " + i + " < " + digits(count) + "; ++" + i + ")");
  };
  line() << "float " << sum << "[" << rowTiles * 4 << "][4] = {};\n";
  line() << "int " << slot << " = 0;\n";
  // Iterations before the first stage only copy.
  open("for (int " + at + " = " + digits(-(kStages - 1) * kStagedDepth) + "; " + at + " < " +
       digits(stream.inner) + "; " + at + " += " + digits(kStagedDepth) + ")");
  line() << "k3_copies_wait<" << kStages - 2 << ">();\n";
  line() << "__syncthreads();\n";
  std::string from = fresh("from"), inside = fresh("inside"), to = fresh("to");
  line() << "const int " << from << " = " << at << " + " << (kStages - 1) * kStagedDepth << ";\n";
  line() << "const bool " << inside << " = " << from << " + " << word << " < " << stream.inner
         << ";\n";
  std::string stage = fresh("stage");
  line() << "k3_bf16 *const " << stage << " = " << ring << " + " << slot << " * " << numbers
         << ", *const " << to << " = " << stage << " + k3_swizzled(" << first << " * "
         << kStagedDepth << " + " << word << ");\n";
  for (auto [j, row] : llvm::enumerate(rows))
    line() << "k3_copy(" << to << " + " << int64_t(j) * lines * kStagedDepth << ", " << row.address
           << " + " << from << ", " << row.exists << " && " << inside << ");\n";
  line() << "k3_copies_end();\n";
  if (packed) {
    // The next codes are on their way while the tensor cores work.
    open("if (threadIdx.x < " + digits(warpsN * 64) + ")");
    for (int64_t quad = 0; quad < 4; ++quad)
      line() << "*reinterpret_cast<k3_words *>(" << stage << " + " << ofX << " + k3_swizzled("
             << packed->begin << " + " << quad * 8 << ")) = k3_in_order(k3_mxfp4_words(" << held
             << "." << "xyzw"[quad] << ", " << scale << "));\n";
    hold("(" + from + " + " + digits(kStagedDepth) + ")");
    close();
  }
  line() << slot << " = " << slot << " + 1 == " << kStages << " ? 0 : " << slot << " + 1;\n";
  open("if (" + at + " >= 0)");
  std::string x = fresh("x"), w = fresh("w");
  line() << "const k3_bf16 *const " << x << " = " << ring << " + " << slot << " * " << numbers
         << ", *const " << w << " = " << x << " + " << ofX << ";\n";
  line() << "#pragma unroll\n";
  open("for (int " + k + " = 0; " + k + " < " + digits(kStagedDepth) + "; " + k + " += 16)");
  line() << "unsigned " << a << "[" << rowTiles << "][4], " << b << "[2][4];\n";
  // Lanes 8 i .. 8 i + 7 bring the rows of matrix i of four: of x, rows come before the inner
  // extent; of weights, the inner extent comes before the rows.
  auto matrices = [&](const std::string &name, const std::string &base, const std::string &row,
                      const std::string &inner) {
    line() << "k3_matrices(" << name << "[" << i << "], " << base << " + k3_swizzled((" << row
           << " + " << i << " * 16 + " << lane << " % 8) * " << kStagedDepth << " + " << k << " + "
           << inner << "));\n";
  };
  std::string odd = lane + " / 8 % 2 * 8", upper = lane + " / 16 * 8";
  unrolled(rowTiles);
  matrices(a, x, m + " + " + odd, upper);
  close();
  unrolled(2);
  matrices(b, w, n + " + " + upper, odd);
  close();
  unrolled(rowTiles * 4);
  std::string left = a + "[" + i + " / 4]", right = b + "[" + i + " % 4 / 2]";
  line() << "k3_mma(" << sum << "[" << i << "], " << left << "[0], " << left << "[1], " << left
         << "[2], " << left << "[3], " << right << "[" << i << " % 2 * 2], " << right << "[" << i
         << " % 2 * 2 + 1]);\n";
  close();
  close();
  close();
  close();

  // The results may lie where the stages were.
  line() << "k3_copies_wait<0>();\n";
  line() << "__syncthreads();\n";
  std::string row = fresh("row"), column = fresh("column");
  unrolled(rowTiles * 16);
  line() << "const int " << row << " = " << m << " + " << i << " / 16 * 16 + " << i
         << " % 4 / 2 * 8 + " << lane << " / 4;\n";
  line() << "const int " << column << " = " << n << " + " << i << " / 4 % 4 * 8 + " << lane
         << " % 4 * 2 + " << i << " % 2;\n";
  for (int64_t weight = 0; weight < int64_t(stream.weights.size()); ++weight) {
    int64_t begin = weight * padded;
    std::string own = begin ? "(" + column + " - " + digits(begin) + ")" : column;
    open("if (" + row + " < " + digits(stream.rows) + " && " + own + " >= 0 && " + own + " < " +
         digits(stream.columns) + ")");
    At place{"", {row, own}};
    std::string init = element(loop.getInits()[weight], place);
    put(loop.getResult(weight), place, init + " + " + sum + "[" + i + " / 4][" + i + " % 4]");
    close();
  }
  close();
}

} // namespace k3::cuda
