// What functions of every signature offer to those who write their code.
#pragma once

#include "proteus/AddressSpace.h"
#include "proteus/Frontend/CodeBuilder.h"
#include "proteus/Frontend/LoopNest.h"
#include "proteus/Frontend/TypeMap.h"
#include "proteus/Frontend/Var.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace proteus {

class JitModule;

namespace detail {

template <typename T> struct IsPair : std::false_type {};
template <typename V, typename N> struct IsPair<std::pair<V, N>> : std::true_type {};

/// What a variable that begins with a `Source` has as type, unless `T` says it.
template <typename T, typename Source, typename = void> struct DefinedType {
  using Type = std::conditional_t<std::is_void_v<T>, OperandValue<Source>, T>;
};
template <typename T, typename P> struct DefinedType<T, Var<P*>> {
  using Type = std::conditional_t<std::is_void_v<T>, P*, T>;
};
template <typename T, typename P> struct DefinedType<T, Var<P*&>> : DefinedType<T, Var<P*>> {};

/// A name and the line of the user that says it.
struct LocatedName {
  LocatedName(const char* Name, const char* File = __builtin_FILE(),
              unsigned Line = __builtin_LINE())
      : Name(Name), File(File), Line(Line) {}
  LocatedName(const std::string& Name, const char* File = __builtin_FILE(),
              unsigned Line = __builtin_LINE())
      : Name(Name), File(File), Line(Line) {}
  std::string Name;
  const char* File;
  unsigned Line;
};

/// An operand of a call as a parameter of type `To`.
template <typename To, typename X> IRValue* argumentAs(CodeBuilder& Builder, const X& Operand) {
  if constexpr (std::is_pointer_v<To> || std::is_reference_v<To>) {
    return own(Builder, Operand).loadAddress();
  } else {
    static_assert(IsOperand<X>, "this parameter takes a scalar");
    return valueAs<To>(Builder, Operand);
  }
}

template <typename Signature> struct Call;
template <typename R, typename... A> struct Call<R(A...)> {
  template <typename... X>
  static auto write(CodeBuilder& Builder, const std::string& Name, const X&... Operands) {
    static_assert(sizeof...(A) == sizeof...(X), "a call has the wrong number of arguments");
    std::vector<IRValue*> Values{argumentAs<A>(Builder, Operands)...};
    IRValue* Result = Builder.createCall(Name, TypeMap<R>::get(), Values);
    if constexpr (!std::is_void_v<R>)
      return makeVar<std::remove_const_t<R>>(Builder, Result, "ret");
    else
      (void)Result;
  }
};

} // namespace detail

class PROTEUS_API FuncBase {
public:
  FuncBase(JitModule& Module, IRFunction Function);
  virtual ~FuncBase();
  FuncBase(const FuncBase&) = delete;
  FuncBase& operator=(const FuncBase&) = delete;

  /// With the suffix of the module's hash after compile().
  const std::string& getName() const;
  void setName(const std::string& Name);
  bool isKernel() const;
  CodeBuilder& getCodeBuilder() const { return *Builder; }
  JitModule& getModule() const { return Module; }

  // Variables.

  template <typename T, std::enable_if_t<!std::is_array_v<T>, bool> = true>
  Var<T> declVar(const std::string& Name = "var", const char* File = __builtin_FILE(),
                 unsigned Line = __builtin_LINE()) {
    at(File, Line);
    return {*Builder, Builder->createSlot(TypeMap<T>::get(), Name)};
  }
  template <typename T, std::enable_if_t<std::is_array_v<T>, bool> = true>
  Var<T> declVar(std::size_t NElem, AddressSpace Space = AddressSpace::DEFAULT,
                 const std::string& Name = "array_var", const char* File = __builtin_FILE(),
                 unsigned Line = __builtin_LINE()) {
    at(File, Line);
    IRType Type = TypeMap<T>::get(NElem);
    Type.AddrSpace = Space;
    return {*Builder, Builder->createArray(Type, Name)};
  }
  /// \param Names  of all, or of none
  template <typename... Ts, typename... Names> std::tuple<Var<Ts>...> declVars(Names&&... Name) {
    static_assert(sizeof...(Names) == 0 || sizeof...(Names) == sizeof...(Ts),
                  "give as many names as variables");
    if constexpr (sizeof...(Names) == 0)
      return std::tuple<Var<Ts>...>{declVar<Ts>("var", nullptr)...};
    else
      return std::tuple<Var<Ts>...>{declVar<Ts>(Name, nullptr)...};
  }

