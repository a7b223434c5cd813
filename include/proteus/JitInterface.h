// Marks for what is constant at run time: kernels and host functions are compiled anew for the
// values they are called with. Headers only; the compiler plugin of mneme reads the marks, and
// without it they have no effect. docs/jit.md is the guide.
//
//   __attribute__((annotate("jit", 1, 2))) void f(int a, double b, ...);   // arguments, 1-based
//   void g(int* weights, int n) { proteus::jit_array(weights, n); ... }    // from inside
#pragma once

// Programs rely on some of these being included here.
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <proteus/CompilerInterfaceTypes.h>
#include <proteus/Init.h>

#if defined(__CUDACC__) || defined(__HIP__) || defined(__CUDA__)
#define PROTEUS_HOST_DEVICE __host__ __device__
#else
#define PROTEUS_HOST_DEVICE
#endif

struct mneme_closure_note;
extern "C" {
// Weak: null in a program that is not linked with libmneme_rt.
[[gnu::weak]] void mneme_jit_note_closure(mneme_closure_note* note);
}

namespace proteus {
namespace detail {

/// HIP's float4 and its like have copy constructors in some releases, which copy bytes.
template <typename T>
inline constexpr bool IsBytes =
    std::is_trivially_copyable_v<T> || std::is_trivially_destructible_v<T>;

#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
/// Says to the compiler plugin that kernels of this unit may be marked in their bodies, which the
/// host's compiler does not see; it removes the variable.
[[gnu::used]] static const char UsesJitInterface = 0;
#endif

} // namespace detail

/// The value of the parameter `V` of the enclosing function becomes a constant. Bool, integers,
/// floating-point numbers, enumerations and pointers.
///
/// To be called in the function's first block, before any branch, with the parameter itself.
template <typename T>
[[gnu::noinline]] PROTEUS_HOST_DEVICE std::enable_if_t<std::is_scalar_v<T>> jit_arg(T) noexcept {}

/// The `N` elements that the parameter `Ptr` points to become constants. They are read at every
/// call; a kernel's may lie on the device. `N` is a constant or a parameter. The elements must not
/// be written to.
template <typename T>
[[gnu::noinline]] PROTEUS_HOST_DEVICE std::enable_if_t<std::is_pointer_v<T>>
jit_array(T, std::size_t, std::remove_cv_t<std::remove_pointer_t<T>> = {},
          std::size_t = sizeof(std::remove_pointer_t<T>)) noexcept {}

/// The object that the parameter `V` points to becomes a constant, all of its `Size` bytes. They
/// are read at every call, a kernel's on the device too, and must not be written to.
template <typename T>
[[gnu::noinline]] PROTEUS_HOST_DEVICE void jit_object(T*, std::size_t = sizeof(T)) noexcept {
  static_assert(detail::IsBytes<T>, "only bytes can become a constant");
}

/// The same of a parameter that is a reference or a struct passed by value.
template <typename T>
[[gnu::noinline]] PROTEUS_HOST_DEVICE std::enable_if_t<!std::is_pointer_v<T>>
jit_object(T&, std::size_t = sizeof(T)) noexcept {
  static_assert(detail::IsBytes<T>, "only bytes can become a constant");
}

#if defined(__CUDACC__) || defined(__HIP__) || defined(__CUDA__)
/// Shared memory for `N` elements of `ElemSize` bytes each, where `N` is at most `MaxN`. An
/// ahead-of-time build has room for `MaxN` elements; code compiled at run time, where `N` is
/// constant, for `N`. `UniqueID` distinguishes the arrays of one kernel.
template <typename T, std::size_t MaxN, int UniqueID = 0>
[[gnu::noinline]] __device__ T* shared_array(std::size_t /*N*/,
                                             std::size_t /*ElemSize*/ = sizeof(T)) {
  alignas(16) static __shared__ unsigned char Memory[MaxN * sizeof(T)];
  return reinterpret_cast<T*>(Memory);
}
#endif

/// The value that a captured variable of a lambda has: `[=, A = proteus::jit_variable(A)]`. It
/// becomes a constant once the lambda is registered. The compiler plugin fills in `Slot`.
template <typename T> [[gnu::noinline]] T jit_variable(T V, int Slot = -1) noexcept {
  static_assert(std::is_scalar_v<T>, "only scalars can become a constant");
  if (Slot >= 0 && !std::is_pointer_v<T> && sizeof(T) == sizeof(short))
    reportFatalError("JIT Incompatible type in runtime constant: " + std::to_string(INT16));
  return V;
}

namespace detail {

/// FNV-1a of a closure type's name.
template <typename L> constexpr std::uint64_t functorId() {
  std::uint64_t Hash = 0xcbf29ce484222325;
  for (const char* At = __PRETTY_FUNCTION__; *At; ++At)
    Hash = (Hash ^ static_cast<unsigned char>(*At)) * 0x100000001b3;
  return Hash;
}

/// A registered lambda: it is called as the lambda is, and holds its variables by itself.
template <std::uint64_t ID, typename L> struct LambdaFunctorWrapper {
  using LambdaType = L;
  static constexpr std::uint64_t functor_id = ID;
  L lambda;

  template <typename... A>
  PROTEUS_HOST_DEVICE auto operator()(A&&... Args) const
      -> decltype(std::declval<const L&>()(std::forward<A>(Args)...)) {
    return lambda(std::forward<A>(Args)...);
  }
  template <typename... A>
  PROTEUS_HOST_DEVICE auto operator()(A&&... Args)
      -> decltype(std::declval<L&>()(std::forward<A>(Args)...)) {
    return lambda(std::forward<A>(Args)...);
  }
};

template <typename T> inline constexpr bool IsRegistered = false;
template <std::uint64_t ID, typename L>
inline constexpr bool IsRegistered<LambdaFunctorWrapper<ID, L>> = true;

/// The compiler plugin fills in `Note`; it knows the closure's type by the distance of the two.
template <typename L>
[[gnu::noinline]] void noteClosure(const L* /*Begin*/, const L* /*End*/,
                                   mneme_closure_note* Note = nullptr) noexcept {
  if (Note && mneme_jit_note_closure)
    mneme_jit_note_closure(Note);
}

template <typename T> void noteClosureOf(const T& Lambda) noexcept {
  static_assert(!IsRegistered<T>, "the lambda is registered already: use what that returned");
  const T* const At = std::addressof(Lambda);
  noteClosure(At, At + 1);
}

} // namespace detail

#ifdef PROTEUS_NODISCARD_LAMBDAS
#define PROTEUS_REGISTERED [[nodiscard]]
#else
#define PROTEUS_REGISTERED
#endif

#ifdef PROTEUS_LAMBDAS_BY_REFERENCE
/// What jit_variable() gave to a lambda becomes constant where it is called or launched from now
/// on. Host: the lambda needs annotate("jit"); device: the kernel does.
template <typename T> PROTEUS_REGISTERED T&& register_lambda(T&& L) noexcept {
  detail::noteClosureOf(L);
  return static_cast<T&&>(L);
}
#else
/// What jit_variable() gave to a lambda becomes constant where it is called or launched from now
/// on, as itself or as the copy that this returns. Host: the lambda needs annotate("jit"); device:
/// the kernel does. A lambda that cannot be copied is returned as a reference.
template <typename T> PROTEUS_REGISTERED decltype(auto) register_lambda(T&& L) noexcept {
  using Lambda = std::decay_t<T>;
  detail::noteClosureOf(L);
  if constexpr (std::is_constructible_v<Lambda, T&&>)
    return detail::LambdaFunctorWrapper<detail::functorId<Lambda>(), Lambda>{static_cast<T&&>(L)};
  else
    return static_cast<T&&>(L);
}
#endif
#undef PROTEUS_REGISTERED

} // namespace proteus
