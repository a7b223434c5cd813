// Room recorder: work of the HIP runtime that does not come through libmneme_rt. What cannot be
// recorded is passed on and named in the summary.
#include "runtime/core/abi/mneme_rt.h"
#include "runtime/recorder/interpose/alike.h"
#include "runtime/recorder/open_captures.h"
#include "runtime/recorder/recorder_exported.h"

using namespace mneme::record;

namespace {

constexpr const char* kExtendedLaunch =
    "a kernel was launched by hipExtLaunchKernel in any order; it is not recorded";

bool isInstrumented(const void* kernel) noexcept {
  const mneme_module_entry* module = nullptr;
  const char* name = nullptr;
  return mneme_rt_find_kernel(kernel, &module, &name) != 0;
}

/// Which refuses kernels and dimensions that differ where HIP before takes them.
bool isHip7() noexcept {
  constexpr int kHip7 = 70000000;
  const auto versionOf = find<int (*)(int*)>("hipRuntimeGetVersion");
  int version = 0;
  return versionOf && versionOf(&version) == 0 && version >= kHip7;
}

/// A launch between two events, either of which may be null: what hipExtLaunchKernel does, but that
/// its events take the times of the kernel alone.
int launchBetween(const mneme_launch& launch, void* startEvent, void* stopEvent) {
  static const auto recordEvent = find<int (*)(void*, void*)>("hipEventRecord");
  const auto mark = [&](void* event) { return event ? recordEvent(event, launch.stream) : 0; };
  int status = mark(startEvent);
  if (status == 0)
    status = mneme_launch_kernel(&launch);
  return status == 0 ? mark(stopEvent) : status;
}

} // namespace

MNEME_RECORD_API int hipLaunchKernel(const void* kernel, mneme_dim3 grid, mneme_dim3 block,
                                     void** args, size_t sharedBytes, void* stream) {
  return watchKernel({.function = kernel,
                      .grid = grid,
                      .block = block,
                      .sharedBytes = sharedBytes,
                      .stream = stream,
                      .args = args},
                     [&] {
                       return forward<hipLaunchKernel>("hipLaunchKernel", kernel, grid, block, args,
                                                       sharedBytes, stream);
                     });
}

MNEME_RECORD_API int hipLaunchKernel_spt(const void* kernel, mneme_dim3 grid, mneme_dim3 block,
                                         void** args, size_t sharedBytes, void* stream) {
  return watchKernel({.function = kernel,
                      .grid = grid,
                      .block = block,
                      .sharedBytes = sharedBytes,
                      .stream = perThreadStream(stream),
                      .args = args},
                     [&] {
                       return forward<hipLaunchKernel_spt>("hipLaunchKernel_spt", kernel, grid,
                                                           block, args, sharedBytes, stream);
                     });
}

MNEME_RECORD_API int hipLaunchCooperativeKernel(const void* kernel, mneme_dim3 grid,
                                                mneme_dim3 block, void** args, unsigned sharedBytes,
                                                void* stream) {
  return watchKernel({.function = kernel,
                      .grid = grid,
                      .block = block,
                      .sharedBytes = sharedBytes,
                      .stream = stream,
                      .args = args,
                      .isCooperative = true},
                     [&] {
                       return forward<hipLaunchCooperativeKernel>("hipLaunchCooperativeKernel",
                                                                  kernel, grid, block, args,
                                                                  sharedBytes, stream);
                     });
}

MNEME_RECORD_API int hipLaunchCooperativeKernel_spt(const void* kernel, mneme_dim3 grid,
                                                    mneme_dim3 block, void** args,
                                                    unsigned sharedBytes, void* stream) {
  return watchKernel({.function = kernel,
                      .grid = grid,
                      .block = block,
                      .sharedBytes = sharedBytes,
                      .stream = perThreadStream(stream),
                      .args = args,
                      .isCooperative = true},
                     [&] {
                       return forward<hipLaunchCooperativeKernel_spt>(
                           "hipLaunchCooperativeKernel_spt", kernel, grid, block, args, sharedBytes,
                           stream);
                     });
}

