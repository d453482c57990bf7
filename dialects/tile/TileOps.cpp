//===- TileOps.cpp - Structure ops of the tile dialect --------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builders, parsers and printers of the ops that hold regions, and their structural rules. The
// rules of ops that compute are in TileVerify.cpp, the rules of a launch in TileLaunch.cpp.
//
//===----------------------------------------------------------------------===//

#include "dialects/tile/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace k3::tile;

#define GET_OP_CLASSES
#include "dialects/tile/TileOps.cpp.inc"

// ---------------------------------------------------------------------------------------------------------
// kernel

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                     ArrayRef<Type> argumentTypes) {
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name),
                     TypeAttr::get(builder.getFunctionType(argumentTypes, {})));
  Region *body = state.addRegion();
  Block &block = body->emplaceBlock();
  for (Type type : argumentTypes)
    block.addArgument(type, state.location);
  ensureTerminator(*body, builder, state.location);
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> inputs, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(inputs, results); };
  if (function_interface_impl::parseFunctionOp(
          parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name), buildType,
          getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name)))
    return failure();
  Region &body = *result.regions.front();
  if (!body.empty())
    ensureTerminator(body, parser.getBuilder(), result.location);
  return success();
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false,
                                           getFunctionTypeAttrName(), getArgAttrsAttrName(),
                                           getResAttrsAttrName());
}

LogicalResult KernelOp::verify() {
  if (size_t count = getResultTypes().size())
    return emitOpError() << "results: a kernel writes through views (got " << count
                         << " results, expected 0)";
  for (auto [index, type] : llvm::enumerate(getArgumentTypes()))
    if (!isa<ViewType, IndexType>(type))
      return emitOpError() << "parameter " << index << ": must be a view or an index (got " << type
                           << ")";
  return success();
}

// -----------------------------------------------------------------------------------------------------------
// loop

void ForOp::build(OpBuilder &builder, OperationState &state, Value lower, Value upper, Value step,
                  ValueRange inits,
                  function_ref<void(OpBuilder &, Location, Value, ValueRange)> body) {
  state.addOperands({lower, upper, step});
  state.addOperands(inits);
  state.addTypes(inits.getTypes());
  state.addAttribute(getStagesAttrName(state.name), builder.getI64IntegerAttr(1));
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(state.addRegion());
  block->addArgument(builder.getIndexType(), state.location);
  for (Value init : inits)
    block->addArgument(init.getType(), init.getLoc());
  if (body)
    body(builder, state.location, block->getArgument(0), block->getArguments().drop_front());
  else if (inits.empty())
    ensureTerminator(*block->getParent(), builder, state.location);
}

ParseResult ForOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  Type index = builder.getIndexType();
  SmallVector<OpAsmParser::Argument> arguments(1);
  SmallVector<OpAsmParser::UnresolvedOperand> inits;
  OpAsmParser::UnresolvedOperand lower, upper, step;
  if (parser.parseArgument(arguments[0]) || parser.parseEqual() || parser.parseOperand(lower) ||
      parser.parseKeyword("to") || parser.parseOperand(upper) || parser.parseKeyword("step") ||
      parser.parseOperand(step))
    return failure();
  arguments[0].type = index;
  if (parser.resolveOperand(lower, index, result.operands) ||
      parser.resolveOperand(upper, index, result.operands) ||
      parser.resolveOperand(step, index, result.operands))
    return failure();

  if (succeeded(parser.parseOptionalKeyword("iter"))) {
    auto parseCarried = [&]() {
      return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                     parser.parseOperand(inits.emplace_back()));
    };
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseCarried) ||
        parser.parseColonTypeList(result.types))
      return failure();
    if (result.types.size() != inits.size())
      return parser.emitError(loc) << "iter: one type a value (got " << result.types.size()
                                   << " types, expected " << inits.size() << ")";
    for (auto [argument, init, type] :
         llvm::zip_equal(ArrayRef(arguments).drop_front(), inits, result.types)) {
      const_cast<OpAsmParser::Argument &>(argument).type = type;
      if (parser.resolveOperand(init, type, result.operands))
        return failure();
    }
  }

  int64_t stages = 1;
  if (succeeded(parser.parseOptionalKeyword("stages")) && parser.parseInteger(stages))
    return failure();
  result.addAttribute(getStagesAttrName(result.name), builder.getI64IntegerAttr(stages));
  Region *body = result.addRegion();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*body, arguments))
    return failure();
  ensureTerminator(*body, builder, result.location);
  return success();
}

void ForOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getInductionVar() << " = " << getLower() << " to " << getUpper() << " step "
          << getStep();
  if (!getInits().empty()) {
    printer << " iter(";
    llvm::interleaveComma(
        llvm::zip_equal(getRegionIterArgs(), getInits()), printer,
        [&](auto pair) { printer << std::get<0>(pair) << " = " << std::get<1>(pair); });
    printer << ") : " << getInits().getTypes();
  }
  if (getStages() != 1)
    printer << " stages " << getStages();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getStagesAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/!getInits().empty());
}

LogicalResult ForOp::verify() {
  APInt step;
  if (matchPattern(getStep(), m_ConstantInt(&step)) && !step.isStrictlyPositive())
    return emitOpError() << "step: must be positive (got " << step.getSExtValue() << ")";
  if (static_cast<int64_t>(getStages()) < 1)
    return emitOpError() << "stages: must be positive (got " << static_cast<int64_t>(getStages())
                         << ")";
  if (getInits().size() != getNumResults())
    return emitOpError() << "results: one a carried value (got " << getNumResults() << ", expected "
                         << getInits().size() << ")";
  Block *block = &getBody().front();
  if (block->getNumArguments() != getInits().size() + 1)
    return emitOpError() << "body: takes the counter and the carried values (got "
                         << block->getNumArguments() << " arguments, expected "
                         << getInits().size() + 1 << ")";
  if (!getInductionVar().getType().isIndex())
    return emitOpError() << "body: the counter must be an index (got "
                         << getInductionVar().getType() << ")";
  for (auto [position, init, argument, result] :
       llvm::enumerate(getInits(), getRegionIterArgs(), getResults())) {
    if (!isa<TileType, TokenType, IndexType, IntegerType, FloatType>(init.getType()))
      return emitOpError() << "carried value " << position
                           << ": must be a tile, a token or a scalar (got " << init.getType()
                           << ")";
    if (argument.getType() != init.getType() || result.getType() != init.getType())
      return emitOpError() << "carried value " << position << ": changes its type (got "
                           << argument.getType() << " inside and " << result.getType()
                           << " after, expected " << init.getType() << ")";
  }
  return success();
}

SmallVector<Region *> ForOp::getLoopRegions() { return {&getBody()}; }

Block::BlockArgListType ForOp::getRegionIterArgs() { return getBody().getArguments().drop_front(); }

std::optional<MutableArrayRef<OpOperand>> ForOp::getYieldedValuesMutable() {
  return cast<YieldOp>(getBody().front().getTerminator()).getValuesMutable();
}

std::optional<ResultRange> ForOp::getLoopResults() { return getResults(); }

// ---------------------------------------------------------------------------------------------
// condition and role

void IfOp::build(OpBuilder &builder, OperationState &state, Value condition,
                 function_ref<void(OpBuilder &, Location)> body) {
  state.addOperands(condition);
  OpBuilder::InsertionGuard guard(builder);
  Region *region = state.addRegion();
  builder.createBlock(region);
  if (body)
    body(builder, state.location);
  ensureTerminator(*region, builder, state.location);
}

LogicalResult RoleOp::verify() {
  if (static_cast<int64_t>(getWarps()) < 1 || static_cast<int64_t>(getWarps()) > 32)
    return emitOpError() << "warps: a block has 1 to 32 (got " << static_cast<int64_t>(getWarps())
                         << ")";
  if ((*this)->getParentOfType<RoleOp>())
    return emitOpError() << "role '" << getName() << "': roles do not nest";
  return success();
}

// ------------------------------------------------------------------------------------------------------------
// map

