#include "runtime/emulator/runtimes/cuda/device_facts.h"

#include <atomic>
#include <string_view>

#include <link.h>

#include "runtime/emulator/runtimes/core/vendor.h"

namespace mneme::cpu_runtime {

constinit const Vendor vendor{
    .library = "libcudart.so",
    .allocate = "cudaMalloc",
    .release = "cudaFree",
    .fatbinWrapperMagic = 0x466243b1,
    .warpSize = kWarpSize,
    .maxThreadsPerBlock = kMaxThreadsPerBlock,
    .maxBlockDim = {kMaxBlockDim[0], kMaxBlockDim[1], kMaxBlockDim[2]},
    .maxGridDim = {kMaxGridDim[0], kMaxGridDim[1], kMaxGridDim[2]},
    .threadsPerMultiprocessor = kThreadsPerMultiprocessor,
    .blocksPerMultiprocessor = kBlocksPerMultiprocessor,
    .sharedPerBlock = kSharedPerBlock,
    .sharedPerBlockOptin = kSharedPerBlockOptin,
    .sharedPerMultiprocessor = kSharedPerMultiprocessor,
    .reservedSharedPerBlock = kReservedSharedPerBlock,
    .maxClusterBlocks = kMaxClusterBlocks,
    .copiesByEngine = false,
};

namespace {

/// 0: not known yet.
constinit std::atomic<int> servedRelease{0};

int noteShared(dl_phdr_info* info, size_t, void* user) noexcept {
  const std::string_view path(info->dlpi_name ? info->dlpi_name : "");
  const std::string_view name = path.substr(path.rfind('/') + 1);
  int& release = *static_cast<int*>(user);
  if (name.starts_with("libcudart.so.12"))
    release = 12;
  else if (name.starts_with("libcudart.so.13") && release == 0)
    release = 13;
  return release == 12;
}

} // namespace

int sharedToolkit() noexcept {
  int release = 0;
  dl_iterate_phdr(noteShared, &release);
  return release;
}

int serveToolkit(int release) noexcept {
  int known = 0;
  return servedRelease.compare_exchange_strong(known, release) ? release : known;
}

/// CUDA version as 1000 * major + 10 * minor: 12.9 for callers of CUDA 12's runtime, else 13.0.
int runtimeVersion() noexcept {
  int release = servedRelease.load();
  if (release == 0)
    if (const int shared = sharedToolkit())
      release = serveToolkit(shared);
  return release == 12 ? 12090 : 13000;
}

bool edgesHaveData() noexcept { return runtimeVersion() >= 13000; }

} // namespace mneme::cpu_runtime
