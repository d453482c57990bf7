//===- KernelPrinter.cpp - One tile kernel as CUDA C++ --------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Frame, control flow, barriers and memory. Every region ends without a pending access, so that a
// loop may come back to its beginning and a branch may be left out.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cuda/KernelPrinter.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace k3::cuda {

static tile::TileType typeOf(Value tile) { return cast<tile::TileType>(tile.getType()); }

// ------------------------------------------------------------------------------------------------
// text

raw_ostream &KernelPrinter::line() { return os.indent(2 * indent); }

void KernelPrinter::open(const Twine &head) {
  line() << head << " {\n";
  ++indent;
}

void KernelPrinter::close() {
  --indent;
  line() << "}\n";
}

std::string KernelPrinter::fresh(StringRef stem) {
  std::string name = stem.str();
  std::replace(name.begin(), name.end(), '.', '_');
  return name + std::to_string(counter++);
}

/// Errors of the assembler and profiles point to where the op came from. The file goes without its
/// folder: the text must not depend on where it was read.
void KernelPrinter::printPlace(Operation &op) {
  FileLineColLoc place;
  op.getLoc()->walk([&](Location loc) {
    place = dyn_cast<FileLineColLoc>(loc);
    return place ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!place || place.getLine() == 0)
    return;
  if (lastFile == place.getFilename() && lastLine == place.getLine())
    return;
  lastFile = place.getFilename();
  lastLine = place.getLine();
  os << "#line " << lastLine << " \"" << llvm::sys::path::filename(place.getFilename().getValue())
     << "\"\n";
}

void KernelPrinter::refuse(Operation *op, const Twine &why) {
  if (!failed)
    op->emitOpError() << why;
  failed = true;
}

// ------------------------------------------------------------------------------------------------
// barriers

KernelPrinter::Range KernelPrinter::rangeOfBuffer(unsigned index) const {
  const Buffer &buffer = storage.buffer(index);
  return {buffer.offset, buffer.offset + buffer.bytes};
}

KernelPrinter::Range KernelPrinter::rangeOf(Value value) {
  if (std::optional<unsigned> buffer = storage.bufferOf(value))
    return rangeOfBuffer(*buffer);
  int64_t number =
      storage.bytes() + viewNumbers.try_emplace(value, viewNumbers.size()).first->second;
  return {number, number + 1};
}

void KernelPrinter::barrier() {
  line() << "__syncthreads();\n";
  reads.clear();
  writes.clear();
}

void KernelPrinter::settle() {
  if (!reads.empty() || !writes.empty())
    barrier();
}

/// A barrier if this statement and one since the last barrier need each other's order, then notes
/// what it touches. `readTiles` are evaluated, `writtenOnes` are tiles with buffers, or views.
void KernelPrinter::access(ValueRange readTiles, ValueRange writtenOnes,
                           ArrayRef<unsigned> scratch) {
  SmallVector<Range> newReads, newWrites;
  for (Value value : readTiles) {
    if (isa<tile::ViewType>(value.getType()))
      newReads.push_back(rangeOf(value));
    else
      for (Leaf leaf : storage.leavesOf(value))
        newReads.push_back(rangeOf(leaf.value));
  }
  for (Value value : writtenOnes)
    newWrites.push_back(rangeOf(value));
  for (unsigned index : scratch)
    newWrites.push_back(rangeOfBuffer(index));
  auto meets = [](ArrayRef<Range> a, ArrayRef<Range> b) {
    return llvm::any_of(a, [&](Range x) {
      return llvm::any_of(b, [&](Range y) { return x.first < y.second && y.first < x.second; });
    });
  };
  if (meets(newReads, writes) || meets(newWrites, writes) || meets(newWrites, reads))
    barrier();
  reads.append(newReads);
  writes.append(newWrites);
}

// ------------------------------------------------------------------------------------------------
// control flow

void KernelPrinter::printBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    printOp(op);
}

