// Variables of the embedded language, and their conversions and assignments.
//
// Copying a Var gives the same variable another name; `=` stores into it.
#pragma once

#include "proteus/Frontend/CodeBuilder.h"
#include "proteus/Frontend/TypeMap.h"
#include "proteus/Frontend/TypeTraits.h"

#include <cstdint>
#include <type_traits>

namespace proteus {
namespace detail {

class VarBase {
public:
  VarBase(CodeBuilder& Builder, IRValue* Slot) : Builder(&Builder), Slot(Slot) {}

  /// Where the variable lies; of references, where their address lies.
  IRValue* getSlot() const { return Slot; }
  CodeBuilder& getCodeBuilder() const { return *Builder; }

protected:
  CodeBuilder* Builder;
  IRValue* Slot;
};

template <typename T> IRValue* constant(CodeBuilder& Builder, T Value) {
  if constexpr (std::is_floating_point_v<T>)
    return Builder.getConstantFP(TypeMap<T>::get(), static_cast<double>(Value));
  else
    return Builder.getConstantInt(TypeMap<T>::get(), static_cast<uint64_t>(Value));
}

/// `Operand`, which has to be a variable of the function that `Builder` writes.
template <typename T> const Var<T>& own(const CodeBuilder& Builder, const Var<T>& Operand) {
  if (&Operand.getCodeBuilder() != &Builder)
    Builder.fail("The variable belongs to another function");
  return Operand;
}

/// The value of an operand as a `To`.
template <typename To, typename X> IRValue* valueAs(CodeBuilder& Builder, const X& Operand) {
  if constexpr (IsScalarVar<X>)
    return Builder.createCast(own(Builder, Operand).loadValue(), TypeMap<To>::get());
  else
    return constant<To>(Builder, static_cast<To>(Operand));
}

/// A new variable that holds `Value`.
template <typename T> Var<T> makeVar(CodeBuilder& Builder, IRValue* Value, const char* Name) {
  IRValue* Slot = Builder.createSlot(TypeMap<T>::get(), Name);
  Builder.createStore(Value, Slot);
  return {Builder, Slot};
}

/// A reference to, or a pointer to, what lies at `Address`.
template <typename T> Var<T> makeAddressVar(CodeBuilder& Builder, IRValue* Address) {
  IRValue* Slot = Builder.createSlot(TypeMap<T>::get(), "addr");
  Builder.createStore(Address, Slot);
  return {Builder, Slot};
}

template <typename T, typename I>
IRValue* elementAddress(CodeBuilder& Builder, IRValue* Base, const I& Index) {
  using Wide = std::conditional_t<std::is_signed_v<OperandValue<I>>, int64_t, uint64_t>;
  return Builder.createElementAddress(TypeMap<T>::get(), Base, valueAs<Wide>(Builder, Index));
}

/// What cannot be the source of an assignment.
struct NoSource {};

/// Bases of variables that can, and that cannot, be assigned.
struct Assignable {};
struct Constant {
  Constant() = default;
  Constant(const Constant&) = default;
  Constant& operator=(const Constant&) = delete;
};

} // namespace detail

/// A scalar (`Var<T>`), one that does not change (`Var<const T>`) or one that lies elsewhere, as an
/// element of an array (`Var<T&>`).
template <typename T>
class Var : public detail::VarBase,
            private std::conditional_t<std::is_const_v<std::remove_reference_t<T>>,
                                       detail::Constant, detail::Assignable> {
  static constexpr bool IsConst = std::is_const_v<std::remove_reference_t<T>>;
  static constexpr bool IsReference = std::is_reference_v<T>;
  template <typename R> using IfAssignable = std::enable_if_t<IsOperand<R> && !IsConst, bool>;

public:
  using ValueType = ValueOf<T>;

  Var(CodeBuilder& Builder, IRValue* Slot) : VarBase(Builder, Slot) {
    static_assert(IsScalar<ValueType>, "PJ-DSL has no variables of this type");
  }
  Var(const Var&) = default;

  static constexpr IRType getValueType() { return TypeMap<ValueType>::get(); }

  IRValue* loadValue() const { return Builder->createLoad(getValueType(), place()); }
  void storeValue(IRValue* Value) const { Builder->createStore(Value, place()); }

  /// Where a reference refers to.
  IRValue* loadAddress() const {
    if constexpr (IsReference)
      return Builder->createLoad(TypeMap<T>::get(), Slot);
    else
      return Builder->createGenericAddress(Slot);
  }
  /// Makes a reference refer to another place.
  template <typename U = T>
  std::enable_if_t<std::is_reference_v<U>> storeAddress(IRValue* A) const {
    Builder->createStore(A, Slot);
  }
  Var<std::remove_reference_t<T>*> getAddress() const {
    return detail::makeAddressVar<std::remove_reference_t<T>*>(*Builder, loadAddress());
  }

  /// A new variable; for `const U` one that does not change.
  template <typename U> Var<std::remove_reference_t<U>> convert() const {
    using To = ValueOf<U>;
    auto Made = detail::makeVar<To>(*Builder, detail::valueAs<To>(*Builder, *this), "conv");
    return {*Builder, Made.getSlot()};
  }

  Var& operator=(const std::conditional_t<IsConst, detail::NoSource, Var>& Source) {
    return assign(Source);
  }
  template <typename R, IfAssignable<R> = true> Var& operator=(const R& Source) {
    return assign(Source);
  }
  template <typename R, IfAssignable<R> = true> Var& operator+=(const R& Right) {
    return assign(*this + Right);
  }
  template <typename R, IfAssignable<R> = true> Var& operator-=(const R& Right) {
    return assign(*this - Right);
  }
  template <typename R, IfAssignable<R> = true> Var& operator*=(const R& Right) {
    return assign(*this * Right);
  }
  template <typename R, IfAssignable<R> = true> Var& operator/=(const R& Right) {
    return assign(*this / Right);
  }
  template <typename R, IfAssignable<R> = true> Var& operator%=(const R& Right) {
    return assign(*this % Right);
  }

private:
  IRValue* place() const {
    if constexpr (IsReference)
      return loadAddress();
    else
      return Slot;
  }
  template <typename R> Var& assign(const R& Source) {
    if constexpr (!IsConst)
      storeValue(detail::valueAs<ValueType>(*Builder, Source));
    return *this;
  }
};

namespace detail {

/// What a pointer offers that is a variable of its own, or that lies elsewhere.
template <typename T, bool IsElsewhere> class PointerVar : public VarBase {
public:
  using ValueType = T*;

  PointerVar(CodeBuilder& Builder, IRValue* Slot) : VarBase(Builder, Slot) {}

  static constexpr IRType getValueType() { return TypeMap<T*>::get(); }

  IRValue* loadAddress() const { return Builder->createLoad(getValueType(), place()); }
  void storeAddress(IRValue* Address) const { Builder->createStore(Address, place()); }
  IRValue* loadValue() const { return loadAddress(); }
  void storeValue(IRValue* Value) const { storeAddress(Value); }
  /// Where the pointer itself lies.
  Var<T**> getAddress() const {
    return makeAddressVar<T**>(*Builder, Builder->createGenericAddress(place()));
  }

  Var<T&> operator*() const { return makeAddressVar<T&>(*Builder, loadAddress()); }
  template <typename I, std::enable_if_t<IsIndex<I>, bool> = true>
  Var<T&> operator[](const I& Index) const {
    return makeAddressVar<T&>(*Builder, moved(Index));
  }
  template <typename I, std::enable_if_t<IsIndex<I>, bool> = true>
  Var<T*> operator+(const I& Count) const {
    return makeAddressVar<T*>(*Builder, moved(Count));
  }
  template <typename I, std::enable_if_t<IsIndex<I>, bool> = true>
  Var<T*> operator-(const I& Count) const {
    IRValue* Back = Builder->createNeg(valueAs<int64_t>(*Builder, Count));
    return makeAddressVar<T*>(
        *Builder, Builder->createElementAddress(TypeMap<T>::get(), loadAddress(), Back));
  }

private:
  IRValue* place() const {
    if constexpr (IsElsewhere)
      return Builder->createLoad(TypeMap<T**>::get(), Slot);
    else
      return Slot;
  }
  template <typename I> IRValue* moved(const I& Count) const {
    return elementAddress<T>(*Builder, loadAddress(), Count);
  }
};

} // namespace detail

/// A pointer. `=` lets it point where another one points.
template <typename T> class Var<T*> : public detail::PointerVar<T, false> {
public:
  using detail::PointerVar<T, false>::PointerVar;
  Var(const Var&) = default;

  Var& operator=(const Var& Other) {
    this->storeAddress(Other.loadAddress());
    return *this;
  }
  template <typename U, bool E, std::enable_if_t<std::is_convertible_v<U*, T*>, bool> = true>
  Var& operator=(const detail::PointerVar<U, E>& Other) {
    this->storeAddress(Other.loadAddress());
    return *this;
  }
  template <typename I, std::enable_if_t<IsIndex<I>, bool> = true> Var& operator+=(const I& Count) {
    return *this = *this + Count;
  }
  template <typename I, std::enable_if_t<IsIndex<I>, bool> = true> Var& operator-=(const I& Count) {
    return *this = *this - Count;
  }
};

/// A pointer that lies elsewhere, as an element of an array of pointers.
template <typename T> class Var<T*&> : public detail::PointerVar<T, true> {
public:
  using detail::PointerVar<T, true>::PointerVar;
  Var(const Var&) = default;

  Var& operator=(const Var& Other) {
    this->storeAddress(Other.loadAddress());
    return *this;
  }
  template <typename U, bool E, std::enable_if_t<std::is_convertible_v<U*, T*>, bool> = true>
  Var& operator=(const detail::PointerVar<U, E>& Other) {
    this->storeAddress(Other.loadAddress());
    return *this;
  }
  template <typename I, std::enable_if_t<IsIndex<I>, bool> = true> Var& operator+=(const I& Count) {
    return *this = *this + Count;
  }
  template <typename I, std::enable_if_t<IsIndex<I>, bool> = true> Var& operator-=(const I& Count) {
    return *this = *this - Count;
  }
};

/// An array. It is not a value: only its elements are.
template <typename T> class Var<T[]> : public detail::VarBase {
public:
  using ValueType = T[];

  Var(CodeBuilder& Builder, IRValue* Slot) : VarBase(Builder, Slot) {}
  Var(const Var&) = default;
  Var& operator=(const Var&) = delete;

  IRType getValueType() const { return Slot->Type; }

  IRValue* loadAddress() const { return Builder->createGenericAddress(Slot); }
  /// The address of the first element.
  Var<T*> getAddress() const { return detail::makeAddressVar<T*>(*Builder, loadAddress()); }
  Var<T&> operator*() const { return detail::makeAddressVar<T&>(*Builder, loadAddress()); }
  template <typename I, std::enable_if_t<IsIndex<I>, bool> = true>
  Var<T&> operator[](const I& Index) const {
    return detail::makeAddressVar<T&>(*Builder, detail::elementAddress<T>(*Builder, Slot, Index));
  }
};

template <typename I, typename T, bool E, std::enable_if_t<IsIndex<I>, bool> = true>
Var<T*> operator+(const I& Count, const detail::PointerVar<T, E>& Pointer) {
  return Pointer + Count;
}

} // namespace proteus

#include "proteus/Frontend/VarOperators.h"
