// Operations on integers and their bits (emit.h).
#include "runtime/emulator/lowering/emit.h"

using namespace llvm;

namespace mneme::compile::cpu {

Value* Emit::multiplyHigh(Value* a, Value* b, bool isSigned) {
  unsigned bits = a->getType()->getIntegerBitWidth();
  Type* wide = i(bits * 2);
  Value* product = isSigned ? CreateMul(CreateSExt(a, wide), CreateSExt(b, wide))
                            : CreateMul(CreateZExt(a, wide), CreateZExt(b, wide));
  return CreateTrunc(CreateLShr(product, bits), a->getType());
}

Value* Emit::bytePermute(Value* a, Value* b, Value* selector) {
  Value* bytes = CreateOr(CreateZExt(a, i(64)), CreateShl(CreateZExt(b, i(64)), 32));
  Value* result = getInt32(0);
  for (unsigned lane = 0; lane < 4; ++lane) {
    Value* nibble = CreateLShr(selector, lane * 4);
    Value* amount = CreateShl(CreateZExt(CreateAnd(nibble, 7), i(64)), 3);
    Value* byte = CreateTrunc(CreateLShr(bytes, amount), i(8));
    Value* replicated = CreateAShr(byte, 7);
    Value* useSign = CreateICmpNE(CreateAnd(nibble, 8), getInt32(0));
    Value* chosen = CreateZExt(CreateSelect(useSign, replicated, byte), i(32));
    result = CreateOr(result, CreateShl(chosen, lane * 8));
  }
  return result;
}

Value* Emit::funnelShift(bool isLeft, bool isClamped, Value* low, Value* high, Value* amount) {
  Type* type = low->getType();
  unsigned bits = type->getIntegerBitWidth();
  Value* width = ConstantInt::get(type, bits);
  Intrinsic::ID id = isLeft ? Intrinsic::fshl : Intrinsic::fshr;
  Value* shifted = CreateIntrinsic(id, {type}, {high, low, amount});
  if (!isClamped)
    return shifted;
  return CreateSelect(CreateICmpULT(amount, width), shifted, isLeft ? low : high);
}

Value* Emit::findLeading(Value* value, bool isSigned, bool asShiftAmount) {
  Type* type = value->getType();
  unsigned bits = type->getIntegerBitWidth();
  if (isSigned)
    value = CreateXor(value, CreateAShr(value, bits - 1));
  Value* zeros = CreateBinaryIntrinsic(Intrinsic::ctlz, value, getFalse());
  Value* position = asShiftAmount ? zeros : CreateSub(ConstantInt::get(type, bits - 1), zeros);
  Value* none = CreateICmpEQ(value, ConstantInt::get(type, 0));
  Value* result = CreateSelect(none, Constant::getAllOnesValue(type), position);
  return CreateTrunc(result, i(32));
}

Value* Emit::bitFieldExtract(Value* value, Value* position, Value* length, bool isSigned) {
  Type* type = value->getType();
  unsigned bits = type->getIntegerBitWidth();
  Value* pos = CreateZExtOrTrunc(CreateAnd(position, 0xff), type);
  Value* len = CreateZExtOrTrunc(CreateAnd(length, 0xff), type);
  Value* shifted = shift(isSigned ? Instruction::AShr : Instruction::LShr, value, pos);
  Value* width = ConstantInt::get(type, bits);
  Value* spare = CreateSub(width, len);
  Value* isWhole = CreateICmpUGE(len, width);
  Value* amount = CreateSelect(isWhole, ConstantInt::get(type, 0), spare);
  Value* up = shift(Instruction::Shl, shifted, amount);
  Value* field = shift(isSigned ? Instruction::AShr : Instruction::LShr, up, amount);
  Value* isEmpty = CreateICmpEQ(len, ConstantInt::get(type, 0));
  return CreateSelect(isEmpty, ConstantInt::get(type, 0), field);
}

Value* Emit::bitFieldInsert(Value* field, Value* base, Value* position, Value* length) {
  Type* type = field->getType();
  unsigned bits = type->getIntegerBitWidth();
  Value* pos = CreateZExtOrTrunc(CreateAnd(position, 0xff), type);
  Value* len = CreateZExtOrTrunc(CreateAnd(length, 0xff), type);
  Value* ones = Constant::getAllOnesValue(type);
  Value* isWhole = CreateICmpUGE(len, ConstantInt::get(type, bits));
  Value* low = CreateSelect(isWhole, ones, CreateNot(shift(Instruction::Shl, ones, len)));
  Value* mask = shift(Instruction::Shl, low, pos);
  Value* moved = shift(Instruction::Shl, field, pos);
  return CreateOr(CreateAnd(moved, mask), CreateAnd(base, CreateNot(mask)));
}

Value* Emit::absoluteDifference(Value* a, Value* b, bool isSigned) {
  Value* isGreater = isSigned ? CreateICmpSGT(a, b) : CreateICmpUGT(a, b);
  return CreateSelect(isGreater, CreateSub(a, b), CreateSub(b, a));
}

Value* Emit::dotProduct(Value* a, Value* b, Value* sum, bool isSignedA, bool isSignedB,
                        unsigned lanes, Value* isHigh) {
  auto lane = [&](Value* value, Value* bit, unsigned bits, bool isSigned) {
    Value* part = CreateTrunc(CreateLShr(value, bit), i(bits));
    return isSigned ? CreateSExt(part, i(32)) : CreateZExt(part, i(32));
  };
  for (unsigned index = 0; index < lanes; ++index) {
    Value* fromB = getInt32(index * 8);
    if (lanes == 2)
      fromB = CreateAdd(fromB, CreateSelect(isHigh, getInt32(16), getInt32(0)));
    Value* left = lane(a, getInt32(index * (32 / lanes)), 32 / lanes, isSignedA);
    Value* right = lane(b, fromB, 8, isSignedB);
    sum = CreateAdd(sum, CreateMul(left, right));
  }
  return sum;
}

Value* Emit::shift(Instruction::BinaryOps operation, Value* value, Value* amount) {
  Type* type = value->getType();
  unsigned bits = type->getScalarSizeInBits();
  amount = CreateZExtOrTrunc(amount, type);
  Value* last = ConstantInt::get(type, bits - 1);
  Value* isInside = CreateICmpULE(amount, last);
  if (operation == Instruction::AShr)
    return CreateAShr(value, CreateSelect(isInside, amount, last));
  Value* safe = CreateSelect(isInside, amount, ConstantInt::get(type, 0));
  return CreateSelect(isInside, CreateBinOp(operation, value, safe), ConstantInt::get(type, 0));
}

} // namespace mneme::compile::cpu
