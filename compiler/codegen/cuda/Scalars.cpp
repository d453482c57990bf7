//===- Scalars.cpp - Scalar ops as CUDA C++ -------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic of indices and of the regions of tile.map: one constant a value, named after its op.
// A bf16 scalar is held as the float that it stands for.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cuda/KernelPrinter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace k3::cuda {

StringRef scalarType(Type type) {
  if (type.isIndex() || type.isInteger(64))
    return "long long";
  if (type.isInteger(1))
    return "bool";
  return isa<FloatType>(type) ? "float" : "int";
}

StringRef memoryType(Type type) {
  if (type.isF32())
    return "float";
  if (type.isBF16())
    return "k3_bf16";
  return type.isInteger(32) ? "int" : type.isInteger(1) ? "bool" : "unsigned char";
}

std::string literal(Attribute value) {
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    if (integer.getType().isInteger(1))
      return integer.getValue().isZero() ? "false" : "true";
    std::string digits = std::to_string(integer.getValue().getSExtValue());
    bool wide = integer.getType().isIndex() || integer.getType().isInteger(64);
    return (digits[0] == '-' ? "(" + digits + (wide ? "LL)" : ")") : digits + (wide ? "LL" : ""));
  }
  double number = cast<FloatAttr>(value).getValueAsDouble();
  if (std::isnan(number))
    return "k3_nan";
  if (std::isinf(number))
    return number > 0 ? "k3_infinity" : "(-k3_infinity)";
  std::string digits;
  llvm::raw_string_ostream(digits) << llvm::format("%.9g", number);
  if (digits.find_first_of(".e") == std::string::npos)
    digits += ".0";
  return digits[0] == '-' ? "(" + digits + "f)" : digits + "f";
}

std::string KernelPrinter::scalar(Value value) {
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    return literal(constant.getValue());
  return names.lookup(value);
}

/// `a OP b`, `f(a, b)`, `f(a)`, or empty.
static std::string expression(Operation &op, ArrayRef<std::string> x) {
  StringRef name = op.getName().getStringRef();
  StringRef infix = llvm::StringSwitch<StringRef>(name)
                        .Cases({"arith.addf", "arith.addi"}, "+")
                        .Cases({"arith.subf", "arith.subi"}, "-")
                        .Cases({"arith.mulf", "arith.muli"}, "*")
                        .Cases({"arith.divf", "arith.divsi"}, "/")
                        .Case("arith.remsi", "%")
                        .Case("arith.andi", "&")
                        .Case("arith.ori", "|")
                        .Case("arith.xori", "^")
                        .Case("arith.shli", "<<")
                        .Case("arith.shrsi", ">>")
                        .Default("");
  if (!infix.empty())
    return (x[0] + " " + infix + " " + x[1]).str();
  StringRef unary = llvm::StringSwitch<StringRef>(name)
                        .Case("arith.negf", "-")
                        .Case("math.exp", "expf")
                        .Case("math.exp2", "exp2f")
                        .Case("math.log", "logf")
                        .Case("math.log1p", "log1pf")
                        .Case("math.tanh", "tanhf")
                        .Case("math.sqrt", "sqrtf")
                        .Case("math.rsqrt", "1.0f / sqrtf")
                        .Case("math.absf", "fabsf")
                        .Case("math.floor", "floorf")
                        .Case("math.ceil", "ceilf")
                        .Case("math.roundeven", "rintf")
                        .Case("arith.extf", "")
                        .Case("arith.truncf", "k3_round")
                        .Cases({"arith.index_cast", "arith.extsi", "arith.trunci", "arith.sitofp",
                                "arith.fptosi"},
                               "cast")
                        .Cases({"arith.index_castui", "arith.extui", "arith.uitofp"}, "ucast")
                        .Default("none");
  if (unary == "cast")
    return ("static_cast<" + scalarType(op.getResult(0).getType()) + ">(" + x[0] + ")").str();
  if (unary == "ucast") {
    StringRef from = op.getOperand(0).getType().isInteger(1)    ? "unsigned"
                     : op.getOperand(0).getType().isInteger(8)  ? "unsigned char"
                     : op.getOperand(0).getType().isInteger(32) ? "unsigned"
                                                                : "unsigned long long";
    return ("static_cast<" + scalarType(op.getResult(0).getType()) + ">(static_cast<" + from +
            ">(" + x[0] + "))")
        .str();
  }
  if (unary != "none")
    return (unary + "(" + x[0] + ")").str();
  StringRef call = llvm::StringSwitch<StringRef>(name)
                       .Cases({"arith.minimumf"}, "k3_minimum")
                       .Cases({"arith.maximumf"}, "k3_maximum")
                       .Case("arith.minnumf", "fminf")
                       .Case("arith.maxnumf", "fmaxf")
                       .Cases({"arith.minsi", "arith.minui"}, "k3_min")
                       .Cases({"arith.maxsi", "arith.maxui"}, "k3_max")
                       .Case("arith.ceildivsi", "k3_ceil_div")
                       .Case("arith.floordivsi", "k3_floor_div")
                       .Case("math.copysign", "copysignf")
                       .Case("math.fma", "fmaf")
                       .Default("");
  if (call.empty())
    return "";
  std::string text = (call + "(" + x[0]).str();
  for (const std::string &more : x.drop_front())
    text += ", " + more;
  return text + ")";
}