  /// A variable that begins as a constant or as the value of another one; `std::pair{v, "n"}` says
  /// the name too.
  template <typename T = void, typename Source>
  auto defVar(const Source& Init, const std::string& Name = "var",
              const char* File = __builtin_FILE(), unsigned Line = __builtin_LINE()) {
    if constexpr (detail::IsPair<Source>::value) {
      return defVar<T>(Init.first, std::string(Init.second), File, Line);
    } else {
      using U = typename detail::DefinedType<T, Source>::Type;
      auto Defined = declVar<U>(Name, File, Line);
      Defined.storeValue(detail::argumentAs<U>(*Builder, Init));
      return Defined;
    }
  }
  template <typename... Sources> auto defVars(const Sources&... Inits) {
    return std::tuple{defVar(Inits, "var", nullptr)...};
  }

  /// A constant of the code that is compiled, with the value that is known now.
  template <typename T = void, typename Source>
  auto defRuntimeConst(const Source& Value, const std::string& Name = "run.const.var",
                       const char* File = __builtin_FILE(), unsigned Line = __builtin_LINE()) {
    auto Defined = defVar<T>(Value, Name, File, Line);
    using U = typename decltype(Defined)::ValueType;
    return Var<const U>{*Builder, Defined.getSlot()};
  }
  template <typename... Sources> auto defRuntimeConsts(const Sources&... Values) {
    return std::tuple{defRuntimeConst(Values, "run.const.var", nullptr)...};
  }

  template <typename U, typename T> Var<std::remove_reference_t<U>> convert(const Var<T>& Source) {
    return Source.template convert<U>();
  }

  // Flow.

  void beginFunction(const char* File = __builtin_FILE(), unsigned Line = __builtin_LINE());
  void endFunction(const char* File = __builtin_FILE(), unsigned Line = __builtin_LINE());
  template <typename Body>
  void function(Body&& Write, const char* File = __builtin_FILE(),
                unsigned Line = __builtin_LINE()) {
    beginFunction(File, Line);
    Write();
    endFunction(File, Line);
  }

  void ret(const char* File = __builtin_FILE(), unsigned Line = __builtin_LINE());
  template <typename X, std::enable_if_t<!std::is_convertible_v<X, const char*>, bool> = true>
  void ret(const X& Result, const char* File = __builtin_FILE(), unsigned Line = __builtin_LINE()) {
    at(File, Line);
    retValue(Result);
  }

  void beginIf(const Var<bool>& Condition, const char* File = __builtin_FILE(),
               unsigned Line = __builtin_LINE());
  template <typename T>
  void beginIf(const Var<T>& Condition, const char* File = __builtin_FILE(),
               unsigned Line = __builtin_LINE()) {
    beginIf(Condition.template convert<bool>(), File, Line);
  }
  void endIf(const char* File = __builtin_FILE(), unsigned Line = __builtin_LINE());
  template <typename T, typename Body>
  void ifThen(const Var<T>& Condition, Body&& Write, const char* File = __builtin_FILE(),
              unsigned Line = __builtin_LINE()) {
    beginIf(Condition, File, Line);
    Write();
    endIf(File, Line);
  }

  /// `for (Iter = Init; Iter < UpperBound; Iter += Inc)`; the bound and the step are read once.
  template <typename I, typename Init, typename Bound, typename Step>
  void beginFor(const Var<I>& Iter, const Init& First, const Bound& UpperBound, const Step& Inc,
                const char* File = __builtin_FILE(), unsigned Line = __builtin_LINE()) {
    static_assert(!std::is_const_v<std::remove_reference_t<I>>,
                  "the index of a loop may not be const");
    static_assert(IsOperand<Init> && IsOperand<Bound> && IsOperand<Step>,
                  "the bounds and the step of a loop must be scalars");
    at(File, Line);
    using Index = ValueOf<I>;
    detail::own(*Builder, Iter);
    IRValue* Begin = detail::valueAs<Index>(*Builder, First);
    IRValue* End = detail::valueAs<Index>(*Builder, UpperBound);
    IRValue* Increment = detail::valueAs<Index>(*Builder, Inc);
    IRValue* Place = std::is_reference_v<I> ? Iter.loadAddress() : Iter.getSlot();
    Builder->createStore(Begin, Place);
    Builder->beginFor(TypeMap<Index>::get(), Place, End, Increment);
  }
  /// \param Unroll  see CodeBuilder::endFor
  void endFor(const char* File = __builtin_FILE(), unsigned Line = __builtin_LINE(),
              int Unroll = -1);

  /// \param Condition  is called once and writes what computes the condition, a Var<bool>
  template <typename Condition>
  void beginWhile(Condition&& Write, const char* File = __builtin_FILE(),
                  unsigned Line = __builtin_LINE()) {
    at(File, Line);
    Builder->beginWhile();
    IRValue* Value = detail::valueAs<bool>(*Builder, Write());
    Builder->beginWhileBody(Value);
  }
  void endWhile(const char* File = __builtin_FILE(), unsigned Line = __builtin_LINE());
  template <typename Condition, typename Body>
  void whileLoop(Condition&& WriteCondition, Body&& Write, const char* File = __builtin_FILE(),
                 unsigned Line = __builtin_LINE()) {
    beginWhile(WriteCondition, File, Line);
    Write();
    endWhile(File, Line);
  }