void KernelPrinter::printFor(tile::ForOp loop) {
  if (const Stream *stream = storage.streamOf(loop))
    return printStream(*stream);
  SmallVector<std::pair<unsigned, std::string>> scalars;
  for (auto [i, init] : llvm::enumerate(loop.getInits())) {
    Value carried = loop.getBody().getArgument(i + 1);
    if (!isa<tile::TileType>(init.getType())) {
      std::string name = fresh("carried");
      line() << scalarType(init.getType()) << " " << name << " = " << scalar(init) << ";\n";
      names[carried] = names[loop.getResult(i)] = name;
      scalars.push_back({i, name});
    } else if (storage.bufferOf(init) != storage.bufferOf(carried)) {
      access({init}, {carried});
      std::string e = openLoop(typeOf(init).getNumElements());
      At at{e, {}};
      put(carried, at, element(init, at));
      close();
    }
  }
  settle();
  std::string i = fresh("step");
  names[loop.getInductionVar()] = i;
  open("for (long long " + i + " = " + scalar(loop.getLower()) + "; " + i + " < " +
       scalar(loop.getUpper()) + "; " + i + " += " + scalar(loop.getStep()) + ")");
  printBlock(loop.getBody().front());
  ValueRange yielded = loop.getBody().front().getTerminator()->getOperands();
  for (auto [k, value] : llvm::enumerate(yielded)) {
    Value carried = loop.getBody().getArgument(k + 1);
    if (!isa<tile::TileType>(value.getType()) ||
        storage.bufferOf(value) == storage.bufferOf(carried))
      continue;
    access({value}, {carried});
    std::string e = openLoop(typeOf(value).getNumElements());
    At at{e, {}};
    put(carried, at, element(value, at));
    close();
  }
  // All are read before the first is set: one may be another's next value.
  SmallVector<std::string> next;
  for (auto &[k, name] : scalars) {
    next.push_back(fresh("next"));
    line() << "const " << scalarType(yielded[k].getType()) << " " << next.back() << " = "
           << scalar(yielded[k]) << ";\n";
  }
  for (auto [carried, value] : llvm::zip(scalars, next))
    line() << carried.second << " = " << value << ";\n";
  settle();
  close();
}

void KernelPrinter::printIf(tile::IfOp branch) {
  settle();
  open("if (" + scalar(branch.getCondition()) + ")");
  printBlock(branch.getBody().front());
  settle();
  close();
}

// ------------------------------------------------------------------------------------------------
// memory

/// Opens the loop of all threads over the words of a tile, `word` elements each, several of which
/// are on their way at the same time. Returns the first element of the word.
std::string KernelPrinter::openWordLoop(int64_t count, int64_t word) {
  line() << "#pragma unroll 8\n";
  std::string e = openLoop(count / word), first = fresh("first");
  line() << "const int " << first << " = " << e << " * " << word << ";\n";
  return first;
}

static std::string wordAt(StringRef pointer) {
  return ("*reinterpret_cast<k3_words *>(" + pointer + ")").str();
}

/// From memory to shared memory as it is.
void KernelPrinter::printWords(tile::LoadOp load, int64_t word) {
  tile::TileType type = typeOf(load.getResult());
  unsigned buffer = *storage.bufferOf(load.getResult());
  std::string first = openWordLoop(type.getNumElements(), word);
  auto [condition, place] =
      placeInView(load.getView(), load.getOffsets(), load.getBounds(), type, At{first, {}});
  line() << wordAt(bufferNames[buffer] + " + " + indexIn(buffer, first)) << " = k3_load("
         << names.lookup(load.getView()) << " + " << place << ", "
         << (condition.empty() ? "true" : condition) << ");\n";
  close();
}

/// And back.
void KernelPrinter::printWords(tile::StoreOp store, unsigned buffer, int64_t word) {
  tile::TileType type = typeOf(store.getValue());
  std::string first = openWordLoop(type.getNumElements(), word);
  auto [condition, place] =
      placeInView(store.getView(), store.getOffsets(), store.getBounds(), type, At{first, {}});
  if (!condition.empty())
    line() << "if (" << condition << ")\n";
  line() << (condition.empty() ? "" : "  ") << wordAt(names.lookup(store.getView()) + " + " + place)
         << " = " << wordAt(bufferNames[buffer] + " + " + indexIn(buffer, first)) << ";\n";
  close();
}

