// Floating-point intrinsics of AMDGCN. Approximations of the hardware are computed as exactly as
// the host can.
#include "runtime/emulator/lowering/amdgcn/amdgcn.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

Value* numberOf(Type* type, double value) { return ConstantFP::get(type, value); }

Value* reciprocal(const AmdgcnCall& c) {
  return c.emit.arithmetic("fdiv", {numberOf(c.type(), 1), c.operand(0)});
}

Value* squareRoot(const AmdgcnCall& c) { return c.emit.arithmetic("sqrt", {c.operand(0)}); }

Value* reciprocalRoot(const AmdgcnCall& c) {
  Value* root = c.emit.arithmetic("sqrt", {c.operand(0)});
  return c.emit.arithmetic("fdiv", {numberOf(c.type(), 1), root});
}

/// A function of libm; half is computed in single precision.
Value* hostFunction(Emit& e, const char* name, Value* value) {
  Type* type = value->getType();
  if (type->isDoubleTy())
    return e.libm(name, type, {value});
  Value* single = type->isFloatTy() ? value : e.toFloat(value, e.f32());
  single = e.libm(std::string(name) + "f", e.f32(), {single});
  return type->isFloatTy() ? single : e.toFloat(single, type);
}

constexpr const char* kFunctions[] = {"exp2", "log2", "tanh"};
Value* approximation(const AmdgcnCall& c) {
  return hostFunction(c.emit, kFunctions[c.variant], c.operand(0));
}

/// Sine or cosine of an angle in turns (full circles), which is what the hardware takes.
Value* ofTurns(const AmdgcnCall& c) {
  Emit& e = c.emit;
  Value* turns = c.type()->isDoubleTy() ? c.operand(0) : e.toFloat(c.operand(0), e.f64());
  turns = e.CreateFSub(turns, e.CreateUnaryIntrinsic(Intrinsic::floor, turns));
  Value* angle = e.CreateFMul(turns, numberOf(e.f64(), 6.283185307179586476925));
  Value* result = e.libm(c.variant ? "cos" : "sin", e.f64(), {angle});
  return c.type()->isDoubleTy() ? result : e.toFloat(result, c.type());
}

/// Returns x - floor(x), and the largest number below 1 where that would round to 1.
Value* fraction(const AmdgcnCall& c) {
  Emit& e = c.emit;
  Value* x = c.operand(0);
  Value* result = e.arithmetic("fsub", {x, e.CreateUnaryIntrinsic(Intrinsic::floor, x)});
  APFloat below(c.type()->getFltSemantics(), 1);
  below.next(true);
  Value* most = ConstantFP::get(c.type()->getContext(), below);
  return e.CreateSelect(e.CreateFCmpOGT(result, most), most, result);
}

Value* isFinite(Emit& e, Value* x) {
  Value* size = e.CreateUnaryIntrinsic(Intrinsic::fabs, x);
  return e.CreateFCmpOLT(size, ConstantFP::getInfinity(x->getType()));
}

Value* split(const AmdgcnCall& c, unsigned part) {
  Emit& e = c.emit;
  Value* x = c.operand(0);
  if (x->getType()->isHalfTy())
    x = e.toFloat(x, e.f32());
  Value* both = e.CreateIntrinsic(Intrinsic::frexp, {x->getType(), e.i(32)}, {x});
  return e.CreateExtractValue(both, part);
}
Value* mantissa(const AmdgcnCall& c) {
  Value* result = split(c, 0);
  if (c.type()->isHalfTy())
    result = c.emit.toFloat(result, c.type());
  return c.emit.CreateSelect(isFinite(c.emit, c.operand(0)), result, c.operand(0));
}
Value* exponent(const AmdgcnCall& c) {
  Emit& e = c.emit;
  Value* result = e.CreateSExtOrTrunc(split(c, 1), c.type());
  return e.CreateSelect(isFinite(e, c.operand(0)), result, ConstantInt::get(c.type(), 0));
}

Value* loadExponent(const AmdgcnCall& c) {
  Emit& e = c.emit;
  Value* x = c.operand(0);
  if (c.type()->isHalfTy())
    return e.toFloat(e.libm("ldexpf", e.f32(), {e.toFloat(x, e.f32()), c.operand(1)}), c.type());
  return e.libm(c.type()->isFloatTy() ? "ldexpf" : "ldexp", c.type(), {x, c.operand(1)});
}

/// Returns the middle one of three numbers; if one is a NaN, the smallest number.
Value* median(const AmdgcnCall& c) {
  Emit& e = c.emit;
  Value* low = e.minMax(false, c.operand(0), c.operand(1));
  Value* high = e.minMax(true, c.operand(0), c.operand(1));
  Value* middle = e.minMax(true, low, e.minMax(false, high, c.operand(2)));
  Value* smallest = e.minMax(false, low, c.operand(2));
  Value* hasNaN = e.CreateOr(e.CreateFCmpUNO(c.operand(0), c.operand(1)),
                             e.CreateFCmpUNO(c.operand(2), c.operand(2)));
  return e.CreateSelect(hasNaN, smallest, middle);
}

