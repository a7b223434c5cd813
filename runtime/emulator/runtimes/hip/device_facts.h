// Room emulator/runtimes: the properties that this device reports as a HIP device. Limits follow
// gfx90a; name and wavefront are those of the GPU the program is built for.
#pragma once

#include <cstddef>
#include <string>

namespace mneme::cpu_runtime::hip {

inline constexpr int kLargestWave = 64;
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

/// The GPU that the program's kernels are built for; gfx90a for a program without kernels.
struct Arch {
  std::string name; ///< "gfx1030"
  int major;        ///< 10
  int minor;        ///< 3
  int stepping;     ///< 0; 10 for gfx90a
  int waveSize;     ///< 32 since gfx10, otherwise 64
};
/// Determined at the first call, when the program has registered its kernels. \throws mneme::Error
const Arch& arch();

/// Returns the major version (5, 6 or 7) of the runtime that the program is linked with, from its
/// libamdhip64.so.N.
int runtimeMajor() noexcept;

} // namespace mneme::cpu_runtime::hip
