// Types as the embedded language knows them, apart from any compiler's.
#pragma once

#include "proteus/AddressSpace.h"

#include <cstddef>

namespace proteus {

enum class IRTypeKind { Void, Int1, Int8, Int16, Int32, Int64, Float, Double, Pointer, Array };

struct IRType {
  IRTypeKind Kind = IRTypeKind::Void;
  bool Signed = false;                            ///< integers
  IRTypeKind ElemKind = IRTypeKind::Void;         ///< pointers and arrays
  std::size_t NElem = 0;                          ///< arrays
  AddressSpace AddrSpace = AddressSpace::DEFAULT; ///< pointers and arrays

  constexpr bool isVoid() const { return Kind == IRTypeKind::Void; }
  constexpr bool isInteger() const { return Kind >= IRTypeKind::Int1 && Kind <= IRTypeKind::Int64; }
  constexpr bool isFloatingPoint() const {
    return Kind == IRTypeKind::Float || Kind == IRTypeKind::Double;
  }
  constexpr bool isPointer() const { return Kind == IRTypeKind::Pointer; }
  constexpr bool isArray() const { return Kind == IRTypeKind::Array; }

  /// Bits of a scalar; 0 of anything else.
  constexpr unsigned getBits() const {
    constexpr unsigned Bits[] = {0, 1, 8, 16, 32, 64, 32, 64, 0, 0};
    return Bits[static_cast<unsigned>(Kind)];
  }
};

constexpr bool operator==(const IRType& L, const IRType& R) {
  return L.Kind == R.Kind && L.Signed == R.Signed && L.ElemKind == R.ElemKind &&
         L.NElem == R.NElem && L.AddrSpace == R.AddrSpace;
}
constexpr bool operator!=(const IRType& L, const IRType& R) { return !(L == R); }

} // namespace proteus