static std::string compare(arith::CmpIOp op, ArrayRef<std::string> x) {
  using P = arith::CmpIPredicate;
  P p = op.getPredicate();
  StringRef sign = p == P::eq                   ? "=="
                   : p == P::ne                 ? "!="
                   : p == P::slt || p == P::ult ? "<"
                   : p == P::sle || p == P::ule ? "<="
                   : p == P::sgt || p == P::ugt ? ">"
                                                : ">=";
  bool isUnsigned = p >= P::ult;
  if (!isUnsigned)
    return (x[0] + " " + sign + " " + x[1]).str();
  std::string type =
      ("static_cast<unsigned " +
       (op.getLhs().getType().isInteger(32) ? StringRef("int") : StringRef("long long")) + ">(")
          .str();
  return type + x[0] + ") " + sign.str() + " " + type + x[1] + ")";
}

/// Ordered comparisons are false and unordered ones true when a side is NaN.
static std::string compare(arith::CmpFOp op, ArrayRef<std::string> x) {
  using P = arith::CmpFPredicate;
  auto plain = [&](StringRef sign) { return ("(" + x[0] + " " + sign + " " + x[1] + ")").str(); };
  std::string nan = "(" + x[0] + " != " + x[0] + " || " + x[1] + " != " + x[1] + ")";
  switch (op.getPredicate()) {
  case P::AlwaysFalse:
    return "false";
  case P::AlwaysTrue:
    return "true";
  case P::OEQ:
    return plain("==");
  case P::OGT:
    return plain(">");
  case P::OGE:
    return plain(">=");
  case P::OLT:
    return plain("<");
  case P::OLE:
    return plain("<=");
  case P::ONE:
    return "(!" + nan + " && " + plain("!=") + ")";
  case P::ORD:
    return "!" + nan;
  case P::UNO:
    return nan;
  case P::UEQ:
    return "(" + nan + " || " + plain("==") + ")";
  case P::UGT:
    return "!" + plain("<=");
  case P::UGE:
    return "!" + plain("<");
  case P::ULT:
    return "!" + plain(">=");
  case P::ULE:
    return "!" + plain(">");
  case P::UNE:
    return plain("!=");
  }
  llvm_unreachable("all predicates are handled");
}

void KernelPrinter::printScalar(Operation &op) {
  if (isa<arith::ConstantOp>(op))
    return;
  SmallVector<std::string> x;
  for (Value operand : op.getOperands())
    x.push_back(scalar(operand));
  std::string value;
  if (auto select = dyn_cast<arith::SelectOp>(op))
    value = x[0] + " ? " + x[1] + " : " + x[2];
  else if (auto integers = dyn_cast<arith::CmpIOp>(op))
    value = compare(integers, x);
  else if (auto floats = dyn_cast<arith::CmpFOp>(op))
    value = compare(floats, x);
  else if (op.getNumResults() == 1)
    value = expression(op, x);
  if (value.empty())
    return refuse(&op, "has no form in CUDA C++; use arith and math ops that the GPU has");
  Type type = op.getResult(0).getType();
  if (type.isBF16() && !isa<arith::TruncFOp>(op))
    value = "k3_round(" + value + ")";
  std::string name = fresh(op.getName().stripDialect());
  line() << "const " << scalarType(type) << " " << name << " = " << value << ";\n";
  names[op.getResult(0)] = name;
}

} // namespace k3::cuda
