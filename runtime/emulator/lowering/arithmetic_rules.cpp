// Operations whose edge cases the GPU defines and LLVM IR leaves open.
#include <llvm/IR/InstIterator.h>

#include "runtime/emulator/lowering/emit.h"
#include "runtime/emulator/lowering/steps.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

/// True for amounts like `x & 31`.
bool isSmallAmount(Value* amount, unsigned bits) {
  if (isa<Constant>(amount))
    return true;
  auto* masked = dyn_cast<BinaryOperator>(amount);
  if (!masked || masked->getOpcode() != Instruction::And)
    return false;
  auto* mask = dyn_cast<ConstantInt>(masked->getOperand(1));
  return mask && mask->getValue().ult(bits);
}

Value* defineShift(Emit& e, BinaryOperator& operation, bool wraps) {
  Value* amount = operation.getOperand(1);
  if (isSmallAmount(amount, operation.getType()->getScalarSizeInBits()))
    return nullptr;
  if (wraps) {
    unsigned bits = operation.getType()->getScalarSizeInBits();
    if (!isPowerOf2_32(bits))
      return nullptr;
    Value* masked = e.CreateAnd(amount, ConstantInt::get(operation.getType(), bits - 1));
    return e.CreateBinOp(operation.getOpcode(), operation.getOperand(0), masked);
  }
  return e.shift(operation.getOpcode(), operation.getOperand(0), amount);
}

/// x / 0 is all ones, x % 0 is x, and the one overflowing quotient wraps, where the host would
/// trap.
Value* defineDivision(Emit& e, BinaryOperator& operation) {
  Type* type = operation.getType();
  Value* dividend = operation.getOperand(0);
  Value* divisor = operation.getOperand(1);
  auto opcode = operation.getOpcode();
  bool isSigned = opcode == Instruction::SDiv || opcode == Instruction::SRem;
  bool isRemainder = opcode == Instruction::SRem || opcode == Instruction::URem;
  if (auto* constant = dyn_cast<ConstantInt>(divisor))
    if (!constant->isZero() && !(isSigned && constant->isMinusOne()))
      return nullptr;
  Value* one = ConstantInt::get(type, 1);
  Value* isZero = e.CreateICmpEQ(divisor, ConstantInt::get(type, 0));
  Value* unsafe = isZero;
  if (isSigned)
    unsafe = e.CreateOr(isZero, e.CreateICmpEQ(divisor, Constant::getAllOnesValue(type)));
  Value* result = e.CreateBinOp(opcode, dividend, e.CreateSelect(unsafe, one, divisor));
  Value* byMinusOne = isRemainder ? ConstantInt::get(type, 0) : e.CreateNeg(dividend);
  Value* byZero = isRemainder ? dividend : Constant::getAllOnesValue(type);
  if (isSigned)
    result = e.CreateSelect(unsafe, byMinusOne, result);
  return e.CreateSelect(isZero, byZero, result);
}

Value* defineConversion(Emit& e, CastInst& cast) {
  Type* type = cast.getType();
  bool isSigned = cast.getOpcode() == Instruction::FPToSI;
  unsigned bits = type->getScalarSizeInBits();
  if (bits > 64)
    return nullptr;
  Type* wide = bits < 16 ? type->getWithNewBitWidth(32) : type;
  return e.CreateTrunc(e.toInteger(cast.getOperand(0), wide, isSigned, Rounding::Zero), type);
}

/// The host's own instructions for narrow types need library calls that may not exist.
Value* defineNarrowFloat(Emit& e, Instruction& instruction) {
  Type* scalar = instruction.getType()->getScalarType();
  bool fromNarrow = scalar->isHalfTy() || scalar->isBFloatTy();
  if (!fromNarrow)
    return nullptr;
  switch (instruction.getOpcode()) {
  case Instruction::FAdd:
    return e.arithmetic("fadd", {instruction.getOperand(0), instruction.getOperand(1)});
  case Instruction::FSub:
    return e.arithmetic("fsub", {instruction.getOperand(0), instruction.getOperand(1)});
  case Instruction::FMul:
    return e.arithmetic("fmul", {instruction.getOperand(0), instruction.getOperand(1)});
  case Instruction::FDiv:
    return e.arithmetic("fdiv", {instruction.getOperand(0), instruction.getOperand(1)});
  case Instruction::FPTrunc:
    if (scalar->isHalfTy() && instruction.getOperand(0)->getType()->getScalarType()->isFloatTy())
      return nullptr;
    return e.toFloat(instruction.getOperand(0), instruction.getType());
  case Instruction::SIToFP:
    return e.fromInteger(instruction.getOperand(0), instruction.getType(), true, Rounding::Nearest);
  case Instruction::UIToFP:
    return e.fromInteger(instruction.getOperand(0), instruction.getType(), false,
                         Rounding::Nearest);
  default:
    return nullptr;
  }
}

Value* define(Instruction& instruction, bool wrapsShifts) {
  Emit emit(instruction);
  switch (instruction.getOpcode()) {
  case Instruction::Shl:
  case Instruction::LShr:
  case Instruction::AShr:
    return defineShift(emit, cast<BinaryOperator>(instruction), wrapsShifts);
  case Instruction::UDiv:
  case Instruction::SDiv:
  case Instruction::URem:
  case Instruction::SRem:
    return defineDivision(emit, cast<BinaryOperator>(instruction));
  case Instruction::FPToSI:
  case Instruction::FPToUI:
    return defineConversion(emit, cast<CastInst>(instruction));
  default:
    return defineNarrowFloat(emit, instruction);
  }
}

bool isFlushed(const Instruction& instruction) {
  if (!instruction.getType()->getScalarType()->isFloatTy())
    return false;
  switch (instruction.getOpcode()) {
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul:
  case Instruction::FDiv:
  case Instruction::FPTrunc:
    return true;
  default:
    break;
  }
  auto* call = dyn_cast<CallInst>(&instruction);
  Intrinsic::ID id = call ? call->getIntrinsicID() : Intrinsic::not_intrinsic;
  return id == Intrinsic::fma || id == Intrinsic::fmuladd || id == Intrinsic::sqrt;
}

void flushAround(Instruction& instruction) {
  Emit emit(instruction);
  for (Use& operand : instruction.operands())
    if (operand->getType()->getScalarType()->isFloatTy())
      operand.set(emit.flush(operand));
  emit.SetInsertPoint(instruction.getNextNode());
  SmallVector<Use*> uses;
  for (Use& use : instruction.uses())
    uses.push_back(&use);
  Value* flushed = emit.flush(&instruction);
  for (Use* use : uses)
    use->set(flushed);
}

} // namespace

void defineEdgeCases(Module& module, bool flushDenormals, bool wrapsShifts) {
  SmallVector<Instruction*> work;
  for (Function& function : module)
    if (!function.hasFnAttribute(Attribute::StrictFP))
      for (Instruction& instruction : instructions(function))
        work.push_back(&instruction);
  for (Instruction* instruction : work) {
    if (flushDenormals && isFlushed(*instruction)) {
      flushAround(*instruction);
      continue;
    }
    Value* defined = define(*instruction, wrapsShifts);
    if (!defined)
      continue;
    instruction->replaceAllUsesWith(defined);
    instruction->eraseFromParent();
  }
}

} // namespace mneme::compile::cpu
