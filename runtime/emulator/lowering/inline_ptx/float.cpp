// Floating-point arithmetic, conversions and comparisons of PTX.
#include "runtime/emulator/lowering/inline_ptx/ptx.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

struct FloatModifiers {
  Rounding rounding = Rounding::Nearest;
  bool isFlushed = false;
  bool isSaturated = false;
  bool isRelu = false;
};

FloatModifiers takeModifiers(PtxInstruction& i) {
  FloatModifiers modifiers;
  modifiers.rounding = i.takeRounding().value_or(Rounding::Nearest);
  modifiers.isFlushed = i.take("ftz");
  modifiers.isSaturated = i.take("sat");
  modifiers.isRelu = i.take("relu");
  i.take("approx");
  i.take("full");
  return modifiers;
}

class FloatOperation {
public:
  FloatOperation(PtxContext& c, PtxInstruction& i, PtxType type)
      : c_(c), i_(i), type_(type), modifiers_(takeModifiers(i)) {}

  Value* input(unsigned index) {
    if (i_.operands.size() <= index)
      c_.unsupported(i_);
    Value* value = c_.read(i_.operands[index], type_);
    return modifiers_.isFlushed ? c_.e.flush(value) : value;
  }

  void finish(Value* result) {
    if (modifiers_.isFlushed)
      result = c_.e.flush(result);
    if (modifiers_.isSaturated)
      result = c_.e.saturate(result);
    if (modifiers_.isRelu)
      result = c_.e.minMax(true, result, ConstantFP::getZero(result->getType()), true);
    c_.write(i_.operands[0], result);
  }

  void arithmetic(StringRef name, unsigned count) {
    SmallVector<Value*> operands;
    for (unsigned index = 1; index <= count; ++index)
      operands.push_back(input(index));
    finish(c_.e.arithmetic(name, operands, modifiers_.rounding));
  }

  void libm(StringRef single, StringRef both) {
    Value* value = input(1);
    Type* type = value->getType();
    if (type->isDoubleTy())
      return finish(c_.e.libm(both, type, {value}));
    if (!type->isVectorTy())
      return finish(
          c_.e.toFloat(c_.e.libm(single, c_.e.f32(), {c_.e.toFloat(value, c_.e.f32())}), type));
    Value* result = PoisonValue::get(type);
    for (unsigned lane = 0; lane < 2; ++lane) {
      Value* part = c_.e.toFloat(c_.e.CreateExtractElement(value, lane), c_.e.f32());
      part = c_.e.toFloat(c_.e.libm(single, c_.e.f32(), {part}), type->getScalarType());
      result = c_.e.CreateInsertElement(result, part, lane);
    }
    finish(result);
  }

  void reciprocal(bool ofRoot) {
    Value* value = input(1);
    if (ofRoot)
      value = c_.e.arithmetic("sqrt", {value});
    Value* one = ConstantFP::get(value->getType(), 1.0);
    finish(c_.e.arithmetic("fdiv", {one, value}, modifiers_.rounding));
  }

  void minMax(bool isMax) {
    bool nan = i_.take("NaN");
    finish(c_.e.minMax(isMax, input(1), input(2), nan));
  }

  void absolute() { finish(c_.e.CreateUnaryIntrinsic(Intrinsic::fabs, input(1))); }
  void negate() { finish(c_.e.CreateFNeg(input(1))); }
  void copySign() {
    // copysign.f32 d, a, b: the sign of a, the magnitude of b
    finish(c_.e.CreateBinaryIntrinsic(Intrinsic::copysign, input(2), input(1)));
  }

private:
  PtxContext& c_;
  PtxInstruction& i_;
  PtxType type_;
  FloatModifiers modifiers_;
};

