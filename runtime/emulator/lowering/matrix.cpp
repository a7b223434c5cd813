#include "runtime/emulator/lowering/matrix.h"

#include <llvm/ADT/StringSwitch.h>

#include "runtime/core/base/error.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

constexpr uint64_t kExchangeBytes = 16 * 4; // of a lane
constexpr uint64_t kLanes = 32;
constexpr const char* kExchangeName = "mneme.matrix.exchange";

/// One for all uses in a function.
Value* exchangeArea(Emit& e) {
  BasicBlock& entry = e.GetInsertBlock()->getParent()->getEntryBlock();
  for (Instruction& instruction : entry)
    if (isa<AllocaInst>(instruction) && instruction.getName() == kExchangeName)
      return &instruction;
  IRBuilder<> builder(&entry, entry.begin());
  AllocaInst* area =
      builder.CreateAlloca(ArrayType::get(builder.getInt8Ty(), kExchangeBytes * kLanes));
  area->setAlignment(Align(16));
  area->setName(kExchangeName);
  return area;
}

} // namespace

std::optional<MatrixType> parseMatrixType(StringRef name) {
  return StringSwitch<std::optional<MatrixType>>(name)
      .Case("f16", MatrixType::Half)
      .Case("bf16", MatrixType::Bfloat)
      .Case("tf32", MatrixType::Tf32)
      .Case("f32", MatrixType::Float)
      .Case("f64", MatrixType::Double)
      .Case("s4", MatrixType::S4)
      .Case("u4", MatrixType::U4)
      .Case("s8", MatrixType::S8)
      .Case("u8", MatrixType::U8)
      .Case("s32", MatrixType::S32)
      .Default(std::nullopt);
}

unsigned matrixBits(MatrixType type) {
  switch (type) {
  case MatrixType::S4:
  case MatrixType::U4:
    return 4;
  case MatrixType::S8:
  case MatrixType::U8:
    return 8;
  case MatrixType::Half:
  case MatrixType::Bfloat:
    return 16;
  case MatrixType::Double:
    return 64;
  default:
    return 32;
  }
}

unsigned matrixLanes(MatrixType type) {
  return type == MatrixType::Double ? 1 : 32 / matrixBits(type);
}

void syncWarp(Emit& e) { e.intrinsic("llvm.nvvm.bar.warp.sync", e.getVoidTy(), {e.getInt32(~0u)}); }

SharedRegisters::SharedRegisters(Emit& e, ArrayRef<Value*> mine) : e_(e) {
  // The first lane's stack: every lane runs in the same process. It costs some meetings of the
  // lanes, where a shuffle for every register would cost one each.
  Value* address = e.CreatePtrToInt(exchangeArea(e), e.i(64));
  Value* whole = e.getInt64(0);
  for (unsigned at = 0; at < 64; at += 32) {
    Value* part = e.CreateTrunc(e.CreateLShr(address, at), e.i(32));
    part = e.intrinsic("llvm.nvvm.shfl.sync.idx.i32", e.i(32),
                       {e.getInt32(~0u), part, e.getInt32(0), e.getInt32(31)});
    whole = e.CreateOr(whole, e.CreateShl(e.CreateZExt(part, e.i(64)), at));
  }
  base_ = e.CreateIntToPtr(whole, e.getPtrTy());
  for (Value* value : mine)
    types_.push_back(value->getType());
  if (stride() * types_.size() > kExchangeBytes)
    throw Error(ErrorCode::Internal, "a fragment of a matrix has too many registers");
  Value* lane = e.specialRegister("laneid");
  for (unsigned number = 0; number < mine.size(); ++number)
    e.CreateAlignedStore(mine[number], place(lane, number), Align(4));
  syncWarp(e);
}

uint64_t SharedRegisters::stride() const {
  return types_.front()->isPointerTy()
             ? 8
             : types_.front()->getPrimitiveSizeInBits().getFixedValue() / 8;
}

Value* SharedRegisters::place(Value* lane, unsigned number) const {
  Value* index =
      e_.CreateAdd(e_.CreateMul(lane, e_.getInt32(uint32_t(types_.size()))), e_.getInt32(number));
  Value* offset = e_.CreateMul(e_.CreateZExt(index, e_.i(64)), e_.getInt64(stride()));
  return e_.CreateGEP(e_.getInt8Ty(), base_, offset);
}

Value* SharedRegisters::of(Value* lane, unsigned number) const {
  return e_.CreateAlignedLoad(types_[number], place(lane, number), Align(4));
}

void SharedRegisters::finish() const { syncWarp(e_); }

Value* matrixElement(Emit& e, Value* bits, MatrixType type, unsigned at) {
  const unsigned all = unsigned(bits->getType()->getPrimitiveSizeInBits().getFixedValue());
  Value* whole = e.CreateBitCast(bits, e.i(all));
  const unsigned width = matrixBits(type);
  Value* element = e.CreateTrunc(e.CreateLShr(whole, at * width), e.i(width));
  switch (type) {
  case MatrixType::Half:
    return e.toFloat(e.CreateBitCast(element, e.getHalfTy()), e.f32());
  case MatrixType::Bfloat:
    return e.toFloat(e.CreateBitCast(element, e.getBFloatTy()), e.f32());
  case MatrixType::Tf32: // the lower bits are not looked at
    return e.CreateBitCast(e.CreateAnd(element, e.getInt32(0xffffe000u)), e.f32());
  case MatrixType::Float:
    return e.CreateBitCast(element, e.f32());
  case MatrixType::Double:
    return e.CreateBitCast(element, e.f64());
  case MatrixType::S4:
  case MatrixType::S8:
    return e.CreateSExt(element, e.i(32));
  default:
    return e.CreateZExt(element, e.i(32));
  }
}

Value* multiplyAdd(Emit& e, MatrixType type, Value* a, Value* b, Value* sum) {
  if (type == MatrixType::Double)
    return e.arithmetic("fma", {a, b, sum});
  if (a->getType()->isFloatTy()) // the product is exact
    return e.CreateFAdd(sum, e.CreateFMul(a, b));
  return e.CreateAdd(sum, e.CreateSExt(e.CreateMul(a, b), e.i(64)));
}

Value* toMatrixElement(Emit& e, Value* number, MatrixType type) {
  return type == MatrixType::Half ? e.toFloat(number, e.getHalfTy()) : number;
}

Value* toSum(Emit& e, Value* element) {
  return element->getType()->isIntegerTy() ? e.CreateSExt(element, e.i(64)) : element;
}

Value* fromSum(Emit& e, Value* sum, bool isSaturating) {
  if (!sum->getType()->isIntegerTy())
    return sum;
  if (isSaturating) {
    sum = e.CreateBinaryIntrinsic(Intrinsic::smin, sum, e.getInt64(INT32_MAX));
    sum = e.CreateBinaryIntrinsic(Intrinsic::smax, sum, e.getInt64(uint64_t(int64_t{INT32_MIN})));
  }
  return e.CreateTrunc(sum, e.i(32));
}

} // namespace mneme::compile::cpu
