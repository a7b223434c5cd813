// Which device a name means: those of all vendors, of which the registry makes one.
#include <cstdlib>
#include <iterator>
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

/// A kind of device, by its word in ids.
struct Backend {
  const char* kind;
  int (*count)();
  std::vector<DeviceStatus> (*list)();
  Description (*describe)(int number);
  std::unique_ptr<Device> (*open)(int number);
};

std::vector<DeviceStatus> listCpu() {
  DeviceStatus cpu;
  cpu.id = "cpu";
  cpu.isAvailable = true;
  cpu.name = cpu::CpuDevice().description().name;
  return {cpu};
}

constexpr Backend kCpu = {
    "cpu", [] { return 1; }, listCpu, [](int) { return cpu::CpuDevice().description(); },
    [](int) -> std::unique_ptr<Device> { return std::make_unique<cpu::CpuDevice>(); }};
// Where no device is named, the first kind that has a GPU is used.
constexpr Backend kGpus[] = {
    {"cuda", cuda::gpuCount, cuda::listGpus, cuda::describeGpu, cuda::openGpu},
    {"hip", hip::gpuCount, hip::listGpus, hip::describeGpu, hip::openGpu}};

std::string wantedId(const std::string& id) {
  if (!id.empty())
    return id;
  if (const char* named = environmentValue("MNEME_DEVICE"); named && *named)
    return named;
  for (const Backend& backend : kGpus)
    if (backend.count() > 0)
      return backend.kind + std::string(":0");
  return kCpu.kind;
}

/// How devices are named: "cpu, cuda:N or hip:N".
std::string idsToUse() {
  std::string text = kCpu.kind;
  for (const Backend& backend : kGpus)
    text += (&backend == std::end(kGpus) - 1 ? " or " : ", ") + std::string(backend.kind) + ":N";
  return text;
}

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
  throw Error(ErrorCode::InvalidArgument, "'" + wanted + "' is not a device; use " + idsToUse());
}

} // namespace

std::vector<DeviceStatus> listDevices() {
  std::vector<DeviceStatus> result = kCpu.list();
  for (const Backend& backend : kGpus)
    for (DeviceStatus& status : backend.list())
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
