// Kernel launches. A launch has run when the call returns, unless the kernel may wait for the host
// (lanes.h); what goes wrong inside it surfaces at the next synchronising call.
#include "runtime/emulator/runtimes/core/launch.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>

#include "runtime/core/abi/cpu_variants.h"
#include "runtime/core/base/environment.h"
#include "runtime/core/base/log.h"
#include "runtime/devices/profile/kernel_times.h"
#include "runtime/emulator/executor/runtime_variables.h"
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/graph_capture.h"
#include "runtime/emulator/runtimes/core/graph_params.h"
#include "runtime/emulator/runtimes/core/host_device.h"
#include "runtime/emulator/runtimes/core/stream.h"
#include "runtime/emulator/runtimes/core/vendor.h"

namespace mneme::cpu_runtime {
namespace {

struct Launch {
  const void* handle = nullptr;
  Dim3 grid{1, 1, 1};
  Dim3 block{1, 1, 1};
  Dim3 cluster{1, 1, 1};
  void** args = nullptr;
  size_t sharedBytes = 0;
  void* stream = nullptr;
  bool isCooperative = false;
  bool hasOwnBounds = false; ///< the kernel's are not asked
};

struct CallConfiguration {
  Dim3 grid, block;
  size_t sharedBytes;
  void* stream;
};
// Without a destructor: static destructors of the program may launch kernels.
constexpr size_t kMaxNestedLaunches = 32;
thread_local std::array<CallConfiguration, kMaxNestedLaunches> callConfigurations;
thread_local size_t callDepth = 0;

void applyAttribute(const LaunchAttribute& attribute, Launch& launch) {
  if (attribute.id == kLaunchClusterDimension)
    launch.cluster = attribute.value.clusterDim;
  else if (attribute.id == kLaunchCooperative)
    launch.isCooperative = attribute.value.cooperative != 0;
}

uint64_t count(const Dim3& dims) { return uint64_t{dims.x} * dims.y * dims.z; }

bool isWithin(const Dim3& dims, const int (&limits)[3]) {
  const auto limit = [&](int axis) { return static_cast<uint32_t>(limits[axis]); };
  return dims.x && dims.y && dims.z && dims.x <= limit(0) && dims.y <= limit(1) &&
         dims.z <= limit(2);
}

Status checkCluster(const Launch& launch) {
  const Dim3& cluster = launch.cluster;
  const uint64_t blocks = count(cluster);
  if (blocks == 1)
    return Status::Success;
  if (blocks == 0 || blocks > static_cast<uint64_t>(vendor.maxClusterBlocks) ||
      launch.grid.x % cluster.x || launch.grid.y % cluster.y || launch.grid.z % cluster.z)
    return Status::InvalidClusterSize;
  noticeOnce("launches with clusters of more than one block are not supported on the CPU device");
  return Status::NotSupported;
}

Status check(const Kernel& kernel, const Launch& launch) {
  const uint64_t threads = count(launch.block);
  if (!isWithin(launch.block, vendor.maxBlockDim) || !isWithin(launch.grid, vendor.maxGridDim) ||
      threads > static_cast<uint64_t>(vendor.maxThreadsPerBlock))
    return Status::InvalidConfiguration;
  if (!launch.hasOwnBounds && threads > static_cast<uint64_t>(maxThreadsPerBlock(kernel)))
    return Status::InvalidValue;
  if (launch.sharedBytes > maxDynamicSharedBytes(kernel))
    return Status::InvalidValue;
  if (launch.isCooperative) {
    const int resident = residentBlocks(kernel, static_cast<int>(threads), launch.sharedBytes);
    if (count(launch.grid) > static_cast<uint64_t>(resident) * multiprocessorCount())
      return Status::CooperativeLaunchTooLarge;
  }
  return checkCluster(launch);
}

Status statusOf(device::cpu::FaultKind fault) {
  using device::cpu::FaultKind;
  switch (fault) {
  case FaultKind::None:
    return Status::Success;
  case FaultKind::IllegalAddress:
    return Status::IllegalAddress;
  case FaultKind::Assert:
    return Status::Assert;
  case FaultKind::Timeout:
  case FaultKind::Deadlock:
    return Status::LaunchTimeout;
  case FaultKind::StackOverflow:
    return Status::HardwareStackError;
  case FaultKind::OutOfMemory:
    return Status::MemoryAllocation;
  case FaultKind::Trap:
  case FaultKind::Arithmetic:
    break;
  }
  return Status::LaunchFailure;
}

/// Seconds a kernel may run (kTimeoutVariable); 0, the default, means no limit.
double timeoutSeconds() {
  static const double seconds = [] {
    const char* text = environmentValue(kTimeoutVariable);
    return text ? std::strtod(text, nullptr) : 0.0;
  }();
  return seconds;
}

std::atomic<LaunchWatcher> watcher{nullptr};

void show(const Launch& launch, uint64_t elapsedNs, LaunchWatcher seen) {
  const auto kernel = findKernel(launch.handle);
  if (!kernel)
    return;
  const auto now = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                             std::chrono::steady_clock::now().time_since_epoch())
                                             .count());
  seen({.kernel = kernel->name.c_str(),
        .handle = launch.handle,
        .grid = {launch.grid.x, launch.grid.y, launch.grid.z},
        .block = {launch.block.x, launch.block.y, launch.block.z},
        .staticBytes = kernel->blob ? kernel->blob->sharedBytes : 0,
        .dynamicBytes = launch.sharedBytes,
        .startNs = now - elapsedNs,
        .endNs = now});
}

