#include "runtime/devices/cuda/cuda_launch.h"

#include <algorithm>

#include "runtime/core/base/error.h"
#include "runtime/devices/gpu/gpu_launch.h"

namespace mneme::device::cuda {

namespace {

using gpu::product;
using gpu::refuse;
using gpu::triple;

/// Clusters of up to this many blocks run on every GPU that has clusters; larger ones on request.
constexpr uint64_t portableClusterBlocks = 8;

/// The driver's form of a shape. Points into itself: neither copied nor moved.
struct Configuration {
  CUlaunchConfig config;
  CUlaunchAttribute attributes[2];

  Configuration(const LaunchShape& shape, CUstream stream) {
    config.gridDimX = shape.grid[0], config.gridDimY = shape.grid[1];
    config.gridDimZ = shape.grid[2];
    config.blockDimX = shape.block[0], config.blockDimY = shape.block[1];
    config.blockDimZ = shape.block[2];
    config.sharedMemBytes = static_cast<unsigned>(shape.dynamicSharedBytes);
    config.hStream = stream;
    config.attrs = attributes;
    if (product(shape.cluster) > 1) {
      CUlaunchAttribute& attribute = attributes[config.numAttrs++];
      attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      attribute.value.clusterDim = {shape.cluster[0], shape.cluster[1], shape.cluster[2]};
    }
    if (shape.isCooperative) {
      CUlaunchAttribute& attribute = attributes[config.numAttrs++];
      attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
      attribute.value.cooperative = 1;
    }
  }
  Configuration(const Configuration&) = delete;
  Configuration& operator=(const Configuration&) = delete;
};

/// Threads per cluster the kernel was compiled for; zeros when it was compiled for none.
struct RequiredCluster {
  uint32_t dims[3];
};

RequiredCluster requiredCluster(const Description& device, const CudaModule& module) {
  RequiredCluster required{};
  if (device.maxClusterBlocks > 1)
    for (int i = 0; i < 3; ++i)
      required.dims[i] = static_cast<uint32_t>(module.functionAttribute(
          static_cast<CUfunction_attribute>(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH + i)));
  return required;
}

void checkCluster(Context& context, const Description& device, const CudaModule& module,
                  const LaunchShape& shape) {
  const RequiredCluster required = requiredCluster(device, module);
  const uint64_t asked = product(shape.cluster);
  const bool isRequired = product(required.dims) > 0;
  if (asked == 0)
    refuse("cluster " + triple(shape.cluster) +
           " is impossible: every dimension must be at least 1");
  if (isRequired && asked > 1 && !std::equal(shape.cluster, shape.cluster + 3, required.dims))
    refuse("kernel '" + module.kernel() + "' was compiled for clusters of " +
           triple(required.dims) + " blocks, not " + triple(shape.cluster));
  const uint32_t* cluster = isRequired ? required.dims : shape.cluster;
  const uint64_t blocks = product(cluster);
  if (blocks == 1)
    return;
  if (blocks > device.maxClusterBlocks)
    refuse("cluster " + triple(cluster) + " has " + std::to_string(blocks) + " blocks; " +
           device.name +
           (device.maxClusterBlocks == 1
                ? " has no thread block clusters"
                : " has at most " + std::to_string(device.maxClusterBlocks) + " in a cluster"));
  for (int i = 0; i < 3; ++i)
    if (shape.grid[i] % cluster[i] != 0)
      refuse("grid " + triple(shape.grid) + " is not a multiple of cluster " + triple(cluster));
  const Driver& driver = context.driver();
  if (blocks > portableClusterBlocks)
    context.check(driver.cuFuncSetAttribute(module.function(),
                                            CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
                  "allowing clusters of " + std::to_string(blocks) + " blocks");
  LaunchShape asWillBe = shape;
  std::copy_n(cluster, 3, asWillBe.cluster);
  const Configuration configuration(asWillBe, context.stream());
  int clusters = 0, largest = 0;
  const CUresult result =
      driver.cuOccupancyMaxActiveClusters(&clusters, module.function(), &configuration.config);
  if (result != CUDA_ERROR_INVALID_CLUSTER_SIZE && (result != CUDA_SUCCESS || clusters > 0))
    return; // a driver that cannot tell refuses the launch itself
  driver.cuOccupancyMaxPotentialClusterSize(&largest, module.function(), &configuration.config);
  refuse("no cluster of " + std::to_string(blocks) + " blocks of kernel '" + module.kernel() +
         "' with block " + triple(shape.block) + " fits on " + device.name + "; at most " +
         std::to_string(largest) + " blocks do");
}

void checkCooperative(Context& context, const Description& device, const CudaModule& module,
                      const LaunchShape& shape) {
  const Driver& driver = context.driver();
  if (!context.attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH))
    refuse(device.name + " has no cooperative launches");
  uint64_t resident = 0;
  if (product(shape.cluster) > 1) {
    const Configuration configuration(shape, context.stream());
    int clusters = 0;
    context.check(
        driver.cuOccupancyMaxActiveClusters(&clusters, module.function(), &configuration.config),
        "asking how many clusters fit on the GPU");
    resident = static_cast<uint64_t>(clusters) * product(shape.cluster);
  } else {
    int perMultiprocessor = 0;
    context.check(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                      &perMultiprocessor, module.function(), static_cast<int>(product(shape.block)),
                      shape.dynamicSharedBytes),
                  "asking how many blocks fit on the GPU");
    resident = static_cast<uint64_t>(perMultiprocessor) * device.multiprocessors;
  }
  gpu::checkResident(device, module, shape, resident);
}

/// Whether the code means "this launch cannot be", with nothing run and the context as it was.
bool isRefusal(CUresult result) {
  return result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES ||
         result == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE ||
         result == CUDA_ERROR_INVALID_CLUSTER_SIZE || result == CUDA_ERROR_NOT_SUPPORTED;
}

} // namespace

