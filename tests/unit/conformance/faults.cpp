#include "tests/unit/conformance/faults.h"

#include <cstdio>

#include "tests/unit/conformance/support.h"

namespace conformance {

namespace {

void launchFault(const std::string& name, Device& device) {
  Memory memory(4096, 0, device);
  const auto launch = [&](const char* kernel, double timeoutSeconds, auto... args) {
    Kernel(kernel, {}, device).launch(shapeOf(1, 32), timeoutSeconds, args...);
  };
  if (name == "null")
    return launch("writes", kPatience, uint64_t{0});
  if (name == "behind") { // reserved, so that nothing else can be there
    const uint64_t size = 64 * device.granularity(), address = device.reserve(0, size);
    device.map(address, device.granularity());
    return launch("writes", kPatience, address + size / 2);
  }
  if (name == "host")
    return launch("writes", kPatience, uint64_t{0x123456789000});
  if (name == "trap")
    return launch("traps", kPatience);
  if (name == "assert")
    return launch("asserts", kPatience);
  if (name == "hang")
    return launch("spins", 1.0, memory.address());
  throw Error(ErrorCode::NotFound, "there is no fault '" + name + "'");
}

/// Whether a kernel still computes.
bool isWorking(Device& device) {
  try {
    Memory memory(4096, 0, device);
    memory.write<float>({1, 2}, 0);
    Kernel("saxpy", {}, device)
        .launch(shapeOf(1, 32), kPatience, 1, 3.0f, memory.address(), memory.address() + 4);
    return memory.read<float>(1, 4)[0] == 5.0f;
  } catch (const Error&) {
    return false;
  }
}

} // namespace

int runFault(const std::string& name, const std::string& deviceId) {
  try {
    const std::unique_ptr<Device> device = mneme::device::openDevice(deviceId);
    int code = 0;
    std::string sentence = "nothing happened";
    try {
      launchFault(name, *device);
    } catch (const Error& error) {
      code = static_cast<int>(error.code());
      sentence = error.what();
    }
    const bool isUsable = device->isUsable();
    std::printf("%d %d %d %s\n", code, isUsable, isUsable && isWorking(*device), sentence.c_str());
    std::fflush(stdout);
    return 0;
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}

} // namespace conformance
