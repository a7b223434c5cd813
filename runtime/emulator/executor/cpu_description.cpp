#include "runtime/emulator/executor/cpu_description.h"

#include <algorithm>
#include <fstream>
#include <string>

#include <unistd.h>

#include "runtime/core/base/own_descriptors.h"
#include "runtime/emulator/executor/executor.h"

namespace mneme::device::cpu {

namespace {

std::string processorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name"))
      continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos)
      return line.substr(colon + 2);
  }
#if defined(__aarch64__)
  return "AArch64";
#else
  return "host";
#endif
}

/// The largest cache that a core reaches. sysconf() adds up all of an AMD chip, ten times as much.
uint64_t lastLevelCacheBytes() {
  uint64_t largest = 0;
  for (int index = 0;; ++index) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) +
                       "/size");
    uint64_t size = 0;
    char unit = 0;
    if (!(file >> size))
      return largest;
    file >> unit;
    largest = std::max(largest, size << (unit == 'M' ? 20 : unit == 'K' ? 10 : 0));
  }
}

Description describe() {
  Description result;
  result.id = "cpu";
  result.name = "CPU (" + apart(processorName) + ")";
  result.target = "cpu";
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long pageBytes = sysconf(_SC_PAGESIZE);
  if (pages > 0 && pageBytes > 0)
    result.totalMemoryBytes = static_cast<uint64_t>(pages) * static_cast<uint64_t>(pageBytes);
  result.multiprocessors = workerCount();
  result.l2CacheBytes = apart(lastLevelCacheBytes);
  return result;
}

} // namespace

const Description& cpuDescription() {
  static const Description* instance = new Description(describe());
  return *instance;
}

Description descriptionFor(std::string_view arch) {
  Description result = cpuDescription();
  if (arch.starts_with("gfx"))
    result.maxBlock[2] = result.maxBlock[0];
  return result;
}

} // namespace mneme::device::cpu
