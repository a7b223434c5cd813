#include "runtime/jit/missing_code/architectures.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "runtime/compiler/service/disk_cache.h"
#include "runtime/core/base/error.h"
#include "runtime/devices/cuda/management_library.h"

namespace mneme::missing {
namespace {

namespace fs = std::filesystem;

std::string contentOf(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What NVML's answer depends on: GPUs change while a machine is off, or for a container.
Hash128 machineKey() {
  std::string facts = "gpu architectures\n" + contentOf("/proc/sys/kernel/random/boot_id") +
                      contentOf("/proc/driver/nvidia/version");
  std::vector<std::string> gpus;
  std::error_code failed;
  for (const char* directory : {"/proc/driver/nvidia/gpus", "/dev"})
    for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end;
         entry.increment(failed))
      if (std::string name = entry->path().filename();
          std::string_view(directory) != "/dev" || name.starts_with("nvidia"))
        gpus.push_back(std::move(name));
  std::ranges::sort(gpus);
  for (const std::string& gpu : gpus)
    facts += gpu + "\n";
  return hash128(std::as_bytes(std::span(facts)));
}

std::string textOf(const std::vector<unsigned>& architectures) {
  std::string text;
  for (const unsigned architecture : architectures)
    text += (text.empty() ? "sm_" : ",sm_") + std::to_string(architecture);
  return text;
}

} // namespace

std::vector<unsigned> architecturesIn(const std::string& text) {
  std::vector<unsigned> architectures;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(",;", at), text.size());
    std::string_view word(text.data() + at, end - at);
    unsigned number = 0;
    if (word.starts_with("sm_"))
      word.remove_prefix(3);
    const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
    if (read.ec != std::errc() || read.ptr != word.data() + word.size() || number < 50)
      throw Error(ErrorCode::InvalidArgument,
                  "'" + text + "' is not a list of architectures such as sm_80,sm_90");
    architectures.push_back(number);
    at = end + 1;
  }
  std::ranges::sort(architectures);
  const auto repeated = std::ranges::unique(architectures);
  architectures.erase(repeated.begin(), repeated.end());
  return architectures;
}

std::vector<unsigned> gpuArchitectures() {
  std::error_code failed;
  if (!fs::exists("/dev/nvidiactl", failed))
    return {};
  try {
    const std::optional<fs::path> directory = compile::cacheDirectory();
    const Hash128 key = machineKey();
    if (directory)
      if (const auto stored = compile::loadCached(*directory, key))
        return architecturesIn(stored->statisticsJson);
    std::vector<unsigned> architectures = device::cuda::architecturesByNvml();
    if (directory && !architectures.empty()) {
      compile::Result answer;
      answer.statisticsJson = textOf(architectures);
      compile::storeCached(*directory, key, answer, compile::cacheBytesLimit());
    }
    return architectures;
  } catch (const Error&) { // no NVML
    return {};
  }
}

} // namespace mneme::missing
