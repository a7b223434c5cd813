// Room recorder: code objects that a program of the HIP runtime loads itself, and launches of their
// kernels. What is done about them is in ../loaded_code.h.
#include "runtime/recorder/interpose/alike.h"
#include "runtime/recorder/loaded_code.h"
#include "runtime/recorder/recorder_exported.h"

using namespace mneme::record;

namespace {

constexpr const char* kPartialBlock =
    "a kernel was launched by hipExtModuleLaunchKernel with a last block that is not full; it is "
    "not recorded";
constexpr const char *kMangledExt =
                         "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihip"
                         "Stream_tPPvS4_P11ihipEvent_tS6_j",
                     *kMangledHcc =
                         "_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihip"
                         "Stream_tPPvS4_P11ihipEvent_tS6_";

/// The last parameter is there for one of the two functions only.
using InThreads = int (*)(const void* kernel, unsigned threadsX, unsigned threadsY,
                          unsigned threadsZ, unsigned blockX, unsigned blockY, unsigned blockZ,
                          size_t sharedBytes, void* stream, void** args, void** extra,
                          void* startEvent, void* stopEvent, unsigned flags);

InThreads findEither(const char* name, const char* mangled) {
  const auto found = find<InThreads>(name);
  return found ? found : find<InThreads>(mangled);
}

/// The grid of `asWritten` counts threads.
int launchInThreads(const LoadedLaunch& asWritten, InThreads launch, void* startEvent,
                    void* stopEvent, unsigned flags) {
  const auto& [x, y, z] = asWritten.grid;
  const mneme_dim3& block = asWritten.block;
  const auto next = [&] {
    return launch ? launch(asWritten.function, x, y, z, block.x, block.y, block.z,
                           asWritten.sharedBytes, asWritten.stream, asWritten.args, asWritten.extra,
                           startEvent, stopEvent, flags)
                  : kInitializationError;
  };
  if (!block.x || !block.y || !block.z)
    return next();
  if (x % block.x || y % block.y || z % block.z)
    return watchUnrecorded(kPartialBlock, asWritten.function, next);
  LoadedLaunch inBlocks = asWritten;
  inBlocks.grid = {x / block.x, y / block.y, z / block.z};
  return launchLoaded(inBlocks, next);
}

} // namespace

MNEME_RECORD_API int hipModuleLoad(void** module, const char* path) {
  return watchModuleFile(module, path,
                         [&] { return forward<hipModuleLoad>("hipModuleLoad", module, path); });
}

MNEME_RECORD_API int hipModuleLoadData(void** module, const void* image) {
  return watchModule(module, image, [&] {
    return forward<hipModuleLoadData>("hipModuleLoadData", module, image);
  });
}

MNEME_RECORD_API int hipModuleLoadDataEx(void** module, const void* image, unsigned count,
                                         int* options, void** values) {
  return watchModule(module, image, [&] {
    return forward<hipModuleLoadDataEx>("hipModuleLoadDataEx", module, image, count, options,
                                        values);
  });
}

MNEME_RECORD_API int hipModuleLoadFatBinary(void** module, const void* image) {
  return watchModule(module, image, [&] {
    return forward<hipModuleLoadFatBinary>("hipModuleLoadFatBinary", module, image);
  });
}

MNEME_RECORD_API int hipModuleUnload(void* module) {
  return watchModuleUnload(module,
                           [&] { return forward<hipModuleUnload>("hipModuleUnload", module); });
}

MNEME_RECORD_API int hipModuleGetFunction(const void** function, void* module, const char* name) {
  return watchModuleKernel(function, module, name, [&] {
    return forward<hipModuleGetFunction>("hipModuleGetFunction", function, module, name);
  });
}

MNEME_RECORD_API int hipGetFuncBySymbol(const void** function, const void* kernel) {
  return watchAlias(function, kernel, [&] {
    return forward<hipGetFuncBySymbol>("hipGetFuncBySymbol", function, kernel);
  });
}

