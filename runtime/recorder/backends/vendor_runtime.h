// Room recorder: what the vendors' runtimes have in common. HIP's numbers and structures are
// identical to CUDA's.
#pragma once

#include <array>

#include "runtime/core/loaded/vendor_functions.h"
#include "runtime/recorder/record_backend.h"

namespace mneme::record {

using loaded::find;
using loaded::forward;
using loaded::kDriverLibraries;
using loaded::kInitializationError;
using loaded::kLibraries;
using loaded::legacyStream;
using loaded::perThreadStream;

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
