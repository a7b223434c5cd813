#include "runtime/devices/hip/devices.h"

#include "runtime/core/base/error.h"
#include "runtime/devices/hip/hip_description.h"
#include "runtime/devices/hip/hip_device.h"

namespace mneme::device::hip {

namespace {

DeviceStatus statusOf(const Driver& driver, int ordinal) {
  DeviceStatus status;
  status.id = "hip:" + std::to_string(ordinal);
  try {
    status.name = gpuName(driver, ordinal);
    int isSupported = 0;
    status.isAvailable = driver.hipDeviceGetAttribute(
                             &isSupported, hipDeviceAttributeVirtualMemoryManagementSupported,
                             ordinal) == hipSuccess &&
                         isSupported;
    if (!status.isAvailable)
      status.whyUnavailable = "it cannot give memory at chosen addresses (no virtual memory "
                              "management; it takes ROCm 6.2 or newer and this is " +
                              driverText(driver) + ")";
  } catch (const Error& failure) {
    status.whyUnavailable = failure.what();
  }
  return status;
}

} // namespace

std::vector<DeviceStatus> listGpus() {
  std::vector<DeviceStatus> result;
  DeviceStatus none;
  none.id = "hip";
  none.name = "AMD GPU";
  try {
    const Driver& driver = Driver::get();
    int count = 0;
    driver.require(driver.hipGetDeviceCount(&count), "counting the GPUs");
    for (int ordinal = 0; ordinal < count; ++ordinal)
      result.push_back(statusOf(driver, ordinal));
    none.whyUnavailable =
        "HIP sees no GPU; see HIP_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES and rocminfo";
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
  return driver && driver->hipGetDeviceCount(&count) == hipSuccess ? count : 0;
}

Description describeGpu(int ordinal) {
  const Driver& driver = Driver::get();
  return describeGpu(driver, deviceAt(driver, ordinal));
}

std::unique_ptr<Device> openGpu(int ordinal) { return std::make_unique<HipDevice>(ordinal); }

} // namespace mneme::device::hip
