// What is said where HIP is missing, too old or refuses. Each case has a process of its own: HIP is
// opened once.
#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

#include "runtime/core/base/error.h"
#include "runtime/devices/device.h"
#include "runtime/devices/hip/hip_description.h"

using namespace mneme;
using namespace mneme::device;

namespace {

using Environment = std::vector<std::pair<const char*, const char*>>;

/// Runs a skipped case of this program in a process of its own.
std::string outputOfChild(const std::string& name, const Environment& environment) {
  for (const auto& [variable, value] : environment)
    setenv(variable, value, 1);
  const std::string command =
      "/proc/" + std::to_string(getpid()) + "/exe --no-skip -tc='" + name + "' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  for (const auto& [variable, value] : environment)
    unsetenv(variable);
  std::string output;
  std::array<char, 4096> part;
  while (const size_t size = fread(part.data(), 1, part.size(), pipe))
    output.append(part.data(), size);
  const int status = pclose(pipe);
  return output + (WIFEXITED(status) ? "" : "killed by a signal");
}

bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  const bool isThere = text.find(part) != std::string::npos;
  CHECK(isThere);
  return isThere;
}

#ifdef STAND_IN
constexpr const char* kStandIn = STAND_IN;
#else
constexpr const char* kStandIn = "";
#endif

bool isSkipped() {
  const bool isMissing = access(kStandIn, R_OK) != 0;
  if (isMissing)
    MESSAGE("skipped: the stand-in for AMD's runtime is not built here");
  return isMissing;
}

} // namespace

TEST_CASE("child: devices" * doctest::skip()) {
  for (const DeviceStatus& status : listDevices())
    std::printf("%s|%d|%s|%s\n", status.id.c_str(), status.isAvailable, status.name.c_str(),
                status.whyUnavailable.c_str());
  const std::string named = std::getenv("TEST_DEVICE") ? std::getenv("TEST_DEVICE") : "hip:0";
  try {
    const std::unique_ptr<Device> device = openDevice(named);
    const Description& description = device->description();
    std::printf("opened %s|%s|%u|%s\n", description.id.c_str(), description.target.c_str(),
                description.warpSize, description.driver.c_str());
    const uint64_t size = device->granularity(), address = device->reserve(0x600040000000, size);
    device->map(address, size);
    std::printf("mapped\n");
    const uint32_t value = 5;
    device->copyToDevice(address, &value, 4);
    std::printf("copied, usable: %d\n", device->isUsable());
  } catch (const Error& error) {
    std::printf("error %d: %s\n", static_cast<int>(error.code()), error.what());
  }
}

TEST_CASE("child: mappings" * doctest::skip()) {
  try {
    const std::unique_ptr<Device> device = openDevice("hip:0");
    const uint64_t mebi = 1 << 20, address = device->reserve(0x600040000000, 64 * mebi);
    const std::vector<std::pair<uint64_t, uint64_t>> ranges = {
        {0, 6 * mebi}, {8 * mebi, 2 * mebi}, {40 * mebi, 20 * mebi}};
    for (const auto& [offset, size] : ranges) {
      device->map(address + offset, size);
      const uint32_t value = 5;
      device->copyToDevice(address + offset + size - 4, &value, 4);
    }
    device->unmap(address, 6 * mebi);
    device->map(address, 4 * mebi);
    std::printf("all mapped\n");
  } catch (const Error& error) {
    std::printf("error %d: %s\n", static_cast<int>(error.code()), error.what());
  }
}

TEST_CASE("ROCm 7.0 to 7.2 has to be given mappings of one size") {
  if (isSkipped())
    return;
  for (const char* version : {"60200000", "70000000", "70226015", "71400000"})
    contains(outputOfChild("child: mappings",
                           {{"MNEME_HIP_LIBRARY", kStandIn}, {"MNEME_STAND_IN_VERSION", version}}),
             "all mapped");
}

