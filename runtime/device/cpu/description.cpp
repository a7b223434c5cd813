#include "runtime/device/cpu/description.h"

#include <fstream>

#include <unistd.h>

#include "runtime/base/own_descriptors.h"
#include "runtime/device/cpu/executor.h"

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
  const long cacheBytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  result.l2CacheBytes = cacheBytes > 0 ? static_cast<uint64_t>(cacheBytes) : 0;
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
