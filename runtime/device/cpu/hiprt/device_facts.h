// Room device/cpu/hiprt: what this device says about itself as a HIP device. Limits follow gfx90a,
// so that a program takes the same decisions as on the GPU it is built for.
#pragma once

#include <cstddef>

namespace mneme::hiprt {

inline constexpr const char* kArchName = "gfx90a:sramecc+:xnack-";
inline constexpr int kWarpSize = 64;
inline constexpr int kMaxThreadsPerBlock = 1024;
inline constexpr int kMaxBlockDim = 1024;
inline constexpr int kMaxGridDim[3] = {2147483647, 65536, 65536};
inline constexpr int kThreadsPerMultiprocessor = 2048;
inline constexpr int kBlocksPerMultiprocessor = 32;
inline constexpr size_t kSharedPerBlock = 64 * 1024;
inline constexpr int kRegisters = 65536;
inline constexpr int kMaxPitch = 2147483647;
inline constexpr int kConstantBytes = 2147483647;
inline constexpr int kTextureAlignment = 256;
inline constexpr int kClockKilohertz = 1700000;
inline constexpr int kMemoryClockKilohertz = 1600000;
inline constexpr int kTimerKilohertz = 100000;
inline constexpr int kMemoryBusWidth = 4096;
inline constexpr int kL2Bytes = 8 * 1024 * 1024;
inline constexpr int kMajor = 9;
inline constexpr int kMinor = 0;

/// Major version of the runtime the program is linked with, by its libamdhip64.so.N: 5, 6 or 7.
int runtimeMajor() noexcept;

} // namespace mneme::hiprt
