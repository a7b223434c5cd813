// Room emulator/runtimes: the properties that this device reports as a CUDA device. Limits are
// those of compute capability 9.0, so that a program makes the same decisions as on the GPU that it
// is built for.
#pragma once

#include <cstddef>

namespace mneme::cpu_runtime {

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

/// Returns the release of CUDA (12 or 13) whose shared runtime is loaded; 0 if none is.
int sharedToolkit() noexcept;
/// Makes this library serve callers of a runtime of this release, unless it serves another one
/// already. Returns the one that it serves.
int serveToolkit(int release) noexcept;

} // namespace mneme::cpu_runtime
