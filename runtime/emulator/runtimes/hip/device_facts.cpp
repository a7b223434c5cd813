#include "runtime/emulator/runtimes/hip/device_facts.h"

#include <cstdlib>

#include <dlfcn.h>

#include "runtime/emulator/runtimes/core/kernels.h"
#include "runtime/emulator/runtimes/core/vendor.h"

namespace mneme::cpu_runtime::hip {
namespace {

struct Library {
  int major;
  const char* name;
};
constexpr Library kLibraries[] = {
    {7, "libamdhip64.so.7"}, {6, "libamdhip64.so.6"}, {5, "libamdhip64.so.5"}};

} // namespace

int runtimeMajor() noexcept {
  static const int major = [] {
    for (const auto& [version, name] : kLibraries)
      if (void* library = dlopen(name, RTLD_NOLOAD | RTLD_LAZY)) {
        dlclose(library);
        return version;
      }
    return 6;
  }();
  return major;
}

const Arch& arch() {
  static const auto* found = [] {
    const std::string built = cpu_runtime::programArch();
    const std::string name = built.starts_with("gfx") && built.size() > 5 ? built : "gfx90a";
    const std::string majorText = name.substr(3, name.size() - 5);
    const int major = std::atoi(majorText.c_str());
    const int minor = name[name.size() - 2] - '0';
    const auto stepping = static_cast<int>(std::strtol(&name.back(), nullptr, 16));
    return new Arch{name, major, minor, stepping, major >= 10 ? 32 : 64};
  }();
  return *found;
}

} // namespace mneme::cpu_runtime::hip

namespace mneme::cpu_runtime {

using namespace mneme::cpu_runtime::hip;

constinit const Vendor vendor{
    .library = "libamdhip64.so",
    .allocate = "hipMalloc",
    .release = "hipFree",
    .fatbinWrapperMagic = 0x48495046,
    .warpSize = hip::kLargestWave,
    .maxThreadsPerBlock = hip::kMaxThreadsPerBlock,
    .maxBlockDim = {kMaxBlockDim, kMaxBlockDim, kMaxBlockDim},
    .maxGridDim = {kMaxGridDim[0], kMaxGridDim[1], kMaxGridDim[2]},
    .threadsPerMultiprocessor = kThreadsPerMultiprocessor,
    .blocksPerMultiprocessor = kBlocksPerMultiprocessor,
    .sharedPerBlock = kSharedPerBlock,
    .sharedPerBlockOptin = kSharedPerBlock,
    .sharedPerMultiprocessor = kSharedPerBlock,
    .reservedSharedPerBlock = 0,
    .maxClusterBlocks = 1,
    .copiesByEngine = true,
};

bool edgesHaveData() noexcept { return false; }

/// As HIP_VERSION counts: 10000000 * major + 100000 * minor + patch.
int runtimeVersion() noexcept {
  return runtimeMajor() * 10000000 + (runtimeMajor() == 5 ? 200000 : 0);
}

} // namespace mneme::cpu_runtime