void MapOp::build(OpBuilder &builder, OperationState &state, TypeRange results, ValueRange inputs,
                  function_ref<SmallVector<Value>(OpBuilder &, Location, ValueRange)> body) {
  state.addOperands(inputs);
  state.addTypes(results);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(state.addRegion());
  for (Value input : inputs)
    block->addArgument(scalarTypeOf(cast<TileType>(input.getType()).getElementType()),
                       input.getLoc());
  SmallVector<Value> values = body(builder, state.location, block->getArguments());
  YieldOp::create(builder, state.location, values);
}

ParseResult MapOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  FunctionType type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(inputs, OpAsmParser::Delimiter::Paren) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type) ||
      parser.resolveOperands(inputs, type.getInputs(), loc, result.operands) ||
      parser.parseRegion(*result.addRegion()))
    return failure();
  result.addTypes(type.getResults());
  return success();
}

void MapOp::print(OpAsmPrinter &printer) {
  printer << '(' << getInputs() << ')';
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : ";
  printer.printFunctionalType(getInputs().getTypes(), getResultTypes());
  printer << ' ';
  printer.printRegion(getBody());
}

LogicalResult MapOp::verify() {
  if (getNumResults() == 0)
    return emitOpError() << "results: nothing is computed (got 0, expected at least 1)";
  ArrayRef<int64_t> shape = cast<TileType>(getResult(0).getType()).getShape();
  for (Value value : llvm::concat<Value>(getInputs(), getResults()))
    if (cast<TileType>(value.getType()).getSpace() != Space::Fragment)
      return emitOpError() << "operands and results: must be fragments (got " << value.getType()
                           << "); fetch it first";
  for (auto [index, result] : llvm::enumerate(getResults()))
    if (cast<TileType>(result.getType()).getShape() != shape)
      return emitOpError() << "result " << index << ": shape differs from result 0 (got "
                           << result.getType() << ", expected the shape of "
                           << getResult(0).getType() << ")";
  for (auto [index, input] : llvm::enumerate(getInputs())) {
    ArrayRef<int64_t> from = cast<TileType>(input.getType()).getShape();
    bool fits = from.size() == shape.size() && llvm::all_of(llvm::zip(from, shape), [](auto pair) {
                  return std::get<0>(pair) == std::get<1>(pair) || std::get<0>(pair) == 1;
                });
    if (!fits)
      return emitOpError() << "operand " << index << ": does not broadcast to the result (got "
                           << input.getType() << ", expected the rank of " << getResult(0).getType()
                           << " and each extent equal or 1)";
  }

  Block &block = getBody().front();
  if (block.getNumArguments() != getInputs().size())
    return emitOpError() << "region: takes one scalar an operand (got " << block.getNumArguments()
                         << ", expected " << getInputs().size() << ")";
  for (auto [index, argument, input] : llvm::enumerate(block.getArguments(), getInputs())) {
    Type expected = scalarTypeOf(cast<TileType>(input.getType()).getElementType());
    if (argument.getType() != expected)
      return emitOpError() << "region argument " << index << ": wrong type (got "
                           << argument.getType() << ", expected " << expected << ")";
  }
  for (Operation &op : block.without_terminator())
    if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op.getDialect()))
      return emitOpError() << "region: only arith and math ops compute a scalar (got "
                           << op.getName() << ")";
  return success();
}

// ----------------------------------------------------------------------------------------------------------
// yield

LogicalResult YieldOp::verify() {
  Operation *parent = (*this)->getParentOp();
  SmallVector<Type> expected;
  if (auto loop = dyn_cast<ForOp>(parent))
    llvm::append_range(expected, loop.getInits().getTypes());
  else if (auto map = dyn_cast<MapOp>(parent))
    for (Type type : map.getResultTypes())
      expected.push_back(scalarTypeOf(cast<TileType>(type).getElementType()));
  if (getValues().size() != expected.size())
    return emitOpError() << "values: wrong count for " << parent->getName() << " (got "
                         << getValues().size() << ", expected " << expected.size() << ")";
  for (auto [index, got, want] : llvm::enumerate(getValues().getTypes(), expected))
    if (got != want)
      return emitOpError() << "value " << index << ": wrong type for " << parent->getName()
                           << " (got " << got << ", expected " << want << ")";
  return success();
}
