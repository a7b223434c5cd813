#include "runtime/devices/driving_tool.h"

#include <algorithm>
#include <fstream>
#include <string_view>

#include <unistd.h>

namespace mneme::device {

namespace {

/// What profilers, sanitizers and debuggers set in the programs they run: only one tool at a time
/// can drive CUPTI.
constexpr std::string_view toolVariables[] = {"CUDA_INJECTION64_PATH=",
                                              "NVTX_INJECTION64_PATH=",
                                              "MNEME_NVTX_INJECTION=",
                                              "NV_COMPUTE_PROFILER",
                                              "NV_SANITIZER",
                                              "NV_NSIGHT_INJECTION",
                                              "NV_TPS",
                                              "NSYS_PROFILING_SESSION",
                                              "CUDBG_"};

/// Our own libraries that measure kernels and read labels are not other tools.
constexpr std::string_view ours[] = {"/libmneme_profiler.so", "/libmneme_labels.so"};

bool isOurs(std::string_view entry) {
  return std::ranges::any_of(ours, [&](std::string_view name) { return entry.ends_with(name); });
}

} // namespace

std::string drivingTool() {
  for (char** entry = environ; entry && *entry; ++entry)
    for (const std::string_view prefix : toolVariables)
      if (std::string_view(*entry).starts_with(prefix) && !isOurs(*entry))
        return std::string(*entry).substr(0, std::string_view(*entry).find('='));
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("TracerPid:"))
      return line.find_first_of("123456789") == std::string::npos ? "" : "a debugger";
  return "";
}

} // namespace mneme::device
