// From types of C++ to types of the embedded language.
#pragma once

#include "proteus/Frontend/IRType.h"
#include "proteus/Frontend/TypeTraits.h"

#include <cstddef>
#include <type_traits>

namespace proteus {

template <typename T> struct TypeMap {
  /// \param NElem  elements, for `U[]`
  static constexpr IRType get([[maybe_unused]] std::size_t NElem = 0) {
    using U = std::remove_cv_t<T>;
    IRType Type;
    if constexpr (std::is_array_v<U>) {
      Type.Kind = IRTypeKind::Array;
      Type.ElemKind = TypeMap<std::remove_extent_t<U>>::get().Kind;
      Type.NElem = NElem;
    } else if constexpr (std::is_pointer_v<U> || std::is_reference_v<U>) {
      using Pointee = std::conditional_t<std::is_pointer_v<U>, std::remove_pointer_t<U>,
                                         std::remove_reference_t<U>>;
      Type.Kind = IRTypeKind::Pointer;
      Type.ElemKind = TypeMap<Pointee>::get().Kind;
    } else if constexpr (!std::is_void_v<U>) {
      static_assert(IsScalar<U>,
                    "PJ-DSL has no such type: it knows bool, integers of up to 64 bits, "
                    "float, double, pointers and references to them, and arrays");
      Type.Kind = scalarKind<U>();
      Type.Signed = std::is_integral_v<U> && std::is_signed_v<U>;
    }
    return Type;
  }

private:
  template <typename U> static constexpr IRTypeKind scalarKind() {
    if (std::is_same_v<U, bool>)
      return IRTypeKind::Int1;
    if (std::is_floating_point_v<U>)
      return sizeof(U) == 4 ? IRTypeKind::Float : IRTypeKind::Double;
    return sizeof(U) == 1   ? IRTypeKind::Int8
           : sizeof(U) == 2 ? IRTypeKind::Int16
           : sizeof(U) == 4 ? IRTypeKind::Int32
                            : IRTypeKind::Int64;
  }
};

} // namespace proteus
