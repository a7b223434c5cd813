#include "runtime/emulator/runtimes/core/host_device.h"

#include <fstream>

#include "runtime/core/base/own_descriptors.h"
#include "runtime/emulator/executor/executor.h"

namespace mneme::cpu_runtime {
namespace {

std::string processorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const size_t colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return "host processor";
}

} // namespace

int multiprocessorCount() noexcept {
  static const int count = static_cast<int>(device::cpu::workerCount());
  return count;
}

const std::string& deviceName() {
  static const auto* name = new std::string("CPU (" + apart(processorName) + ")");
  return *name;
}

} // namespace mneme::cpu_runtime
