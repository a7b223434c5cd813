// Marks for what is constant at run time: kernels and host functions are compiled anew for the
// values they are called with. Headers only; the compiler plugin of mneme reads the marks, and
// without it they have no effect. docs/jit.md is the guide.
//
//   __attribute__((annotate("jit", 1, 2))) void f(int a, double b, ...);   // arguments, 1-based
//   void g(int* weights, int n) { proteus::jit_array(weights, n); ... }    // from inside
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <proteus/CompilerInterfaceTypes.h>
#include <proteus/Init.h>

#if defined(__CUDACC__) || defined(__HIP__) || defined(__CUDA__)
#define PROTEUS_HOST_DEVICE __host__ __device__
#else
#define PROTEUS_HOST_DEVICE
#endif

extern "C" {
// Weak: null in a program that is not linked with libmneme_rt.
[[gnu::weak]] void mneme_jit_lambda_value(int slot, int offset, int32_t type, const void* value,
                                          std::size_t sizeBytes);
[[gnu::weak]] void mneme_jit_register_lambda(const char* type, const void* closure,
                                             std::size_t sizeBytes);
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

namespace detail {

template <typename T> constexpr int32_t constantTypeOf() {
  using V = std::remove_cv_t<T>;
  if constexpr (std::is_enum_v<V>)
    return constantTypeOf<std::underlying_type_t<V>>();
  else if constexpr (std::is_same_v<V, bool>)
    return BOOL;
  else if constexpr (std::is_pointer_v<V>)
    return PTR;
  else if constexpr (std::is_same_v<V, float>)
    return FLOAT;
  else if constexpr (std::is_same_v<V, double>)
    return DOUBLE;
  else if constexpr (std::is_same_v<V, long double>)
    return LONG_DOUBLE;
  else
    return sizeof(V) == 1 ? INT8 : sizeof(V) == 2 ? INT16 : sizeof(V) == 4 ? INT32 : INT64;
}

/// Bytes of a value that have a meaning.
template <typename T>
constexpr std::size_t ConstantBytes =
    std::is_same_v<std::remove_cv_t<T>, long double> && sizeof(T) == 16 ? 10 : sizeof(T);

} // namespace detail

/// The value that a captured variable of a lambda has: `[=, A = proteus::jit_variable(A)]`. It
/// becomes a constant once the lambda is registered. The compiler plugin fills in the rest.
template <typename T>
[[gnu::noinline]] T jit_variable(T V, int Pos = -1, int Offset = -1,
                                 [[maybe_unused]] const char* Lambda = "") noexcept {
  static_assert(std::is_scalar_v<T>, "only scalars can become a constant");
  if (Pos >= 0 && detail::constantTypeOf<T>() == INT16)
    reportFatalError("JIT Incompatible type in runtime constant: " + std::to_string(INT16));
  if (Pos >= 0 && mneme_jit_lambda_value)
    mneme_jit_lambda_value(Pos, Offset, detail::constantTypeOf<T>(), &V, detail::ConstantBytes<T>);
  return V;
}

/// Takes note of what jit_variable() gave to a lambda, before it is called or launched. Without new
/// values it keeps those it had. Host: the lambda needs annotate("jit"); device: the kernel does.
template <typename T>
[[gnu::noinline]] T&& register_lambda(T&& L, const char* Symbol = "") noexcept {
  if (*Symbol && mneme_jit_register_lambda)
    mneme_jit_register_lambda(Symbol, static_cast<const void*>(__builtin_addressof(L)),
                              sizeof(std::remove_reference_t<T>));
  return static_cast<T&&>(L);
}

} // namespace proteus
