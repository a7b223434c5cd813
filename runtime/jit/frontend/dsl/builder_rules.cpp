#include "runtime/jit/frontend/dsl/builder_rules.h"

namespace proteus {

Conversion conversionBetween(const IRType& from, const IRType& to) {
  if (from.isFloatingPoint() && to.isFloatingPoint())
    return from.getBits() < to.getBits() ? Conversion::FloatExtend : Conversion::FloatTruncate;
  if (from.isFloatingPoint())
    return to.Signed ? Conversion::FloatToSigned : Conversion::FloatToUnsigned;
  if (to.isFloatingPoint())
    return from.Signed ? Conversion::SignedToFloat : Conversion::UnsignedToFloat;
  if (from.getBits() > to.getBits())
    return Conversion::Truncate;
  return from.Signed ? Conversion::SignExtend : Conversion::ZeroExtend;
}

const char* predicate(CmpOp op, const IRType& type) {
  static const char* const floating[] = {"olt", "ole", "ogt", "oge", "oeq", "une"};
  static const char* const withSign[] = {"slt", "sle", "sgt", "sge", "eq", "ne"};
  static const char* const withoutSign[] = {"ult", "ule", "ugt", "uge", "eq", "ne"};
  const auto* words = type.isFloatingPoint() ? floating : type.Signed ? withSign : withoutSign;
  return words[static_cast<unsigned>(op)];
}

const char* atomicWord(const CodeBuilder& builder, AtomicOp op, const IRType& type) {
  static const char* const floating[] = {"fadd", "fsub", "fmax", "fmin"};
  static const char* const withSign[] = {"add", "sub", "max", "min"};
  static const char* const withoutSign[] = {"add", "sub", "umax", "umin"};
  if (type.Kind == IRTypeKind::Int1)
    builder.fail("There are no atomic operations on bool");
  const auto* words = type.isFloatingPoint() ? floating : type.Signed ? withSign : withoutSign;
  return words[static_cast<unsigned>(op)];
}

IRValue* isNotZero(CodeBuilder& builder, IRValue* value) {
  const IRType type = value->Type;
  IRValue* zero =
      type.isFloatingPoint() ? builder.getConstantFP(type, 0) : builder.getConstantInt(type, 0);
  return builder.createCmp(CmpOp::Ne, value, zero);
}

} // namespace proteus
