// Room recorder: what the vendors' runtimes have in common. HIP's numbers and structures are
// identical to CUDA's.
#pragma once

#include <array>
#include <atomic>

#include "runtime/recorder/next_symbol.h"
#include "runtime/recorder/record_backend.h"

namespace mneme::record {

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

/// Backend::functionsAcrossGrids() of each vendor: multi_grid_group of cooperative groups.
inline constexpr std::array kCudaFunctionsAcrossGrids = {"cudaCG"};
inline constexpr std::array kHipFunctionsAcrossGrids = {"__ockl_multi_grid"};
inline constexpr std::array kFunctionsAcrossGrids = {kCudaFunctionsAcrossGrids[0],
                                                     kHipFunctionsAcrossGrids[0]};

/// Implements Backend::capturing() from the result and status of the vendor's function.
Capturing capturingBy(int result, int captureStatus) noexcept;

/// Implements Backend::nameOf() by CUDA's functions, of which CUDA 12.3 was the first to have some.
std::string nameByCuda(const void* kernel);

/// Implements Backend::traitsOf() from the attributes of a launch.
LaunchTraits traitsByAttributes(const mneme_launch& launch) noexcept;

} // namespace mneme::record
