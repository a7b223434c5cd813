// Room recorder: what programs say of the L1 cache for single kernels, by CUDA's runtime and
// driver. The shared runtime goes on to the driver, which has handles of its own. What is set for
// a context the driver tells.
#include "runtime/recorder/interpose/alike.h"
#include "runtime/recorder/recorder_exported.h"

using namespace mneme::record;

MNEME_RECORD_API int cudaFuncSetCacheConfig(const void* kernel, int config) {
  return watchCacheConfig(kernel, config, std::nullopt, [&] {
    return forward<cudaFuncSetCacheConfig>("cudaFuncSetCacheConfig", kernel, config);
  });
}

MNEME_RECORD_API int cuFuncSetCacheConfig(const void* function, int config) {
  return watchCacheConfig(function, config, std::nullopt, [&] {
    return forward<cuFuncSetCacheConfig>("cuFuncSetCacheConfig", function, config);
  });
}

MNEME_RECORD_API int cuKernelSetCacheConfig(const void* kernel, int config, int device) {
  return watchCacheConfig(kernel, config, device, [&] {
    return forward<cuKernelSetCacheConfig>("cuKernelSetCacheConfig", kernel, config, device);
  });
}
