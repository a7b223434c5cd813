// Integer, logic, comparison and data movement instructions of PTX.
#include "runtime/emulator/lowering/inline_ptx/ptx.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

PtxType typeOf(PtxContext& c, PtxInstruction& i) {
  std::optional<PtxType> type = i.takeType();
  if (!type)
    c.unsupported(i);
  return *type;
}

void requireOperands(PtxContext& c, PtxInstruction& i, size_t count) {
  if (i.operands.size() != count)
    c.unsupported(i);
}

struct WithCarry {
  Value* value;
  Value* carry;
};

/// Adds or subtracts a and b with an intrinsic that reports overflow, and the carry or borrow of an
/// earlier instruction, if there is one.
WithCarry withCarry(Emit& e, Intrinsic::ID operation, Value* a, Value* b, Value* carryIn) {
  Value* first = e.CreateBinaryIntrinsic(operation, a, b);
  Value* value = e.CreateExtractValue(first, 0);
  Value* carry = e.CreateExtractValue(first, 1);
  if (!carryIn)
    return {value, carry};
  Value* second =
      e.CreateBinaryIntrinsic(operation, value, e.CreateZExt(carryIn, value->getType()));
  return {e.CreateExtractValue(second, 0), e.CreateOr(carry, e.CreateExtractValue(second, 1))};
}

Value* carryIn(PtxContext& c) { return c.carry ? c.carry : c.e.getFalse(); }

template <bool IsAdd, bool UsesCarry> void addOrSubtract(PtxContext& c, PtxInstruction& i) {
  PtxType type = typeOf(c, i);
  requireOperands(c, i, 3);
  bool setsCarry = i.take("cc");
  Value* a = c.read(i.operands[1], type);
  Value* b = c.read(i.operands[2], type);
  Value* in = UsesCarry ? carryIn(c) : nullptr;
  if (i.take("sat")) {
    Intrinsic::ID id = IsAdd ? Intrinsic::sadd_sat : Intrinsic::ssub_sat;
    c.write(i.operands[0], c.e.CreateBinaryIntrinsic(id, a, b));
    return;
  }
  const Intrinsic::ID operation =
      IsAdd ? Intrinsic::uadd_with_overflow : Intrinsic::usub_with_overflow;
  WithCarry result = withCarry(c.e, operation, a, b, in);
  if (setsCarry)
    c.carry = result.carry;
  c.write(i.operands[0], result.value);
}

Value* product(PtxContext& c, PtxInstruction& i, PtxType type, bool isWide, bool isHigh) {
  Value* a = c.read(i.operands[1], type);
  Value* b = c.read(i.operands[2], type);
  if (isHigh)
    return c.e.multiplyHigh(a, b, type.isSigned());
  if (!isWide)
    return c.e.CreateMul(a, b);
  Type* wide = c.e.i(type.bits * 2);
  return type.isSigned() ? c.e.CreateMul(c.e.CreateSExt(a, wide), c.e.CreateSExt(b, wide))
                         : c.e.CreateMul(c.e.CreateZExt(a, wide), c.e.CreateZExt(b, wide));
}

template <bool HasAddend, bool UsesCarry> void multiply(PtxContext& c, PtxInstruction& i) {
  PtxType type = typeOf(c, i);
  requireOperands(c, i, HasAddend ? 4 : 3);
  bool isWide = i.take("wide");
  bool isHigh = i.take("hi");
  bool isLow = i.take("lo");
  if (isWide + isHigh + isLow != 1)
    c.unsupported(i);
  Value* result = product(c, i, type, isWide, isHigh);
  if (HasAddend) {
    bool setsCarry = i.take("cc");
    Value* addend = c.read(i.operands[3], result->getType());
    WithCarry sum = withCarry(c.e, Intrinsic::uadd_with_overflow, result, addend,
                              UsesCarry ? carryIn(c) : nullptr);
    if (setsCarry)
      c.carry = sum.carry;
    result = sum.value;
  }
  c.write(i.operands[0], result);
}

template <bool HasAddend> void multiply24(PtxContext& c, PtxInstruction& i) {
  PtxType type = typeOf(c, i);
  requireOperands(c, i, HasAddend ? 4 : 3);
  if (!i.take("lo"))
    c.unsupported(i);
  auto low = [&](StringRef operand) -> Value* {
    Value* value = c.e.CreateShl(c.read(operand, type), 8);
    return type.isSigned() ? c.e.CreateAShr(value, 8) : c.e.CreateLShr(value, 8);
  };
  Value* result = c.e.CreateMul(low(i.operands[1]), low(i.operands[2]));
  if (HasAddend)
    result = c.e.CreateAdd(result, c.read(i.operands[3], type));
  c.write(i.operands[0], result);
}

