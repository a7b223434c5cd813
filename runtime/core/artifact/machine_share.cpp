#include "runtime/core/artifact/machine_share.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/core/artifact/drafts.h"
#include "runtime/core/base/environment.h"
#include "runtime/core/base/log.h"
#include "runtime/core/base/own_descriptors.h"

namespace mneme::artifact {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLeastQueueBytes = 512ull << 20;

/// The number behind `name` in lines of "name value".
std::optional<uint64_t> field(const fs::path& file, const std::string& name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string key;
    uint64_t value = 0;
    if (words >> key >> value && key == name)
      return value;
  }
  return std::nullopt;
}

std::optional<uint64_t> number(const fs::path& file) {
  std::ifstream in(file);
  uint64_t value = 0;
  return in >> value ? std::optional(value) : std::nullopt; // "max" means no limit
}

void lower(std::optional<uint64_t>& least, uint64_t value) {
  least = std::min(least.value_or(std::numeric_limits<uint64_t>::max()), value);
}

/// What the limits of a control group and those above it leave. Page cache counts as used there but
/// makes room when asked.
void lowerToGroup(std::optional<uint64_t>& least, const fs::path& mount, const std::string& group,
                  const char* limitFile, const char* usageFile, const char* cacheField) {
  fs::path path = group.empty() ? "/" : group;
  for (;; path = path.parent_path()) {
    const fs::path directory = mount / path.relative_path();
    const auto limit = number(directory / limitFile);
    const auto usage = number(directory / usageFile);
    if (limit && usage) {
      const uint64_t cache = field(directory / "memory.stat", cacheField).value_or(0);
      const uint64_t used = *usage - std::min(*usage, cache);
      lower(least, *limit - std::min(*limit, used));
    }
    if (path == path.parent_path())
      return;
  }
}

} // namespace

unsigned availableCores() noexcept {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0)
    return 1;
  return std::max(1, CPU_COUNT(&cores));
}

void lowerPriority() noexcept {
  // A third of the weight of a normal thread: enough to go on where the application spins on all
  // cores.
  constexpr int niceness = 5;
  const auto thread = static_cast<id_t>(syscall(SYS_gettid));
  setpriority(PRIO_PROCESS, thread, std::max(niceness, getpriority(PRIO_PROCESS, thread)));
  const sched_param none{};
  sched_setscheduler(static_cast<pid_t>(thread), SCHED_BATCH, &none);
}

namespace {

std::optional<uint64_t> readAvailableMemory(const fs::path& root) {
  std::optional<uint64_t> least;
  if (const auto system = field(root / "proc/meminfo", "MemAvailable:"))
    lower(least, *system * 1024);
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty())
      lowerToGroup(least, root / "sys/fs/cgroup", group, "memory.max", "memory.current",
                   "inactive_file");
    else if (("," + controllers + ",").find(",memory,") != std::string::npos)
      lowerToGroup(least, root / "sys/fs/cgroup/memory", group, "memory.limit_in_bytes",
                   "memory.usage_in_bytes", "total_inactive_file");
  }
  return least;
}

} // namespace

std::optional<uint64_t> availableMemory(const fs::path& root) {
  return apart([&] { return readAvailableMemory(root); });
}

std::optional<uint64_t> parseByteCount(const std::string& text) noexcept {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || value == 0 || end - stop > 1)
    return std::nullopt;
  unsigned shift = 0;
  if (stop != end) {
    static constexpr std::array<char, 4> suffixes{'K', 'M', 'G', 'T'};
    const auto suffix = std::find(suffixes.begin(), suffixes.end(), *stop & ~0x20);
    if (suffix == suffixes.end())
      return std::nullopt;
    shift = 10 * static_cast<unsigned>(suffix - suffixes.begin() + 1);
  }
  return value > std::numeric_limits<uint64_t>::max() >> shift ? std::nullopt
                                                               : std::optional(value << shift);
}

uint64_t automaticQueueBytes() {
  if (const char* text = environmentValue("MNEME_QUEUE_BYTES"); text && *text) {
    if (const auto bytes = parseByteCount(text))
      return *bytes;
    notice(std::string("MNEME_QUEUE_BYTES is '") + text +
           "', which is not a size such as 40G or 512M; half of the available memory is used");
  }
  return std::max(kLeastQueueBytes, availableMemory().value_or(0) / 2);
}

} // namespace mneme::artifact
