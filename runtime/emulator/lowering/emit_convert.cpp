// Conversions between numbers (emit.h), with the rounding that the instruction asks for.
#include "runtime/emulator/lowering/emit.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

Type* sameShape(Type* shape, Type* element) {
  if (auto* vector = dyn_cast<VectorType>(shape))
    return VectorType::get(element, vector->getElementCount());
  return element;
}

} // namespace

Value* Emit::roundToIntegral(Value* value, Rounding rounding) {
  switch (rounding) {
  case Rounding::Zero:
    return CreateUnaryIntrinsic(Intrinsic::trunc, value);
  case Rounding::Down:
    return CreateUnaryIntrinsic(Intrinsic::floor, value);
  case Rounding::Up:
    return CreateUnaryIntrinsic(Intrinsic::ceil, value);
  case Rounding::Nearest:
    break;
  }
  return CreateUnaryIntrinsic(Intrinsic::roundeven, value);
}

Value* Emit::toInteger(Value* value, Type* type, bool isSigned, Rounding rounding) {
  Type* scalar = value->getType()->getScalarType();
  bool isDouble = scalar->isDoubleTy();
  if (scalar->isHalfTy() || scalar->isBFloatTy())
    value = toFloat(value, sameShape(value->getType(), f32()));
  unsigned bits = type->getScalarSizeInBits();
  // The saturating intrinsic truncates by itself.
  Value* integral = rounding == Rounding::Zero ? value : roundToIntegral(value, rounding);
  Intrinsic::ID id = isSigned ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat;
  Value* result = CreateIntrinsic(id, {type, integral->getType()}, {integral});
  if (!isDouble && bits <= 32)
    return result;
  if (bits < 32)
    return result;
  Value* nan = ConstantInt::get(type, APInt::getSignedMinValue(bits));
  return CreateSelect(CreateFCmpUNO(value, value), nan, result);
}

Value* Emit::fromInteger(Value* value, Type* type, bool isSigned, Rounding rounding) {
  Type* scalar = type->getScalarType();
  if (scalar->isHalfTy() || scalar->isBFloatTy()) {
    // Wider integers than double holds exactly are far outside half's range; bfloat needs odd
    // rounding, which the truncation to double of |value| | 1 gives.
    Type* wide = sameShape(type, f64());
    Value* result = value->getType()->getScalarSizeInBits() > 32
                        ? fromInteger(value, wide, isSigned, Rounding::Zero)
                        : fromInteger(value, wide, isSigned, Rounding::Nearest);
    if (value->getType()->getScalarSizeInBits() > 32) {
      Type* bitsType = sameShape(type, getInt64Ty());
      Value* back =
          isSigned ? CreateIntrinsic(Intrinsic::fptosi_sat, {value->getType(), wide}, {result})
                   : CreateIntrinsic(Intrinsic::fptoui_sat, {value->getType(), wide}, {result});
      Value* sticky = CreateZExt(CreateICmpNE(back, value), bitsType);
      result = CreateBitCast(CreateOr(CreateBitCast(result, bitsType), sticky), wide);
    }
    return toFloat(result, type, rounding);
  }
  if (rounding == Rounding::Nearest)
    return isSigned ? CreateSIToFP(value, type) : CreateUIToFP(value, type);
  Value* result = roundedCall(isSigned ? "sitofp" : "uitofp", type, {value}, rounding);
  // The host's sequence for zero may give -0 when rounding down.
  Value* isZero = CreateICmpEQ(value, Constant::getNullValue(value->getType()));
  return CreateSelect(isZero, ConstantFP::getZero(type), result);
}

Value* Emit::doubleToFloatOdd(Value* value) {
  Type* single = sameShape(value->getType(), f32());
  Type* bitsType = sameShape(value->getType(), getInt32Ty());
  Value* nearest = CreateFPTrunc(value, single);
  Value* back = CreateFPExt(nearest, value->getType());
  Value* isAbove = CreateFCmpOGT(CreateUnaryIntrinsic(Intrinsic::fabs, back),
                                 CreateUnaryIntrinsic(Intrinsic::fabs, value));
  Value* isInexact = CreateFCmpONE(back, value);
  Value* bits = CreateBitCast(nearest, bitsType);
  bits = CreateSub(bits, CreateZExt(isAbove, bitsType));
  bits = CreateOr(bits, CreateZExt(isInexact, bitsType));
  return CreateBitCast(bits, single);
}

