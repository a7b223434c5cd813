// Integer and atomic intrinsics of AMDGCN.
#include "runtime/emulator/lowering/amdgcn/amdgcn.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

/// bfe(value, offset, width): both taken modulo the type's width.
Value* extractField(const AmdgcnCall& c) {
  Emit& e = c.emit;
  unsigned bits = c.type()->getIntegerBitWidth();
  auto number = [&](uint64_t value) { return ConstantInt::get(c.type(), value); };
  Value* offset = e.CreateAnd(e.CreateZExtOrTrunc(c.operand(1), c.type()), number(bits - 1));
  Value* width = e.CreateAnd(e.CreateZExtOrTrunc(c.operand(2), c.type()), number(bits - 1));
  bool isSigned = c.variant;
  Value* moved = isSigned ? e.CreateAShr(c.operand(0), offset) : e.CreateLShr(c.operand(0), offset);
  Value* mask = e.CreateSub(e.CreateShl(number(1), width), number(1));
  Value* field = e.CreateAnd(moved, mask);
  if (!isSigned)
    return field;
  // The top bit of a field that ends inside the value is its sign.
  Value* unused = e.CreateAnd(e.CreateSub(number(bits), width), number(bits - 1));
  Value* extended = e.CreateAShr(e.CreateShl(field, unused), unused);
  Value* isEmpty = e.CreateICmpEQ(width, number(0));
  return e.CreateSelect(isEmpty, number(0), extended);
}

Value* alignBits(const AmdgcnCall& c) {
  Emit& e = c.emit;
  Value* amount = e.CreateZExtOrTrunc(c.operand(2), e.i(32));
  if (c.variant)
    amount = e.CreateShl(e.CreateAnd(amount, 3), 3);
  return e.CreateIntrinsic(Intrinsic::fshr, {e.i(32)}, {c.operand(0), c.operand(1), amount});
}

/// Selectors: 0 to 7 a byte of {a, b}, 8 to 11 the sign of its halves, 12 zero, above all ones.
Value* permuteBytes(const AmdgcnCall& c) {
  Emit& e = c.emit;
  Type* wide = e.i(64);
  Value* source = e.CreateOr(e.CreateShl(e.CreateZExt(c.operand(0), wide), 32),
                             e.CreateZExt(c.operand(1), wide));
  Value* result = e.getInt32(0);
  for (unsigned index = 0; index < 4; ++index) {
    Value* selector = e.CreateAnd(e.CreateLShr(c.operand(2), index * 8), 0xff);
    Value* place = e.CreateZExt(e.CreateShl(e.CreateAnd(selector, 7), 3), wide);
    Value* byte = e.CreateTrunc(e.CreateLShr(source, place), e.i(8));
    Value* half = e.CreateZExt(e.CreateShl(e.CreateAnd(selector, 3), 4), wide);
    Value* signPlace = e.CreateAdd(half, e.getInt64(15));
    Value* sign = e.CreateSExt(e.CreateTrunc(e.CreateLShr(source, signPlace), e.i(1)), e.i(8));
    byte = e.CreateSelect(e.CreateICmpUGT(selector, e.getInt32(7)), sign, byte);
    byte = e.CreateSelect(e.CreateICmpUGT(selector, e.getInt32(11)), e.getInt8(0), byte);
    byte = e.CreateSelect(e.CreateICmpUGT(selector, e.getInt32(12)), e.getInt8(0xff), byte);
    result = e.CreateOr(result, e.CreateShl(e.CreateZExt(byte, e.i(32)), index * 8));
  }
  return result;
}

Value* part(Emit& e, Value* value, unsigned index, unsigned bits) {
  return e.CreateAnd(e.CreateLShr(value, index * bits), (1u << bits) - 1);
}

Value* absoluteDifference(Emit& e, Value* a, Value* b) {
  return e.CreateSub(e.CreateBinaryIntrinsic(Intrinsic::umax, a, b),
                     e.CreateBinaryIntrinsic(Intrinsic::umin, a, b));
}

/// sad: the differences of all parts, added up. Variants: 8 and 16 bits; 1 added: shifted up by
/// 16; 2 added: bytes of which the second operand's is zero do not count.
Value* sumOfDifferences(const AmdgcnCall& c) {
  Emit& e = c.emit;
  unsigned bits = c.variant & ~3u;
  Value* sum = e.getInt32(0);
  for (unsigned index = 0; index < 32 / bits; ++index) {
    Value* b = part(e, c.operand(1), index, bits);
    Value* difference = absoluteDifference(e, part(e, c.operand(0), index, bits), b);
    if (c.variant & 2)
      difference = e.CreateSelect(e.CreateIsNull(b), e.getInt32(0), difference);
    sum = e.CreateAdd(sum, difference);
  }
  if (c.variant & 1)
    sum = e.CreateShl(sum, 16);
  return e.CreateAdd(sum, c.operand(2));
}