template <Instruction::BinaryOps Operation> void logic(PtxContext& c, PtxInstruction& i) {
  PtxType type = typeOf(c, i);
  requireOperands(c, i, 3);
  c.write(i.operands[0],
          c.e.CreateBinOp(Operation, c.read(i.operands[1], type), c.read(i.operands[2], type)));
}

void invert(PtxContext& c, PtxInstruction& i) {
  c.write(i.operands[0], c.e.CreateNot(c.read(i.operands[1], typeOf(c, i))));
}

void negate(PtxContext& c, PtxInstruction& i) {
  c.write(i.operands[0], c.e.CreateNeg(c.read(i.operands[1], typeOf(c, i))));
}

void absolute(PtxContext& c, PtxInstruction& i) {
  Value* value = c.read(i.operands[1], typeOf(c, i));
  c.write(i.operands[0], c.e.CreateBinaryIntrinsic(Intrinsic::abs, value, c.e.getFalse()));
}

void lookup3(PtxContext& c, PtxInstruction& i) {
  PtxType type = typeOf(c, i);
  requireOperands(c, i, 5);
  uint64_t table = 0;
  if (StringRef(i.operands[4]).getAsInteger(0, table)) {
    auto* number = dyn_cast<ConstantInt>(c.read(i.operands[4], c.e.i(32)));
    if (!number)
      c.unsupported(i);
    table = number->getZExtValue();
  }
  Value* inputs[3];
  for (unsigned index = 0; index < 3; ++index)
    inputs[index] = c.read(i.operands[index + 1], type);
  Value* result = ConstantInt::get(type.ir(c.context()), 0);
  for (unsigned row = 0; row < 8; ++row) {
    if (!(table >> row & 1))
      continue;
    Value* term = nullptr;
    for (unsigned index = 0; index < 3; ++index) {
      bool isSet = row >> (2 - index) & 1;
      Value* literal = isSet ? inputs[index] : c.e.CreateNot(inputs[index]);
      term = term ? c.e.CreateAnd(term, literal) : literal;
    }
    result = c.e.CreateOr(result, term);
  }
  c.write(i.operands[0], result);
}

void shiftLeft(PtxContext& c, PtxInstruction& i) {
  PtxType type = typeOf(c, i);
  c.write(i.operands[0], c.e.shift(Instruction::Shl, c.read(i.operands[1], type),
                                   c.read(i.operands[2], c.e.i(32))));
}

void shiftRight(PtxContext& c, PtxInstruction& i) {
  PtxType type = typeOf(c, i);
  c.write(i.operands[0], c.e.shift(type.isSigned() ? Instruction::AShr : Instruction::LShr,
                                   c.read(i.operands[1], type), c.read(i.operands[2], c.e.i(32))));
}

void funnelShift(PtxContext& c, PtxInstruction& i) {
  typeOf(c, i);
  requireOperands(c, i, 4);
  bool isLeft = i.take("l");
  if (!isLeft && !i.take("r"))
    c.unsupported(i);
  bool isClamped = i.take("clamp");
  if (!isClamped && !i.take("wrap"))
    c.unsupported(i);
  Type* type = c.e.i(32);
  c.write(i.operands[0], c.e.funnelShift(isLeft, isClamped, c.read(i.operands[1], type),
                                         c.read(i.operands[2], type), c.read(i.operands[3], type)));
}

void bitFieldExtract(PtxContext& c, PtxInstruction& i) {
  PtxType type = typeOf(c, i);
  c.write(i.operands[0],
          c.e.bitFieldExtract(c.read(i.operands[1], type), c.read(i.operands[2], c.e.i(32)),
                              c.read(i.operands[3], c.e.i(32)), type.isSigned()));
}

void bitFieldInsert(PtxContext& c, PtxInstruction& i) {
  PtxType type = typeOf(c, i);
  c.write(i.operands[0],
          c.e.bitFieldInsert(c.read(i.operands[1], type), c.read(i.operands[2], type),
                             c.read(i.operands[3], c.e.i(32)), c.read(i.operands[4], c.e.i(32))));
}

