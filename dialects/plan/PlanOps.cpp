//===- PlanOps.cpp - Syntax of the plan dialect ---------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of the ops' syntax that TableGen cannot say: expressions without brackets, arguments,
// bindings. What the ops must hold is checked in PlanVerify.cpp.
//
//===----------------------------------------------------------------------===//

#include "dialects/plan/PlanOps.h"

using namespace mlir;
using namespace k3::host;

static ParseResult parseExpr(OpAsmParser &parser, ExprAttr &expr) {
  return parseExprText(parser, expr);
}

static void printExpr(OpAsmPrinter &printer, Operation *, ExprAttr expr) {
  printExprText(printer, expr);
}

/// `[T, 128]`
static ParseResult parseExprs(OpAsmParser &parser, ArrayAttr &exprs) {
  SmallVector<Attribute> list;
  auto element = [&]() -> ParseResult {
    ExprAttr expr;
    if (parseExprText(parser, expr))
      return failure();
    list.push_back(expr);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, element))
    return failure();
  exprs = parser.getBuilder().getArrayAttr(list);
  return success();
}

static void printExprs(OpAsmPrinter &printer, Operation *, ArrayAttr exprs) {
  printer << '[';
  llvm::interleaveComma(exprs.getAsRange<ExprAttr>(), printer,
                        [&](ExprAttr expr) { printExprText(printer, expr); });
  printer << ']';
}

/// The rest of an address after the symbol: `+ 64`.
static ParseResult parseOffset(OpAsmParser &parser, StringAttr name, AtAttr &at) {
  int64_t offset = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalPlus()) && parser.parseInteger(offset))
    return failure();
  at = AtAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                          FlatSymbolRefAttr::get(name), offset);
  return failure(!at);
}

static ParseResult parseAt(OpAsmParser &parser, AtAttr &at) {
  StringAttr name;
  if (parser.parseSymbolName(name))
    return failure();
  return parseOffset(parser, name, at);
}

static void printAt(OpAsmPrinter &printer, Operation *, AtAttr at) {
  printer << at.getBuffer();
  if (at.getOffset())
    printer << " + " << at.getOffset();
}

/// `(@x, @w + 64, ceildiv(T, 16))`
static ParseResult parseArgs(OpAsmParser &parser, ArrayAttr &args) {
  SmallVector<Attribute> list;
  auto element = [&]() -> ParseResult {
    StringAttr name;
    if (succeeded(parser.parseOptionalSymbolName(name))) {
      AtAttr at;
      if (parseOffset(parser, name, at))
        return failure();
      list.push_back(at);
      return success();
    }
    ExprAttr expr;
    if (parseExprText(parser, expr))
      return failure();
    list.push_back(expr);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, element))
    return failure();
  args = parser.getBuilder().getArrayAttr(list);
  return success();
}

static void printArgs(OpAsmPrinter &printer, Operation *op, ArrayAttr args) {
  printer << '(';
  llvm::interleaveComma(args, printer, [&](Attribute arg) {
    if (auto at = dyn_cast<AtAttr>(arg))
      printAt(printer, op, at);
    else if (auto expr = dyn_cast<ExprAttr>(arg))
      printExprText(printer, expr);
    else
      printer << arg;
  });
  printer << ')';
}

/// `["ids" = @ids, "token_pos" = @token_pos]`
static ParseResult parseBindings(OpAsmParser &parser, ArrayAttr &bindings) {
  SmallVector<Attribute> list;
  auto element = [&]() -> ParseResult {
    std::string name;
    StringAttr buffer;
    if (parser.parseString(&name) || parser.parseEqual() || parser.parseSymbolName(buffer))
      return failure();
    list.push_back(BindingAttr::get(parser.getContext(), parser.getBuilder().getStringAttr(name),
                                    FlatSymbolRefAttr::get(buffer)));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, element))
    return failure();
  bindings = parser.getBuilder().getArrayAttr(list);
  return success();
}

static void printBindings(OpAsmPrinter &printer, Operation *, ArrayAttr bindings) {
  printer << '[';
  llvm::interleaveComma(bindings.getAsRange<BindingAttr>(), printer, [&](BindingAttr binding) {
    printer.printString(binding.getName().getValue());
    printer << " = " << binding.getBuffer();
  });
  printer << ']';
}

/// `(buffer, scalar)`
static ParseResult parseParams(OpAsmParser &parser, DenseI32ArrayAttr &params) {
  SmallVector<int32_t> list;
  auto element = [&]() -> ParseResult {
    StringRef word;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    std::optional<ArgKind> kind = symbolizeArgKind(word);
    if (!kind)
      return parser.emitError(loc)
             << "parameter: unknown kind (got '" << word << "', expected buffer or scalar)";
    list.push_back(static_cast<int32_t>(*kind));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, element))
    return failure();
  params = parser.getBuilder().getDenseI32ArrayAttr(list);
  return success();
}

static void printParams(OpAsmPrinter &printer, Operation *, DenseI32ArrayAttr params) {
  printer << '(';
  llvm::interleaveComma(params.asArrayRef(), printer, [&](int32_t kind) {
    printer << stringifyArgKind(static_cast<ArgKind>(kind));
  });
  printer << ')';
}

#define GET_OP_CLASSES
#include "dialects/plan/PlanOps.cpp.inc"