MNEME_RECORD_API int hipDrvLaunchKernelEx(const DriverLaunch* config, const void* kernel,
                                          void** args, void** extra) {
  const auto next = [&] {
    return forward<hipDrvLaunchKernelEx>("hipDrvLaunchKernelEx", config, kernel, args, extra);
  };
  return config ? launchDriver(*config, config->stream, kernel, args, extra, next) : next();
}

MNEME_RECORD_API int hipModuleLaunchKernel(const void* kernel, unsigned gridX, unsigned gridY,
                                           unsigned gridZ, unsigned blockX, unsigned blockY,
                                           unsigned blockZ, unsigned sharedBytes, void* stream,
                                           void** args, void** extra) {
  const LoadedLaunch launch{.function = kernel,
                            .grid = {gridX, gridY, gridZ},
                            .block = {blockX, blockY, blockZ},
                            .sharedBytes = sharedBytes,
                            .stream = stream,
                            .args = args,
                            .extra = extra};
  return launchLoaded(launch, [&] {
    return forward<hipModuleLaunchKernel>("hipModuleLaunchKernel", kernel, gridX, gridY, gridZ,
                                          blockX, blockY, blockZ, sharedBytes, stream, args, extra);
  });
}

MNEME_RECORD_API int hipModuleLaunchCooperativeKernel(const void* kernel, unsigned gridX,
                                                      unsigned gridY, unsigned gridZ,
                                                      unsigned blockX, unsigned blockY,
                                                      unsigned blockZ, unsigned sharedBytes,
                                                      void* stream, void** args) {
  const LoadedLaunch launch{.function = kernel,
                            .grid = {gridX, gridY, gridZ},
                            .block = {blockX, blockY, blockZ},
                            .sharedBytes = sharedBytes,
                            .stream = stream,
                            .args = args,
                            .isCooperative = true};
  return launchLoaded(launch, [&] {
    return forward<hipModuleLaunchCooperativeKernel>("hipModuleLaunchCooperativeKernel", kernel,
                                                     gridX, gridY, gridZ, blockX, blockY, blockZ,
                                                     sharedBytes, stream, args);
  });
}

MNEME_RECORD_API int hipExtModuleLaunchKernel(const void* kernel, unsigned threadsX,
                                              unsigned threadsY, unsigned threadsZ, unsigned blockX,
                                              unsigned blockY, unsigned blockZ, size_t sharedBytes,
                                              void* stream, void** args, void** extra,
                                              void* startEvent, void* stopEvent, unsigned flags) {
  static const auto launch = findEither("hipExtModuleLaunchKernel", kMangledExt);
  return launchInThreads({.function = kernel,
                          .grid = {threadsX, threadsY, threadsZ},
                          .block = {blockX, blockY, blockZ},
                          .sharedBytes = sharedBytes,
                          .stream = stream,
                          .args = args,
                          .extra = extra},
                         launch, startEvent, stopEvent, flags);
}

MNEME_RECORD_API int hipHccModuleLaunchKernel(const void* kernel, unsigned threadsX,
                                              unsigned threadsY, unsigned threadsZ, unsigned blockX,
                                              unsigned blockY, unsigned blockZ, size_t sharedBytes,
                                              void* stream, void** args, void** extra,
                                              void* startEvent, void* stopEvent) {
  static const auto launch = findEither("hipHccModuleLaunchKernel", kMangledHcc);
  return launchInThreads({.function = kernel,
                          .grid = {threadsX, threadsY, threadsZ},
                          .block = {blockX, blockY, blockZ},
                          .sharedBytes = sharedBytes,
                          .stream = stream,
                          .args = args,
                          .extra = extra},
                         launch, startEvent, stopEvent, 0);
}

// The names HIP 5 gives them.
MNEME_RECORD_API int
_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j(
    const void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, size_t, void*, void**,
    void**, void*, void*, unsigned) __attribute__((alias("hipExtModuleLaunchKernel")));
MNEME_RECORD_API int
_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_(
    const void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, size_t, void*, void**,
    void**, void*, void*) __attribute__((alias("hipHccModuleLaunchKernel")));