/// bmsk.{clamp,wrap}.b32 d, a, b: b ones from bit a on.
void bitMask(PtxContext& c, PtxInstruction& i) {
  typeOf(c, i);
  requireOperands(c, i, 3);
  const bool isClamped = i.take("clamp");
  if (!isClamped && !i.take("wrap"))
    c.unsupported(i);
  Value* position = c.read(i.operands[1], c.e.i(32));
  Value* count = c.read(i.operands[2], c.e.i(32));
  if (!isClamped) {
    position = c.e.CreateAnd(position, 31);
    count = c.e.CreateAnd(count, 31);
  }
  Value* ones = c.e.CreateNot(c.e.shift(Instruction::Shl, c.e.getInt32(~0u), count));
  c.write(i.operands[0], c.e.shift(Instruction::Shl, ones, position));
}

void findLeading(PtxContext& c, PtxInstruction& i) {
  PtxType type = typeOf(c, i);
  bool asShiftAmount = i.take("shiftamt");
  c.write(i.operands[0],
          c.e.findLeading(c.read(i.operands[1], type), type.isSigned(), asShiftAmount));
}

template <Intrinsic::ID Id> void countBits(PtxContext& c, PtxInstruction& i) {
  Value* value = c.read(i.operands[1], typeOf(c, i));
  Value* result = Id == Intrinsic::ctlz ? c.e.CreateBinaryIntrinsic(Id, value, c.e.getFalse())
                                        : c.e.CreateUnaryIntrinsic(Id, value);
  if (Id != Intrinsic::bitreverse)
    result = c.e.CreateZExtOrTrunc(result, c.e.i(32));
  c.write(i.operands[0], result);
}

void permute(PtxContext& c, PtxInstruction& i) {
  typeOf(c, i);
  requireOperands(c, i, 4);
  Type* type = c.e.i(32);
  c.write(i.operands[0], c.e.bytePermute(c.read(i.operands[1], type), c.read(i.operands[2], type),
                                         c.read(i.operands[3], type)));
}

template <unsigned Lanes> void dotProduct(PtxContext& c, PtxInstruction& i) {
  requireOperands(c, i, 4);
  Value* isHigh = c.e.getInt1(i.take("hi"));
  i.take("lo");
  PtxType a = typeOf(c, i);
  // The second type may be the same word twice; takeType removed the first one.
  PtxType b = typeOf(c, i);
  Type* type = c.e.i(32);
  c.write(i.operands[0],
          c.e.dotProduct(c.read(i.operands[1], type), c.read(i.operands[2], type),
                         c.read(i.operands[3], type), a.isSigned(), b.isSigned(), Lanes, isHigh));
}

template <bool IsMax> void minMax(PtxContext& c, PtxInstruction& i) {
  PtxType type = typeOf(c, i);
  Intrinsic::ID id = type.isSigned() ? (IsMax ? Intrinsic::smax : Intrinsic::smin)
                                     : (IsMax ? Intrinsic::umax : Intrinsic::umin);
  c.write(i.operands[0],
          c.e.CreateBinaryIntrinsic(id, c.read(i.operands[1], type), c.read(i.operands[2], type)));
}

template <bool IsRemainder> void divide(PtxContext& c, PtxInstruction& i) {
  PtxType type = typeOf(c, i);
  Value* a = c.read(i.operands[1], type);
  Value* b = c.read(i.operands[2], type);
  Value* one = ConstantInt::get(a->getType(), 1);
  Value* zero = ConstantInt::get(a->getType(), 0);
  Value* ones = Constant::getAllOnesValue(a->getType());
  Value* isZero = c.e.CreateICmpEQ(b, zero);
  Value* byMinusOne = IsRemainder ? zero : c.e.CreateNeg(a);
  Value* isMinusOne = type.isSigned() ? c.e.CreateICmpEQ(b, ones) : c.e.getFalse();
  Value* safe = c.e.CreateSelect(c.e.CreateOr(isZero, isMinusOne), one, b);
  Value* result = nullptr;
  if (IsRemainder)
    result = type.isSigned() ? c.e.CreateSRem(a, safe) : c.e.CreateURem(a, safe);
  else
    result = type.isSigned() ? c.e.CreateSDiv(a, safe) : c.e.CreateUDiv(a, safe);
  result = c.e.CreateSelect(isMinusOne, byMinusOne, result);
  c.write(i.operands[0], c.e.CreateSelect(isZero, IsRemainder ? a : ones, result));
}

void sumOfDifference(PtxContext& c, PtxInstruction& i) {
  PtxType type = typeOf(c, i);
  Value* difference = c.e.absoluteDifference(c.read(i.operands[1], type),
                                             c.read(i.operands[2], type), type.isSigned());
  c.write(i.operands[0], c.e.CreateAdd(difference, c.read(i.operands[3], type)));
}

