// Operators and mathematical functions on variables of the embedded language.
#pragma once

#include "proteus/Frontend/Var.h"

#include <type_traits>
#include <vector>

namespace proteus {
namespace detail {

template <typename L, typename R> CodeBuilder& builderOf(const L& Left, const R& Right) {
  if constexpr (IsScalarVar<L>)
    return Left.getCodeBuilder();
  else
    return Right.getCodeBuilder();
}

template <ArithOp Op, typename L, typename R> auto arith(const L& Left, const R& Right) {
  using Common = std::common_type_t<OperandValue<L>, OperandValue<R>>;
  CodeBuilder& Builder = builderOf(Left, Right);
  IRValue* A = valueAs<Common>(Builder, Left);
  IRValue* B = valueAs<Common>(Builder, Right);
  return makeVar<Common>(Builder, Builder.createArith(Op, A, B), "res");
}

/// Compares in the type of the left side.
template <CmpOp Op, typename L, typename R> Var<bool> compare(const Var<L>& Left, const R& Right) {
  CodeBuilder& Builder = Left.getCodeBuilder();
  IRValue* A = Left.loadValue();
  IRValue* B = valueAs<ValueOf<L>>(Builder, Right);
  return makeVar<bool>(Builder, Builder.createCmp(Op, A, B), "cond");
}

template <typename L, typename R> using IfOperands = std::enable_if_t<AreOperands<L, R>, bool>;
template <typename L, typename R>
using IfComparable = std::enable_if_t<IsScalar<ValueOf<L>> && IsOperand<R>, bool>;

template <typename... X> Var<float> math(CodeBuilder& Builder, MathOp Op, const X&... Operands) {
  std::vector<IRValue*> Values{valueAs<float>(Builder, Operands)...};
  return makeVar<float>(Builder, Builder.createMath(Op, Values), "math");
}

/// The one of two that compares so.
template <CmpOp Op, typename L, typename R> auto choose(const L& Left, const R& Right) {
  using Value = OperandValue<L>;
  static_assert(std::is_same_v<Value, OperandValue<R>>, "min and max need arguments of one type");
  CodeBuilder& Builder = builderOf(Left, Right);
  IRValue* A = valueAs<Value>(Builder, Left);
  IRValue* B = valueAs<Value>(Builder, Right);
  IRValue* IsRight = Builder.createCmp(Op, B, A);
  return makeVar<Value>(Builder, Builder.createSelect(IsRight, B, A), "chosen");
}

template <typename T, typename X>
Var<T> atomic(AtomicOp Op, const Var<T*>& Address, const X& Operand) {
  CodeBuilder& Builder = Address.getCodeBuilder();
  IRValue* Place = Address.loadAddress();
  IRValue* Value = valueAs<T>(Builder, Operand);
  return makeVar<T>(Builder, Builder.createAtomic(Op, Place, Value), "old");
}

} // namespace detail

template <typename L, typename R, detail::IfOperands<L, R> = true>
auto operator+(const L& Left, const R& Right) {
  return detail::arith<ArithOp::Add>(Left, Right);
}
template <typename L, typename R, detail::IfOperands<L, R> = true>
auto operator-(const L& Left, const R& Right) {
  return detail::arith<ArithOp::Sub>(Left, Right);
}
template <typename L, typename R, detail::IfOperands<L, R> = true>
auto operator*(const L& Left, const R& Right) {
  return detail::arith<ArithOp::Mul>(Left, Right);
}
template <typename L, typename R, detail::IfOperands<L, R> = true>
auto operator/(const L& Left, const R& Right) {
  return detail::arith<ArithOp::Div>(Left, Right);
}
template <typename L, typename R, detail::IfOperands<L, R> = true>
auto operator%(const L& Left, const R& Right) {
  return detail::arith<ArithOp::Rem>(Left, Right);
}

template <typename T, std::enable_if_t<IsScalar<ValueOf<T>>, bool> = true>
Var<ValueOf<T>> operator-(const Var<T>& Operand) {
  CodeBuilder& Builder = Operand.getCodeBuilder();
  return detail::makeVar<ValueOf<T>>(Builder, Builder.createNeg(Operand.loadValue()), "neg");
}
template <typename T, std::enable_if_t<IsScalar<ValueOf<T>>, bool> = true>
Var<bool> operator!(const Var<T>& Operand) {
  return detail::compare<CmpOp::Eq>(Operand, ValueOf<T>(0));
}

template <typename L, typename R, detail::IfComparable<L, R> = true>
Var<bool> operator<(const Var<L>& Left, const R& Right) {
  return detail::compare<CmpOp::Lt>(Left, Right);
}
template <typename L, typename R, detail::IfComparable<L, R> = true>
Var<bool> operator<=(const Var<L>& Left, const R& Right) {
  return detail::compare<CmpOp::Le>(Left, Right);
}
template <typename L, typename R, detail::IfComparable<L, R> = true>
Var<bool> operator>(const Var<L>& Left, const R& Right) {
  return detail::compare<CmpOp::Gt>(Left, Right);
}
template <typename L, typename R, detail::IfComparable<L, R> = true>
Var<bool> operator>=(const Var<L>& Left, const R& Right) {
  return detail::compare<CmpOp::Ge>(Left, Right);
}
template <typename L, typename R, detail::IfComparable<L, R> = true>
Var<bool> operator==(const Var<L>& Left, const R& Right) {
  return detail::compare<CmpOp::Eq>(Left, Right);
}
template <typename L, typename R, detail::IfComparable<L, R> = true>
Var<bool> operator!=(const Var<L>& Left, const R& Right) {
  return detail::compare<CmpOp::Ne>(Left, Right);
}

// In single precision.
template <typename B, typename E, detail::IfOperands<B, E> = true>
Var<float> powf(const B& Base, const E& Exponent) {
  return detail::math(detail::builderOf(Base, Exponent), MathOp::Pow, Base, Exponent);
}
template <typename T> Var<float> sqrtf(const Var<T>& Operand) {
  return detail::math(Operand.getCodeBuilder(), MathOp::Sqrt, Operand);
}
template <typename T> Var<float> expf(const Var<T>& Operand) {
  return detail::math(Operand.getCodeBuilder(), MathOp::Exp, Operand);
}
template <typename T> Var<float> sinf(const Var<T>& Operand) {
  return detail::math(Operand.getCodeBuilder(), MathOp::Sin, Operand);
}
template <typename T> Var<float> cosf(const Var<T>& Operand) {
  return detail::math(Operand.getCodeBuilder(), MathOp::Cos, Operand);
}
template <typename T> Var<float> fabs(const Var<T>& Operand) {
  return detail::math(Operand.getCodeBuilder(), MathOp::Fabs, Operand);
}
template <typename T> Var<float> absf(const Var<T>& Operand) { return fabs(Operand); }
template <typename T> Var<float> truncf(const Var<T>& Operand) {
  return detail::math(Operand.getCodeBuilder(), MathOp::Trunc, Operand);
}
template <typename T> Var<float> logf(const Var<T>& Operand) {
  return detail::math(Operand.getCodeBuilder(), MathOp::Log, Operand);
}

// As std::min and std::max. The first of each pair is there to be preferred to those of `std`.
template <typename T> Var<ValueOf<T>> min(const Var<T>& Left, const Var<T>& Right) {
  return detail::choose<CmpOp::Lt>(Left, Right);
}
template <typename L, typename R, detail::IfOperands<L, R> = true>
auto min(const L& Left, const R& Right) {
  return detail::choose<CmpOp::Lt>(Left, Right);
}
template <typename T> Var<ValueOf<T>> max(const Var<T>& Left, const Var<T>& Right) {
  return detail::choose<CmpOp::Gt>(Left, Right);
}
template <typename L, typename R, detail::IfOperands<L, R> = true>
auto max(const L& Left, const R& Right) {
  return detail::choose<CmpOp::Gt>(Left, Right);
}

// As the functions of FuncBase.
template <typename T, typename X> Var<T> atomicAdd(const Var<T*>& Address, const X& Operand) {
  return detail::atomic(AtomicOp::Add, Address, Operand);
}
template <typename T, typename X> Var<T> atomicSub(const Var<T*>& Address, const X& Operand) {
  return detail::atomic(AtomicOp::Sub, Address, Operand);
}
template <typename T, typename X> Var<T> atomicMax(const Var<T*>& Address, const X& Operand) {
  return detail::atomic(AtomicOp::Max, Address, Operand);
}
template <typename T, typename X> Var<T> atomicMin(const Var<T*>& Address, const X& Operand) {
  return detail::atomic(AtomicOp::Min, Address, Operand);
}

} // namespace proteus
