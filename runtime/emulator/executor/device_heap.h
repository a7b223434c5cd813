// Room emulator/executor: device-side malloc and free. Thread-safe; memory lives until it is freed.
// The heap is contiguous, at the same address in every process if that is free, so that recordings
// can contain it.
#pragma once

#include <cstdint>
#include <vector>

namespace mneme::device::cpu {

/// Returns 16-byte aligned memory; null if there is none.
void* heapAllocate(uint64_t sizeBytes) noexcept;
/// Frees a block, or null. Returns false, with nothing freed, if `pointer` is not from this heap.
bool heapRelease(void* pointer) noexcept;

/// Frees all blocks. The next are those that the first calls in a process get, filled with zeros.
void heapReset() noexcept;

/// A run of adjacent blocks in use. Memory between runs has no meaningful content.
struct HeapExtent {
  void* base = nullptr;
  uint64_t sizeBytes = 0;
};
std::vector<HeapExtent> heapExtents();
/// Returns a number that identifies the blocks in use: it is the same before and after code that
/// frees all it allocates.
uint64_t heapState() noexcept;

} // namespace mneme::device::cpu
