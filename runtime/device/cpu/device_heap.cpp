#include "runtime/device/cpu/device_heap.h"

#include <cstdlib>
#include <mutex>
#include <unordered_set>

namespace mneme::device::cpu {

namespace {

struct Heap {
  std::mutex mutex;
  std::unordered_set<void*> live;
};

// Never destroyed: device code may run until the very end of the process.
Heap& heap() {
  static Heap* instance = new Heap;
  return *instance;
}

} // namespace

void* heapAllocate(uint64_t sizeBytes) noexcept {
  if (sizeBytes == 0 || sizeBytes > (uint64_t{1} << 46))
    return nullptr;
  void* pointer = malloc(sizeBytes);
  if (!pointer)
    return nullptr;
  try {
    std::lock_guard lock(heap().mutex);
    heap().live.insert(pointer);
  } catch (...) {
    free(pointer);
    return nullptr;
  }
  return pointer;
}

bool heapRelease(void* pointer) noexcept {
  if (!pointer)
    return true;
  {
    std::lock_guard lock(heap().mutex);
    if (heap().live.erase(pointer) == 0)
      return false;
  }
  free(pointer);
  return true;
}

} // namespace mneme::device::cpu