/// Passes a launch on to the profiler of the program, if any.
void note(const Launch& launch, const device::LaunchShape& shape, uint64_t elapsedNs) {
  if (const LaunchWatcher seen = watcher)
    return show(launch, elapsedNs, seen);
  profile::KernelTimes* const times = profile::kernelTimes(vendor.library);
  if (!times)
    return;
  if (const auto kernel = findKernel(launch.handle))
    times->note(kernel->name, shape, elapsedNs);
}

void execute(device::cpu::Image& image, const Launch& launch) {
  device::LaunchShape shape;
  shape.grid[0] = launch.grid.x, shape.grid[1] = launch.grid.y, shape.grid[2] = launch.grid.z;
  shape.block[0] = launch.block.x, shape.block[1] = launch.block.y, shape.block[2] = launch.block.z;
  shape.dynamicSharedBytes = launch.sharedBytes;
  shape.isCooperative = launch.isCooperative;
  const device::cpu::LaunchOutcome outcome =
      device::cpu::run(image, shape, launch.args, timeoutSeconds(), hostWaits());
  const Status status = statusOf(outcome.fault);
  if (status == Status::Success) {
    note(launch, shape, outcome.elapsedNs);
    return;
  }
  if (status != Status::Assert) // an assertion has printed its own line, as on a GPU
    notice(outcome.message);
  reportFault(status);
}

bool mayWaitForHost(const device::cpu::Image& image) {
  return (image.header().flags & MNEME_CPU_IMAGE_WAITS) != 0;
}

/// Finds the kernel's code and checks the launch.
Status findAndCheck(Kernel& kernel, const Launch& launch) {
  Status status = kernel.isReady ? Status::Success : describe(kernel);
  if (status == Status::Success)
    status = check(kernel, launch);
  return status == Status::Success ? prepare(kernel) : status;
}

/// Makes the kernel ready to run. What only this device refuses is a fault, too: a program that
/// asks for errors where it synchronises must not take what is in memory for the kernel's results.
Status makeReady(Kernel& kernel, const Launch& launch) {
  Status status = Status::Unknown;
  try {
    status = findAndCheck(kernel, launch);
  } catch (const Error& failure) {
    status = cpu_runtime::statusOf(failure);
  }
  if (status == Status::NotSupported || status == Status::NoKernelImageForDevice ||
      status == Status::Unknown)
    reportFault(status);
  return status;
}

/// Runs a launch that has been checked, in the order of its stream, or makes a node of it.
Status runOnStream(const Launch& launch, device::cpu::Image& image,
                   const std::shared_ptr<Variant>& variant) {
  const auto makeWork = [&](Work& work) {
    KernelWork kernel;
    const Status made =
        makeKernelWork({launch.handle, launch.grid, launch.block,
                        static_cast<unsigned>(launch.sharedBytes), launch.args, nullptr},
                       kernel);
    kernel.isCooperative = launch.isCooperative;
    kernel.cluster = launch.cluster;
    kernel.variant = variant;
    work = std::move(kernel);
    return made;
  };
  return onStream(launch.stream, makeWork, [&] {
    if (!mayWaitForHost(image)) {
      execute(image, launch);
      return Status::Success;
    }
    Work work;
    const Status status = makeWork(work);
    if (status == Status::Success)
      runBehind(launch.stream, std::move(work));
    return status;
  });
}

