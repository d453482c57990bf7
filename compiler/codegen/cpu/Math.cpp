//===- Math.cpp - Elementary functions in f32 -----------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Range reduction, a polynomial, reconstruction by exponent bits. The coefficients are weighted
// minimax fits made for this file; each function says its interval and its largest error in units
// of the last place.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cpu/Math.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace k3::cpu {

namespace {

/// Arithmetic on f32 and i32 values of one width.
class Lanes {
public:
  Lanes(Code &c, Value like) : c(c) {
    auto type = dyn_cast<VectorType>(like.getType());
    width = type ? type.getNumElements() : 1;
  }

  Value f(double value) { return c.f32(value, width); }
  Value i(int64_t value) { return c.i32(value, width); }
  Value add(Value x, Value y) { return arith::AddFOp::create(c.b, c.loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(c.b, c.loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(c.b, c.loc, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(c.b, c.loc, x, y); }
  Value fma(Value x, Value y, Value z) { return c.fma(x, y, z); }
  Value abs(Value x) { return math::AbsFOp::create(c.b, c.loc, x); }
  Value addi(Value x, Value y) { return arith::AddIOp::create(c.b, c.loc, x, y); }
  Value subi(Value x, Value y) { return arith::SubIOp::create(c.b, c.loc, x, y); }
  Value andi(Value x, Value y) { return arith::AndIOp::create(c.b, c.loc, x, y); }
  Value ori(Value x, Value y) { return arith::OrIOp::create(c.b, c.loc, x, y); }
  Value shl(Value x, int64_t n) { return arith::ShLIOp::create(c.b, c.loc, x, i(n)); }
  Value sra(Value x, int64_t n) { return arith::ShRSIOp::create(c.b, c.loc, x, i(n)); }
  Value bits(Value x) {
    return arith::BitcastOp::create(c.b, c.loc, withWidth(c.b.getI32Type(), width), x);
  }
  Value number(Value x) {
    return arith::BitcastOp::create(c.b, c.loc, withWidth(c.b.getF32Type(), width), x);
  }
  Value toFloat(Value x) {
    return arith::SIToFPOp::create(c.b, c.loc, withWidth(c.b.getF32Type(), width), x);
  }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(c.b, c.loc, predicate, x, y);
  }
  Value less(Value x, Value y) { return compare(arith::CmpFPredicate::OLT, x, y); }
  Value greater(Value x, Value y) { return compare(arith::CmpFPredicate::OGT, x, y); }
  Value equal(Value x, Value y) { return compare(arith::CmpFPredicate::OEQ, x, y); }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(c.b, c.loc, condition, x, y);
  }
  /// Between the limits; a NaN passes.
  Value clamp(Value x, double low, double high) {
    x = select(less(x, f(low)), f(low), x);
    return select(greater(x, f(high)), f(high), x);
  }
  /// coefficients[0] + x * (coefficients[1] + ...)
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = f(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, f(coefficient));
    return sum;
  }

  Value exp(Value x);
  Value exp2(Value x);
  Value log(Value x);
  Value log1p(Value x);
  Value tanh(Value x);

private:
  /// The nearest integer as float, and the same as i32; right for |x| < 2^21. Adding 1.5 * 2^23
  /// leaves the integer in the low bits, which is defined for every input, NaN included.
  std::pair<Value, Value> nearest(Value x) {
    Value magic = f(12582912.0), shifted = add(x, magic);
    return {sub(shifted, magic), subi(bits(shifted), i(0x4b400000))};
  }
  /// x * 2^n for n in -254 .. 254 in two steps, so that results reach denormals and infinity with
  /// one rounding.
  Value scaleByPower(Value x, Value n) {
    Value half = sra(n, 1), rest = subi(n, half);
    auto power = [&](Value k) { return number(shl(addi(k, i(127)), 23)); };
    return mul(mul(x, power(half)), power(rest));
  }
  Value logOfNormal(Value mantissa, Value exponent);

  Code &c;
  int64_t width;
};

} // namespace

// All x: at most 0.97 units of the last place; exp(-inf) = 0, and the smallest denormals are
// reached.
Value Lanes::exp(Value x) {
  // Below the lower limit the result rounds to zero, above the upper one to infinity.
  x = clamp(x, -104.0, 89.0);
  auto [n, k] = nearest(mul(x, f(1.4426950408889634)));
  // ln 2 in two parts: n times the first is exact.
  Value r = fma(n, f(-0.693145751953125), x);
  r = fma(n, f(-1.42860682030941723e-6), r);
  Value p = polynomial(r, {0.5, 0.16666667163372040, 0.041666254401206970, 0.0083332629874348640,
                           0.0013947224942967296, 0.00019919380429200828});
  Value y = add(fma(mul(r, r), p, r), f(1.0));
  return scaleByPower(y, k);
}

