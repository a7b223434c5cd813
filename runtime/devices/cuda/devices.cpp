#include "runtime/devices/cuda/devices.h"

#include "runtime/core/base/error.h"
#include "runtime/devices/cuda/cuda_description.h"
#include "runtime/devices/cuda/cuda_device.h"

namespace mneme::device::cuda {

namespace {

DeviceStatus statusOf(const Driver& driver, int ordinal) {
  DeviceStatus status;
  status.id = "cuda:" + std::to_string(ordinal);
  try {
    CUdevice device = 0;
    check(driver.cuDeviceGet(&device, ordinal), "opening GPU " + std::to_string(ordinal));
    status.name = gpuName(driver, device);
    status.isAvailable = true;
  } catch (const Error& failure) {
    status.whyUnavailable = failure.what();
  }
  return status;
}

} // namespace

std::vector<DeviceStatus> listGpus() {
  std::vector<DeviceStatus> result;
  DeviceStatus none;
  none.id = "cuda";
  none.name = "NVIDIA GPU";
  try {
    const Driver& driver = Driver::get();
    int count = 0;
    check(driver.cuDeviceGetCount(&count), "counting the GPUs");
    for (int ordinal = 0; ordinal < count; ++ordinal)
      result.push_back(statusOf(driver, ordinal));
    none.whyUnavailable = "the CUDA driver sees no GPU; see CUDA_VISIBLE_DEVICES and nvidia-smi";
  } catch (const Error& failure) {
    none.whyUnavailable = failure.what();
  }
  if (result.empty())
    result.push_back(none);
  return result;
}

int gpuCount() noexcept {
  const Driver* driver = Driver::find();
  int count = 0;
  return driver && driver->cuDeviceGetCount(&count) == CUDA_SUCCESS ? count : 0;
}

Description describeGpu(int ordinal) {
  const Driver& driver = Driver::get();
  return describeGpu(driver, deviceAt(driver, ordinal));
}

std::unique_ptr<Device> openGpu(int ordinal) { return std::make_unique<CudaDevice>(ordinal); }

} // namespace mneme::device::cuda
