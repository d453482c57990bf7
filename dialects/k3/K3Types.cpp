//===- K3Types.cpp - Syntax and checks of the k3 types --------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses, prints and verifies the types of states, caches, the residual stack and the batch. The
// declarative format cannot split `96x128x128xf32`, because the lexer sees one identifier after the
// first number.
//
//===----------------------------------------------------------------------===//

#include "dialects/k3/K3Dialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace k3::model;

#define GET_TYPEDEF_CLASSES
#include "dialects/k3/K3Types.cpp.inc"

namespace {

/// `AxBx...xT`, with exactly `count` extents.
ParseResult parseShape(AsmParser &parser, unsigned count, SmallVectorImpl<int64_t> &extents,
                       Type &elementType) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseDimensionList(extents, /*allowDynamic=*/false, /*withTrailingX=*/true) ||
      parser.parseType(elementType))
    return failure();
  if (extents.size() != count)
    return parser.emitError(loc) << "expected " << count << " extents before the element type (got "
                                 << extents.size() << ")";
  return success();
}

void printShape(AsmPrinter &printer, ArrayRef<int64_t> extents, Type elementType) {
  printer.printDimensionList(extents);
  printer << 'x' << elementType;
}

/// A quoted symbol, or a count of rows.
ParseResult parseSymbolOrRows(AsmParser &parser, std::string &symbol, int64_t &rows) {
  rows = 0;
  if (succeeded(parser.parseOptionalString(&symbol)))
    return success();
  SMLoc loc = parser.getCurrentLocation();
  OptionalParseResult parsed = parser.parseOptionalInteger(rows);
  if (!parsed.has_value())
    return parser.emitError(loc) << "expected a quoted symbol or a number of rows";
  return *parsed;
}

LogicalResult verifyExtents(function_ref<InFlightDiagnostic()> emitError,
                            ArrayRef<std::pair<StringRef, int64_t>> extents, Type elementType,
                            bool onlyF32) {
  for (auto [name, extent] : extents)
    if (extent < 1)
      return emitError() << "expected " << name << " to be at least 1 (got " << extent << ")";
  if (!elementType.isF32() && (onlyF32 || !elementType.isBF16()))
    return emitError() << "expected elements of type f32" << (onlyF32 ? "" : " or bf16") << " (got "
                       << elementType << ")";
  return success();
}

/// Rows are named by a symbol or counted, never both.
LogicalResult verifyRows(function_ref<InFlightDiagnostic()> emitError, StringRef symbol,
                         int64_t rows) {
  if (symbol.empty() && rows < 1)
    return emitError() << "expected at least 1 row (got " << rows << ")";
  if (!symbol.empty() && rows != 0)
    return emitError() << "expected rows named by symbol '" << symbol << "' or counted (" << rows
                       << "), not both";
  return success();
}

} // namespace

Type KdaStateType::parse(AsmParser &parser) {
  SmallVector<int64_t> extents;
  Type elementType;
  StringRef keyword;
  SMLoc loc;
  if (parser.parseLess() || parseShape(parser, 3, extents, elementType) || parser.parseComma())
    return {};
  loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return {};
  std::optional<StateOrder> order = symbolizeStateOrder(keyword);
  if (!order) {
    parser.emitError(loc) << "expected order kv or vk (got " << keyword << ")";
    return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<KdaStateType>(loc, parser.getContext(), extents[0], extents[1],
                                         extents[2], elementType, *order);
}

void KdaStateType::print(AsmPrinter &printer) const {
  printer << '<';
  printShape(printer, {getHeads(), getKey(), getValue()}, getElementType());
  printer << ", " << stringifyStateOrder(getOrder()) << '>';
}

LogicalResult KdaStateType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t heads,
                                   int64_t key, int64_t value, Type elementType, StateOrder) {
  return verifyExtents(emitError, {{"heads", heads}, {"key", key}, {"value", value}}, elementType,
                       /*onlyF32=*/true);
}

Type ConvStateType::parse(AsmParser &parser) {
  SmallVector<int64_t> extents;
  Type elementType;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseShape(parser, 2, extents, elementType) || parser.parseGreater())
    return {};
  return parser.getChecked<ConvStateType>(loc, parser.getContext(), extents[0], extents[1],
                                          elementType);
}

void ConvStateType::print(AsmPrinter &printer) const {
  printer << '<';
  printShape(printer, {getTaps(), getChannels()}, getElementType());
  printer << '>';
}

LogicalResult ConvStateType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t taps,
                                    int64_t channels, Type elementType) {
  return verifyExtents(emitError, {{"taps", taps}, {"channels", channels}}, elementType,
                       /*onlyF32=*/false);
}

Type LatentCacheType::parse(AsmParser &parser) {
  SmallVector<int64_t> extents;
  Type elementType;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseShape(parser, 2, extents, elementType) || parser.parseGreater())
    return {};
  return parser.getChecked<LatentCacheType>(loc, parser.getContext(), extents[0], extents[1],
                                            elementType);
}

void LatentCacheType::print(AsmPrinter &printer) const {
  printer << '<';
  printShape(printer, {getPage(), getWidth()}, getElementType());
  printer << '>';
}

LogicalResult LatentCacheType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t page,
                                      int64_t width, Type elementType) {
  return verifyExtents(emitError, {{"page", page}, {"width", width}}, elementType,
                       /*onlyF32=*/false);
}

Type StackType::parse(AsmParser &parser) {
  SmallVector<int64_t> extents;
  Type elementType;
  std::string tokens;
  int64_t rows;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseShape(parser, 2, extents, elementType) || parser.parseComma() ||
      parseSymbolOrRows(parser, tokens, rows) || parser.parseGreater())
    return {};
  return parser.getChecked<StackType>(loc, parser.getContext(), extents[0], extents[1], elementType,
                                      tokens, rows);
}

void StackType::print(AsmPrinter &printer) const {
  printer << '<';
  printShape(printer, {getCapacity(), getHidden()}, getElementType());
  printer << ", ";
  if (getTokens().empty())
    printer << getRows();
  else
    printer.printString(getTokens());
  printer << '>';
}

LogicalResult StackType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t capacity,
                                int64_t hidden, Type elementType, StringRef tokens, int64_t rows) {
  if (failed(verifyExtents(emitError, {{"capacity", capacity}, {"hidden", hidden}}, elementType,
                           /*onlyF32=*/false)))
    return failure();
  return verifyRows(emitError, tokens, rows);
}

Type BatchType::parse(AsmParser &parser) {
  std::string tokens, seqs;
  int64_t rows;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseSymbolOrRows(parser, tokens, rows))
    return {};
  if (!tokens.empty() && (parser.parseComma() || parser.parseString(&seqs)))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<BatchType>(loc, parser.getContext(), tokens, seqs, rows);
}

void BatchType::print(AsmPrinter &printer) const {
  printer << '<';
  if (getTokens().empty()) {
    printer << getRows() << '>';
    return;
  }
  printer.printString(getTokens());
  printer << ", ";
  printer.printString(getSeqs());
  printer << '>';
}

LogicalResult BatchType::verify(function_ref<InFlightDiagnostic()> emitError, StringRef tokens,
                                StringRef seqs, int64_t rows) {
  if (tokens.empty() != seqs.empty())
    return emitError() << "expected a symbol for the tokens and one for the sequences (got '"
                       << tokens << "' and '" << seqs << "')";
  return verifyRows(emitError, tokens, rows);
}

void K3Dialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/k3/K3Types.cpp.inc"
      >();
}
