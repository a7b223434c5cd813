// Arithmetic intrinsics of NVVM.
#include "runtime/emulator/lowering/nvptx/table.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

/// Flushes operands and result when the name says .ftz and the type is single precision (or the
/// instruction is a half one, whose .ftz means half's own denormals).
Value* finish(const NvvmCall& c, Value* result) {
  if (c.has(Ftz))
    result = c.emit.flush(result);
  if (c.has(Sat))
    result = c.emit.saturate(result);
  if (c.has(Relu)) {
    Value* zero = ConstantFP::getZero(result->getType());
    result = c.emit.minMax(true, result, zero, true);
  }
  return result;
}

Value* input(const NvvmCall& c, unsigned index) {
  Value* value = c.operand(index);
  return c.has(Ftz) ? c.emit.flush(value) : value;
}

constexpr const char* kOperations[] = {"fadd", "fsub", "fmul", "fdiv", "fma", "sqrt"};
enum Operation : unsigned { Add, Subtract, Multiply, Divide, Fma, SquareRoot };

Value* floatOperation(const NvvmCall& c) {
  SmallVector<Value*> operands;
  for (unsigned index = 0; index < c.call.arg_size(); ++index)
    operands.push_back(input(c, index));
  return finish(c, c.emit.arithmetic(kOperations[c.variant], operands, c.rounding()));
}

Value* reciprocal(const NvvmCall& c) {
  Value* one = ConstantFP::get(c.type(), 1.0);
  return finish(c, c.emit.arithmetic("fdiv", {one, input(c, 0)}, c.rounding()));
}

Value* reciprocalRoot(const NvvmCall& c) {
  Value* one = ConstantFP::get(c.type(), 1.0);
  Value* root = c.emit.arithmetic("sqrt", {input(c, 0)});
  return finish(c, c.emit.arithmetic("fdiv", {one, root}));
}

Value* roundToIntegral(const NvvmCall& c) {
  constexpr Rounding kModes[] = {Rounding::Down, Rounding::Up, Rounding::Zero, Rounding::Nearest};
  return finish(c, c.emit.roundToIntegral(input(c, 0), kModes[c.variant]));
}

Value* absolute(const NvvmCall& c) {
  return finish(c, c.emit.CreateUnaryIntrinsic(Intrinsic::fabs, input(c, 0)));
}

Value* negate(const NvvmCall& c) { return c.emit.CreateFNeg(c.operand(0)); }

Value* saturate(const NvvmCall& c) { return c.emit.saturate(input(c, 0)); }

constexpr const char* kSingleFunctions[] = {"exp2f", "log2f", "sinf", "cosf", "tanhf"};
constexpr const char* kDoubleFunctions[] = {"exp2", "log2", "sin", "cos", "tanh"};

Value* approximation(const NvvmCall& c) {
  Type* type = c.type();
  if (type->isDoubleTy())
    return c.emit.libm(kDoubleFunctions[c.variant], type, {input(c, 0)});
  if (type->isFloatTy())
    return finish(c, c.emit.libm(kSingleFunctions[c.variant], type, {input(c, 0)}));
  if (type->isVectorTy()) {
    Value* result = PoisonValue::get(type);
    for (unsigned lane = 0; lane < 2; ++lane) {
      Value* single = c.emit.toFloat(c.emit.CreateExtractElement(input(c, 0), lane), c.emit.f32());
      single = c.emit.libm(kSingleFunctions[c.variant], c.emit.f32(), {single});
      result =
          c.emit.CreateInsertElement(result, c.emit.toFloat(single, type->getScalarType()), lane);
    }
    return finish(c, result);
  }
  Value* single = c.emit.toFloat(input(c, 0), c.emit.f32());
  return finish(
      c, c.emit.toFloat(c.emit.libm(kSingleFunctions[c.variant], c.emit.f32(), {single}), type));
}

