// Room device/cpu: device-side printf on the process's own stdout.
#pragma once

#include <cstdint>
#include <string>

namespace mneme::device::cpu {

/// Formats `format` with CUDA's packed argument buffer: C-promoted values, each aligned to its
/// size; strings are plain pointers. \p argumentCount receives the number of arguments taken. %n is
/// not a conversion on devices and is printed as it stands.
std::string formatPacked(const char* format, const void* packedArgs, int32_t& argumentCount);

/// Writes with one fwrite to stdout. Returns what device printf returns: the number of arguments,
/// or -1 for a null format.
int32_t devicePrintf(const char* format, const void* packedArgs);

} // namespace mneme::device::cpu