/// The average of each byte, rounded up where the third operand's byte is odd.
Value* interpolate(const AmdgcnCall& c) {
  Emit& e = c.emit;
  Value* result = e.getInt32(0);
  for (unsigned index = 0; index < 4; ++index) {
    Value* sum = e.CreateAdd(part(e, c.operand(0), index, 8), part(e, c.operand(1), index, 8));
    sum = e.CreateAdd(sum, e.CreateAnd(part(e, c.operand(2), index, 8), 1));
    result = e.CreateOr(result, e.CreateShl(e.CreateLShr(sum, 1), index * 8));
  }
  return result;
}

/// mul.u24 and mul.i24 (1); the high 32 bits of the product (2).
Value* multiply24(const AmdgcnCall& c) {
  Emit& e = c.emit;
  auto low = [&](Value* value) {
    value = e.CreateTrunc(value, e.i(24));
    return c.variant & 1 ? e.CreateSExt(value, e.i(64)) : e.CreateZExt(value, e.i(64));
  };
  Value* product = e.CreateMul(low(c.operand(0)), low(c.operand(1)));
  if (c.variant & 2)
    product = e.CreateLShr(product, 32);
  return e.CreateTrunc(product, c.type());
}

/// Position of the first bit that differs from the sign, from the top; -1 if there is none.
Value* firstSignChange(const AmdgcnCall& c) {
  Emit& e = c.emit;
  Value* x = c.operand(0);
  Value* sign = e.CreateAShr(x, 31);
  Value* changes = e.CreateXor(x, sign);
  Value* count = e.CreateBinaryIntrinsic(Intrinsic::ctlz, changes, e.getFalse());
  return e.CreateSelect(e.CreateIsNull(changes), e.getInt32(-1), count);
}

/// cvt.pk.i16, cvt.pk.u16: two integers, saturated.
Value* packIntegers(const AmdgcnCall& c) {
  Emit& e = c.emit;
  Value* result = PoisonValue::get(FixedVectorType::get(e.i(16), 2));
  for (unsigned index = 0; index < 2; ++index) {
    Value* x = c.operand(index);
    if (c.variant) {
      x = e.CreateBinaryIntrinsic(Intrinsic::smin, x, e.getInt32(32767));
      x = e.CreateBinaryIntrinsic(Intrinsic::smax, x, e.getInt32(uint32_t(-32768)));
    } else {
      x = e.CreateBinaryIntrinsic(Intrinsic::umin, x, e.getInt32(65535));
    }
    result = e.CreateInsertElement(result, e.CreateTrunc(x, e.i(16)), index);
  }
  return e.CreateBitCast(result, c.type());
}

/// sdot4 and udot4(a, b, sum, clamp).
Value* dotBytes(const AmdgcnCall& c) {
  if (c.constant(3))
    throwUnsupported("'" + c.call.getCalledFunction()->getName() + "' that saturates",
                     *c.call.getFunction());
  return c.emit.dotProduct(c.operand(0), c.operand(1), c.operand(2), c.variant, c.variant, 4,
                           nullptr);
}

/// Atomic additions, minima and maxima of floating-point numbers, in any address space.
Value* atomicFloat(const AmdgcnCall& c) {
  return c.emit.CreateAtomicRMW(static_cast<AtomicRMWInst::BinOp>(c.variant), c.operand(0),
                                c.operand(1), MaybeAlign(), AtomicOrdering::SequentiallyConsistent,
                                SyncScope::System);
}

constexpr AmdgcnRule kRules[] = {
    {"ubfe", extractField, 0},
    {"sbfe", extractField, 1},
    {"alignbit", alignBits, 0},
    {"alignbyte", alignBits, 1},
    {"perm", permuteBytes},
    {"sad.u8", sumOfDifferences, 8},
    {"sad.hi.u8", sumOfDifferences, 9},
    {"msad.u8", sumOfDifferences, 10},
    {"sad.u16", sumOfDifferences, 16},
    {"lerp", interpolate},
    {"mul.u24", multiply24, 0},
    {"mul.i24", multiply24, 1},
    {"mulhi.u24", multiply24, 2},
    {"mulhi.i24", multiply24, 3},
    {"sffbh", firstSignChange},
    {"cvt.pk.u16", packIntegers, 0},
    {"cvt.pk.i16", packIntegers, 1},
    {"udot4", dotBytes, 0},
    {"sdot4", dotBytes, 1},
    {"global.atomic.fadd", atomicFloat, AtomicRMWInst::FAdd},
    {"flat.atomic.fadd", atomicFloat, AtomicRMWInst::FAdd},
    {"ds.fadd", atomicFloat, AtomicRMWInst::FAdd},
    {"global.atomic.fmin", atomicFloat, AtomicRMWInst::FMin},
    {"flat.atomic.fmin", atomicFloat, AtomicRMWInst::FMin},
    {"ds.fmin", atomicFloat, AtomicRMWInst::FMin},
    {"global.atomic.fmax", atomicFloat, AtomicRMWInst::FMax},
    {"flat.atomic.fmax", atomicFloat, AtomicRMWInst::FMax},
    {"ds.fmax", atomicFloat, AtomicRMWInst::FMax},
};

} // namespace

ArrayRef<AmdgcnRule> amdgcnIntegerRules() { return kRules; }

} // namespace mneme::compile::cpu
