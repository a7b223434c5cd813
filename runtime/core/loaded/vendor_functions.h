// Room core/loaded: calls the vendor's function that one of ours stands before. HIP's numbers are
// identical to CUDA's.
#pragma once

#include <array>
#include <atomic>

#include "runtime/core/loaded/next_symbol.h"

namespace mneme::loaded {

inline constexpr int kInitializationError = 3;

/// Shared runtimes and drivers that an application may have opened itself, outside the global
/// scope.
inline constexpr std::array<const char*, 8> kLibraries = {
    "libcudart.so.13",  "libcudart.so.12",  "libcudart.so.11.0", "libcuda.so.1",
    "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",  "libamdhip64.so"};

/// Where functions of CUDA's driver are, for those whose names say that they are its own.
inline constexpr std::array<const char*, 1> kDriverLibraries = {"libcuda.so.1"};

template <typename Function> Function find(const char* name) {
  return reinterpret_cast<Function>(nextSymbol(name, kLibraries));
}

/// Calls the vendor's function of this name, which is looked up until it is there. `Self` is the
/// function that replaces it. If the function is missing, reports an uninitialised runtime.
template <auto Self, typename... Args> int forward(const char* name, Args... args) {
  static constinit std::atomic<decltype(Self)> known{nullptr};
  auto next = known.load(std::memory_order_relaxed);
  if (!next) {
    next = find<decltype(Self)>(name);
    known.store(next, std::memory_order_relaxed);
  }
  return next ? next(args...) : kInitializationError;
}

/// The handles that always denote the two default streams, unlike null, whose meaning depends on
/// the function.
inline void* legacyStream(void* stream) noexcept {
  return stream ? stream : reinterpret_cast<void*>(1);
}
inline void* perThreadStream(void* stream) noexcept {
  return stream ? stream : reinterpret_cast<void*>(2);
}

} // namespace mneme::loaded