/// A tile that is computed element by element and kept.
void KernelPrinter::printElements(Operation &op) {
  SmallVector<Value> inputs;
  for (Value operand : op.getOperands())
    if (isa<tile::TileType>(operand.getType()))
      inputs.push_back(operand);
  if (auto load = dyn_cast<tile::LoadOp>(op))
    inputs.push_back(load.getView());
  access(inputs, op.getResults());
  tile::TileType type = typeOf(op.getResult(0));
  if (auto load = dyn_cast<tile::LoadOp>(op))
    if (int64_t word = wordOf(load.getView(), load.getOffsets(), load.getBounds(), type))
      return printWords(load, word);
  std::string e = openLoop(type.getNumElements());
  At at{e, {}};
  if (auto map = dyn_cast<tile::MapOp>(op)) {
    SmallVector<std::string> results;
    mapElement(map, at, results);
    for (auto [result, value] : llvm::zip(map.getResults(), results))
      put(result, at, value);
  } else if (auto load = dyn_cast<tile::LoadOp>(op)) {
    put(op.getResult(0), at,
        loadElement(load.getView(), load.getOffsets(), load.getBounds(), type, at));
  } else if (auto cast = dyn_cast<tile::CastOp>(op)) {
    put(op.getResult(0), at, element(cast.getInput(), at));
  } else if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) {
    put(op.getResult(0), at, element(reshape.getInput(), at));
  } else {
    At from;
    ArrayRef<std::string> index = dims(at, type.getShape());
    Value input = op.getOperand(0);
    if (isa<tile::TransposeOp>(op)) {
      from.dims = {index[1], index[0]};
    } else if (auto extract = dyn_cast<tile::ExtractOp>(op)) {
      for (auto [i, offset] : llvm::zip(index, extract.getOffsets()))
        from.dims.push_back("static_cast<int>(" + scalar(offset) + " + " + i + ")");
    } else {
      for (auto [extent, i] : llvm::zip(typeOf(input).getShape(), index))
        from.dims.push_back(extent == 1 ? "0" : i);
    }
    put(op.getResult(0), at, element(input, from));
  }
  close();
}

void KernelPrinter::printStore(tile::StoreOp store) {
  access({store.getValue()}, {store.getView()});
  tile::TileType type = typeOf(store.getValue());
  std::optional<unsigned> buffer = storage.bufferOf(store.getValue());
  if (buffer && storage.buffer(*buffer).element ==
                    cast<tile::ViewType>(store.getView().getType()).getElementType())
    if (int64_t word = wordOf(store.getView(), store.getOffsets(), store.getBounds(), type))
      return printWords(store, *buffer, word);
  std::string e = openLoop(type.getNumElements());
  At at{e, {}};
  (void)dims(at, type.getShape());
  auto [condition, place] =
      placeInView(store.getView(), store.getOffsets(), store.getBounds(), type, at);
  if (!condition.empty())
    open("if (" + condition + ")");
  std::string value = element(store.getValue(), at);
  if (cast<tile::ViewType>(store.getView().getType()).getElementType().isBF16())
    value = "k3_narrow(" + value + ")";
  line() << names.lookup(store.getView()) << "[" << place << "] = " << value << ";\n";
  if (!condition.empty())
    close();
  close();
}

void KernelPrinter::printGather(tile::GatherOp gather) {
  access({gather.getRows(), gather.getView()}, {gather.getResult()});
  tile::TileType type = typeOf(gather.getResult());
  std::string e = openLoop(type.getNumElements());
  At at{e, {}};
  ArrayRef<std::string> index = dims(at, type.getShape());
  auto [condition, place] =
      rowPlace(gather.getView(), gather.getRows(), gather.getRowBound(), gather.getColumn(),
               gather.getColumnBound(), index[0], index[1]);
  Type element = cast<tile::ViewType>(gather.getView().getType()).getElementType();
  std::string value = names.lookup(gather.getView()) + "[" + place + "]";
  if (element.isBF16())
    value = "k3_float(" + value + ")";
  put(gather.getResult(), at,
      condition + " ? " + value + " : " + (isa<FloatType>(element) ? "0.0f" : "0"));
  close();
}

