// A function of the embedded language, with its signature.
#pragma once

#include "proteus/Frontend/FuncBase.h"

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace proteus {

template <typename R, typename... A> class Func final : public FuncBase {
public:
  Func(JitModule& Module, const std::string& Name, bool IsKernel)
      : FuncBase(Module,
                 IRFunction{Name, TypeMap<R>::get(), {TypeMap<A>::get()...}, IsKernel, 0, 0}),
        Args(makeArgs(std::index_sequence_for<A...>())), ArgRefs(makeRefs()) {}

  /// References to the parameters, which are variables as others.
  std::tuple<Var<A>&...>& getArgs() { return ArgRefs; }
  template <std::size_t I> auto& getArg() { return std::get<I>(Args); }

  /// Compiles the module if needed and calls what came out.
  R operator()(A... Values) {
    auto* Callee = reinterpret_cast<R (*)(A...)>(getCallee());
    return Callee(static_cast<A>(Values)...);
  }

private:
  template <std::size_t... I> std::tuple<Var<A>...> makeArgs(std::index_sequence<I...>) {
    return std::tuple<Var<A>...>{makeArg<A>(I)...};
  }
  template <typename T> Var<T> makeArg(std::size_t Index) {
    CodeBuilder& Builder = getCodeBuilder();
    IRValue* Slot = Builder.createSlot(TypeMap<T>::get(), "arg." + std::to_string(Index));
    Builder.createStore(Builder.getArg(Index), Slot);
    return {Builder, Slot};
  }
  std::tuple<Var<A>&...> makeRefs() {
    return std::apply([](auto&... Arg) { return std::tuple<Var<A>&...>(Arg...); }, Args);
  }

  std::tuple<Var<A>...> Args;
  std::tuple<Var<A>&...> ArgRefs;
};

} // namespace proteus