bool translateArithmetic(FloatOperation& operation, StringRef name) {
  if (name == "add")
    operation.arithmetic("fadd", 2);
  else if (name == "sub")
    operation.arithmetic("fsub", 2);
  else if (name == "mul")
    operation.arithmetic("fmul", 2);
  else if (name == "fma" || name == "mad")
    operation.arithmetic("fma", 3);
  else if (name == "div")
    operation.arithmetic("fdiv", 2);
  else if (name == "sqrt")
    operation.arithmetic("sqrt", 1);
  else if (name == "rcp")
    operation.reciprocal(false);
  else if (name == "rsqrt")
    operation.reciprocal(true);
  else if (name == "min" || name == "max")
    operation.minMax(name == "max");
  else if (name == "abs")
    operation.absolute();
  else if (name == "neg")
    operation.negate();
  else if (name == "copysign")
    operation.copySign();
  else if (name == "ex2")
    operation.libm("exp2f", "exp2");
  else if (name == "lg2")
    operation.libm("log2f", "log2");
  else if (name == "sin")
    operation.libm("sinf", "sin");
  else if (name == "cos")
    operation.libm("cosf", "cos");
  else if (name == "tanh")
    operation.libm("tanhf", "tanh");
  else
    return false;
  return true;
}

/// The integer of type `to` nearest to `value`, still in the width of `from`.
Value* clamp(Emit& e, Value* value, const PtxType& from, const PtxType& to) {
  const unsigned bits = std::max(from.bits, to.bits) + 1; // holds both ranges as signed numbers
  Value* wide = from.isSigned() ? e.CreateSExt(value, e.i(bits)) : e.CreateZExt(value, e.i(bits));
  const APInt low = to.isSigned() ? APInt::getSignedMinValue(to.bits) : APInt::getMinValue(to.bits);
  const APInt high =
      to.isSigned() ? APInt::getSignedMaxValue(to.bits) : APInt::getMaxValue(to.bits);
  auto constant = [&](const APInt& limit) {
    return e.getInt(to.isSigned() ? limit.sext(bits) : limit.zext(bits));
  };
  wide = e.CreateBinaryIntrinsic(Intrinsic::smax, wide, constant(low));
  return e.CreateBinaryIntrinsic(Intrinsic::smin, wide, constant(high));
}

/// cvt.<rounding>{.relu}{.satfinite}.tf32.f32
bool convertTf32(PtxContext& c, PtxInstruction& i) {
  if (!i.take("tf32"))
    return false;
  const int rounding = i.takeAny({"rna", "rn", "rz"});
  const bool isRelu = i.take("relu");
  const bool isFinite = i.take("satfinite");
  if (rounding < 0 || !i.take("f32") || i.operands.size() != 2)
    c.unsupported(i);
  constexpr Tf32Rounding kRoundings[] = {Tf32Rounding::NearestAway, Tf32Rounding::NearestEven,
                                         Tf32Rounding::Zero};
  Value* value = c.e.toTf32(c.read(i.operands[1], c.e.f32()), kRoundings[rounding], isFinite);
  if (isRelu)
    value = c.e.minMax(true, value, ConstantFP::getZero(c.e.f32()), true);
  c.write(i.operands[0], value);
  return true;
}