Value* minMax(const NvvmCall& c) {
  Value* a = input(c, 0);
  Value* b = input(c, 1);
  Value* sign = nullptr;
  if (c.has(XorSignAbs)) {
    Type* bitsType = a->getType()->getWithNewType(c.emit.i(a->getType()->getScalarSizeInBits()));
    sign = c.emit.CreateBitCast(
        c.emit.CreateXor(c.emit.CreateBitCast(a, bitsType), c.emit.CreateBitCast(b, bitsType)),
        a->getType());
    a = c.emit.CreateUnaryIntrinsic(Intrinsic::fabs, a);
    b = c.emit.CreateUnaryIntrinsic(Intrinsic::fabs, b);
  }
  Value* result = c.emit.minMax(c.variant, a, b, c.has(NaN));
  if (sign)
    result = c.emit.CreateBinaryIntrinsic(Intrinsic::copysign, result, sign);
  return finish(c, result);
}

Value* multiplyHigh(const NvvmCall& c) {
  return c.emit.multiplyHigh(c.operand(0), c.operand(1), c.variant);
}

Value* multiply24(const NvvmCall& c) {
  auto low = [&](Value* value) -> Value* {
    value = c.emit.CreateShl(value, 8);
    return c.variant ? c.emit.CreateAShr(value, 8) : c.emit.CreateLShr(value, 8);
  };
  return c.emit.CreateMul(low(c.operand(0)), low(c.operand(1)));
}

Value* sumOfDifference(const NvvmCall& c) {
  return c.emit.CreateAdd(c.emit.absoluteDifference(c.operand(0), c.operand(1), c.variant),
                          c.operand(2));
}

Value* permute(const NvvmCall& c) {
  return c.emit.bytePermute(c.operand(0), c.operand(1), c.operand(2));
}

Value* funnel(const NvvmCall& c) {
  // llvm.nvvm.fsh?.clamp(high, low, amount)
  return c.variant ? c.emit.funnelShift(true, true, c.operand(0), c.operand(1), c.operand(2))
                   : c.emit.funnelShift(false, true, c.operand(0), c.operand(1), c.operand(2));
}

Value* findLeading(const NvvmCall& c) {
  bool asShiftAmount = cast<ConstantInt>(c.operand(1))->isOne();
  return c.emit.findLeading(c.operand(0), c.variant, asShiftAmount);
}

Value* dot4(const NvvmCall& c) {
  return c.emit.dotProduct(c.operand(0), c.operand(1), c.operand(2), c.variant & 2, c.variant & 1,
                           4, nullptr);
}

Value* dot2(const NvvmCall& c) {
  return c.emit.dotProduct(c.operand(0), c.operand(1), c.operand(3), c.variant & 2, c.variant & 1,
                           2, c.operand(2));
}

/// fns(mask, base, n): position of the n-th set bit from `base` on, upwards or (n < 0) downwards.
Value* findNthSet(const NvvmCall& c) {
  Emit& e = c.emit;
  Value* offset = c.operand(2);
  Value* isDown = e.CreateICmpSLT(offset, e.getInt32(0));
  Value* isHere = e.CreateICmpEQ(offset, e.getInt32(0));
  Value* mask = e.CreateSelect(isDown, e.CreateUnaryIntrinsic(Intrinsic::bitreverse, c.operand(0)),
                               c.operand(0));
  Value* base = e.CreateSelect(isDown, e.CreateSub(e.getInt32(31), c.operand(1)), c.operand(1));
  Value* wanted = e.CreateBinaryIntrinsic(Intrinsic::abs, offset, e.getFalse());
  Value* fromBase = e.shift(Instruction::Shl, e.getInt32(-1), base);
  Value* onlyBase = e.shift(Instruction::Shl, e.getInt32(1), base);
  Value* rest = e.CreateAnd(mask, e.CreateSelect(isHere, onlyBase, fromBase));
  for (unsigned skipped = 1; skipped < 32; ++skipped) {
    Value* next = e.CreateAnd(rest, e.CreateSub(rest, e.getInt32(1)));
    rest = e.CreateSelect(e.CreateICmpUGT(wanted, e.getInt32(skipped)), next, rest);
  }
  Value* position = e.CreateBinaryIntrinsic(Intrinsic::cttz, rest, e.getFalse());
  position = e.CreateSelect(isDown, e.CreateSub(e.getInt32(31), position), position);
  Value* none =
      e.CreateOr(e.CreateICmpEQ(rest, e.getInt32(0)), e.CreateICmpUGT(wanted, e.getInt32(32)));
  return e.CreateSelect(none, e.getInt32(-1), position);
}

