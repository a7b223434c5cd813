#include <cstdlib>
#include <optional>

#include "runtime/core/base/environment.h"
#include "runtime/core/base/error.h"
#include "runtime/devices/cuda/devices.h"
#include "runtime/devices/device.h"
#include "runtime/devices/hip/devices.h"
#include "runtime/emulator/executor/cpu_device.h"

namespace mneme::device {

namespace {

struct DeviceId {
  std::string kind;
  int number = 0;
};

/// "cuda:1" and "cuda" (number 0); nothing if `id` is neither "<kind>" nor "<kind>:<number>".
std::optional<DeviceId> parseId(const std::string& id) {
  const size_t colon = id.find(':');
  if (colon == std::string::npos)
    return DeviceId{id, 0};
  const std::string number = id.substr(colon + 1);
  const bool isNumber = !number.empty() && number.size() <= 4 &&
                        number.find_first_not_of("0123456789") == std::string::npos;
  if (!isNumber)
    return std::nullopt;
  return DeviceId{id.substr(0, colon), std::stoi(number)};
}

std::string wantedId(const std::string& id) {
  if (!id.empty())
    return id;
  if (const char* named = environmentValue("MNEME_DEVICE"); named && *named)
    return named;
  if (cuda::gpuCount() > 0)
    return "cuda:0";
  return hip::gpuCount() > 0 ? "hip:0" : "cpu";
}

/// A kind of device, by its word in ids.
struct Backend {
  const char* kind;
  Description (*describe)(int number);
  std::unique_ptr<Device> (*open)(int number);
};

constexpr Backend kGpus[] = {{"cuda", cuda::describeGpu, cuda::openGpu},
                             {"hip", hip::describeGpu, hip::openGpu}};
constexpr Backend kCpu = {
    "cpu", [](int) { return cpu::CpuDevice().description(); },
    [](int) -> std::unique_ptr<Device> { return std::make_unique<cpu::CpuDevice>(); }};

/// Calls `action` for the device that an id names, as openDevice() understands ids.
template <typename Action> auto withDevice(const std::string& id, const Action& action) {
  const std::string wanted = wantedId(id);
  const std::optional<DeviceId> parsed = parseId(wanted);
  if (parsed && parsed->kind == kCpu.kind && parsed->number == 0)
    return action(kCpu, 0);
  for (const Backend& backend : kGpus) {
    if (!parsed || parsed->kind != backend.kind)
      continue;
    try {
      return action(backend, parsed->number);
    } catch (const Error& failure) {
      throw Error(failure.code(), "device '" + wanted + "' is not available: " + failure.what());
    }
  }
  throw Error(ErrorCode::InvalidArgument,
              "'" + wanted + "' is not a device; use cpu, cuda:N or hip:N");
}

} // namespace

std::vector<DeviceStatus> listDevices() {
  std::vector<DeviceStatus> result;
  DeviceStatus cpu;
  cpu.id = "cpu";
  cpu.isAvailable = true;
  cpu.name = cpu::CpuDevice().description().name;
  result.push_back(cpu);
  for (DeviceStatus& status : cuda::listGpus())
    result.push_back(std::move(status));
  for (DeviceStatus& status : hip::listGpus())
    result.push_back(std::move(status));
  return result;
}

Description describeDevice(const std::string& id) {
  return withDevice(id,
                    [](const Backend& backend, int number) { return backend.describe(number); });
}

std::unique_ptr<Device> openDevice(const std::string& id) {
  return withDevice(id, [](const Backend& backend, int number) { return backend.open(number); });
}

} // namespace mneme::device