void prepareLaunch(Context& context, const Description& device, CudaModule& module,
                   const LaunchShape& shape) {
  if (module.accepted && gpu::isSame(*module.accepted, shape))
    return;
  module.accepted.reset();
  checkShape(device, shape, module.attributes().staticSharedBytes);
  gpu::checkThreads(device, module, shape);
  if (shape.dynamicSharedBytes > 0)
    context.check(
        context.driver().cuFuncSetAttribute(module.function(),
                                            CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                            static_cast<int>(shape.dynamicSharedBytes)),
        "allowing " + std::to_string(shape.dynamicSharedBytes) + " dynamic bytes of shared memory");
  const bool isConfigNew =
      shape.cacheConfig != module.cacheConfig && context.driver().cuFuncSetCacheConfig;
  if (isConfigNew) {
    context.check(context.driver().cuFuncSetCacheConfig(module.function(),
                                                        static_cast<int>(shape.cacheConfig)),
                  "setting the preferred configuration of the cache");
    module.cacheConfig = shape.cacheConfig;
  }
  // No driver says that a carve-out stays as it was under another configuration.
  if (shape.sharedCarveout != module.sharedCarveout || (isConfigNew && shape.sharedCarveout)) {
    context.check(context.driver().cuFuncSetAttribute(
                      module.function(), CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                      toCarveout(shape.sharedCarveout)),
                  "setting the carve-out of shared memory");
    module.sharedCarveout = shape.sharedCarveout;
  }
  checkCluster(context, device, module, shape);
  if (shape.isCooperative)
    checkCooperative(context, device, module, shape);
  module.accepted = shape;
}

void startLaunch(Context& context, const CudaModule& module, const LaunchShape& shape,
                 void* const* args) {
  const Driver& driver = context.driver();
  const Configuration configuration(shape, context.stream());
  const CUlaunchConfig& config = configuration.config;
  auto** values = const_cast<void**>(args);
  const CUresult result =
      config.numAttrs > 0
          ? driver.cuLaunchKernelEx(&config, module.function(), values, nullptr)
          : driver.cuLaunchKernel(module.function(), config.gridDimX, config.gridDimY,
                                  config.gridDimZ, config.blockDimX, config.blockDimY,
                                  config.blockDimZ, config.sharedMemBytes, config.hStream, values,
                                  nullptr);
  if (result == CUDA_SUCCESS) [[likely]]
    return;
  const std::string what = gpu::launchText(module, shape);
  if (isRefusal(result))
    refuse(what + " failed: " + describe(result));
  context.check(result, what);
}

} // namespace mneme::device::cuda