void KernelPrinter::printScatter(tile::ScatterOp scatter) {
  access({scatter.getValue(), scatter.getRows()}, {scatter.getView()});
  tile::TileType type = typeOf(scatter.getValue());
  std::string e = openLoop(type.getNumElements());
  At at{e, {}};
  ArrayRef<std::string> index = dims(at, type.getShape());
  auto [condition, place] =
      rowPlace(scatter.getView(), scatter.getRows(), scatter.getRowBound(), scatter.getColumn(),
               scatter.getColumnBound(), index[0], index[1]);
  open("if (" + condition + ")");
  std::string value = element(scatter.getValue(), at);
  if (cast<tile::ViewType>(scatter.getView().getType()).getElementType().isBF16())
    value = "k3_narrow(" + value + ")";
  line() << names.lookup(scatter.getView()) << "[" << place << "] = " << value << ";\n";
  close();
  close();
}

void KernelPrinter::printRead(tile::ReadOp read) {
  access({read.getView()}, {});
  auto view = cast<tile::ViewType>(read.getView().getType());
  auto one = tile::TileType::get(read.getContext(), SmallVector<int64_t>(view.getShape().size(), 1),
                                 view.getElementType(), tile::Space::Fragment, Attribute());
  At at;
  at.dims.assign(view.getShape().size(), "0");
  std::string value = loadElement(read.getView(), read.getOffsets(), read.getBounds(), one, at);
  Type type = read.getResult().getType();
  if (type.isIndex()) {
    std::string name = fresh("read");
    line() << "const long long " << name << " = " << value << ";\n";
    value = name;
  }
  names[read.getResult()] = value;
}

void KernelPrinter::printCopy(tile::CopyOp copy) {
  access({copy.getView()}, {copy.getDest()});
  tile::TileType type = typeOf(copy.getDest());
  std::string e = openLoop(type.getNumElements());
  At at{e, {}};
  put(copy.getDest(), at,
      loadElement(copy.getView(), copy.getOffsets(), copy.getBounds(), type, at));
  close();
}

void KernelPrinter::printStage(tile::StageOp stage) {
  access({stage.getValue()}, {stage.getDest()});
  std::string e = openLoop(typeOf(stage.getValue()).getNumElements());
  At at{e, {}};
  put(stage.getDest(), at, element(stage.getValue(), at));
  close();
}

void KernelPrinter::printFetch(tile::FetchOp fetch) {
  access({fetch.getSource()}, {fetch.getResult()});
  tile::TileType type = typeOf(fetch.getResult());
  std::string e = openLoop(type.getNumElements());
  At at{e, {}}, from = at;
  if (!fetch.getOffsets().empty()) {
    from = At();
    for (auto [i, offset] : llvm::zip(dims(at, type.getShape()), fetch.getOffsets()))
      from.dims.push_back("static_cast<int>(" + scalar(offset) + " + " + i + ")");
  }
  put(fetch.getResult(), at, element(fetch.getSource(), from));
  close();
}

// ------------------------------------------------------------------------------------------------
// ops

