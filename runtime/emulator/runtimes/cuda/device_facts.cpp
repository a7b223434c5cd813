#include "runtime/emulator/runtimes/cuda/device_facts.h"

#include <dlfcn.h>

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

/// CUDA version as 1000 * major + 10 * minor: 12.9 when the program is linked to libcudart.so.12,
/// else 13.0.
int runtimeVersion() noexcept {
  static const int version = [] {
    void* library = dlopen("libcudart.so.12", RTLD_NOLOAD | RTLD_LAZY);
    if (library)
      dlclose(library);
    return library ? 12090 : 13000;
  }();
  return version;
}

bool edgesHaveData() noexcept { return runtimeVersion() >= 13000; }

} // namespace mneme::cpu_runtime