/// mov also packs and unpacks: mov.b32 d, {a, b} and mov.b32 {a, b}, d.
void move(PtxContext& c, PtxInstruction& i) {
  PtxType type = typeOf(c, i);
  requireOperands(c, i, 2);
  auto targets = PtxContext::elements(i.operands[0]);
  auto sources = PtxContext::elements(i.operands[1]);
  if (type.kind == 'p')
    return c.write(i.operands[0], c.readPredicate(i.operands[1]));
  Type* whole = c.e.i(type.bits * type.lanes);
  if (sources.size() > 1) {
    unsigned part = unsigned(type.bits / sources.size());
    Value* result = ConstantInt::get(whole, 0);
    for (unsigned index = 0; index < sources.size(); ++index) {
      Value* piece = c.e.CreateZExt(c.read(sources[index], c.e.i(part)), whole);
      result = c.e.CreateOr(result, c.e.CreateShl(piece, uint64_t(index) * part));
    }
    return c.write(i.operands[0], result);
  }
  if (targets.size() > 1) {
    unsigned part = unsigned(type.bits / targets.size());
    Value* value = c.read(i.operands[1], whole);
    for (unsigned index = 0; index < targets.size(); ++index)
      c.write(targets[index],
              c.e.CreateTrunc(c.e.CreateLShr(value, uint64_t(index) * part), c.e.i(part)));
    return;
  }
  c.write(i.operands[0], c.read(i.operands[1], type.ir(c.context())));
}

/// slct.<type>.s32 d, a, b, c: a where c is not negative.
void selectBySign(PtxContext& c, PtxInstruction& i) {
  const PtxType type = typeOf(c, i);
  const PtxType sign = typeOf(c, i);
  requireOperands(c, i, 4);
  if (sign.isFloat())
    c.unsupported(i);
  Value* isNegative = c.e.CreateICmpSLT(c.read(i.operands[3], c.e.i(32)), c.e.getInt32(0));
  c.write(i.operands[0],
          c.e.CreateSelect(isNegative, c.read(i.operands[2], type), c.read(i.operands[1], type)));
}

/// cnot: 1 for 0, else 0.
void logicalNot(PtxContext& c, PtxInstruction& i) {
  Value* value = c.read(i.operands[1], typeOf(c, i));
  c.write(i.operands[0], c.e.CreateZExt(c.e.CreateIsNull(value), value->getType()));
}

void select(PtxContext& c, PtxInstruction& i) {
  PtxType type = typeOf(c, i);
  requireOperands(c, i, 4);
  c.write(i.operands[0],
          c.e.CreateSelect(c.readPredicate(i.operands[3]), c.read(i.operands[1], type),
                           c.read(i.operands[2], type)));
}

constexpr PtxRule kRules[] = {
    {"add", addOrSubtract<true, false>},
    {"addc", addOrSubtract<true, true>},
    {"sub", addOrSubtract<false, false>},
    {"subc", addOrSubtract<false, true>},
    {"mul", multiply<false, false>},
    {"mad", multiply<true, false>},
    {"madc", multiply<true, true>},
    {"mul24", multiply24<false>},
    {"mad24", multiply24<true>},
    {"and", logic<Instruction::And>},
    {"or", logic<Instruction::Or>},
    {"xor", logic<Instruction::Xor>},
    {"not", invert},
    {"neg", negate},
    {"abs", absolute},
    {"lop3", lookup3},
    {"shl", shiftLeft},
    {"shr", shiftRight},
    {"shf", funnelShift},
    {"bfe", bitFieldExtract},
    {"bfi", bitFieldInsert},
    {"bfind", findLeading},
    {"bmsk", bitMask},
    {"brev", countBits<Intrinsic::bitreverse>},
    {"popc", countBits<Intrinsic::ctpop>},
    {"clz", countBits<Intrinsic::ctlz>},
    {"prmt", permute},
    {"dp4a", dotProduct<4>},
    {"dp2a", dotProduct<2>},
    {"min", minMax<false>},
    {"max", minMax<true>},
    {"div", divide<false>},
    {"rem", divide<true>},
    {"sad", sumOfDifference},
    {"mov", move},
    {"selp", select},
    {"slct", selectBySign},
    {"cnot", logicalNot},
};

} // namespace

std::span<const PtxRule> ptxIntegerRules() { return kRules; }

} // namespace mneme::compile::cpu