TEST_CASE("a machine without an AMD GPU says so without starting ROCm") {
  if (access("/dev/kfd", F_OK) == 0) {
    MESSAGE("skipped: this machine may have an AMD GPU");
    return;
  }
  const std::string said = outputOfChild("child: devices", {});
  contains(said, "hip|0|AMD GPU|no AMD GPU can be used: there is no /dev/kfd");
  contains(said, "--device cpu");
}

TEST_CASE("a library that is named and not there is named in the sentence") {
  const std::string said =
      outputOfChild("child: devices", {{"MNEME_HIP_LIBRARY", "/nowhere/libamdhip64.so.6"}});
  contains(said, "device 'hip:0' is not available");
  contains(said, "/nowhere/libamdhip64.so.6");
}

TEST_CASE("AMD's own library without a GPU has all that is needed, and says what is missing") {
  void* const library = dlopen("libamdhip64.so.5", RTLD_LAZY);
  if (!library || access("/dev/kfd", F_OK) == 0) {
    MESSAGE("skipped: there is no libamdhip64.so.5 here, or a GPU");
    return;
  }
  dlclose(library);
  const std::string said =
      outputOfChild("child: devices", {{"MNEME_HIP_LIBRARY", "libamdhip64.so.5"}});
  contains(said, "hip|0|AMD GPU|HIP does not start: ");
  contains(said, "check that this job or container was given a GPU");
}

TEST_CASE("a GPU describes itself, and is chosen where nobody says which") {
  if (isSkipped())
    return;
  const Environment environment = {{"MNEME_HIP_LIBRARY", kStandIn}, {"TEST_DEVICE", ""}};
  const std::string said = outputOfChild("child: devices", environment);
  contains(said, "hip:0|1|");
  contains(said, "opened hip:0|gfx90a:sramecc+:xnack-|64|HIP ");
  contains(said, "copied, usable: 1");
}

TEST_CASE("caches that HIP does not tell of are known") {
  CHECK(hip::cacheBytes("gfx90a:sramecc+:xnack-", 8 << 20) == 8 << 20);
  CHECK(hip::cacheBytes("gfx942:sramecc+:xnack-", 4 << 20) == 256 << 20);
  CHECK(hip::cacheBytes("gfx1100", 6 << 20) == 96 << 20);
}

TEST_CASE("a GPU that is not there is counted") {
  if (isSkipped())
    return;
  const std::string said =
      outputOfChild("child: devices", {{"MNEME_HIP_LIBRARY", kStandIn}, {"TEST_DEVICE", "hip:7"}});
  contains(said, "there is no GPU number 7");
  contains(said, "HIP_VISIBLE_DEVICES");
}

TEST_CASE("what a ROCm lacks, refuses or grants otherwise is told in a sentence") {
  if (isSkipped())
    return;
  const auto with = [](const char* fault) {
    return outputOfChild("child: devices",
                         {{"MNEME_HIP_LIBRARY", kStandIn}, {"MNEME_STAND_IN_FAULT", fault}});
  };
  contains(with("missing:hipMemAddressReserve"),
           "this ROCm has no hipMemAddressReserve (needed since ROCm 5.2)");
  contains(with("hipInit=hipErrorNoDevice"), "HIP does not start: ");
  contains(with("hipMemCreate"), "allocating ");
  contains(with("hipMemCreate"), "hipErrorNotSupported");
  contains(with("hipMemCreate=hipErrorOutOfMemory"), "of memory left");
  contains(with("elsewhere:hipMemAddressReserve"), "are taken in this process");
  // It says so, and maps nothing.
  contains(with("hipMemMap=hipSuccess"), "at 0x0000600040000000 failed: ");
  contains(with("hipMemMap=hipSuccess"), "hipErrorMapFailed");
  // Older ones are read by their own layout of the properties.
  contains(with("missing:hipGetDevicePropertiesR0600"), "opened hip:0|gfx90a:sramecc+:xnack-|64");
  contains(with("missing:hipModuleLaunchCooperativeKernel"), "copied, usable: 1");
}