Value* Emit::floatToBfloat(Value* value, Rounding rounding) {
  Type* bitsType = sameShape(value->getType(), getInt32Ty());
  Type* shortType = sameShape(value->getType(), getInt16Ty());
  auto constant = [&](uint32_t number) { return ConstantInt::get(bitsType, number); };
  Value* bits = CreateBitCast(value, bitsType);
  Value* rounded = bits;
  if (rounding == Rounding::Nearest) {
    Value* lowest = CreateAnd(CreateLShr(bits, constant(16)), constant(1));
    rounded = CreateAdd(bits, CreateAdd(lowest, constant(0x7fff)));
  } else if (rounding != Rounding::Zero) {
    Value* isNegative = CreateICmpSLT(bits, constant(0));
    Value* awayFromZero = rounding == Rounding::Down ? isNegative : CreateNot(isNegative);
    rounded = CreateAdd(bits, CreateSelect(awayFromZero, constant(0xffff), constant(0)));
  }
  Value* isNan = CreateFCmpUNO(value, value);
  rounded = CreateSelect(isNan, constant(0x7fff0000), rounded);
  return CreateBitCast(CreateTrunc(CreateLShr(rounded, constant(16)), shortType),
                       sameShape(value->getType(), getBFloatTy()));
}

Value* Emit::narrowFloat(Value* value, Type* type, Rounding rounding) {
  Type* scalar = type->getScalarType();
  if (value->getType()->getScalarType()->isDoubleTy())
    value = doubleToFloatOdd(value);
  if (scalar->isBFloatTy())
    return floatToBfloat(value, rounding);
  if (rounding == Rounding::Nearest)
    return CreateFPTrunc(value, type);
  // Truncate by hand: drop the bits below half's last place, then let the exact value through.
  Value* nearest = CreateFPTrunc(value, type);
  Value* back = CreateFPExt(nearest, value->getType());
  Type* bitsType = sameShape(type, getInt16Ty());
  Value* bits = CreateBitCast(nearest, bitsType);
  Value* one = ConstantInt::get(bitsType, 1);
  Value* magnitudeUp = CreateAdd(bits, one);
  Value* magnitudeDown = CreateSub(bits, one);
  Value* isNegative = CreateICmpSLT(CreateBitCast(value, sameShape(type, getInt32Ty())),
                                    ConstantInt::get(sameShape(type, getInt32Ty()), 0));
  Value* zeroStep = CreateSelect(CreateFCmpOGT(CreateUnaryIntrinsic(Intrinsic::fabs, back),
                                               CreateUnaryIntrinsic(Intrinsic::fabs, value)),
                                 magnitudeDown, bits);
  Value* awayStep = CreateSelect(CreateFCmpOLT(CreateUnaryIntrinsic(Intrinsic::fabs, back),
                                               CreateUnaryIntrinsic(Intrinsic::fabs, value)),
                                 magnitudeUp, bits);
  Value* result = zeroStep;
  if (rounding == Rounding::Down)
    result = CreateSelect(isNegative, awayStep, zeroStep);
  else if (rounding == Rounding::Up)
    result = CreateSelect(isNegative, zeroStep, awayStep);
  return CreateBitCast(result, type);
}

Value* Emit::toFloat(Value* value, Type* type, Rounding rounding) {
  Type* from = value->getType();
  if (from == type)
    return value;
  unsigned fromBits = from->getScalarSizeInBits();
  unsigned toBits = type->getScalarSizeInBits();
  if (fromBits < toBits)
    return CreateFPExt(value, type);
  if (fromBits == toBits) // half and bfloat
    return toFloat(CreateFPExt(value, sameShape(from, f32())), type, rounding);
  if (toBits == 16)
    return narrowFloat(value, type, rounding);
  if (rounding == Rounding::Nearest)
    return CreateFPTrunc(value, type);
  return roundedCall("fptrunc", type, {value}, rounding);
}

Value* Emit::toTf32(Value* value, Tf32Rounding rounding, bool isFinite) {
  constexpr uint32_t kKept = 0xffffe000, kInfinity = 0x7f800000, kLargest = 0x7f7fe000;
  Value* bits = CreateBitCast(value, i(32));
  Value* magnitude = CreateAnd(bits, 0x7fffffff);
  Value* sign = CreateAnd(bits, 0x80000000);
  Value* rounded = magnitude;
  if (rounding == Tf32Rounding::NearestAway)
    rounded = CreateAdd(magnitude, getInt32(0x1000));
  else if (rounding == Tf32Rounding::NearestEven)
    rounded =
        CreateAdd(CreateAdd(magnitude, getInt32(0xfff)), CreateAnd(CreateLShr(magnitude, 13), 1));
  rounded = CreateAnd(rounded, kKept);
  if (isFinite)
    rounded =
        CreateSelect(CreateICmpUGE(rounded, getInt32(kInfinity)), getInt32(kLargest), rounded);
  rounded = CreateOr(rounded, sign);
  Value* isNan = CreateICmpUGT(magnitude, getInt32(kInfinity));
  return CreateBitCast(CreateSelect(isNan, getInt32(0x7fffffff), rounded), f32());
}

} // namespace mneme::compile::cpu
