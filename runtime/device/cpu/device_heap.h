// Room device/cpu: device-side malloc and free. Thread-safe; memory lives until it is freed. It
// lies in one piece, at the same place in every process where that is free, so that recordings can
// hold it.
#pragma once

#include <cstdint>
#include <vector>

namespace mneme::device::cpu {

/// 16-byte aligned; null when there is no memory.
void* heapAllocate(uint64_t sizeBytes) noexcept;
/// Null is fine. False if `pointer` is not one of ours (nothing is freed then).
bool heapRelease(void* pointer) noexcept;

/// Blocks that are in use, neighbours as one. What lies between them has no content to speak of.
struct HeapExtent {
  void* base = nullptr;
  uint64_t sizeBytes = 0;
};
std::vector<HeapExtent> heapExtents();
/// A number that says which blocks there are: equal before and after what frees all it allocates.
uint64_t heapState() noexcept;

} // namespace mneme::device::cpu