void KernelPrinter::printOp(Operation &op) {
  bool isTileOp = isa<tile::TileDialect>(op.getDialect());
  if (isTileOp && op.getNumResults() == 1 && isa<tile::TileType>(op.getResult(0).getType()) &&
      !storage.bufferOf(op.getResult(0)))
    return; // computed where it is read
  if (!isTileOp)
    return printScalar(op);
  printPlace(op);
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](tile::ForOp o) { printFor(o); })
      .Case([&](tile::IfOp o) { printIf(o); })
      .Case([&](tile::BlockIdOp o) {
        names[o.getResult()] = o.getAxis() == tile::GridAxis::X   ? "blockX"
                               : o.getAxis() == tile::GridAxis::Y ? "blockY"
                                                                  : "blockZ";
      })
      .Case<tile::LoadOp, tile::MapOp, tile::CastOp, tile::ReshapeOp, tile::TransposeOp,
            tile::ExtractOp, tile::BroadcastOp>([&](auto o) { printElements(*o.getOperation()); })
      .Case([&](tile::StoreOp o) { printStore(o); })
      .Case([&](tile::GatherOp o) { printGather(o); })
      .Case([&](tile::ScatterOp o) { printScatter(o); })
      .Case([&](tile::ReadOp o) { printRead(o); })
      .Case([&](tile::CopyOp o) { printCopy(o); })
      .Case([&](tile::StageOp o) { printStage(o); })
      .Case([&](tile::FetchOp o) { printFetch(o); })
      .Case([&](tile::InsertOp o) { printInsert(o); })
      .Case([&](tile::DequantizeOp o) { printDequantize(o); })
      .Case([&](tile::ReduceOp o) { printReduce(o); })
      .Case([&](tile::ScanOp o) { printScan(o); })
      .Case([&](tile::TopKOp o) { printTopK(o); })
      .Case([&](tile::TriSolveOp o) { printTriSolve(o); })
      .Case([&](tile::MmaOp o) { printMma(o); })
      .Case([&](tile::BarrierOp) { barrier(); })
      // Copies are done when they are issued, so nothing is left to wait for.
      .Case<tile::AllocOp, tile::WaitOp>([](auto) {})
      .Default([&](Operation *o) { refuse(o, "is not generated for GPUs"); });
}

FailureOr<std::string> KernelPrinter::print() {
  Block &body = kernel.getBody().front();
  if (!storage.refusal().empty()) {
    kernel.emitOpError() << storage.refusal();
    return failure();
  }
  llvm::DenseSet<Value> written;
  kernel.walk([&](Operation *op) {
    if (auto store = dyn_cast<tile::StoreOp>(op))
      written.insert(store.getView());
    else if (auto scatter = dyn_cast<tile::ScatterOp>(op))
      written.insert(scatter.getView());
  });
  std::string parameters, arguments;
  for (auto [i, argument] : llvm::enumerate(body.getArguments())) {
    auto view = dyn_cast<tile::ViewType>(argument.getType());
    std::string name = (!view                        ? "n"
                        : written.contains(argument) ? "out"
                                                     : "in") +
                       std::to_string(i);
    names[argument] = name;
    if (view)
      parameters += (written.contains(argument) ? "" : "const ") +
                    memoryType(view.getElementType()).str() + " *" + name + ", ";
    else
      parameters += "long long " + name + ", ";
    arguments += name + ", ";
  }
  std::string name = kernel.getSymName().str();
  os << "static __device__ __forceinline__ void " << name << "_block(" << parameters
     << "long long blockX, long long blockY,\n    long long blockZ, unsigned char *shared) {\n";
  for (auto [i, buffer] : llvm::enumerate(storage.all())) {
    StringRef type = memoryType(buffer.element);
    bufferNames.push_back("tile" + std::to_string(i));
    line() << type << " *const " << bufferNames.back() << " = reinterpret_cast<" << type
           << " *>(shared + " << buffer.offset << ");\n";
  }
  printBlock(body);
  os << "}\n\n"
     << "/// Blocks in one line, x fastest: y and z of a grid end at 65535.\n"
     << "extern \"C\" __global__ void __launch_bounds__(" << kThreads << ") " << name << "("
     << parameters << "long long gridX,\n    long long gridY) {\n"
     << "  extern __shared__ __align__(128) unsigned char shared[];\n"
     << "  const long long block = blockIdx.x;\n"
     << "  k3_begin();\n"
     << "  " << name << "_block(" << arguments
     << "block % gridX, block / gridX % gridY, block / gridX / gridY, shared);\n"
     << "}\n";
  if (failed)
    return failure();
  return text;
}

} // namespace k3::cuda
