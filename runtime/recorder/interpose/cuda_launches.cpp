// Room recorder: work of CUDA that does not come through libmneme_rt: it is passed on and
// named in the summary. Kernels of the program that are launched past it are recorded all the same.
#include "runtime/core/abi/mneme_rt.h"
#include "runtime/recorder/interpose/alike.h"
#include "runtime/recorder/recorder_exported.h"

using namespace mneme::record;

MNEME_RECORD_API int cudaLaunchKernel(const void* kernel, mneme_dim3 grid, mneme_dim3 block,
                                      void** args, size_t sharedBytes, void* stream) {
  return watchKernel({.function = kernel,
                      .grid = grid,
                      .block = block,
                      .sharedBytes = sharedBytes,
                      .stream = legacyStream(stream),
                      .args = args},
                     [&] {
                       return forward<cudaLaunchKernel>("cudaLaunchKernel", kernel, grid, block,
                                                        args, sharedBytes, stream);
                     });
}

MNEME_RECORD_API int cudaLaunchKernel_ptsz(const void* kernel, mneme_dim3 grid, mneme_dim3 block,
                                           void** args, size_t sharedBytes, void* stream) {
  return watchKernel({.function = kernel,
                      .grid = grid,
                      .block = block,
                      .sharedBytes = sharedBytes,
                      .stream = perThreadStream(stream),
                      .args = args},
                     [&] {
                       return forward<cudaLaunchKernel_ptsz>("cudaLaunchKernel_ptsz", kernel, grid,
                                                             block, args, sharedBytes, stream);
                     });
}

MNEME_RECORD_API int cudaLaunchCooperativeKernel(const void* kernel, mneme_dim3 grid,
                                                 mneme_dim3 block, void** args, size_t sharedBytes,
                                                 void* stream) {
  return watchKernel({.function = kernel,
                      .grid = grid,
                      .block = block,
                      .sharedBytes = sharedBytes,
                      .stream = legacyStream(stream),
                      .args = args,
                      .isCooperative = true},
                     [&] {
                       return forward<cudaLaunchCooperativeKernel>("cudaLaunchCooperativeKernel",
                                                                   kernel, grid, block, args,
                                                                   sharedBytes, stream);
                     });
}

MNEME_RECORD_API int cudaLaunchCooperativeKernel_ptsz(const void* kernel, mneme_dim3 grid,
                                                      mneme_dim3 block, void** args,
                                                      size_t sharedBytes, void* stream) {
  return watchKernel({.function = kernel,
                      .grid = grid,
                      .block = block,
                      .sharedBytes = sharedBytes,
                      .stream = perThreadStream(stream),
                      .args = args,
                      .isCooperative = true},
                     [&] {
                       return forward<cudaLaunchCooperativeKernel_ptsz>(
                           "cudaLaunchCooperativeKernel_ptsz", kernel, grid, block, args,
                           sharedBytes, stream);
                     });
}

/// Exists in runtimes before CUDA 13.
MNEME_RECORD_API int cudaLaunchCooperativeKernelMultiDevice(RuntimeDeviceLaunch* launches,
                                                            unsigned count, unsigned flags) {
  return launchOnDevices<cudaLaunchCooperativeKernelMultiDevice>(
      "cudaLaunchCooperativeKernelMultiDevice", launches, count, flags, Together::Cooperative);
}

MNEME_RECORD_API int cudaLaunchKernelExC(const RuntimeLaunch* config, const void* kernel,
                                         void** args) {
  return watchKernel(config, config ? legacyStream(config->stream) : nullptr, kernel, args, [&] {
    return forward<cudaLaunchKernelExC>("cudaLaunchKernelExC", config, kernel, args);
  });
}

MNEME_RECORD_API int cudaLaunchKernelExC_ptsz(const RuntimeLaunch* config, const void* kernel,
                                              void** args) {
  return watchKernel(config, config ? perThreadStream(config->stream) : nullptr, kernel, args, [&] {
    return forward<cudaLaunchKernelExC_ptsz>("cudaLaunchKernelExC_ptsz", config, kernel, args);
  });
}