constexpr unsigned kFloat = AnyRounding | Ftz | Sat | Relu;
constexpr unsigned kMinMax = Ftz | NaN | XorSignAbs;

constexpr NvvmRule kRules[] = {
    {"add", kFloat, floatOperation, Add},
    {"sub", kFloat, floatOperation, Subtract},
    {"mul", kFloat, floatOperation, Multiply},
    {"div", kFloat | Approx, floatOperation, Divide},
    {"div.full", Ftz, floatOperation, Divide},
    {"fma", kFloat, floatOperation, Fma},
    {"sqrt", AnyRounding | Ftz | Approx, floatOperation, SquareRoot},
    {"rcp", AnyRounding | Ftz | Approx, reciprocal},
    {"rsqrt", Ftz | Approx, reciprocalRoot},
    {"floor", Ftz, roundToIntegral, 0},
    {"ceil", Ftz, roundToIntegral, 1},
    {"trunc", Ftz, roundToIntegral, 2},
    {"round", Ftz, roundToIntegral, 3},
    {"fabs", Ftz, absolute},
    {"neg", 0, negate},
    {"saturate", Ftz, saturate},
    {"ex2", Approx | Ftz, approximation, 0},
    {"lg2", Approx | Ftz, approximation, 1},
    {"sin", Approx | Ftz, approximation, 2},
    {"cos", Approx | Ftz, approximation, 3},
    {"tanh", Approx | Ftz, approximation, 4},
    {"fmin", kMinMax, minMax, 0},
    {"fmax", kMinMax, minMax, 1},
    {"mulhi.i", 0, multiplyHigh, 1},
    {"mulhi.s", 0, multiplyHigh, 1},
    {"mulhi.ll", 0, multiplyHigh, 1},
    {"mulhi.ui", 0, multiplyHigh, 0},
    {"mulhi.us", 0, multiplyHigh, 0},
    {"mulhi.ull", 0, multiplyHigh, 0},
    {"mul24.i", 0, multiply24, 1},
    {"mul24.ui", 0, multiply24, 0},
    {"sad.i", 0, sumOfDifference, 1},
    {"sad.s", 0, sumOfDifference, 1},
    {"sad.ll", 0, sumOfDifference, 1},
    {"sad.ui", 0, sumOfDifference, 0},
    {"sad.us", 0, sumOfDifference, 0},
    {"sad.ull", 0, sumOfDifference, 0},
    {"prmt", 0, permute},
    {"fns", 0, findNthSet},
    {"fshl.clamp", 0, funnel, 1},
    {"fshr.clamp", 0, funnel, 0},
    {"flo.s", 0, findLeading, 1},
    {"flo.u", 0, findLeading, 0},
    {"idp4a.s.s", 0, dot4, 3},
    {"idp4a.s.u", 0, dot4, 2},
    {"idp4a.u.s", 0, dot4, 1},
    {"idp4a.u.u", 0, dot4, 0},
    {"idp2a.s.s", 0, dot2, 3},
    {"idp2a.s.u", 0, dot2, 2},
    {"idp2a.u.s", 0, dot2, 1},
    {"idp2a.u.u", 0, dot2, 0},
};

} // namespace

std::span<const NvvmRule> nvvmArithmeticRules() { return kRules; }

} // namespace mneme::compile::cpu
