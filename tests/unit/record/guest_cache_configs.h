// Launches under what a program to be recorded prefers of the L1 cache.
#pragma once

#include <cstdio>

#include "tests/unit/record/guest_driver.h"
#include "tests/unit/record/guest_kernel.h"

namespace mneme::record::test {

/// For the kernel, then for the context, too.
inline void launchWithCacheConfigs(GuestKernel kernel, float* data) {
  const auto* const handle = reinterpret_cast<const void*>(kernel);
  launchKernel(kernel, data, 50);
  std::printf("kernel %d", cudaFuncSetCacheConfig(handle, 2));
  launchKernel(kernel, data, 51);
  std::printf(" context %d", ofDriver("cuCtxSetCacheConfig", 1));
  launchKernel(kernel, data, 52);
  std::printf(" kernel %d %d\n", cudaFuncSetCacheConfig(handle, 0),
              cudaFuncSetCacheConfig(nullptr, 3)); // which is refused
  launchKernel(kernel, data, 53);
}

/// A kernel of code that the program loads itself: all have the same handle, one after another.
/// Returns it.
inline void* launchLoaded(float* data, int count, int config) {
  void *module = nullptr, *function = nullptr, *none = nullptr;
  std::printf("load %d",
              ofDriver("cuModuleLoadDataEx", &module, kernelImage<2>("{}").data(), 0u, none, none));
  std::printf(" kernel %d", ofDriver("cuModuleGetFunction", &function, module, "_Z5otherPfi"));
  if (config != 0)
    std::printf(" config %d", ofDriver("cuFuncSetCacheConfig", function, config));
  void* args[] = {&data, &count};
  std::printf(" launch %d", ofDriver("cuLaunchKernel", function, 1u, 1u, 1u, 32u, 1u, 1u, 0u, none,
                                     static_cast<void**>(args), static_cast<void**>(nullptr)));
  std::printf(" unload %d\n", ofDriver("cuModuleUnload", module));
  return function;
}

/// Code that takes the place of other code, whose kernel the program preferred something for.
inline void launchAfterUnloads(GuestKernel kernel, float* data) {
  const auto* const handle = reinterpret_cast<const void*>(kernel);
  const mneme_module_entry* const unit = registerKernel<2>(kernel, {});
  std::printf("kernel %d\n", cudaFuncSetCacheConfig(handle, 2));
  launchKernel(kernel, data, 70);
  mneme_rt_unregister_module(unit);
  mneme_rt_register_module(unit);
  launchKernel(kernel, data, 71);
  launchLoaded(data, 72, 2);
  void* const unknown = launchLoaded(data, 73, 0);
  std::printf("unknown %d\n", ofDriver("cuFuncSetCacheConfig", unknown, 2));
  mneme_rt_unregister_module(unit); // any code may be the handle's
  launchLoaded(data, 74, 0);
}

} // namespace mneme::record::test