// All x: at most 0.8 units of the last place.
Value Lanes::exp2(Value x) {
  x = clamp(x, -151.0, 129.0);
  auto [n, k] = nearest(x);
  Value r = sub(x, n);
  Value p = polynomial(r, {0.69314718246459960, 0.24022650718688965, 0.055504109710454940,
                           0.0096180327236652370, 0.0013333425158634782, 0.00015468390483874828,
                           0.0000153162006});
  return scaleByPower(fma(p, r, f(1.0)), k);
}

/// log of mantissa * 2^exponent with the mantissa in [sqrt(1/2), sqrt(2)), given as mantissa - 1.
Value Lanes::logOfNormal(Value m, Value exponent) {
  Value p = polynomial(m, {0.33333307504653930, -0.24999982118606567, 0.20002363622188568,
                           -0.16669583320617676, 0.14215882122516632, -0.12376550585031510,
                           0.11887233704328537, -0.11844396591186523, 0.069484166800976});
  Value square = mul(m, m);
  Value tail = fma(mul(square, m), p, mul(exponent, f(-2.12194440054690583e-4)));
  tail = fma(square, f(-0.5), tail);
  return fma(exponent, f(0.693359375), add(m, tail));
}

// x > 0, denormals included: at most 0.75 units of the last place.
Value Lanes::log(Value x) {
  Value tiny = less(x, f(1.17549435e-38));
  Value scaled = select(tiny, mul(x, f(8388608.0)), x);
  Value raw = bits(scaled);
  // The exponent such that the mantissa falls into [sqrt(1/2), sqrt(2)).
  Value k = sra(subi(raw, i(0x3f3504f3)), 23);
  Value mantissa = number(subi(raw, shl(k, 23)));
  Value exponent = add(toFloat(k), select(tiny, f(-23.0), f(0.0)));
  Value y = logOfNormal(sub(mantissa, f(1.0)), exponent);
  double infinity = std::numeric_limits<double>::infinity();
  y = select(equal(x, f(infinity)), x, y);
  y = select(equal(x, f(0.0)), f(-infinity), y);
  // Negative numbers and NaN.
  return select(compare(arith::CmpFPredicate::ULT, x, f(0.0)),
                f(std::numeric_limits<double>::quiet_NaN()), y);
}

// x > -1: at most 1.44 units of the last place.
Value Lanes::log1p(Value x) {
  Value sum = add(x, f(1.0));
  // What the addition rounded away, relative to the sum.
  Value lost = div(sub(x, sub(sum, f(1.0))), sum);
  Value y = add(log(sum), lost);
  y = select(equal(sum, f(1.0)), x, y);
  double infinity = std::numeric_limits<double>::infinity();
  y = select(equal(x, f(infinity)), x, y);
  return select(equal(x, f(-1.0)), f(-infinity), y);
}

// All x: at most 1.22 units of the last place; exactly 1 from about 9 on.
Value Lanes::tanh(Value x) {
  Value magnitude = abs(x), square = mul(x, x);
  Value p =
      polynomial(square, {-0.33333331346511840, 0.13333195447921753, -0.053945377469062805,
                          0.021692603826522827, -0.0081562753766775130, 0.0021227411925792694});
  Value small = fma(mul(square, magnitude), p, magnitude);
  // 1 - 2 / (e^2x + 1): e^2x may be infinite, which gives 1.
  Value large = sub(f(1.0), div(f(2.0), add(exp(add(magnitude, magnitude)), f(1.0))));
  Value sign = andi(bits(x), i(0x80000000));
  return number(ori(bits(select(less(magnitude, f(0.625)), small, large)), sign));
}

Value expandMath(Code &c, Operation *op, ValueRange operands) {
  Value x = operands.front();
  Lanes lanes(c, x);
  auto like = [&](auto created) -> Value { return created; };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<math::ExpOp>([&](auto) { return lanes.exp(x); })
      .Case<math::Exp2Op>([&](auto) { return lanes.exp2(x); })
      .Case<math::LogOp>([&](auto) { return lanes.log(x); })
      .Case<math::Log1pOp>([&](auto) { return lanes.log1p(x); })
      .Case<math::TanhOp>([&](auto) { return lanes.tanh(x); })
      .Case<math::RsqrtOp>(
          [&](auto) { return lanes.div(lanes.f(1.0), like(math::SqrtOp::create(c.b, c.loc, x))); })
      .Case<math::SqrtOp>([&](auto) { return like(math::SqrtOp::create(c.b, c.loc, x)); })
      .Case<math::AbsFOp>([&](auto) { return like(math::AbsFOp::create(c.b, c.loc, x)); })
      .Case<math::FloorOp>([&](auto) { return like(math::FloorOp::create(c.b, c.loc, x)); })
      .Case<math::CeilOp>([&](auto) { return like(math::CeilOp::create(c.b, c.loc, x)); })
      .Case<math::RoundEvenOp>([&](auto) { return like(math::RoundEvenOp::create(c.b, c.loc, x)); })
      .Case<math::CopySignOp>(
          [&](auto) { return like(math::CopySignOp::create(c.b, c.loc, x, operands[1])); })
      .Case<math::FmaOp>([&](auto) { return c.fma(x, operands[1], operands[2]); })
      .Default(Value());
}

} // namespace k3::cpu