MNEME_RECORD_API int hipLaunchKernelExC(const RuntimeLaunch* config, const void* kernel,
                                        void** args) {
  return watchKernel(config, config ? config->stream : nullptr, kernel, args, [&] {
    return forward<hipLaunchKernelExC>("hipLaunchKernelExC", config, kernel, args);
  });
}

MNEME_RECORD_API int hipExtLaunchKernel(const void* kernel, mneme_dim3 grid, mneme_dim3 block,
                                        void** args, size_t sharedBytes, void* stream,
                                        void* startEvent, void* stopEvent, int flags) {
  static const auto plain = find<void*>("hipLaunchKernel");
  static const bool canMark = find<void*>("hipEventRecord");
  if (flags == 0 && plain && canMark && isInstrumented(kernel))
    return launchBetween({.version = MNEME_RT_ABI,
                          .form = MNEME_LAUNCH_PLAIN,
                          .kernel = kernel,
                          .grid = grid,
                          .block = block,
                          .args = args,
                          .sharedBytes = sharedBytes,
                          .stream = stream,
                          .config = nullptr,
                          .vendorEntry = plain},
                         startEvent, stopEvent);
  const auto next = [&] {
    return forward<hipExtLaunchKernel>("hipExtLaunchKernel", kernel, grid, block, args, sharedBytes,
                                       stream, startEvent, stopEvent, flags);
  };
  return isInstrumented(kernel)
             ? watchUnrecorded(kExtendedLaunch, kernel, next)
             : watchKernel({.function = kernel, .grid = grid, .block = block}, next);
}

MNEME_RECORD_API int hipLaunchCooperativeKernelMultiDevice(RuntimeDeviceLaunch* launches, int count,
                                                           unsigned flags) {
  return launchOnDevices<hipLaunchCooperativeKernelMultiDevice>(
      "hipLaunchCooperativeKernelMultiDevice", launches, count, flags, Together::Cooperative);
}

MNEME_RECORD_API int hipExtLaunchMultiKernelMultiDevice(RuntimeDeviceLaunch* launches, int count,
                                                        unsigned flags) {
  static const Together together = isHip7() ? Together::Matching : Together::Apart;
  return launchOnDevices<hipExtLaunchMultiKernelMultiDevice>("hipExtLaunchMultiKernelMultiDevice",
                                                             launches, count, flags, together);
}

MNEME_RECORD_API int hipModuleLaunchCooperativeKernelMultiDevice(DriverDeviceLaunch* launches,
                                                                 unsigned count, unsigned flags) {
  return launchOnDevices<hipModuleLaunchCooperativeKernelMultiDevice>(
      "hipModuleLaunchCooperativeKernelMultiDevice", launches, count, flags, Together::Cooperative);
}

MNEME_RECORD_API int hipStreamBeginCapture(void* stream, int mode) {
  return watchCapture(
      [&] { return forward<hipStreamBeginCapture>("hipStreamBeginCapture", stream, mode); });
}

MNEME_RECORD_API int hipStreamBeginCapture_spt(void* stream, int mode) {
  return watchCapture([&] {
    return forward<hipStreamBeginCapture_spt>("hipStreamBeginCapture_spt", stream, mode);
  });
}

MNEME_RECORD_API int hipStreamBeginCaptureToGraph(void* stream, void* graph,
                                                  const void* dependencies, const void* data,
                                                  size_t count, int mode) {
  return watchCapture([&] {
    return forward<hipStreamBeginCaptureToGraph>("hipStreamBeginCaptureToGraph", stream, graph,
                                                 dependencies, data, count, mode);
  });
}

MNEME_RECORD_API int hipStreamEndCapture(void* stream, void** graph) {
  return captureEnded(forward<hipStreamEndCapture>("hipStreamEndCapture", stream, graph));
}

MNEME_RECORD_API int hipStreamEndCapture_spt(void* stream, void** graph) {
  return captureEnded(forward<hipStreamEndCapture_spt>("hipStreamEndCapture_spt", stream, graph));
}
