// Room recorder: code that a program of the CUDA driver API loads itself, and launches of its
// kernels. What is done about them is in ../loaded_code.h.
#include "runtime/recorder/interpose/alike.h"
#include "runtime/recorder/loaded_code.h"
#include "runtime/recorder/recorder_exported.h"

using namespace mneme::record;

namespace {

constexpr const char* kFunctionCount = "cuModuleGetFunctionCount";
constexpr const char* kKernelCount = "cuLibraryGetKernelCount";

template <const char* const* Name> unsigned countBy(void* module) {
  static const auto ask = find<int (*)(unsigned*, void*)>(*Name);
  unsigned count = 0;
  return ask && ask(&count, module) == 0 ? count : 0;
}

} // namespace

MNEME_RECORD_API int cuModuleLoad(void** module, const char* path) {
  return watchModuleFile(module, path,
                         [&] { return forward<cuModuleLoad>("cuModuleLoad", module, path); });
}

MNEME_RECORD_API int cuModuleLoadData(void** module, const void* image) {
  return watchModule(module, image,
                     [&] { return forward<cuModuleLoadData>("cuModuleLoadData", module, image); });
}

MNEME_RECORD_API int cuModuleLoadDataEx(void** module, const void* image, unsigned count,
                                        int* options, void** values) {
  return watchModule(module, image,
                     [&] {
                       return forward<cuModuleLoadDataEx>("cuModuleLoadDataEx", module, image,
                                                          count, options, values);
                     },
                     CodeKind::Module, {options, values, count});
}

MNEME_RECORD_API int cuModuleLoadFatBinary(void** module, const void* image) {
  return watchModule(module, image, [&] {
    return forward<cuModuleLoadFatBinary>("cuModuleLoadFatBinary", module, image);
  });
}

MNEME_RECORD_API int cuModuleUnload(void* module) {
  return watchModuleUnload(module,
                           [&] { return forward<cuModuleUnload>("cuModuleUnload", module); });
}

MNEME_RECORD_API int cuModuleGetFunction(const void** function, void* module, const char* name) {
  return watchModuleKernel(function, module, name, [&] {
    return forward<cuModuleGetFunction>("cuModuleGetFunction", function, module, name);
  });
}

MNEME_RECORD_API int cuModuleEnumerateFunctions(const void** functions, unsigned count,
                                                void* module) {
  return watchModuleKernels(functions, count, module, countBy<&kFunctionCount>, [&] {
    return forward<cuModuleEnumerateFunctions>("cuModuleEnumerateFunctions", functions, count,
                                               module);
  });
}

MNEME_RECORD_API int cuLibraryEnumerateKernels(const void** kernels, unsigned count,
                                               void* library) {
  return watchModuleKernels(kernels, count, library, countBy<&kKernelCount>, [&] {
    return forward<cuLibraryEnumerateKernels>("cuLibraryEnumerateKernels", kernels, count, library);
  });
}

MNEME_RECORD_API int cuLibraryLoadData(void** library, const void* image, int* options,
                                       void** values, unsigned count, int* ofLibrary,
                                       void** libraryValues, unsigned libraryCount) {
  return watchModule(library, image,
                     [&] {
                       return forward<cuLibraryLoadData>("cuLibraryLoadData", library, image,
                                                         options, values, count, ofLibrary,
                                                         libraryValues, libraryCount);
                     },
                     CodeKind::Library, {options, values, count});
}

MNEME_RECORD_API int cuLibraryLoadFromFile(void** library, const char* path, int* options,
                                           void** values, unsigned count, int* ofLibrary,
                                           void** libraryValues, unsigned libraryCount) {
  return watchModuleFile(library, path,
                         [&] {
                           return forward<cuLibraryLoadFromFile>(
                               "cuLibraryLoadFromFile", library, path, options, values, count,
                               ofLibrary, libraryValues, libraryCount);
                         },
                         CodeKind::Library, {options, values, count});
}

MNEME_RECORD_API int cuLibraryUnload(void* library) {
  return watchModuleUnload(library,
                           [&] { return forward<cuLibraryUnload>("cuLibraryUnload", library); });
}

MNEME_RECORD_API int cuLibraryGetModule(void** module, void* library) {
  return watchModuleOf(module, library, [&] {
    return forward<cuLibraryGetModule>("cuLibraryGetModule", module, library);
  });
}