Status start(const Launch& launch) {
  return api([&] {
    const auto kernel = findKernel(launch.handle);
    if (!kernel)
      return Status::InvalidDeviceFunction;
    if (!isStream(launch.stream))
      return Status::InvalidResourceHandle;
    if (isFaulted())
      return Status::Success;
    const Status status = makeReady(*kernel, launch);
    return status == Status::Success ? runOnStream(launch, *kernel->aheadOfTime.image, nullptr)
                                     : status;
  });
}

Launch launchOf(const KernelWork& work) {
  void** args = const_cast<void**>(work.arguments->pointers.data());
  Launch launch{work.function, work.grid,        work.block, work.cluster,
                args,          work.sharedBytes, nullptr,    work.isCooperative};
  for (const auto& [id, attribute] : work.attributes)
    applyAttribute(attribute, launch);
  return launch;
}

void readAttributes(const LaunchConfig& config, Launch& launch) {
  for (unsigned index = 0; index < config.numAttrs && config.attrs; ++index)
    applyAttribute(config.attrs[index], launch);
}

/// Whether the variant may run and is ready to. Changes nothing the program can see.
bool canRun(Variant& variant, const Launch& launch) {
  return findKernel(launch.handle) == variant.kernel && isStream(launch.stream) && !isFaulted() &&
         check(*variant.kernel, launch) == Status::Success && prepare(variant) == Status::Success;
}

} // namespace

Status startOnDevices(const DeviceLaunch* launches, unsigned launchCount, unsigned flags,
                      bool isCooperative) {
  constexpr unsigned kNoWaitBefore = 1, kAllFlags = 3;
  constexpr uintptr_t kLastDefaultStream = 2; // null and the handles of both
  return api([&] {
    if (!launches || launchCount != 1 || flags > kAllFlags)
      return Status::InvalidValue;
    const auto& [function, grid, block, args, sharedBytes, stream] = *launches;
    if (count(block) == 0)
      return Status::InvalidConfiguration;
    if (reinterpret_cast<uintptr_t>(stream) <= kLastDefaultStream || !isStream(stream))
      return Status::InvalidResourceHandle;
    // No part of a graph can be on several devices: as waiting, it ends the stream's capture.
    if (const Status bad = mayWaitFor(stream); bad != Status::Success)
      return bad;
    if (!(flags & kNoWaitBefore) && isAnyBusy())
      waitForStream(stream);
    return start({function, grid, block, {1, 1, 1}, args, sharedBytes, stream, isCooperative});
  });
}

void watchLaunches(LaunchWatcher wanted) noexcept { watcher = wanted; }

Status prepareKernel(const KernelWork& work) {
  const auto kernel = findKernel(work.function);
  return kernel ? makeReady(*kernel, launchOf(work)) : Status::InvalidDeviceFunction;
}

bool mayWaitForHost(const KernelWork& work) {
  const auto kernel = findKernel(work.function);
  if (work.variant)
    return mayWaitForHost(*work.variant->bound.image);
  return kernel && kernel->isReady && mayWaitForHost(*kernel->aheadOfTime.image);
}

bool hasTiedBlocks(const KernelWork& work) {
  const Launch launch = launchOf(work);
  return launch.isCooperative || count(launch.cluster) != 1;
}

bool canRunVariant(const KernelWork& work) {
  return work.variant && canRun(*work.variant, launchOf(work));
}

Status runKernel(const KernelWork& work) {
  const auto kernel = findKernel(work.function);
  if (!kernel)
    return Status::InvalidDeviceFunction;
  if (isFaulted())
    return Status::Success;
  const Launch launch = launchOf(work);
  if (work.variant && prepare(*work.variant) == Status::Success) {
    execute(*work.variant->bound.image, launch);
    return Status::Success;
  }
  const Status status = makeReady(*kernel, launch);
  if (status == Status::Success)
    execute(*kernel->aheadOfTime.image, launch);
  return status;
}

int maxThreadsPerBlock(const Kernel& kernel) {
  const auto most = static_cast<uint32_t>(vendor.maxThreadsPerBlock);
  const uint32_t bound = kernel.blob ? kernel.blob->maxThreads : 0;
  return static_cast<int>(bound ? std::min(bound, most) : most);
}

