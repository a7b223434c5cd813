// A tool that is preloaded beside the recorder, as profilers are: counts calls of HIP and passes
// them on.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>

namespace {

struct Dim3 {
  unsigned x, y, z;
};
int launches = 0, moduleLaunches = 0;

[[gnu::destructor]] void say() {
  std::fprintf(stderr, "tool: %d launches, %d of modules\n", launches, moduleLaunches);
}

template <typename Function> Function* next(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

} // namespace

extern "C" int hipLaunchKernel(const void* kernel, Dim3 grid, Dim3 block, void** args,
                               size_t sharedBytes, void* stream) {
  ++launches;
  return next(hipLaunchKernel, "hipLaunchKernel")(kernel, grid, block, args, sharedBytes, stream);
}

extern "C" int hipModuleLaunchKernel(const void* kernel, unsigned gridX, unsigned gridY,
                                     unsigned gridZ, unsigned blockX, unsigned blockY,
                                     unsigned blockZ, unsigned sharedBytes, void* stream,
                                     void** args, void** extra) {
  ++moduleLaunches;
  return next(hipModuleLaunchKernel, "hipModuleLaunchKernel")(
      kernel, gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream, args, extra);
}
