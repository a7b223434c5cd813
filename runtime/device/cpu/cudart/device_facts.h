// Room device/cpu/cudart: what this device says about itself. Limits follow compute capability 9.0,
// so that a program takes the same decisions as on the GPU it is built for; the number of
// multiprocessors is the number of workers.
#pragma once

#include <cstddef>
#include <string>

namespace mneme::cudart {

inline constexpr int kWarpSize = 32;
inline constexpr int kMaxThreadsPerBlock = 1024;
inline constexpr int kMaxBlockDim[3] = {1024, 1024, 64};
inline constexpr int kMaxGridDim[3] = {2147483647, 65535, 65535};
inline constexpr int kThreadsPerMultiprocessor = 2048;
inline constexpr int kBlocksPerMultiprocessor = 32;
inline constexpr size_t kSharedPerBlock = 48 * 1024;
inline constexpr size_t kSharedPerBlockOptin = 227 * 1024;
inline constexpr size_t kSharedPerMultiprocessor = 228 * 1024;
inline constexpr size_t kReservedSharedPerBlock = 1024;
inline constexpr int kMaxClusterBlocks = 8;

int multiprocessorCount() noexcept;
/// "CPU (AMD EPYC 7B13)"
const std::string& deviceName();
/// CUDA version as 1000 * major + 10 * minor: 12.9 when the program is linked to libcudart.so.12,
/// else 13.0.
int runtimeVersion() noexcept;

} // namespace mneme::cudart