size_t maxDynamicSharedBytes(const Kernel& kernel) {
  const size_t fixed = kernel.blob ? kernel.blob->sharedBytes : 0;
  const auto optedIn = static_cast<size_t>(kernel.maxDynamicSharedBytes.load());
  const size_t byDefault = fixed < vendor.sharedPerBlock ? vendor.sharedPerBlock - fixed : 0;
  return optedIn ? optedIn : byDefault;
}

int residentBlocks(const Kernel& kernel, int threads, size_t dynamicSharedBytes) {
  if (threads > maxThreadsPerBlock(kernel) || dynamicSharedBytes > maxDynamicSharedBytes(kernel))
    return 0;
  const int warps = (threads + vendor.warpSize - 1) / vendor.warpSize;
  const int byThreads = vendor.threadsPerMultiprocessor / (warps * vendor.warpSize);
  const size_t shared = dynamicSharedBytes + (kernel.blob ? kernel.blob->sharedBytes : 0) +
                        vendor.reservedSharedPerBlock;
  const int byShared =
      static_cast<int>(vendor.sharedPerMultiprocessor / std::max<size_t>(shared, 1));
  return std::min({byThreads, byShared, vendor.blocksPerMultiprocessor});
}

} // namespace mneme::cpu_runtime

using namespace mneme::cpu_runtime;

MNEME_RUNTIME_API Status gpuLaunchKernel(const void* function, Dim3 grid, Dim3 block, void** args,
                                         size_t sharedBytes, void* stream) {
  return start({function, grid, block, {1, 1, 1}, args, sharedBytes, stream, false});
}

MNEME_RUNTIME_API Status gpuLaunchCooperativeKernel(const void* function, Dim3 grid, Dim3 block,
                                                    void** args, size_t sharedBytes, void* stream) {
  return start({function, grid, block, {1, 1, 1}, args, sharedBytes, stream, true});
}

MNEME_RUNTIME_API Status gpuLaunchCooperativeKernelMultiDevice(const DeviceLaunch* launches,
                                                               unsigned launchCount,
                                                               unsigned flags) {
  return startOnDevices(launches, launchCount, flags, true);
}

MNEME_RUNTIME_API Status gpuLaunchKernelExC(const LaunchConfig* config, const void* function,
                                            void** args) {
  if (!config)
    return remember(Status::InvalidValue);
  Launch launch{function, config->gridDim,          config->blockDim, {1, 1, 1},
                args,     config->dynamicSmemBytes, config->stream,   false};
  readAttributes(*config, launch);
  return start(launch);
}

MNEME_RUNTIME_API int
mneme_cpu_launch_variant(void* variant, const mneme_cpu_variant_launch* wanted, int* status) {
  const mneme::DeferredCancellation deferred;
  try {
    const auto& [gridX, gridY, gridZ] = wanted->grid;
    const auto& [blockX, blockY, blockZ] = wanted->block;
    Launch launch{wanted->function,
                  {gridX, gridY, gridZ},
                  {blockX, blockY, blockZ},
                  {1, 1, 1},
                  wanted->args,
                  wanted->sharedBytes,
                  wanted->stream,
                  wanted->isCooperative != 0,
                  wanted->hasOwnBounds != 0};
    if (wanted->config)
      readAttributes(*static_cast<const LaunchConfig*>(wanted->config), launch);
    const auto& chosen = *static_cast<std::shared_ptr<Variant>*>(variant);
    if (!canRun(*chosen, launch))
      return 0;
    *status = static_cast<int>(remember(runOnStream(launch, *chosen->bound.image, chosen)));
    return 1;
  } catch (...) { // prepare() could not: the kernel itself says why
    return 0;
  }
}

MNEME_RUNTIME_API unsigned gpuPushCallConfiguration(Dim3 grid, Dim3 block, size_t sharedBytes,
                                                    void* stream) {
  return static_cast<unsigned>(always([&] {
    if (callDepth == kMaxNestedLaunches)
      return Status::InvalidConfiguration;
    callConfigurations[callDepth++] = {grid, block, sharedBytes, stream};
    return Status::Success;
  }));
}

MNEME_RUNTIME_API Status gpuPopCallConfiguration(Dim3* grid, Dim3* block, size_t* sharedBytes,
                                                 void** stream) {
  return always([&] {
    if (callDepth == 0)
      return Status::InvalidConfiguration;
    const CallConfiguration& top = callConfigurations[--callDepth];
    *grid = top.grid;
    *block = top.block;
    *sharedBytes = top.sharedBytes;
    *stream = top.stream;
    return Status::Success;
  });
}
