//===- PlanDialect.cpp - The plan dialect and its attributes --------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers the dialect and holds the syntax and the arithmetic of expressions. The arithmetic is
// that of the runtime: non-negative 64-bit numbers, overflow is no value.
//
//===----------------------------------------------------------------------===//

#include "dialects/plan/PlanDialect.h"
#include "dialects/plan/PlanOps.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace k3::host;

#include "dialects/plan/PlanDialect.cpp.inc"
#include "dialects/plan/PlanEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/plan/PlanAttrs.cpp.inc"

void PlanDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/plan/PlanAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/plan/PlanOps.cpp.inc"
      >();
}

int64_t k3::host::elementBytes(Type dtype) { return dtype.getIntOrFloatBitWidth() / 8; }

// -----------------------------------------------------------------------------------------------
// arithmetic

static std::optional<int64_t> apply(ExprOp op, int64_t lhs, int64_t rhs) {
  int64_t value = 0;
  switch (op) {
  case ExprOp::Add:
    if (__builtin_add_overflow(lhs, rhs, &value))
      return std::nullopt;
    return value;
  case ExprOp::Sub:
    return lhs >= rhs ? std::optional(lhs - rhs) : std::nullopt;
  case ExprOp::Mul:
    if (__builtin_mul_overflow(lhs, rhs, &value))
      return std::nullopt;
    return value;
  case ExprOp::CeilDiv:
    return rhs > 0 ? std::optional(lhs / rhs + (lhs % rhs != 0)) : std::nullopt;
  case ExprOp::FloorDiv:
    return rhs > 0 ? std::optional(lhs / rhs) : std::nullopt;
  case ExprOp::Min:
    return std::min(lhs, rhs);
  case ExprOp::Max:
    return std::max(lhs, rhs);
  case ExprOp::Const:
  case ExprOp::Symbol:
    break;
  }
  return std::nullopt;
}

std::optional<ExprRange> k3::host::rangeOf(ExprAttr expr,
                                           function_ref<std::optional<int64_t>(StringRef)> bound) {
  if (expr.getOp() == ExprOp::Const)
    return ExprRange{expr.getValue(), expr.getValue()};
  if (expr.getOp() == ExprOp::Symbol) {
    std::optional<int64_t> upper = bound(expr.getSymbol());
    return upper ? std::optional(ExprRange{0, *upper}) : std::nullopt;
  }
  std::optional<ExprRange> lhs = rangeOf(expr.getLhs(), bound), rhs = rangeOf(expr.getRhs(), bound);
  if (!lhs || !rhs)
    return std::nullopt;
  bool divides = expr.getOp() == ExprOp::CeilDiv || expr.getOp() == ExprOp::FloorDiv;
  if (divides && rhs->low == 0)
    return std::nullopt;
  // A difference and a quotient fall as their right operand grows.
  bool falls = divides || expr.getOp() == ExprOp::Sub;
  std::optional<int64_t> high = apply(expr.getOp(), lhs->high, falls ? rhs->low : rhs->high);
  std::optional<int64_t> low = apply(expr.getOp(), lhs->low, falls ? rhs->high : rhs->low);
  if (!high)
    return std::nullopt;
  return ExprRange{low.value_or(0), *high};
}

void k3::host::walkSymbols(ExprAttr expr, function_ref<void(StringRef)> visit) {
  if (expr.getOp() == ExprOp::Symbol)
    visit(expr.getSymbol());
  for (ExprAttr operand : {expr.getLhs(), expr.getRhs()})
    if (operand)
      walkSymbols(operand, visit);
}

// ------------------------------------------------------------------------------------------------
// expressions

ExprAttr ExprAttr::getConstant(MLIRContext *context, int64_t value) {
  return get(context, ExprOp::Const, value, "", {}, {});
}

ExprAttr ExprAttr::getSymbol(MLIRContext *context, StringRef name) {
  return get(context, ExprOp::Symbol, 0, name, {}, {});
}

std::optional<int64_t> ExprAttr::getConstantValue() const {
  return getOp() == ExprOp::Const ? std::optional(getValue()) : std::nullopt;
}

ExprAttr ExprAttr::getBinary(ExprOp op, ExprAttr lhs, ExprAttr rhs) {
  std::optional<int64_t> left = lhs.getConstantValue(), right = rhs.getConstantValue();
  if (left && right) {
    std::optional<int64_t> value = apply(op, *left, *right);
    return value ? getConstant(lhs.getContext(), *value) : ExprAttr();
  }
  bool divides = op == ExprOp::CeilDiv || op == ExprOp::FloorDiv;
  bool commutes = !divides && op != ExprOp::Sub;
  if (commutes && left)
    return getBinary(op, rhs, lhs);
  if (divides && right == 0)
    return {};
  if ((divides || op == ExprOp::Mul) && right == 1)
    return lhs;
  if ((op == ExprOp::Add || op == ExprOp::Sub || op == ExprOp::Max) && right == 0)
    return lhs;
  if ((op == ExprOp::Mul || op == ExprOp::Min) && right == 0)
    return rhs;
  if ((op == ExprOp::Min || op == ExprOp::Max) && lhs == rhs)
    return lhs;
  // x op c1 op c2: one operation with one number.
  if (commutes && right && lhs.getOp() == op && lhs.getRhs().getConstantValue())
    if (ExprAttr number = getBinary(op, lhs.getRhs(), rhs))
      return getBinary(op, lhs.getLhs(), number);
  return get(lhs.getContext(), op, 0, "", lhs, rhs);
}