/// cvt.<rounding>{.ftz}{.sat}{.relu}.<to>.<from>
void convert(PtxContext& c, PtxInstruction& i) {
  if (convertFp8(c, i) || convertTf32(c, i))
    return;
  int integral = i.takeAny({"rni", "rzi", "rmi", "rpi"});
  constexpr Rounding kModes[] = {Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up};
  FloatModifiers modifiers = takeModifiers(i);
  std::optional<PtxType> to = i.takeType();
  std::optional<PtxType> from = i.takeType();
  if (!to || !from)
    c.unsupported(i);
  Type* toType = to->ir(c.context());
  if (i.operands.size() == 3 && to->lanes == 2 && from->lanes == 1) { // pack two singles
    Value* pair = PoisonValue::get(toType);
    for (unsigned lane = 0; lane < 2; ++lane) {
      Value* part = c.read(i.operands[2 - lane], *from);
      part = c.e.toFloat(part, toType->getScalarType(), modifiers.rounding);
      pair = c.e.CreateInsertElement(pair, part, lane);
    }
    if (modifiers.isRelu)
      pair = c.e.minMax(true, pair, ConstantFP::getZero(toType), true);
    return c.write(i.operands[0], pair);
  }
  if (i.operands.size() != 2 || (to->lanes != from->lanes))
    c.unsupported(i);
  Value* value = c.read(i.operands[1], *from);
  if (modifiers.isFlushed && value->getType()->isFloatTy())
    value = c.e.flush(value);
  Value* result = nullptr;
  if (from->isFloat() && to->isFloat()) {
    if (integral >= 0)
      value = c.e.roundToIntegral(value, kModes[integral]);
    result = c.e.toFloat(value, toType, modifiers.rounding);
    if (modifiers.isFlushed && toType->isFloatTy())
      result = c.e.flush(result);
    if (modifiers.isSaturated)
      result = c.e.saturate(result);
    if (modifiers.isRelu)
      result = c.e.minMax(true, result, ConstantFP::getZero(toType), true);
  } else if (from->isFloat()) {
    result = c.e.toInteger(value, toType, to->isSigned(),
                           integral >= 0 ? kModes[integral] : Rounding::Zero);
  } else if (to->isFloat()) {
    result = c.e.fromInteger(value, toType, from->isSigned(), modifiers.rounding);
  } else {
    if (modifiers.isSaturated)
      value = clamp(c.e, value, *from, *to);
    result = from->isSigned() ? c.e.CreateSExtOrTrunc(value, toType)
                              : c.e.CreateZExtOrTrunc(value, toType);
    // A wider destination register receives the value extended by its own sign.
    if (to->isSigned() && to->bits < 32)
      result = c.e.CreateSExt(result, c.e.i(32));
  }
  c.write(i.operands[0], result);
}

struct Comparison {
  const char* name;
  CmpInst::Predicate forFloat;
  CmpInst::Predicate forSigned;
  CmpInst::Predicate forUnsigned;
};
constexpr auto kNone = CmpInst::BAD_ICMP_PREDICATE;
constexpr Comparison kComparisons[] = {
    {"eq", CmpInst::FCMP_OEQ, CmpInst::ICMP_EQ, CmpInst::ICMP_EQ},
    {"ne", CmpInst::FCMP_ONE, CmpInst::ICMP_NE, CmpInst::ICMP_NE},
    {"lt", CmpInst::FCMP_OLT, CmpInst::ICMP_SLT, CmpInst::ICMP_ULT},
    {"le", CmpInst::FCMP_OLE, CmpInst::ICMP_SLE, CmpInst::ICMP_ULE},
    {"gt", CmpInst::FCMP_OGT, CmpInst::ICMP_SGT, CmpInst::ICMP_UGT},
    {"ge", CmpInst::FCMP_OGE, CmpInst::ICMP_SGE, CmpInst::ICMP_UGE},
    {"lo", kNone, kNone, CmpInst::ICMP_ULT},
    {"ls", kNone, kNone, CmpInst::ICMP_ULE},
    {"hi", kNone, kNone, CmpInst::ICMP_UGT},
    {"hs", kNone, kNone, CmpInst::ICMP_UGE},
    {"equ", CmpInst::FCMP_UEQ, kNone, kNone},
    {"neu", CmpInst::FCMP_UNE, kNone, kNone},
    {"ltu", CmpInst::FCMP_ULT, kNone, kNone},
    {"leu", CmpInst::FCMP_ULE, kNone, kNone},
    {"gtu", CmpInst::FCMP_UGT, kNone, kNone},
    {"geu", CmpInst::FCMP_UGE, kNone, kNone},
    {"num", CmpInst::FCMP_ORD, kNone, kNone},
    {"nan", CmpInst::FCMP_UNO, kNone, kNone},
};

Value* compare(PtxContext& c, PtxInstruction& i, PtxType type, Value* a, Value* b) {
  for (const Comparison& comparison : kComparisons) {
    if (!i.take(comparison.name))
      continue;
    CmpInst::Predicate predicate = type.isFloat()    ? comparison.forFloat
                                   : type.isSigned() ? comparison.forSigned
                                                     : comparison.forUnsigned;
    if (predicate == kNone)
      break;
    return type.isFloat() ? c.e.CreateFCmp(predicate, a, b) : c.e.CreateICmp(predicate, a, b);
  }
  c.unsupported(i);
}

