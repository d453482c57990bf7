//===- K3Check.cpp - Shape checks that the verifiers of k3 share ----------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Comparisons of extents with messages that carry both numbers.
//
//===----------------------------------------------------------------------===//

#include "dialects/k3/K3Check.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace k3::model;

std::string Rows::str() const {
  return symbol.empty() ? std::to_string(count) : ("@" + Twine(symbol)).str();
}

std::optional<std::string> k3::model::findShapeFault(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return std::nullopt;
  if (tensor.getRank() == 0)
    return "expected at least 1 extent (got 0)";
  for (int64_t axis = 1; axis < tensor.getRank(); ++axis)
    if (tensor.isDynamicDim(axis))
      return ("only the first extent may be dynamic (got a dynamic extent " + Twine(axis) + ")")
          .str();
  auto symbol = dyn_cast_or_null<SymAttr>(tensor.getEncoding());
  if (tensor.isDynamicDim(0) && (!symbol || symbol.getName().empty()))
    return "a dynamic extent needs a symbol as encoding, #k3.sym<\"T\">; declare k3.symbol @T <= N";
  if (!tensor.isDynamicDim(0) && tensor.getEncoding())
    return ("a static extent has no encoding (got one and " + Twine(tensor.getDimSize(0)) +
            " rows)")
        .str();
  for (int64_t extent : tensor.getShape())
    if (extent == 0)
      return "expected extents of at least 1 (got 0)";
  return std::nullopt;
}

Rows k3::model::rowsOf(RankedTensorType type) {
  if (auto symbol = dyn_cast_or_null<SymAttr>(type.getEncoding()))
    return {symbol.getName(), 0};
  return {{}, type.getDimSize(0)};
}

int64_t k3::model::times(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? std::numeric_limits<int64_t>::max() : product;
}

int64_t k3::model::plus(int64_t a, int64_t b) {
  int64_t sum;
  return llvm::AddOverflow(a, b, sum) ? std::numeric_limits<int64_t>::max() : sum;
}

void Check::fail(const Twine &message) {
  if (!failed)
    op->emitOpError() << message;
  failed = true;
}

RankedTensorType Check::tensor(StringRef name, Value value, unsigned rank) {
  if (failed)
    return {};
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type) {
    fail("expected " + name + " to have a rank");
    return {};
  }
  if (std::optional<std::string> fault = findShapeFault(type)) {
    fail(name + ": " + *fault);
    return {};
  }
  if (rank != 0 && type.getRank() != static_cast<int64_t>(rank)) {
    fail("expected " + name + " to have rank " + Twine(rank) + " (got " + Twine(type.getRank()) +
         ")");
    return {};
  }
  return type;
}

void Check::sameRows(StringRef name, const Rows &got) {
  if (failed)
    return;
  if (!rows) {
    rows = got;
    firstName = name.str();
  } else if (*rows != got) {
    fail("expected " + name + " rows " + got.str() + " to equal " + firstName + " rows " +
         rows->str());
  }
}

int64_t Check::columns(StringRef name, Value value) {
  RankedTensorType type = tensor(name, value, 2);
  if (!type)
    return 0;
  sameRows(name, rowsOf(type));
  return type.getDimSize(1);
}

void Check::list(StringRef name, Value value) {
  if (RankedTensorType type = tensor(name, value, 1))
    sameRows(name, rowsOf(type));
}

void Check::batch(BatchType type) { sameRows("batch", {type.getTokens(), type.getRows()}); }

void Check::stack(StackType type) { sameRows("stack", {type.getTokens(), type.getRows()}); }

SmallVector<int64_t> Check::staticShape(StringRef name, Value value, unsigned rank, bool packed) {
  RankedTensorType type = tensor(name, value, rank);
  if (type && !type.hasStaticShape())
    fail("expected " + name + " to have static extents (got " + rowsOf(type).str() + " rows)");
  if (type && type.getElementType().isInteger(8) != packed) {
    std::string element;
    llvm::raw_string_ostream(element) << type.getElementType();
    fail("expected " + name + " to have elements of type " +
         (packed ? "i8, codes or scales of MXFP4" : "f32 or bf16") + " (got " + element + ")");
  }
  if (failed)
    return SmallVector<int64_t>(std::max(rank, 1u), 0);
  return llvm::to_vector(type.getShape());
}

SmallVector<int64_t> Check::weight(StringRef name, Value value, unsigned rank) {
  return staticShape(name, value, rank, /*packed=*/false);
}

SmallVector<int64_t> Check::packed(StringRef name, Value value, unsigned rank) {
  return staticShape(name, value, rank, /*packed=*/true);
}

int64_t Check::elements(StringRef name, Value value) {
  int64_t product = 1;
  for (int64_t extent : staticShape(name, value, 0, /*packed=*/false))
    product = times(product, extent);
  return product;
}

void Check::equal(const Twine &name, int64_t got, const Twine &other, int64_t want) {
  if (got != want)
    fail("expected " + name + " " + Twine(got) + " to equal " + other + " " + Twine(want));
}

void Check::atLeast(const Twine &name, int64_t got, int64_t least) {
  if (got < least)
    fail("expected " + name + " to be at least " + Twine(least) + " (got " + Twine(got) + ")");
}

void Check::atMost(const Twine &name, int64_t got, const Twine &other, int64_t most) {
  if (got > most)
    fail("expected " + name + " " + Twine(got) + " to be at most " + other + " " + Twine(most));
}

void Check::elementType(StringRef name, Value value, Type type) {
  if (failed || getElementTypeOrSelf(value) == type)
    return;
  std::string got, want;
  llvm::raw_string_ostream(got) << getElementTypeOrSelf(value);
  llvm::raw_string_ostream(want) << type;
  fail("expected " + name + " to have elements of type " + want + " (got " + got + ")");
}

/// A number as a person writes it.
static std::string numberText(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

void Check::positive(StringRef name, double value) {
  if (!(value > 0 && std::isfinite(value)))
    fail("expected " + name + " to be positive and finite (got " + numberText(value) + ")");
}

void Check::negative(StringRef name, double value) {
  if (!(value < 0 && std::isfinite(value)))
    fail("expected " + name + " to be negative and finite (got " + numberText(value) + ")");
}

void Check::activation(Activation kind, FloatAttr beta, FloatAttr linearBeta) {
  positive("beta", beta.getValueAsDouble());
  if (linearBeta)
    positive("linear_beta", linearBeta.getValueAsDouble());
  if (kind == Activation::SwiGLU && linearBeta)
    fail("swiglu has no linear_beta; remove it or use situ");
}

void Check::constantIn(StringRef name, Value index, int64_t first, int64_t last) {
  APInt constant;
  if (!matchPattern(index, m_ConstantInt(&constant)))
    return;
  int64_t value = constant.getSExtValue();
  if (value < first || value > last)
    fail("expected " + name + " in " + Twine(first) + " .. " + Twine(last) + " (got " +
         Twine(value) + ")");
}
