#include "runtime/devices/cuda/cuda_description.h"

#include <fstream>

#include "runtime/core/base/error.h"

namespace mneme::device::cuda {

namespace {

/// Blocks in a cluster that hardware of this compute capability can be asked for.
uint32_t largestCluster(const Driver& driver, CUdevice device, int major) {
  int hasClusters = 0;
  if (driver.cuDeviceGetAttribute(&hasClusters, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, device) !=
          CUDA_SUCCESS ||
      !hasClusters)
    return 1;
  return major == 9 || major == 10 ? 16 : 8;
}

} // namespace

CUdevice deviceAt(const Driver& driver, int ordinal) {
  int count = 0;
  check(driver.cuDeviceGetCount(&count), "counting the GPUs");
  if (ordinal >= count)
    throw Error(ErrorCode::BackendUnavailable, "there is no GPU number " + std::to_string(ordinal) +
                                                   "; this process sees " + std::to_string(count) +
                                                   " (counted from 0; see CUDA_VISIBLE_DEVICES)");
  CUdevice device = 0;
  check(driver.cuDeviceGet(&device, ordinal), "opening GPU " + std::to_string(ordinal));
  return device;
}

std::string gpuName(const Driver& driver, CUdevice device) {
  char name[256] = {};
  check(driver.cuDeviceGetName(name, sizeof(name) - 1, device), "asking for the GPU's name");
  return name;
}

std::string driverText(const Driver& driver) {
  int version = 0;
  check(driver.cuDriverGetVersion(&version), "asking for the driver's version");
  std::string text =
      "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  std::ifstream file("/sys/module/nvidia/version");
  std::string release;
  if (file >> release)
    text += ", driver " + release;
  return text;
}

Description describeGpu(const Driver& driver, CUdevice device) {
  const auto ask = [&](int attribute) {
    int value = 0;
    check(driver.cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(attribute), device),
          "asking for limits of the GPU");
    return static_cast<uint32_t>(value);
  };
  Description result;
  result.id = "cuda:" + std::to_string(device);
  result.name = gpuName(driver, device);
  const uint32_t major = ask(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  const uint32_t minor = ask(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  result.target = "sm_" + std::to_string(major) + std::to_string(minor);
  size_t memoryBytes = 0;
  check(driver.cuDeviceTotalMem(&memoryBytes, device), "asking for the GPU's memory");
  result.totalMemoryBytes = memoryBytes;
  result.multiprocessors = ask(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  result.warpSize = ask(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  result.maxThreadsPerBlock = ask(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  for (int i = 0; i < 3; ++i) {
    result.maxBlock[i] = ask(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i);
    result.maxGrid[i] = ask(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i);
  }
  result.maxSharedPerBlockBytes = ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  result.maxSharedPerBlockOptinBytes = ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  result.l2CacheBytes = ask(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  result.maxRegistersPerBlock = ask(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  result.maxClusterBlocks = largestCluster(driver, device, static_cast<int>(major));
  result.driver = driverText(driver);
  return result;
}

} // namespace mneme::device::cuda
