#include "runtime/nvcc/gpus.h"

#include <algorithm>
#include <exception>

#include "runtime/core/base/dynamic_library.h"
#include "runtime/devices/cuda/management_library.h"

namespace mneme::nvcc {
namespace {

template <typename Function> Function* symbolOf(const DynamicLibrary& library, const char* name) {
  return reinterpret_cast<Function*>(library.symbol(name));
}

std::vector<unsigned> askDriver() {
  constexpr int kMajor = 75, kMinor = 76; // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_...
  const DynamicLibrary library = DynamicLibrary::open("libcuda.so.1");
  std::vector<unsigned> found;
  int count = 0;
  if (symbolOf<int(unsigned)>(library, "cuInit")(0) != 0 ||
      symbolOf<int(int*)>(library, "cuDeviceGetCount")(&count) != 0)
    return found;
  const auto attribute = symbolOf<int(int*, int, int)>(library, "cuDeviceGetAttribute");
  for (int gpu = 0; gpu < count; ++gpu) {
    int major = 0, minor = 0;
    if (attribute(&major, kMajor, gpu) == 0 && attribute(&minor, kMinor, gpu) == 0)
      found.push_back(static_cast<unsigned>(10 * major + minor));
  }
  return found;
}

} // namespace

std::vector<unsigned> gpusHere() {
  for (const auto ask : {device::cuda::architecturesByNvml, askDriver}) {
    try {
      std::vector<unsigned> found = ask();
      if (found.empty())
        continue;
      std::sort(found.begin(), found.end());
      found.erase(std::unique(found.begin(), found.end()), found.end());
      return found;
    } catch (const std::exception&) {
      // Not on this machine; the next one is asked.
    }
  }
  return {};
}

} // namespace mneme::nvcc
