// How the arguments of a function are handed over, as text: "4(p,8,s12)" takes a pointer, eight
// bytes of a number and a struct of twelve bytes and returns four. Used with HIP's headers and with
// our declarations.
#pragma once

#include <string>
#include <type_traits>

template <typename Argument> std::string handedOver() {
  if constexpr (std::is_void_v<Argument>)
    return "v";
  else if constexpr (std::is_pointer_v<Argument> || std::is_reference_v<Argument>)
    return "p";
  else if constexpr (std::is_class_v<Argument> || std::is_union_v<Argument>)
    return "s" + std::to_string(sizeof(Argument));
  else if constexpr (std::is_floating_point_v<Argument>)
    return "f" + std::to_string(sizeof(Argument));
  else
    return std::to_string(sizeof(Argument));
}

template <typename Function> struct Signature;
template <typename Result, typename... Arguments> struct Signature<Result (*)(Arguments...)> {
  static std::string text() {
    std::string arguments;
    ((arguments += (arguments.empty() ? "" : ",") + handedOver<Arguments>()), ...);
    return handedOver<Result>() + "(" + arguments + ")";
  }
};
template <typename Result, typename... Arguments>
struct Signature<Result (*)(Arguments...) noexcept> : Signature<Result (*)(Arguments...)> {};

template <typename Function> std::string signature() { return Signature<Function>::text(); }