MNEME_RECORD_API int cuLibraryGetKernel(const void** kernel, void* library, const char* name) {
  return watchModuleKernel(kernel, library, name, [&] {
    return forward<cuLibraryGetKernel>("cuLibraryGetKernel", kernel, library, name);
  });
}

MNEME_RECORD_API int cuKernelGetFunction(const void** function, const void* kernel) {
  return watchAlias(function, kernel, [&] {
    return forward<cuKernelGetFunction>("cuKernelGetFunction", function, kernel);
  });
}

MNEME_RECORD_API int cudaGetFuncBySymbol(const void** function, const void* kernel) {
  return watchShadow(function, kernel, [&] {
    return forward<cudaGetFuncBySymbol>("cudaGetFuncBySymbol", function, kernel);
  });
}

MNEME_RECORD_API int cuLaunchKernel(void* function, unsigned gridX, unsigned gridY, unsigned gridZ,
                                    unsigned blockX, unsigned blockY, unsigned blockZ,
                                    unsigned sharedBytes, void* stream, void** args, void** extra) {
  const LoadedLaunch launch{.function = function,
                            .grid = {gridX, gridY, gridZ},
                            .block = {blockX, blockY, blockZ},
                            .sharedBytes = sharedBytes,
                            .stream = legacyStream(stream),
                            .args = args,
                            .extra = extra};
  return launchLoaded(launch, [&] {
    return forward<cuLaunchKernel>("cuLaunchKernel", function, gridX, gridY, gridZ, blockX, blockY,
                                   blockZ, sharedBytes, stream, args, extra);
  });
}

MNEME_RECORD_API int cuLaunchKernel_ptsz(void* function, unsigned gridX, unsigned gridY,
                                         unsigned gridZ, unsigned blockX, unsigned blockY,
                                         unsigned blockZ, unsigned sharedBytes, void* stream,
                                         void** args, void** extra) {
  const LoadedLaunch launch{.function = function,
                            .grid = {gridX, gridY, gridZ},
                            .block = {blockX, blockY, blockZ},
                            .sharedBytes = sharedBytes,
                            .stream = perThreadStream(stream),
                            .args = args,
                            .extra = extra};
  return launchLoaded(launch, [&] {
    return forward<cuLaunchKernel_ptsz>("cuLaunchKernel_ptsz", function, gridX, gridY, gridZ,
                                        blockX, blockY, blockZ, sharedBytes, stream, args, extra);
  });
}

MNEME_RECORD_API int cuLaunchCooperativeKernel(void* function, unsigned gridX, unsigned gridY,
                                               unsigned gridZ, unsigned blockX, unsigned blockY,
                                               unsigned blockZ, unsigned sharedBytes, void* stream,
                                               void** args) {
  const LoadedLaunch launch{.function = function,
                            .grid = {gridX, gridY, gridZ},
                            .block = {blockX, blockY, blockZ},
                            .sharedBytes = sharedBytes,
                            .stream = legacyStream(stream),
                            .args = args,
                            .isCooperative = true};
  return launchLoaded(launch, [&] {
    return forward<cuLaunchCooperativeKernel>("cuLaunchCooperativeKernel", function, gridX, gridY,
                                              gridZ, blockX, blockY, blockZ, sharedBytes, stream,
                                              args);
  });
}

MNEME_RECORD_API int cuLaunchCooperativeKernelMultiDevice(DriverDeviceLaunch* launches,
                                                          unsigned count, unsigned flags) {
  return launchOnDevices<cuLaunchCooperativeKernelMultiDevice>(
      "cuLaunchCooperativeKernelMultiDevice", launches, count, flags, Together::Cooperative);
}

MNEME_RECORD_API int cuLaunchKernelEx(const DriverLaunch* config, void* function, void** args,
                                      void** extra) {
  const auto next = [&] {
    return forward<cuLaunchKernelEx>("cuLaunchKernelEx", config, function, args, extra);
  };
  return config ? launchDriver(*config, legacyStream(config->stream), function, args, extra, next)
                : next();
}

MNEME_RECORD_API int cuLaunchKernelEx_ptsz(const DriverLaunch* config, void* function, void** args,
                                           void** extra) {
  const auto next = [&] {
    return forward<cuLaunchKernelEx_ptsz>("cuLaunchKernelEx_ptsz", config, function, args, extra);
  };
  return config
             ? launchDriver(*config, perThreadStream(config->stream), function, args, extra, next)
             : next();
}
