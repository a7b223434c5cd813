#include "runtime/recorder/backends/gpu/mirrors.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <time.h>

#include "runtime/recorder/host_mappings.h"

namespace mneme::record::gpu {
namespace {

/// Between two reads of memory that changed.
constexpr long kPauseNs = 5'000'000;
constexpr size_t kPartBytes = 64 << 10;

/// Copies of one region: before the launch, and behind it.
struct Changed {
  uint64_t address = 0;
  std::span<const std::byte> before;
  std::span<std::byte> after;
};

std::span<std::byte> bytesOf(const Slab& slab) { return {slab.memory.get(), slab.sizeBytes}; }

void undoWords(std::span<const std::byte> before, std::span<std::byte> after,
               std::span<const std::byte> later) {
  constexpr size_t kWord = sizeof(uint64_t);
  for (size_t at = 0; at < after.size(); at += kWord) {
    const size_t count = std::min(kWord, after.size() - at);
    if (std::memcmp(&after[at], &later[at], count) != 0)
      std::memcpy(&after[at], &before[at], count);
  }
}

void undoUnsettled(std::span<const Changed> changed) {
  std::vector<std::byte> later(kPartBytes);
  for (const Changed& one : changed)
    for (size_t at = 0; at < one.after.size(); at += kPartBytes) {
      const size_t count = std::min(kPartBytes, one.after.size() - at);
      const std::span part = one.after.subspan(at, count);
      copyHost(one.address + at, std::span(later).first(count));
      if (std::memcmp(part.data(), later.data(), count) != 0)
        undoWords(one.before.subspan(at, count), part, later);
    }
}

} // namespace

void pauseShortly() noexcept {
  const timespec pause{0, kPauseNs};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
}

void hashMirrored(std::span<const HashTask> tasks, const Mirrors* before, Mirrors& mirrors,
                  void (*pause)()) {
  uint64_t sizeBytes = 0;
  for (const HashTask& task : tasks)
    sizeBytes += task.region->sizeBytes;
  checkHostMemory(sizeBytes);
  std::vector<HostHashTask> mirrored;
  std::vector<Changed> changed;
  for (const HashTask& task : tasks) {
    const uint64_t address = task.region->address;
    Slab& slab = mirrors[address] = makeSlab(task.region->sizeBytes);
    copyHost(address, bytesOf(slab));
    mirrored.push_back({bytesOf(slab), task.hashes});
    if (!before)
      continue;
    const auto known = before->find(address);
    if (known != before->end() && known->second.sizeBytes == slab.sizeBytes &&
        std::memcmp(known->second.memory.get(), slab.memory.get(), slab.sizeBytes) != 0)
      changed.push_back({address, bytesOf(known->second), bytesOf(slab)});
  }
  if (!changed.empty()) {
    pause();
    undoUnsettled(changed);
  }
  hashOnHost(mirrored);
}

} // namespace mneme::record::gpu
