#include "runtime/record/memory_backend.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace mneme::record {
namespace {

/// Less than this is hashed faster than a thread is started.
constexpr uint64_t kBytesPerThread = 4ull << 20;
constexpr unsigned kMaxThreads = 16;

class HostBackend final : public MemoryBackend {
public:
  uint64_t granularity() const override { return 2ull << 20; }

  bool reserve(uint64_t address, uint64_t sizeBytes) override {
    void* wanted = reinterpret_cast<void*>(address);
    void* granted = mmap(wanted, sizeBytes, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (granted == MAP_FAILED)
      return false;
    if (granted != wanted) // kernels before 4.17 take the flag for a hint
      munmap(granted, sizeBytes);
    return granted == wanted;
  }

  bool map(uint64_t address, uint64_t sizeBytes) override {
    return mprotect(reinterpret_cast<void*>(address), sizeBytes, PROT_READ | PROT_WRITE) == 0;
  }

  void unmap(uint64_t address, uint64_t sizeBytes) noexcept override {
    void* place = reinterpret_cast<void*>(address);
    madvise(place, sizeBytes, MADV_DONTNEED);
    mprotect(place, sizeBytes, PROT_NONE);
  }

  void hashPages(uint64_t address, uint64_t sizeBytes, uint64_t pageBytes,
                 std::span<Hash128> hashes) const override {
    std::atomic<uint64_t> next{0};
    const auto work = [&] {
      for (uint64_t page = next++; page < hashes.size(); page = next++) {
        const uint64_t offset = page * pageBytes;
        hashes[page] = hash128({reinterpret_cast<const std::byte*>(address + offset),
                                static_cast<size_t>(std::min(pageBytes, sizeBytes - offset))});
      }
    };
    const unsigned threads = static_cast<unsigned>(std::min<uint64_t>(
        {sizeBytes / kBytesPerThread, std::thread::hardware_concurrency(), kMaxThreads}));
    std::vector<std::thread> helpers;
    try {
      for (unsigned helper = 1; helper < threads; ++helper)
        helpers.emplace_back(work);
    } catch (const std::system_error&) { // no more threads to be had: fewer do the same work
    }
    work();
    for (std::thread& helper : helpers)
      helper.join();
  }

  void copyToHost(void* destination, uint64_t source, uint64_t sizeBytes) const override {
    std::memcpy(destination, reinterpret_cast<const void*>(source), sizeBytes);
  }
};

} // namespace

std::unique_ptr<MemoryBackend> makeHostBackend() { return std::make_unique<HostBackend>(); }

} // namespace mneme::record
