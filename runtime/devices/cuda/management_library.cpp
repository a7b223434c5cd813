#include "runtime/devices/cuda/management_library.h"

#include <algorithm>

#include "runtime/core/base/dynamic_library.h"

namespace mneme::device::cuda {
namespace {

template <typename Function> Function* symbolOf(const DynamicLibrary& library, const char* name) {
  return reinterpret_cast<Function*>(library.symbol(name));
}

} // namespace

std::vector<unsigned> architecturesByNvml() {
  const DynamicLibrary library = DynamicLibrary::open("libnvidia-ml.so.1");
  std::vector<unsigned> found;
  if (symbolOf<int()>(library, "nvmlInit_v2")() != 0)
    return found;
  unsigned count = 0;
  if (symbolOf<int(unsigned*)>(library, "nvmlDeviceGetCount_v2")(&count) != 0)
    count = 0;
  const auto handleOf = symbolOf<int(unsigned, void**)>(library, "nvmlDeviceGetHandleByIndex_v2");
  const auto capabilityOf =
      symbolOf<int(void*, int*, int*)>(library, "nvmlDeviceGetCudaComputeCapability");
  for (unsigned index = 0; index < count; ++index) {
    void* gpu = nullptr;
    int major = 0, minor = 0;
    if (handleOf(index, &gpu) == 0 && capabilityOf(gpu, &major, &minor) == 0)
      found.push_back(static_cast<unsigned>(10 * major + minor));
  }
  symbolOf<int()>(library, "nvmlShutdown")();
  std::ranges::sort(found);
  const auto repeated = std::ranges::unique(found);
  found.erase(repeated.begin(), repeated.end());
  return found;
}

} // namespace mneme::device::cuda