LogicalResult ExprAttr::verify(function_ref<InFlightDiagnostic()> emitError, ExprOp op,
                               int64_t value, StringRef symbol, ExprAttr lhs, ExprAttr rhs) {
  if (op == ExprOp::Const && value < 0)
    return emitError() << "expression: constants are not negative (got " << value << ")";
  if (op == ExprOp::Symbol && symbol.empty())
    return emitError() << "expression: a symbol needs a name (got an empty one)";
  bool isBinary = op != ExprOp::Const && op != ExprOp::Symbol;
  if (isBinary != (lhs && rhs))
    return emitError() << "expression: '" << stringifyExprOp(op) << "' takes "
                       << (isBinary ? "two operands" : "no operand");
  return success();
}

/// Whether `name` can stand without quotes.
static bool isBareName(StringRef name) {
  if (symbolizeExprOp(name) || name.empty() || !(llvm::isAlpha(name[0]) || name[0] == '_'))
    return false;
  return llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
}

ParseResult k3::host::parseExprText(AsmParser &parser, ExprAttr &expr) {
  MLIRContext *context = parser.getContext();
  SMLoc loc = parser.getCurrentLocation();
  auto checked = [&](ExprOp op, int64_t value, StringRef symbol, ExprAttr lhs, ExprAttr rhs) {
    expr = ExprAttr::getChecked([&] { return parser.emitError(loc); }, context, op, value, symbol,
                                lhs, rhs);
    return ParseResult(failure(!expr));
  };
  int64_t value = 0;
  if (OptionalParseResult number = parser.parseOptionalInteger(value); number.has_value())
    return failed(*number) ? *number : checked(ExprOp::Const, value, "", {}, {});
  std::string quoted;
  if (succeeded(parser.parseOptionalString(&quoted)))
    return checked(ExprOp::Symbol, 0, quoted, {}, {});
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<ExprOp> op = symbolizeExprOp(word);
  if (!op)
    return checked(ExprOp::Symbol, 0, word, {}, {});
  if (*op == ExprOp::Const || *op == ExprOp::Symbol)
    return parser.emitError(loc) << "expression: '" << word
                                 << "' is no operation; quote the name of a symbol";
  ExprAttr lhs, rhs;
  if (parser.parseLParen() || parseExprText(parser, lhs) || parser.parseComma() ||
      parseExprText(parser, rhs) || parser.parseRParen())
    return failure();
  return checked(*op, 0, "", lhs, rhs);
}

void k3::host::printExprText(AsmPrinter &printer, ExprAttr expr) {
  if (expr.getOp() == ExprOp::Const) {
    printer << expr.getValue();
  } else if (expr.getOp() == ExprOp::Symbol) {
    if (isBareName(expr.getSymbol()))
      printer << expr.getSymbol();
    else
      printer.printString(expr.getSymbol());
  } else {
    printer << stringifyExprOp(expr.getOp()) << '(';
    printExprText(printer, expr.getLhs());
    printer << ", ";
    printExprText(printer, expr.getRhs());
    printer << ')';
  }
}

Attribute ExprAttr::parse(AsmParser &parser, Type) {
  ExprAttr expr;
  if (parser.parseLess() || parseExprText(parser, expr) || parser.parseGreater())
    return {};
  return expr;
}

void ExprAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printExprText(printer, *this);
  printer << '>';
}

// ------------------------------------------------------------------------------------------------
// the other attributes

LogicalResult AtAttr::verify(function_ref<InFlightDiagnostic()> emitError, FlatSymbolRefAttr buffer,
                             int64_t offset) {
  if (offset < 0)
    return emitError() << "address: the offset in @" << buffer.getValue() << " is negative (got "
                       << offset << ")";
  return success();
}

LogicalResult PieceAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr source,
                                int64_t rows, int64_t cols, int64_t srcBegin, int64_t srcStride,
                                int64_t dstBegin, int64_t dstStride, int64_t first, int64_t count,
                                int64_t indexStride, bool transpose) {
  std::pair<StringRef, int64_t> extents[] = {{"rows", rows}, {"cols", cols}, {"count", count}};
  for (auto [name, value] : extents)
    if (value < 1)
      return emitError() << "piece of " << source << ": " << name << " must be positive (got "
                         << value << ")";
  std::pair<StringRef, int64_t> offsets[] = {
      {"src_begin", srcBegin},   {"src_stride", srcStride}, {"dst_begin", dstBegin},
      {"dst_stride", dstStride}, {"first", first},          {"index_stride", indexStride}};
  for (auto [name, value] : offsets)
    if (value < 0)
      return emitError() << "piece of " << source << ": " << name << " must not be negative (got "
                         << value << ")";
  if (count > 1 && !source.getValue().contains("{}"))
    return emitError() << "piece of " << source << ": " << count
                       << " tensors need {} in the name for their index";
  return success();
}
