#include "runtime/devices/hip/hip_description.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <vector>

#include "runtime/core/base/error.h"

namespace mneme::device::hip {

int deviceAt(const Driver& driver, int ordinal) {
  int count = 0;
  driver.require(driver.hipGetDeviceCount(&count), "counting the GPUs");
  if (ordinal >= count)
    throw Error(ErrorCode::BackendUnavailable,
                "there is no GPU number " + std::to_string(ordinal) + "; this process sees " +
                    std::to_string(count) +
                    " (counted from 0; see HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES)");
  return ordinal;
}

std::string gpuName(const Driver& driver, int device) {
  char name[256] = {};
  driver.require(driver.hipDeviceGetName(name, sizeof(name) - 1, device),
                 "asking for the GPU's name");
  return *name ? name : "AMD GPU";
}

std::string targetOf(const Driver& driver, int device) {
  std::vector<char> properties(DeviceProperties::kSizeBytes);
  const bool isNew = driver.hipGetDevicePropertiesR0600 != nullptr;
  driver.require(isNew ? driver.hipGetDevicePropertiesR0600(properties.data(), device)
                       : driver.hipGetDeviceProperties(properties.data(), device),
                 "asking for the GPU's architecture");
  const char* name = properties.data() +
                     (isNew ? DeviceProperties::kArchOffset0600 : DeviceProperties::kArchOffset);
  return {name, strnlen(name, DeviceProperties::kArchBytes)};
}

std::string driverText(const Driver& driver) {
  int version = 0;
  driver.require(driver.hipRuntimeGetVersion(&version), "asking for HIP's version");
  std::string text = "HIP " + std::to_string(version / 10'000'000) + "." +
                     std::to_string(version % 10'000'000 / 100'000) + "." +
                     std::to_string(version % 100'000);
  std::ifstream file("/sys/module/amdgpu/version");
  std::string release;
  if (file >> release)
    text += ", amdgpu " + release;
  return text;
}

uint64_t cacheBytes(const std::string& target, uint64_t l2Bytes) {
  struct InfinityCache {
    const char* family;
    uint64_t mebibytes;
  };
  // As AMD states them; the largest of a family.
  constexpr InfinityCache known[] = {
      {"gfx94", 256}, {"gfx95", 256}, {"gfx103", 128}, {"gfx110", 96}, {"gfx120", 64}};
  for (const auto& [family, mebibytes] : known)
    if (target.starts_with(family))
      return std::max(l2Bytes, mebibytes << 20);
  return l2Bytes;
}

Description describeGpu(const Driver& driver, int device) {
  const auto ask = [&](int attribute) {
    int value = 0;
    driver.require(
        driver.hipDeviceGetAttribute(&value, static_cast<hipDeviceAttribute_t>(attribute), device),
        "asking for limits of the GPU");
    return static_cast<uint32_t>(value);
  };
  Description result;
  result.id = "hip:" + std::to_string(device);
  result.name = gpuName(driver, device);
  result.target = targetOf(driver, device);
  size_t memoryBytes = 0;
  driver.require(driver.hipDeviceTotalMem(&memoryBytes, device), "asking for the GPU's memory");
  result.totalMemoryBytes = memoryBytes;
  result.multiprocessors = ask(hipDeviceAttributeMultiprocessorCount);
  result.warpSize = ask(hipDeviceAttributeWarpSize);
  result.maxThreadsPerBlock = ask(hipDeviceAttributeMaxThreadsPerBlock);
  for (int i = 0; i < 3; ++i) {
    result.maxBlock[i] = ask(hipDeviceAttributeMaxBlockDimX + i);
    result.maxGrid[i] = ask(hipDeviceAttributeMaxGridDimX + i);
  }
  result.maxSharedPerBlockBytes = ask(hipDeviceAttributeMaxSharedMemoryPerBlock);
  // All of it can be had without asking first.
  result.maxSharedPerBlockOptinBytes = result.maxSharedPerBlockBytes;
  result.l2CacheBytes = ask(hipDeviceAttributeL2CacheSize);
  result.driver = driverText(driver);
  return result;
}

} // namespace mneme::device::hip
