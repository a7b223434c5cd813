// Room jit/frontend: what the languages that functions are written in have in common: rules of C++,
// and words that LLVM and MLIR spell alike.
#pragma once

#include "include/proteus/Frontend/CodeBuilder.h"
#include "runtime/jit/frontend/dsl/module_text.h"

namespace proteus {

/// How a number becomes one of another type.
enum class Conversion {
  FloatExtend,
  FloatTruncate,
  FloatToSigned,
  FloatToUnsigned,
  SignedToFloat,
  UnsignedToFloat,
  Truncate,
  SignExtend,
  ZeroExtend
};

/// Between types of different kinds, neither of them bool.
Conversion conversionBetween(const IRType& from, const IRType& to);

/// Numbers that are none are unequal to all and otherwise compare false.
const char* predicate(CmpOp op, const IRType& type);

/// The operation of an atomicrmw. Ends the program if there is none on this type.
const char* atomicWord(const CodeBuilder& builder, AtomicOp op, const IRType& type);

IRValue* isNotZero(CodeBuilder& builder, IRValue* value);

/// As C++ converts.
/// \param nameOf   how a type is called where it cannot be converted
/// \param convert  writes the conversion of a number to `to`
template <typename NameOf, typename Convert>
IRValue* castAs(CodeBuilder& builder, FunctionText& function, IRValue* value, const IRType& to,
                NameOf nameOf, Convert convert) {
  const IRType from = value->Type;
  if (from.Kind == to.Kind)
    return from.isInteger() ? function.value(value->Name, to) : value;
  if (from.isPointer() || to.isPointer() || from.isArray() || to.isArray())
    builder.fail("Cannot convert " + nameOf(from) + " to " + nameOf(to));
  if (to.Kind == IRTypeKind::Int1)
    return isNotZero(builder, value);
  return convert(conversionBetween(from, to));
}

/// Nothing but types of equal sizes can be reinterpreted, and only larger integers extend smaller.
template <typename NameOf>
void requireEqualBits(const CodeBuilder& builder, const IRType& from, const IRType& to,
                      NameOf nameOf) {
  if (from.getBits() == 0 || from.getBits() != to.getBits())
    builder.fail("Cannot reinterpret " + nameOf(from) + " as " + nameOf(to));
}
template <typename NameOf>
void requireExtension(const CodeBuilder& builder, const IRType& from, const IRType& to,
                      NameOf nameOf) {
  if (!from.isInteger() || !to.isInteger() || from.getBits() > to.getBits())
    builder.fail("Cannot extend " + nameOf(from) + " to " + nameOf(to));
}

} // namespace proteus
