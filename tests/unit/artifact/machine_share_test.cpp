#include <cstdlib>

#include <doctest/doctest.h>

#include "runtime/core/artifact/machine_share.h"
#include "runtime/core/artifact/writer.h"
#include "runtime/core/base/file.h"
#include "tests/unit/artifact/fixtures.h"

namespace mneme::artifact::test {
namespace {

constexpr uint64_t kGiB = 1ull << 30;

/// A directory that stands for "/".
struct System {
  TemporaryDirectory root;
  void put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root.path() / path).parent_path());
    writeFileAtomically(root.path() / path, text);
  }
  std::optional<uint64_t> available() const { return availableMemory(root.path()); }
};

} // namespace

TEST_CASE("without limits the system's available memory counts") {
  const System system;
  CHECK(!system.available());
  system.put("proc/meminfo", "MemTotal: 134217728 kB\nMemAvailable:   104857600 kB\n");
  CHECK(system.available() == 100 * kGiB);
  system.put("proc/self/cgroup", "0::/\n");
  CHECK(system.available() == 100 * kGiB);
}

TEST_CASE("the narrowest control group counts, its page cache does not") {
  const System system;
  system.put("proc/meminfo", "MemAvailable: 104857600 kB\n");
  system.put("proc/self/cgroup", "0::/job/step\n");
  system.put("sys/fs/cgroup/job/step/memory.max", "max\n");
  system.put("sys/fs/cgroup/job/step/memory.current", "5\n");
  system.put("sys/fs/cgroup/job/memory.max", std::to_string(20 * kGiB) + "\n");
  system.put("sys/fs/cgroup/job/memory.current", std::to_string(12 * kGiB) + "\n");
  CHECK(system.available() == 8 * kGiB);
  system.put("sys/fs/cgroup/job/memory.stat",
             "anon 1\ninactive_file " + std::to_string(4 * kGiB) + "\n");
  CHECK(system.available() == 12 * kGiB);
}

TEST_CASE("control groups of the older kind are understood") {
  const System system;
  system.put("proc/meminfo", "MemAvailable: 104857600 kB\n");
  system.put("proc/self/cgroup", "5:cpu,memory:/job\n1:name=systemd:/\n");
  system.put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", std::to_string(3 * kGiB) + "\n");
  system.put("sys/fs/cgroup/memory/job/memory.usage_in_bytes", std::to_string(kGiB) + "\n");
  CHECK(system.available() == 2 * kGiB);
}

TEST_CASE("sizes of the queue can be given in several units") {
  CHECK(parseByteCount("1073741824") == kGiB);
  CHECK(parseByteCount("40G") == 40 * kGiB);
  CHECK(parseByteCount("512m") == kGiB / 2);
  CHECK(parseByteCount("2T") == 2048 * kGiB);
  for (const char* text : {"", "0", "G", "4X", "4GB", "-1", "1.5G", "18446744073709551615K"})
    CHECK(!parseByteCount(text));
  setenv("MNEME_QUEUE_BYTES", "3G", 1);
  CHECK(automaticQueueBytes() == 3 * kGiB);
  setenv("MNEME_QUEUE_BYTES", "much", 1);
  CHECK(automaticQueueBytes() >= kGiB / 2);
  unsetenv("MNEME_QUEUE_BYTES");
  CHECK(automaticQueueBytes() >= kGiB / 2);
  CHECK(availableCores() >= 1);
}

} // namespace mneme::artifact::test