  /// Eager: writes the loop now. Lazy: returns a ForLoopBuilder.
  template <EmissionPolicy Policy = EmissionPolicy::Eager, typename I, typename Init,
            typename Bound, typename Step, typename Body = EmptyBody>
  auto forLoop(const Var<I>& Iter, const Init& First, const Bound& UpperBound, const Step& Inc,
               Body&& Write = {}, const char* File = __builtin_FILE(),
               unsigned Line = __builtin_LINE()) {
    if constexpr (Policy == EmissionPolicy::Lazy) {
      return ForLoopBuilder<I, Init, Bound, Step, std::decay_t<Body>>(
          *this, Iter, First, UpperBound, Inc, std::forward<Body>(Write), File, Line);
    } else {
      beginFor(Iter, First, UpperBound, Inc, File, Line);
      Write();
      endFor(File, Line);
    }
  }
  /// Loops, the outermost first, with indices of equal types.
  template <typename... Loops> auto buildLoopNest(const Loops&... Nested) {
    return LoopNestBuilder<Loops...>(*this, Nested...);
  }

  // Calls.

  /// A function of this module, before or after it is added, or else a symbol of the process.
  template <typename Signature, typename... X>
  auto call(const detail::LocatedName& Callee, const X&... Operands) {
    at(Callee.File, Callee.Line);
    return detail::Call<Signature>::write(*Builder, Callee.Name, Operands...);
  }
  /// One of proteus::builtins.
  template <typename Builtin>
  decltype(auto) callBuiltin(Builtin&& Call, const char* File = __builtin_FILE(),
                             unsigned Line = __builtin_LINE()) {
    at(File, Line);
    return Call(*this);
  }

  // Atomic, sequentially consistent; they return what was there.
  template <typename T, typename X>
  Var<T> atomicAdd(const Var<T*>& Address, const X& Operand, const char* File = __builtin_FILE(),
                   unsigned Line = __builtin_LINE()) {
    return atomic(AtomicOp::Add, Address, Operand, File, Line);
  }
  template <typename T, typename X>
  Var<T> atomicSub(const Var<T*>& Address, const X& Operand, const char* File = __builtin_FILE(),
                   unsigned Line = __builtin_LINE()) {
    return atomic(AtomicOp::Sub, Address, Operand, File, Line);
  }
  template <typename T, typename X>
  Var<T> atomicMax(const Var<T*>& Address, const X& Operand, const char* File = __builtin_FILE(),
                   unsigned Line = __builtin_LINE()) {
    return atomic(AtomicOp::Max, Address, Operand, File, Line);
  }
  template <typename T, typename X>
  Var<T> atomicMin(const Var<T*>& Address, const X& Operand, const char* File = __builtin_FILE(),
                   unsigned Line = __builtin_LINE()) {
    return atomic(AtomicOp::Min, Address, Operand, File, Line);
  }

protected:
  /// Compiles the module if needed. The same address every time.
  void* getAddress();
  /// What calls from the host call; of functions for a GPU: ends the program.
  void* getCallee() {
    void* Known = Callee.load(std::memory_order_acquire);
    return Known ? Known : findCallee();
  }

private:
  friend class JitModule;

  /// \param File  nullptr: the line is not known better than before
  void at(const char* File, unsigned Line);

  template <typename X> void retValue(const X& Result) {
    if constexpr (detail::IsPointerVar<X>::value) {
      Builder->createRet(detail::own(*Builder, Result).loadAddress());
    } else if constexpr (IsScalarVar<X>) {
      const bool IsAddress = Builder->getFunction().ReturnType.isPointer();
      detail::own(*Builder, Result);
      Builder->createRet(IsAddress ? Result.loadAddress() : Result.loadValue());
    } else {
      static_assert(IsOperand<X>, "a function can return only a scalar or a pointer");
      Builder->createRet(detail::constant(*Builder, Result));
    }
  }
  template <typename T, typename X>
  Var<T> atomic(AtomicOp Op, const Var<T*>& Address, const X& Operand, const char* File,
                unsigned Line) {
    at(File, Line);
    return detail::atomic(Op, Address, Operand);
  }

  void* findCallee();

  JitModule& Module;
  std::unique_ptr<CodeBuilder> Builder;
  std::atomic<void*> Compiled{nullptr}; ///< once it was needed
  std::atomic<void*> Callee{nullptr};   ///< the same, of functions that were called
};

} // namespace proteus

#include "proteus/Frontend/LoopNestEmission.h"
