// Conversions of PTX from and to pairs of 8-bit floating-point numbers.
#include <cmath>

#include "runtime/emulator/lowering/inline_ptx/ptx.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

struct Format {
  const char* name;
  unsigned mantissaBits;
  int smallestExponent; ///< of normal numbers
  double largest;       ///< finite
};
constexpr Format kFormats[] = {{"e4m3x2", 3, -6, 448.0}, {"e5m2x2", 2, -14, 57344.0}};
constexpr uint32_t kNan = 0x7f; // of both formats

/// The nearest number of the format, ties to even, as its 8 bits. Numbers beyond the largest give
/// the largest.
Value* encode(Emit& e, Value* value, const Format& format) {
  Value* magnitude = e.CreateUnaryIntrinsic(Intrinsic::fabs, value);
  magnitude = e.CreateBinaryIntrinsic(Intrinsic::minnum, magnitude,
                                      ConstantFP::get(e.f32(), format.largest));
  // The distance of neighbours there: a power of two, of at least that of denormals.
  Value* exponent = e.CreateLShr(e.CreateBitCast(magnitude, e.i(32)), 23);
  exponent = e.CreateBinaryIntrinsic(Intrinsic::umax, exponent,
                                     e.getInt32(uint32_t(127 + format.smallestExponent)));
  auto power = [&](Value* biased) { return e.CreateBitCast(e.CreateShl(biased, 23), e.f32()); };
  Value* step = power(e.CreateSub(exponent, e.getInt32(format.mantissaBits)));
  Value* perUnit = power(e.CreateSub(e.getInt32(254 + format.mantissaBits), exponent));
  Value* steps = e.CreateUnaryIntrinsic(Intrinsic::roundeven, e.CreateFMul(magnitude, perUnit));
  Value* bits = e.CreateBitCast(e.CreateFMul(steps, step), e.i(32));
  uint32_t rebias = uint32_t(127 - 1 + format.smallestExponent) << format.mantissaBits;
  Value* normal = e.CreateSub(e.CreateLShr(bits, 23 - format.mantissaBits), e.getInt32(rebias));
  // Below the smallest normal number, and up to it, the steps are the bits.
  Value* smallest = ConstantFP::get(e.f32(), std::ldexp(1.0, format.smallestExponent));
  Value* code =
      e.CreateSelect(e.CreateFCmpOLT(magnitude, smallest), e.CreateFPToUI(steps, e.i(32)), normal);
  Value* sign = e.CreateAnd(e.CreateLShr(e.CreateBitCast(value, e.i(32)), 24), 0x80);
  code = e.CreateSelect(e.CreateFCmpUNO(value, value), e.getInt32(kNan), e.CreateOr(code, sign));
  return e.CreateTrunc(code, e.i(8));
}

Value* decode(Emit& e, Value* code, const Format& format) {
  Value* wide = e.CreateZExt(code, e.i(16));
  if (format.mantissaBits == 2) // the upper half of a half
    return e.CreateBitCast(e.CreateShl(wide, 8), e.getHalfTy());
  Value* magnitude = e.CreateShl(e.CreateAnd(wide, 0x7f), 7);
  Value* scaled = e.CreateFMul(e.CreateFPExt(e.CreateBitCast(magnitude, e.getHalfTy()), e.f32()),
                               ConstantFP::get(e.f32(), 256.0));
  Value* bits = e.CreateBitCast(e.CreateFPTrunc(scaled, e.getHalfTy()), e.i(16));
  Value* isNan = e.CreateICmpEQ(e.CreateAnd(wide, 0x7f), e.getInt16(kNan));
  bits = e.CreateSelect(isNan, e.getInt16(0x7fff), bits);
  Value* sign = e.CreateShl(e.CreateAnd(wide, 0x80), 8);
  return e.CreateBitCast(e.CreateOr(bits, e.CreateSelect(isNan, e.getInt16(0), sign)),
                         e.getHalfTy());
}

/// cvt.rn.satfinite.<format>.f32 d, upper, lower and cvt.rn.satfinite.<format>.f16x2 d, a
void toPair(PtxContext& c, PtxInstruction& i, const Format& format) {
  std::optional<PtxType> from = i.takeType();
  if (!i.take("rn") || !i.take("satfinite") || !from || from->kind != 'f')
    c.unsupported(i);
  Value* pair = c.e.getInt16(0);
  for (unsigned lane = 0; lane < 2; ++lane) {
    Value* value = from->lanes == 2 ? c.e.CreateExtractElement(c.read(i.operands[1], *from), lane)
                                    : c.read(i.operands[2 - lane], *from);
    Value* code = encode(c.e, c.e.toFloat(value, c.e.f32()), format);
    pair = c.e.CreateOr(pair, c.e.CreateShl(c.e.CreateZExt(code, c.e.i(16)), 8 * lane));
  }
  c.write(i.operands[0], pair);
}

/// cvt.rn.f16x2.<format> d, a
void fromPair(PtxContext& c, PtxInstruction& i, const Format& format) {
  std::optional<PtxType> to = i.takeType();
  if (!i.take("rn") || !to || to->kind != 'f' || to->bits != 16 || to->lanes != 2)
    c.unsupported(i);
  Value* codes = c.read(i.operands[1], c.e.i(16));
  Value* pair = PoisonValue::get(to->ir(c.context()));
  for (unsigned lane = 0; lane < 2; ++lane) {
    Value* code = c.e.CreateTrunc(c.e.CreateLShr(codes, 8 * lane), c.e.i(8));
    pair = c.e.CreateInsertElement(pair, decode(c.e, code, format), lane);
  }
  c.write(i.operands[0], pair);
}

} // namespace

bool convertFp8(PtxContext& c, PtxInstruction& i) {
  for (const Format& format : kFormats) {
    const bool isTarget = !i.parts.empty() && i.parts.back() != format.name;
    if (!i.take(format.name))
      continue;
    if (isTarget)
      toPair(c, i, format);
    else
      fromPair(c, i, format);
    return true;
  }
  return false;
}

} // namespace mneme::compile::cpu