/// LLVM numbers the classes as the hardware does.
Value* hasClass(const AmdgcnCall& c) {
  return c.emit.CreateIntrinsic(Intrinsic::is_fpclass, {c.operand(0)->getType()},
                                {c.operand(0), c.emit.getInt32(uint32_t(c.constant(1)))});
}

// The steps of a division: nothing is scaled, and the last one divides.
Value* divisionScale(const AmdgcnCall& c) {
  Value* operand = c.constant(2) ? c.operand(0) : c.operand(1);
  Value* pair = c.emit.CreateInsertValue(PoisonValue::get(c.type()), operand, 0);
  return c.emit.CreateInsertValue(pair, c.emit.getFalse(), 1);
}
Value* fused(const AmdgcnCall& c) {
  return c.emit.arithmetic("fma", {c.operand(0), c.operand(1), c.operand(2)});
}
Value* divisionFixup(const AmdgcnCall& c) {
  return c.emit.arithmetic("fdiv", {c.operand(2), c.operand(1)});
}

/// 0 times anything is 0.
Value* legacyProduct(const AmdgcnCall& c) {
  Emit& e = c.emit;
  Value* zero = ConstantFP::getZero(c.type());
  Value* isZero =
      e.CreateOr(e.CreateFCmpOEQ(c.operand(0), zero), e.CreateFCmpOEQ(c.operand(1), zero));
  if (c.variant) {
    Value* sum = e.arithmetic("fma", {c.operand(0), c.operand(1), c.operand(2)});
    return e.CreateSelect(isZero, e.CreateFAdd(zero, c.operand(2)), sum);
  }
  return e.CreateSelect(isZero, zero, e.CreateFMul(c.operand(0), c.operand(1)));
}

Value* packHalves(const AmdgcnCall& c) {
  Emit& e = c.emit;
  Type* half = e.getHalfTy();
  Value* result = PoisonValue::get(FixedVectorType::get(half, 2));
  for (unsigned index = 0; index < 2; ++index)
    result =
        e.CreateInsertElement(result, e.toFloat(c.operand(index), half, Rounding::Zero), index);
  return e.CreateBitCast(result, c.type());
}

/// cvt.pknorm: [-1, 1] or [0, 1] to 16-bit integers, the nearest.
Value* packNormalized(const AmdgcnCall& c) {
  Emit& e = c.emit;
  bool isSigned = c.variant;
  Value* result = PoisonValue::get(FixedVectorType::get(e.i(16), 2));
  for (unsigned index = 0; index < 2; ++index) {
    Value* x = e.minMax(false, c.operand(index), numberOf(e.f32(), 1));
    x = e.minMax(true, x, numberOf(e.f32(), isSigned ? -1 : 0));
    x = e.CreateFMul(x, numberOf(e.f32(), isSigned ? 32767 : 65535));
    Value* integer = e.toInteger(x, e.i(32), true, Rounding::Nearest);
    result = e.CreateInsertElement(result, e.CreateTrunc(integer, e.i(16)), index);
  }
  return e.CreateBitCast(result, c.type());
}

/// fdot2(a, b, sum, clamp): halves multiplied and added in single precision.
Value* dotHalves(const AmdgcnCall& c) {
  Emit& e = c.emit;
  Value* sum = c.operand(2);
  for (unsigned index = 0; index < 2; ++index)
    sum =
        e.arithmetic("fma", {e.toFloat(e.CreateExtractElement(c.operand(0), index), e.f32()),
                             e.toFloat(e.CreateExtractElement(c.operand(1), index), e.f32()), sum});
  return c.constant(3) ? e.saturate(sum) : sum;
}

constexpr AmdgcnRule kRules[] = {
    {"rcp", reciprocal},
    {"rcp.legacy", reciprocal},
    {"sqrt", squareRoot},
    {"rsq", reciprocalRoot},
    {"rsq.legacy", reciprocalRoot},
    {"exp2", approximation, 0},
    {"log", approximation, 1},
    {"tanh", approximation, 2},
    {"sin", ofTurns, 0},
    {"cos", ofTurns, 1},
    {"fract", fraction},
    {"frexp.mant", mantissa},
    {"frexp.exp", exponent},
    {"ldexp", loadExponent},
    {"fmed3", median},
    {"class", hasClass},
    {"div.scale", divisionScale},
    {"div.fmas", fused},
    {"div.fixup", divisionFixup},
    {"fmad.ftz", fused},
    {"fmul.legacy", legacyProduct, 0},
    {"fma.legacy", legacyProduct, 1},
    {"cvt.pkrtz", packHalves},
    {"cvt.pknorm.u16", packNormalized, 0},
    {"cvt.pknorm.i16", packNormalized, 1},
    {"fdot2", dotHalves},
};

} // namespace

ArrayRef<AmdgcnRule> amdgcnArithmeticRules() { return kRules; }

} // namespace mneme::compile::cpu
