// Marks for what is constant at run time: kernels and host functions are compiled anew for the
// values they are called with. Headers only; the compiler plugin of mneme reads the marks, and
// without it they have no effect. docs/jit.md is the guide.
//
//   __attribute__((annotate("jit", 1, 2))) void f(int a, double b, ...);   // arguments, 1-based
//   void g(int* weights, int n) { proteus::jit_array(weights, n); ... }    // from inside
#pragma once

#include <cstddef>
#include <type_traits>

#include <proteus/CompilerInterfaceTypes.h>
#include <proteus/Init.h>

#if defined(__CUDACC__) || defined(__HIP__) || defined(__CUDA__)
#define PROTEUS_HOST_DEVICE __host__ __device__
#else
#define PROTEUS_HOST_DEVICE
#endif

namespace proteus {
namespace detail {

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

/// The `N` elements that the parameter `Ptr` points to become constants; they are read at every
/// call, on the host. `N` is a constant or a parameter. The elements must not be written to.
template <typename T>
[[gnu::noinline]] PROTEUS_HOST_DEVICE std::enable_if_t<std::is_pointer_v<T>>
jit_array(T, std::size_t, std::remove_cv_t<std::remove_pointer_t<T>> = {},
          std::size_t = sizeof(std::remove_pointer_t<T>)) noexcept {}

/// The object that the parameter `V` points to becomes a constant, all of its `Size` bytes. They
/// are read at every call, on the host, and must not be written to.
template <typename T>
[[gnu::noinline]] PROTEUS_HOST_DEVICE void jit_object(T*, std::size_t = sizeof(T)) noexcept {
  static_assert(std::is_trivially_copyable_v<T>, "only bytes can become a constant");
}

/// The same of a parameter that is a reference or a struct passed by value.
template <typename T>
[[gnu::noinline]] PROTEUS_HOST_DEVICE std::enable_if_t<!std::is_pointer_v<T>>
jit_object(T&, std::size_t = sizeof(T)) noexcept {
  static_assert(std::is_trivially_copyable_v<T>, "only bytes can become a constant");
}

} // namespace proteus