std::pair<Value*, PtxType> compareOperands(PtxContext& c, PtxInstruction& i) {
  std::optional<PtxType> type = i.takeType();
  if (!type || i.operands.size() < 3)
    c.unsupported(i);
  bool isFlushed = i.take("ftz");
  Value* a = c.read(i.operands[1], *type);
  Value* b = c.read(i.operands[2], *type);
  if (isFlushed && type->isFloat()) {
    a = c.e.flush(a);
    b = c.e.flush(b);
  }
  return {compare(c, i, *type, a, b), *type};
}

/// setp.<cmp>{.and|.or|.xor}.<type> p{|q}, a, b{, c}
void setPredicate(PtxContext& c, PtxInstruction& i) {
  int combine = i.takeAny({"and", "or", "xor"});
  Value* result = compareOperands(c, i).first;
  if (result->getType()->isVectorTy())
    c.unsupported(i);
  Value* complement = c.e.CreateNot(result);
  if (combine >= 0) {
    if (i.operands.size() != 4)
      c.unsupported(i);
    Value* third = c.readPredicate(i.operands[3]);
    constexpr Instruction::BinaryOps kOperations[] = {Instruction::And, Instruction::Or,
                                                      Instruction::Xor};
    result = c.e.CreateBinOp(kOperations[combine], result, third);
    complement = c.e.CreateBinOp(kOperations[combine], complement, third);
  }
  auto [first, second] = StringRef(i.operands[0]).split('|');
  c.write(first, result);
  if (!second.empty())
    c.write(second, complement);
}

/// set.<cmp>.<to>.<type> d, a, b: all ones, or 1.0
void setValue(PtxContext& c, PtxInstruction& i) {
  std::optional<PtxType> to = i.takeType();
  if (!to)
    c.unsupported(i);
  Value* result = compareOperands(c, i).first;
  Type* type = to->ir(c.context());
  if (to->isFloat())
    result = c.e.CreateUIToFP(result, type);
  else
    result = c.e.CreateSExt(result, result->getType()->isVectorTy()
                                        ? result->getType()->getWithNewBitWidth(to->bits / 2)
                                        : type);
  c.write(i.operands[0], result);
}

/// testp.<property>.<type> p, a
void testProperty(PtxContext& c, PtxInstruction& i) {
  std::optional<PtxType> type = i.takeType();
  constexpr std::pair<const char*, FPClassTest> kTests[] = {
      {"finite", fcFinite},  {"infinite", fcInf},  {"number", fcAllFlags & ~fcNan},
      {"notanumber", fcNan}, {"normal", fcNormal}, {"subnormal", fcSubnormal}};
  for (auto [name, test] : kTests)
    if (type && i.take(name)) {
      Value* value = c.read(i.operands[1], *type);
      return c.write(i.operands[0], c.e.CreateIntrinsic(Intrinsic::is_fpclass, {value->getType()},
                                                        {value, c.e.getInt32(unsigned(test))}));
    }
  c.unsupported(i);
}

constexpr PtxRule kRules[] = {
    {"cvt", convert}, {"setp", setPredicate}, {"set", setValue}, {"testp", testProperty}};

} // namespace

std::span<const PtxRule> ptxFloatRules() { return kRules; }

bool translateFloat(PtxContext& c, PtxInstruction& i) {
  std::string name = i.parts.front();
  PtxInstruction attempt = i;
  attempt.parts.erase(attempt.parts.begin());
  std::optional<PtxType> type = attempt.takeType();
  if (!type || !type->isFloat())
    return false;
  FloatOperation operation(c, attempt, *type);
  if (!translateArithmetic(operation, name))
    return false;
  if (!attempt.parts.empty())
    c.unsupported(i);
  return true;
}

} // namespace mneme::compile::cpu
