// Which C++ types the embedded language accepts, and as what.
#pragma once

#include <type_traits>

namespace proteus {

template <typename T> class Var;

/// The type of a value: without reference and const.
template <typename T> using ValueOf = std::remove_cv_t<std::remove_reference_t<T>>;

/// Types of scalar variables.
template <typename T>
inline constexpr bool IsScalar =
    std::is_arithmetic_v<T> && !std::is_same_v<T, long double> && !std::is_same_v<T, wchar_t> &&
    !std::is_same_v<T, char16_t> && !std::is_same_v<T, char32_t>;

namespace detail {

/// How `T` takes part in an expression: as a variable, as a C++ constant, or not at all.
template <typename T> struct OperandTraits {
  using Value = T;
  static constexpr bool IsOperand = IsScalar<T>;
  static constexpr bool IsVar = false;
};
template <typename T> struct OperandTraits<Var<T>> {
  using Value = ValueOf<T>;
  static constexpr bool IsOperand = IsScalar<Value>;
  static constexpr bool IsVar = IsOperand;
};

template <typename T> struct IsPointerVar : std::false_type {};
template <typename T> struct IsPointerVar<Var<T*>> : std::true_type {};
template <typename T> struct IsPointerVar<Var<T*&>> : std::true_type {};

} // namespace detail

/// The type an operand is computed in.
template <typename T> using OperandValue = typename detail::OperandTraits<T>::Value;

/// A scalar variable or a constant.
template <typename T> inline constexpr bool IsOperand = detail::OperandTraits<T>::IsOperand;

/// A scalar variable.
template <typename T> inline constexpr bool IsScalarVar = detail::OperandTraits<T>::IsVar;

/// Two operands that make an expression of the embedded language: at least one is a variable.
template <typename L, typename R>
inline constexpr bool AreOperands =
    IsOperand<L> && IsOperand<R> && (IsScalarVar<L> || IsScalarVar<R>);

/// What an array or pointer may be indexed with.
template <typename T>
inline constexpr bool IsIndex = IsOperand<T> && std::is_integral_v<OperandValue<T>>;

} // namespace proteus
