#include "runtime/devices/hip/hip_device.h"

#include "runtime/devices/gpu/gpu_launch.h"
#include "runtime/devices/hip/hip_bulk_code.h"
#include "runtime/devices/hip/hip_description.h"
#include "runtime/devices/hip/hip_module.h"

namespace mneme::device::hip {

namespace {

using gpu::product;
using gpu::refuse;
using gpu::triple;

/// A grid counts work-items in 32 bits.
constexpr uint64_t maxWorkItems = UINT32_MAX;

void checkWorkItems(const Description& device, const LaunchShape& shape) {
  for (int i = 0; i < 3; ++i)
    if (uint64_t{shape.grid[i]} * shape.block[i] > maxWorkItems)
      refuse("grid " + triple(shape.grid) + " of blocks " + triple(shape.block) + " has " +
             std::to_string(uint64_t{shape.grid[i]} * shape.block[i]) +
             " threads in one dimension; " + device.name + " has at most " +
             std::to_string(maxWorkItems));
}

void checkCluster(const Description& device, const LaunchShape& shape) {
  if (product(shape.cluster) == 0)
    refuse("cluster " + triple(shape.cluster) +
           " is impossible: every dimension must be at least 1");
  if (product(shape.cluster) > 1)
    refuse("cluster " + triple(shape.cluster) + " has " + std::to_string(product(shape.cluster)) +
           " blocks; " + device.name + " has no thread block clusters");
}

/// Whether the code means "this launch cannot be", with nothing run and the device as it was.
bool isRefusal(hipError_t result) {
  return result == hipErrorInvalidValue || result == hipErrorInvalidConfiguration ||
         result == hipErrorLaunchOutOfResources || result == hipErrorCooperativeLaunchTooLarge ||
         result == hipErrorNotSupported;
}

} // namespace

HipDevice::HipDevice(int ordinal)
    : GpuDevice(std::make_unique<Context>(ordinal), bulkCode(),
                [](int device) { return describeGpu(Driver::get(), device); }),
      takesOwnTime_(Driver::get().hipExtModuleLaunchKernel) {}

std::unique_ptr<Module> HipDevice::load(std::span<const std::byte> image, const std::string& kernel,
                                        std::span<const GlobalPlacement>) {
  return std::make_unique<HipModule>(context(), description_, image, kernel);
}

uint64_t HipDevice::cacheBytes() const {
  return hip::cacheBytes(description_.target, description_.l2CacheBytes);
}

void HipDevice::checkCooperative(const gpu::LoadedKernel& module, const LaunchShape& shape) {
  const Driver& driver = context().driver();
  if (!driver.hipModuleLaunchCooperativeKernel)
    refuse("this ROCm has no hipModuleLaunchCooperativeKernel (needed since ROCm 5.5), so " +
           description_.name + " has no cooperative launches");
  if (!context().attribute(hipDeviceAttributeCooperativeLaunch))
    refuse(description_.name + " has no cooperative launches");
  int perMultiprocessor = 0;
  context_->check(driver.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
                      &perMultiprocessor, static_cast<const HipModule&>(module).function(),
                      static_cast<int>(product(shape.block)), shape.dynamicSharedBytes),
                  "asking how many blocks fit on the GPU");
  gpu::checkResident(description_, module, shape,
                     static_cast<uint64_t>(perMultiprocessor) * description_.multiprocessors);
}

void HipDevice::prepareLaunch(gpu::LoadedKernel& module, const LaunchShape& shape) {
  if (module.accepted && gpu::isSame(*module.accepted, shape))
    return;
  module.accepted.reset();
  checkShape(description_, shape, module.attributes().staticSharedBytes);
  gpu::checkThreads(description_, module, shape);
  checkWorkItems(description_, shape);
  checkCluster(description_, shape);
  if (shape.isCooperative)
    checkCooperative(module, shape);
  module.accepted = shape;
}

void HipDevice::startLaunch(const gpu::LoadedKernel& module, const LaunchShape& shape,
                            void* const* args) {
  const Driver& driver = context().driver();
  const hipFunction_t function = static_cast<const HipModule&>(module).function();
  auto** values = const_cast<void**>(args);
  const auto sharedBytes = static_cast<unsigned>(shape.dynamicSharedBytes);
  const uint32_t *grid = shape.grid, *block = shape.block;
  const hipError_t result =
      shape.isCooperative
          ? driver.hipModuleLaunchCooperativeKernel(function, grid[0], grid[1], grid[2], block[0],
                                                    block[1], block[2], sharedBytes,
                                                    context_->stream(), values)
          : driver.hipModuleLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1],
                                         block[2], sharedBytes, context_->stream(), values,
                                         nullptr);
  checkStart(result, module, shape);
}

// Events that are passed to this launch alone mark begin and end of the kernel's own dispatch,
// which hipEventElapsedTime() then returns. Markers of hipEventRecord() would leave a gap on either
// side (hipamd/src/hip_event.cpp and hip_module.cpp of https://github.com/ROCm/clr, 5.6 to 6.2).
void HipDevice::startTimedLaunch(const gpu::LoadedKernel& module, const LaunchShape& shape,
                                 void* const* args) {
  const auto launch = context().driver().hipExtModuleLaunchKernel;
  takesOwnTime_ = launch && !shape.isCooperative;
  if (!takesOwnTime_)
    return GpuDevice::startTimedLaunch(module, shape, args);
  const uint32_t *grid = shape.grid, *block = shape.block;
  const hipError_t result = launch(
      static_cast<const HipModule&>(module).function(), grid[0] * block[0], grid[1] * block[1],
      grid[2] * block[2], block[0], block[1], block[2], shape.dynamicSharedBytes,
      context_->stream(), const_cast<void**>(args), nullptr, start_.raw(), end_.raw(), 0);
  checkStart(result, module, shape);
}

void HipDevice::checkStart(hipError_t result, const gpu::LoadedKernel& module,
                           const LaunchShape& shape) {
  if (result == hipSuccess) [[likely]]
    return;
  const Driver& driver = context().driver();
  const std::string what = gpu::launchText(module, shape);
  if (isRefusal(result)) {
    driver.hipGetLastError();
    refuse(what + " failed: " + driver.textOf(result));
  }
  context_->check(result, what);
}

} // namespace mneme::device::hip
