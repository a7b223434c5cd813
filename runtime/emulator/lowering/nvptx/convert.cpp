// Conversion intrinsics of NVVM.
#include "runtime/emulator/lowering/nvptx/table.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

Value* floatToInteger(const NvvmCall& c) {
  Value* value = c.has(Ftz) ? c.emit.flush(c.operand(0)) : c.operand(0);
  return c.emit.toInteger(value, c.type(), c.variant, c.rounding());
}

Value* integerToFloat(const NvvmCall& c) {
  return c.emit.fromInteger(c.operand(0), c.type(), c.variant, c.rounding());
}

Value* relu(const NvvmCall& c, Value* value) {
  if (!c.has(Relu))
    return value;
  return c.emit.minMax(true, value, ConstantFP::getZero(value->getType()), true);
}

Value* floatToFloat(const NvvmCall& c) {
  Value* value = c.has(Ftz) ? c.emit.flush(c.operand(0)) : c.operand(0);
  Value* result = c.emit.toFloat(value, c.type(), c.rounding());
  if (c.has(Ftz) && c.type()->isFloatTy())
    result = c.emit.flush(result);
  return relu(c, result);
}

/// half or bfloat as a 16-bit integer.
Value* floatToBits(const NvvmCall& c) {
  Value* value = c.has(Ftz) ? c.emit.flush(c.operand(0)) : c.operand(0);
  Type* type = c.variant ? c.emit.getBFloatTy() : c.emit.getHalfTy();
  return c.emit.CreateBitCast(c.emit.toFloat(value, type, c.rounding()), c.type());
}

/// Two singles to a pair; the first operand becomes the upper lane.
Value* pack(const NvvmCall& c) {
  Type* element = c.variant ? c.emit.getBFloatTy() : c.emit.getHalfTy();
  Value* result = PoisonValue::get(FixedVectorType::get(element, 2));
  for (unsigned lane = 0; lane < 2; ++lane) {
    Value* narrow = c.emit.toFloat(c.operand(1 - lane), element, c.rounding());
    result = c.emit.CreateInsertElement(result, narrow, lane);
  }
  return c.emit.CreateBitCast(relu(c, result), c.type());
}

/// As an integer. `variant`: ties go away from zero.
Value* toTf32(const NvvmCall& c) {
  const Tf32Rounding rounding = c.variant   ? Tf32Rounding::NearestAway
                                : c.has(Rz) ? Tf32Rounding::Zero
                                            : Tf32Rounding::NearestEven;
  Value* result = relu(c, c.emit.toTf32(c.operand(0), rounding, c.has(SatFinite)));
  return c.emit.CreateBitCast(result, c.type());
}

Value* wordOfDouble(const NvvmCall& c) {
  Value* bits = c.emit.CreateBitCast(c.operand(0), c.emit.i(64));
  return c.emit.CreateTrunc(c.variant ? c.emit.CreateLShr(bits, 32) : bits, c.emit.i(32));
}

Value* doubleOfWords(const NvvmCall& c) {
  Value* low = c.emit.CreateZExt(c.operand(0), c.emit.i(64));
  Value* high = c.emit.CreateShl(c.emit.CreateZExt(c.operand(1), c.emit.i(64)), 32);
  return c.emit.CreateBitCast(c.emit.CreateOr(low, high), c.emit.f64());
}

Value* bitcast(const NvvmCall& c) { return c.emit.CreateBitCast(c.operand(0), c.type()); }

constexpr unsigned kToInteger = AnyRounding | Ftz;

constexpr NvvmRule kRules[] = {
    {"f2i", kToInteger, floatToInteger, 1},
    {"f2ui", kToInteger, floatToInteger, 0},
    {"f2ll", kToInteger, floatToInteger, 1},
    {"f2ull", kToInteger, floatToInteger, 0},
    {"d2i", kToInteger, floatToInteger, 1},
    {"d2ui", kToInteger, floatToInteger, 0},
    {"d2ll", kToInteger, floatToInteger, 1},
    {"d2ull", kToInteger, floatToInteger, 0},
    {"i2f", AnyRounding, integerToFloat, 1},
    {"ui2f", AnyRounding, integerToFloat, 0},
    {"ll2f", AnyRounding, integerToFloat, 1},
    {"ull2f", AnyRounding, integerToFloat, 0},
    {"i2d", AnyRounding, integerToFloat, 1},
    {"ui2d", AnyRounding, integerToFloat, 0},
    {"ll2d", AnyRounding, integerToFloat, 1},
    {"ull2d", AnyRounding, integerToFloat, 0},
    {"d2f", AnyRounding | Ftz, floatToFloat},
    {"f2f16", Rn | Rz | Relu, floatToFloat},
    {"f2bf16", Rn | Rz | Relu, floatToFloat},
    {"f2h", Rn | Ftz, floatToBits, 0},
    {"ff2f16x2", Rn | Rz | Relu, pack, 0},
    {"ff2bf16x2", Rn | Rz | Relu, pack, 1},
    {"f2tf32.rna", Relu | SatFinite, toTf32, 1},
    {"f2tf32", Rn | Rz | Relu | SatFinite, toTf32},
    {"d2i.lo", 0, wordOfDouble, 0},
    {"d2i.hi", 0, wordOfDouble, 1},
    {"lohi.i2d", 0, doubleOfWords},
    {"bitcast.f2i", 0, bitcast},
    {"bitcast.i2f", 0, bitcast},
    {"bitcast.d2ll", 0, bitcast},
    {"bitcast.ll2d", 0, bitcast},
};

} // namespace

std::span<const NvvmRule> nvvmConvertRules() { return kRules; }

} // namespace mneme::compile::cpu
