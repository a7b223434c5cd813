// Room emulator/runtimes: what the stand-in says about its device: an AMD GPU of the architecture
// in MNEME_STAND_IN_ARCH.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "runtime/core/base/environment.h"
#include "runtime/emulator/runtimes/hip/device_properties.h"
#include "tests/hip_stand_in/stand_in.h"

using namespace mneme::stand_in;
using namespace mneme::cpu_runtime::hip;

namespace {

constexpr int kAttributeMajor = 23, kAttributeMinor = 61, kAttributeWave = 87,
              kAttributePageableMemory = 65, kAttributeVirtualMemory = 89;

/// "gfx90a:sramecc+:xnack-"
const std::string& archName() {
  static const auto* const name = [] {
    const char* said = mneme::environmentValue("MNEME_STAND_IN_ARCH");
    return new std::string(said && *said ? said : "gfx90a:sramecc+:xnack-");
  }();
  return *name;
}

struct Version {
  int major;
  int minor;
  int stepping;
};

/// gfx90a is 9, 0 and 10: one digit each for the last two.
Version version() {
  const std::string name = archName().substr(0, archName().find(':'));
  if (name.size() < 6)
    return {9, 0, 10};
  const auto digit = [&](size_t fromEnd) {
    return static_cast<int>(
        std::strtol(name.substr(name.size() - fromEnd, 1).c_str(), nullptr, 16));
  };
  return {std::atoi(name.substr(3, name.size() - 5).c_str()), digit(2), digit(1)};
}

} // namespace

int mneme::stand_in::versionAskedFor() noexcept {
  const char* said = mneme::environmentValue("MNEME_STAND_IN_VERSION");
  return said ? std::atoi(said) : 0;
}

namespace {

int waveSize() { return version().major >= 10 ? 32 : 64; }

template <typename Properties>
int properties(const char* function, Properties* properties, int device) {
  const auto ask = next<int (*)(Properties*, int)>(function);
  const int status = ask ? ask(properties, numberOf(device)) : kNotSupported;
  if (status != kSuccess)
    return status;
  std::snprintf(properties->name, sizeof properties->name, "stand-in for %s", archName().c_str());
  std::snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "%s", archName().c_str());
  properties->major = version().major;
  properties->minor = version().minor;
  properties->warpSize = waveSize();
  return status;
}

int oldProperties(DeviceProp0000* wanted, int device) {
  const int status = properties("hipGetDevicePropertiesR0000", wanted, device);
  if (status == kSuccess)
    wanted->gcnArch = version().major * 100 + version().minor * 10 + version().stepping;
  return status;
}

} // namespace

MNEME_STAND_IN(hipGetDeviceProperties)(DeviceProp0000* wanted, int device) {
  return oldProperties(wanted, device);
}

MNEME_STAND_IN(hipGetDevicePropertiesR0000)(DeviceProp0000* wanted, int device) {
  return oldProperties(wanted, device);
}

MNEME_STAND_IN(hipGetDevicePropertiesR0600)(DeviceProp0600* wanted, int device) {
  return properties("hipGetDevicePropertiesR0600", wanted, device);
}

MNEME_STAND_IN(hipDeviceGetName)(char* name, int length, int device) {
  const auto ask = next<int (*)(char*, int, int)>("hipDeviceGetName");
  const int status = ask ? ask(name, length, numberOf(device)) : kNotSupported;
  if (status == kSuccess)
    std::snprintf(name, static_cast<size_t>(length), "stand-in for %s", archName().c_str());
  return status;
}

MNEME_STAND_IN(hipDeviceComputeCapability)(int* major, int* minor, int device) {
  const auto ask = next<int (*)(int*, int*, int)>("hipDeviceComputeCapability");
  const int status = ask ? ask(major, minor, numberOf(device)) : kNotSupported;
  if (status == kSuccess) {
    *major = version().major;
    *minor = version().minor;
  }
  return status;
}

MNEME_STAND_IN(hipDeviceGetAttribute)(int* value, int attribute, int device) {
  const auto ask = next<int (*)(int*, int, int)>("hipDeviceGetAttribute");
  const int status = ask ? ask(value, attribute, numberOf(device)) : kNotSupported;
  if (status != kSuccess)
    return status;
  if (attribute == kAttributeMajor)
    *value = version().major;
  else if (attribute == kAttributeMinor)
    *value = version().minor;
  else if (attribute == kAttributeWave)
    *value = waveSize();
  else if (attribute == kAttributeVirtualMemory)
    *value = 1;
  else if (attribute == kAttributePageableMemory)
    *value = mneme::environmentValue("MNEME_STAND_IN_PAGEABLE") != nullptr;
  return status;
}

MNEME_STAND_IN(hipRuntimeGetVersion)(int* version) {
  const auto ask = next<int (*)(int*)>("hipRuntimeGetVersion");
  const int status = ask ? ask(version) : kNotSupported;
  if (status == kSuccess && versionAskedFor() != 0)
    *version = versionAskedFor();
  return status;
}
