#include <cstdlib>
#include <filesystem>

#include "runtime/base/dynamic_library.h"
#include "runtime/base/error.h"
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/device/device.h"

namespace mneme::device {

namespace {

struct Vendor {
  const char* kind;    ///< "cuda"
  const char* name;    ///< "NVIDIA GPU"
  const char* library; ///< what its driver installs
};

constexpr Vendor vendors[] = {
    {"cuda", "NVIDIA GPU", "libcuda.so.1"},
    {"hip", "AMD GPU", "libamdhip64.so"},
};

std::string whyUnavailable(const Vendor& vendor) {
  try {
    DynamicLibrary::open(vendor.library);
  } catch (const Error& failure) {
    return std::string("no ") + vendor.name + " driver found: " + failure.what();
  }
  return std::string("the ") + vendor.kind +
         " device is not part of this version, although a driver (" + vendor.library +
         ") is installed; use the CPU device (--device cpu)";
}

/// "cuda:1" -> "cuda"; empty if `id` is neither "<kind>" nor "<kind>:<number>".
std::string kindOf(const std::string& id) {
  const size_t colon = id.find(':');
  if (colon == std::string::npos)
    return id;
  const std::string number = id.substr(colon + 1);
  const bool isNumber = !number.empty() && number.size() <= 4 &&
                        number.find_first_not_of("0123456789") == std::string::npos;
  return isNumber ? id.substr(0, colon) : "";
}

} // namespace

std::vector<DeviceStatus> listDevices() {
  std::vector<DeviceStatus> result;
  DeviceStatus cpu;
  cpu.id = "cpu";
  cpu.isAvailable = true;
  cpu.name = cpu::CpuDevice().description().name;
  result.push_back(cpu);
  for (const Vendor& vendor : vendors) {
    DeviceStatus status;
    status.id = vendor.kind;
    status.name = vendor.name;
    status.whyUnavailable = whyUnavailable(vendor);
    result.push_back(status);
  }
  return result;
}

std::unique_ptr<Device> openDevice(const std::string& id) {
  std::string wanted = id;
  if (wanted.empty()) {
    const char* fromEnvironment = getenv("MNEME_DEVICE");
    wanted = fromEnvironment && *fromEnvironment ? fromEnvironment : "cpu";
  }
  if (wanted == "cpu" || wanted == "cpu:0")
    return std::make_unique<cpu::CpuDevice>();
  const std::string kind = kindOf(wanted);
  for (const Vendor& vendor : vendors) {
    if (kind == vendor.kind)
      throw Error(ErrorCode::BackendUnavailable,
                  "device '" + wanted + "' is not available: " + whyUnavailable(vendor));
  }
  throw Error(ErrorCode::InvalidArgument,
              "'" + wanted + "' is not a device; use cpu, cuda:N or hip:N");
}

} // namespace mneme::device
