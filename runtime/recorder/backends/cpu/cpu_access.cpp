#include <algorithm>
#include <atomic>
#include <cstring>

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/core/base/blocked_signals.h"
#include "runtime/core/base/parallel.h"
#include "runtime/recorder/device_access.h"
#include "runtime/recorder/inside_call.h"
#include "runtime/recorder/slab.h"

namespace mneme::record {
namespace {

/// Less than this is done faster than a thread is started.
constexpr uint64_t kBytesPerThread = 4ull << 20;
constexpr uint64_t kSlabBytes = 64ull << 20;
constexpr unsigned kMaxThreads = 16;

unsigned allowedProcessors() noexcept {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return sched_getaffinity(0, sizeof(allowed), &allowed) == 0
             ? static_cast<unsigned>(CPU_COUNT(&allowed))
             : 1;
}

/// Half of the processors: the application waits meanwhile, its other threads may not.
unsigned copyThreads() noexcept { return std::clamp(allowedProcessors() / 2, 1u, kMaxThreads); }

/// While the application waits for the result.
unsigned hurriedThreads() noexcept {
  return std::min(std::max(allowedProcessors(), 1u), kMaxThreads);
}

unsigned threadsFor(uint64_t bytes, unsigned most) {
  return static_cast<unsigned>(std::clamp<uint64_t>(bytes / kBytesPerThread, 1, most));
}

/// A part of one task.
struct Part {
  size_t task = 0;
  uint64_t index = 0;
};

} // namespace

void hashOnHost(std::span<const HostHashTask> tasks) {
  std::vector<Part> parts;
  uint64_t bytes = 0;
  for (size_t task = 0; task < tasks.size(); ++task) {
    bytes += tasks[task].bytes.size();
    for (uint64_t index = 0; index < tasks[task].hashes.size(); ++index)
      parts.push_back({task, index});
  }
  const BlockedSignals blocked;
  parallelFor(parts.size(), threadsFor(bytes, hurriedThreads()), [&](uint64_t number) {
    const Part& part = parts[number];
    const HostHashTask& task = tasks[part.task];
    const uint64_t offset = part.index * artifact::kChunkBytes;
    task.hashes[part.index] = hash128(task.bytes.subspan(
        offset, std::min<uint64_t>(artifact::kChunkBytes, task.bytes.size() - offset)));
  });
}

void searchOnHost(std::span<const HostSearchTask> tasks, const WordRanges& ranges,
                  SearchResult& result) {
  uint64_t bytes = 0;
  for (const HostSearchTask& task : tasks)
    bytes += task.bytes.size();
  const BlockedSignals blocked;
  parallelFor(tasks.size(), threadsFor(bytes, hurriedThreads()), [&](uint64_t number) {
    const HostSearchTask& task = tasks[number];
    ranges.visit(task.bytes, task.address, [&](size_t, uint64_t, size_t index) {
      result.holdsAddress[task.piece] = 1;
      std::atomic_ref(result.isReached[index]).store(1, std::memory_order_relaxed);
    });
  });
}

bool isHostMemory(uint64_t address, uint64_t sizeBytes) noexcept {
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t begin = address / page * page;
  // Does nothing but say whether something is not mapped.
  return msync(reinterpret_cast<void*>(begin), address + sizeBytes - begin, MS_ASYNC) == 0;
}

bool HostAccess::canRead(const artifact::Region& region) {
  return isHostMemory(region.address, region.sizeBytes);
}

void HostAccess::launchBegins(const mneme_launch&) { beginNs_ = nowNs(); }

std::optional<int> HostAccess::launchEnds(const mneme_launch&, uint64_t& elapsedNs,
                                          const Patience& patience) {
  const std::optional<int> status = synchronize_(patience);
  elapsedNs = nowNs() - beginNs_;
  return status;
}

void HostAccess::hash(std::span<const HashTask> tasks) {
  std::vector<HostHashTask> onHost;
  for (const HashTask& task : tasks)
    onHost.push_back({{reinterpret_cast<const std::byte*>(task.region->address),
                       static_cast<size_t>(task.region->sizeBytes)},
                      task.hashes});
  hashOnHost(onHost);
}

SearchResult HostAccess::search(std::span<const Piece> pieces, const WordRanges& ranges) {
  SearchResult result{std::vector<uint8_t>(pieces.size()),
                      std::vector<uint8_t>(ranges.ranges().size())};
  std::vector<HostSearchTask> tasks;
  for (size_t index = 0; index < pieces.size(); ++index) {
    const uint64_t address = pieces[index].region->address + pieces[index].offset;
    tasks.push_back(
        {{reinterpret_cast<const std::byte*>(address), pieces[index].sizeBytes}, address, index});
  }
  searchOnHost(tasks, ranges, result);
  return result;
}

Content HostAccess::take(std::span<const Piece> pieces) {
  std::vector<std::span<const std::byte>> sources;
  for (const Piece& piece : pieces)
    sources.emplace_back(reinterpret_cast<const std::byte*>(piece.region->address + piece.offset),
                         piece.sizeBytes);
  return copyOnHost(sources);
}

void HostAccess::clear(uint64_t address, uint64_t sizeBytes) {
  std::memset(reinterpret_cast<void*>(address), 0, sizeBytes);
}

void HostAccess::read(uint64_t address, std::span<std::byte> bytes) {
  std::memcpy(bytes.data(), reinterpret_cast<const void*>(address), bytes.size());
}

Content copyOnHost(std::span<const std::span<const std::byte>> sources) {
  uint64_t bytes = 0;
  for (const auto& source : sources)
    bytes += source.size();
  checkHostMemory(bytes);
  Content content;
  uint64_t left = bytes, used = 0;
  Slab slab;
  for (const auto& source : sources) {
    if (slab.sizeBytes - used < source.size()) {
      slab = makeSlab(std::max(std::min(left, kSlabBytes), uint64_t{source.size()}));
      content.storage.push_back(slab.asDraft());
      used = 0;
    }
    content.pieces.emplace_back(slab.memory.get() + used, source.size());
    used += source.size();
    left -= source.size();
  }
  const BlockedSignals blocked;
  parallelFor(sources.size(), threadsFor(bytes, copyThreads()), [&](uint64_t index) {
    auto* destination = const_cast<std::byte*>(content.pieces[index].data());
    std::memcpy(destination, sources[index].data(), sources[index].size());
  });
  return content;
}

} // namespace mneme::record
