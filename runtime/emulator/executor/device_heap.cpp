#include "runtime/emulator/executor/device_heap.h"

#include <bit>
#include <map>
#include <mutex>
#include <vector>

#include <sys/mman.h>

#include "runtime/core/base/address_space.h"

namespace mneme::device::cpu {

namespace {

/// Below what the recorder places there, above where programs and their heaps are put.
constexpr uint64_t kBase = 0x5e0000000000;
/// Addresses, not memory; less where a limit forbids it.
constexpr uint64_t kMostBytes = uint64_t{1} << 38;
constexpr uint64_t kLeastBytes = uint64_t{1} << 26;
constexpr uint64_t kLargestEven = 1024; ///< up to here sizes are multiples of 16
constexpr uint64_t kWorthReturning = uint64_t{1} << 20;
constexpr uint64_t kPageBytes = 4096;

uint64_t rounded(uint64_t sizeBytes) noexcept {
  return sizeBytes <= kLargestEven ? (sizeBytes + 15) / 16 * 16 : std::bit_ceil(sizeBytes);
}

class Heap {
public:
  void* allocate(uint64_t sizeBytes) {
    const uint64_t size = rounded(sizeBytes);
    const std::lock_guard lock(mutex_);
    auto& free = free_[size];
    void* block = nullptr;
    if (!free.empty()) {
      block = free.back();
      live_.emplace(block, size);
      free.pop_back();
      state_ ^= mixed(block);
      return block;
    }
    if (!base_ && !reserve())
      return nullptr;
    if (size > sizeBytes_ - used_)
      return nullptr;
    block = base_ + used_;
    live_.emplace(block, size);
    used_ += size;
    state_ ^= mixed(block);
    return block;
  }

  bool release(void* block) {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(block);
    if (found == live_.end())
      return false;
    const uint64_t size = found->second;
    free_[size].push_back(block);
    live_.erase(found);
    state_ ^= mixed(block);
    if (size >= kWorthReturning)
      giveBack(static_cast<char*>(block), size);
    return true;
  }

  void reset() noexcept {
    const std::lock_guard lock(mutex_);
    live_.clear();
    free_.clear();
    if (used_ > 0)
      madvise(base_, (used_ + kPageBytes - 1) / kPageBytes * kPageBytes, MADV_DONTNEED);
    used_ = 0;
    state_ = 0;
  }

  std::vector<HeapExtent> extents() {
    const std::lock_guard lock(mutex_);
    std::vector<HeapExtent> runs;
    for (const auto& [block, size] : live_) {
      if (!runs.empty() && static_cast<char*>(runs.back().base) + runs.back().sizeBytes == block)
        runs.back().sizeBytes += size;
      else
        runs.push_back({block, size});
    }
    return runs;
  }

  uint64_t state() {
    const std::lock_guard lock(mutex_);
    return state_;
  }

private:
  static uint64_t mixed(const void* block) noexcept {
    const uint64_t number = reinterpret_cast<uint64_t>(block) * 0x9e3779b97f4a7c15;
    return number ^ number >> 32;
  }

  bool reserve() noexcept {
    for (uint64_t size = shareOfAddresses(kMostBytes, 8) / kPageBytes * kPageBytes;
         size >= kLeastBytes; size = size / 4 / kPageBytes * kPageBytes) {
      void* place = mmap(reinterpret_cast<void*>(kBase), size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (place == MAP_FAILED)
        continue;
      base_ = static_cast<char*>(place);
      sizeBytes_ = size;
      return true;
    }
    return false;
  }

  static void giveBack(char* block, uint64_t size) noexcept {
    const uint64_t begin = (reinterpret_cast<uint64_t>(block) + kPageBytes - 1) / kPageBytes;
    const uint64_t end = (reinterpret_cast<uint64_t>(block) + size) / kPageBytes;
    madvise(reinterpret_cast<void*>(begin * kPageBytes), (end - begin) * kPageBytes, MADV_DONTNEED);
  }

  std::mutex mutex_;
  char* base_ = nullptr;
  uint64_t sizeBytes_ = 0;
  uint64_t used_ = 0;
  uint64_t state_ = 0;
  std::map<void*, uint64_t> live_;              ///< sizes, by address
  std::map<uint64_t, std::vector<void*>> free_; ///< by size
};

// Never destroyed: device code may run until the very end of the process.
Heap& heap() {
  static Heap* instance = new Heap;
  return *instance;
}

} // namespace

void* heapAllocate(uint64_t sizeBytes) noexcept {
  if (sizeBytes == 0 || sizeBytes > kMostBytes)
    return nullptr;
  try {
    return heap().allocate(sizeBytes);
  } catch (...) {
    return nullptr;
  }
}

bool heapRelease(void* pointer) noexcept {
  try {
    return !pointer || heap().release(pointer);
  } catch (...) {
    return true; // of no more use, that is all
  }
}

void heapReset() noexcept { heap().reset(); }

std::vector<HeapExtent> heapExtents() { return heap().extents(); }

uint64_t heapState() noexcept { return heap().state(); }

} // namespace mneme::device::cpu
