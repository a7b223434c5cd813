#include "runtime/devices/driving_tool.h"

#include <fstream>
#include <string_view>

#include <unistd.h>

namespace mneme::device {

namespace {

/// What profilers, sanitizers and debuggers set in the programs they run: only one tool at a time
/// can drive CUPTI.
constexpr std::string_view toolVariables[] = {"CUDA_INJECTION64_PATH=", "NVTX_INJECTION64_PATH=",
                                              "NV_COMPUTE_PROFILER",    "NV_SANITIZER",
                                              "NV_NSIGHT_INJECTION",    "NV_TPS",
                                              "NSYS_PROFILING_SESSION", "CUDBG_"};

/// Our own library that measures kernels is not another tool.
constexpr std::string_view ours = "/libmneme_profiler.so";

} // namespace

std::string drivingTool() {
  for (char** entry = environ; entry && *entry; ++entry)
    for (const std::string_view prefix : toolVariables)
      if (std::string_view(*entry).starts_with(prefix) && !std::string_view(*entry).ends_with(ours))
        return std::string(*entry).substr(0, std::string_view(*entry).find('='));
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("TracerPid:"))
      return line.find_first_of("123456789") == std::string::npos ? "" : "a debugger";
  return "";
}

} // namespace mneme::device
