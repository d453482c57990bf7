//===- StreamPrinter.cpp - Streams as CUDA C++ ----------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weights are the left operand of the tensor cores' product and rows of x the right one, so that
// one row of x costs no more weight traffic than eight. The warps of a block share out the inner
// extent and add up what they have at the end.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cuda/KernelPrinter.h"

using namespace mlir;

namespace k3::cuda {

static std::string digits(int64_t number) { return std::to_string(number); }

/// Declares the pointer to column 0 of a row of what `source` loads or gathers, moved to what this
/// lane reads, and whether the row exists.
KernelPrinter::RowPointer KernelPrinter::printRowPointer(Operation *source, int64_t row,
                                                         StringRef group, int64_t groups,
                                                         int64_t extent, const Twine &shift) {
  RowPointer pointer{fresh("row"), fresh("has")};
  std::string inTile = "(" + group.str() + " + " + digits(row) + ")";
  std::string condition, place;
  Value view = source->getOperand(0);
  if (auto load = dyn_cast<tile::LoadOp>(source)) {
    std::tie(condition, place) =
        placeInView(view, load.getOffsets(), load.getBounds(), cast<tile::TileType>(load.getType()),
                    At{"", {inTile, "0"}});
  } else {
    // Rows past the end of the tile name nothing that may be read.
    auto gather = cast<tile::GatherOp>(source);
    std::string known = row + groups > extent
                            ? "k3_min" + ("(" + inTile + ", " + digits(extent - 1) + ")")
                            : inTile;
    std::tie(condition, place) = rowPlace(view, gather.getRows(), gather.getRowBound(),
                                          gather.getColumn(), gather.getColumnBound(), known, "0");
  }
  if (condition.empty())
    condition = "true";
  if (row + groups > extent)
    condition += " && " + inTile + " < " + digits(extent);
  line() << "const bool " << pointer.exists << " = " << condition << ";\n";
  line() << "const " << memoryType(cast<tile::ViewType>(view.getType()).getElementType())
         << " *const " << pointer.address << " = " << names.lookup(view) << " + (" << pointer.exists
         << " ? " << place << " : 0) + " << shift << ";\n";
  return pointer;
}

void KernelPrinter::beginStream(const Stream &stream) {
  SmallVector<Value> inputs(stream.loop->getOperands().drop_front(3));
  inputs.push_back(stream.xView());
  if (Value rows = stream.xRows())
    inputs.push_back(rows);
  tile::ForOp loop = stream.loop;
  access(inputs, loop.getResults(), {*storage.scratchOf(loop)});

  // Every offset is that of the first step; steps only move along the rows.
  names[loop.getInductionVar()] = "0LL";
  for (Operation &op : loop.getBody().front().without_terminator())
    if (!isa<tile::TileDialect>(op.getDialect()))
      printScalar(op);
}

void KernelPrinter::printStream(const Stream &stream) {
  beginStream(stream);
  if (stream.isStaged())
    printStaged(stream);
  else
    printFewRows(stream);
}

void KernelPrinter::printFewRows(const Stream &stream) {
  tile::ForOp loop = stream.loop;
  bool packed = stream.isPacked();
  int64_t unit = stream.unit(), inFlight = stream.unitsInFlight(), perLane = unit / 4;
  int64_t weights = stream.weights.size(), rowTiles = stream.rowTiles(),
          tokenTiles = stream.tokenTiles(), tiles = weights * rowTiles * tokenTiles;
  std::string group = fresh("group"), lane = fresh("lane"), warp = fresh("warp");
  line() << "const int " << group << " = threadIdx.x % 32 / 4, " << lane << " = threadIdx.x % 4, "
         << warp << " = threadIdx.x / 32;\n";
  SmallVector<RowPointer> weightRows, scaleRows, tokenRows;
  for (StreamWeight weight : stream.weights)
    for (int64_t row = 0; row < rowTiles * 16; row += 8) {
      weightRows.push_back(printRowPointer(weight.load, row, group, 8, stream.columns,
                                           lane + (packed ? " * 16" : " * 8")));
      if (packed)
        scaleRows.push_back(printRowPointer(weight.scale, row, group, 8, stream.columns, lane));
    }
  for (int64_t row = 0; row < tokenTiles * 8; row += 8)
    tokenRows.push_back(
        printRowPointer(stream.x, row, group, 8, stream.rows, lane + " * " + digits(perLane)));

  // All loads of a round are issued before the first is used.
  std::string sum = fresh("sum"), at = fresh("at"), u = fresh("unit"), words = fresh("words"),
              scales = fresh("scales"), x = fresh("x"), from = fresh("from"),
              inside = fresh("inside");
  int64_t round = unit * kWarps, quads = packed ? 4 : 1;
  line() << "float " << sum << "[" << tiles << "][4] = {};\n";
  open("for (int " + at + " = " + warp + " * " + digits(unit) + "; " + at + " < " +
       digits(stream.inner) + "; " + at + " += " + digits(round * inFlight) + ")");
  line() << "k3_words " << words << "[" << inFlight << "][" << weightRows.size() << "], " << x
         << "[" << inFlight << "][" << tokenTiles * quads << "];\n";
  if (packed)
    line() << "int " << scales << "[" << inFlight << "][" << weightRows.size() << "];\n";
  std::string each = "for (int " + u + " = 0; " + u + " < " + digits(inFlight) + "; ++" + u + ")";
  line() << "#pragma unroll\n";
  open(each);
  line() << "const int " << from << " = " << at << " + " << u << " * " << round << ";\n";
  line() << "const bool " << inside << " = ";
  if (stream.inner % (round * inFlight) == 0)
    os << "true;\n";
  else
    os << from << " + " << lane << " * " << perLane << " < " << stream.inner << ";\n";
  for (auto [i, row] : llvm::enumerate(weightRows)) {
    line() << words << "[" << u << "][" << i << "] = k3_stream(" << row.address << " + " << from
           << (packed ? " / 2" : "") << ", " << row.exists << " && " << inside << ");\n";
    if (packed)
      line() << scales << "[" << u << "][" << i << "] = " << row.exists << " && " << inside << " ? "
             << scaleRows[i].address << "[" << from << " / 32] : 0;\n";
  }
  for (auto [i, row] : llvm::enumerate(tokenRows))
    for (int64_t quad = 0; quad < quads; ++quad)
      line() << x << "[" << u << "][" << i * quads + quad << "] = k3_load(" << row.address << " + "
             << from << " + " << quad * 8 << ", " << row.exists << " && " << inside << ");\n";
  close();
  // 16 bytes of a row are 8 bf16 numbers, or 32 codes: four words of 8.
  line() << "#pragma unroll\n";
  open(each);
  for (int64_t quad = 0; quad < quads; ++quad) {
    std::string a = fresh("a"), b = fresh("b"), i = fresh("i");
    std::string code = words + "[" + u + "][" + i + "]", number = x + "[" + u + "][" + i;
    line() << "k3_words " << a << "[" << weightRows.size() << "], " << b << "[" << tokenTiles
           << "];\n";
    line() << "#pragma unroll\n";
    line() << "for (int " << i << " = 0; " << i << " < " << weightRows.size() << "; ++" << i
           << ")\n";
    line() << "  " << a << "[" << i << "] = "
           << (packed ? "k3_mxfp4_words(" + code + "." + "xyzw"[quad] + ", " + scales + "[" + u +
                            "][" + i + "])"
                      : code)
           << ";\n";
    line() << "#pragma unroll\n";
    line() << "for (int " << i << " = 0; " << i << " < " << tokenTiles << "; ++" << i << ")\n";
    line() << "  " << b << "[" << i << "] = "
           << (packed ? "k3_halves(" + number + " * 4 + " + digits(quad) + "])" : number + "]")
           << ";\n";
    line() << "#pragma unroll\n";
    open("for (int " + i + " = 0; " + i + " < " + digits(tiles) + "; ++" + i + ")");
    line() << "const k3_words upper = " << a << "[" << i << " / " << tokenTiles
           << " * 2], lower = " << a << "[" << i << " / " << tokenTiles
           << " * 2 + 1], right = " << b << "[" << i << " % " << tokenTiles << "];\n";
    line() << "k3_mma(" << sum << "[" << i
           << "], upper.x, lower.x, upper.y, lower.y, right.x, right.y);\n";
    line() << "k3_mma(" << sum << "[" << i
           << "], upper.z, lower.z, upper.w, lower.w, right.z, right.w);\n";
    close();
  }
  close();
  close();

  // What the warps have, as [warp][weight][token][row]. Rows of four more words spread the lanes
  // over the banks.
  const std::string &partial = bufferNames[*storage.scratchOf(loop)];
  int64_t tokens = tokenTiles * 8, stride = stream.partialStride();
  std::string i = fresh("i");
  line() << "#pragma unroll\n";
  open("for (int " + i + " = 0; " + i + " < " + digits(tiles * 4) + "; ++" + i + ")");
  line() << "const int token = " << i << " / 4 % " << tokenTiles << " * 8 + " << i << " % 2 + "
         << lane << " * 2;\n";
  line() << "const int row = " << i << " / " << tokenTiles * 4 << " % " << rowTiles << " * 16 + "
         << i << " % 4 / 2 * 8 + " << group << ";\n";
  line() << partial << "[((" << warp << " * " << weights << " + " << i << " / "
         << rowTiles * tokenTiles * 4 << ") * " << tokens << " + token) * " << stride
         << " + row] = " << sum << "[" << i << " / 4][" << i << " % 4];\n";
  close();
  line() << "__syncthreads();\n";
  for (int64_t weight = 0; weight < weights; ++weight) {
    std::string e = openLoop(stream.rows * stream.columns), total = fresh("total");
    At at{e, {}};
    std::string init = element(loop.getInits()[weight], at);
    line() << "float " << total << " = " << init << ";\n";
    line() << "for (int w = 0; w < " << kWarps << "; ++w)\n";
    line() << "  " << total << " += " << partial << "[((w * " << weights << " + " << weight
           << ") * " << tokens << " + " << e << " / " << stream.columns << ") * " << stride << " + "
           << e << " % " << stream.columns << "];\n";
    put(loop.getResult(weight), At{e, {}}, total);
    close();
  }
}

} // namespace k3::cuda
