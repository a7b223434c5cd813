// Room device/cpu: device-side malloc and free. Thread-safe; memory lives until it is freed.
#pragma once

#include <cstdint>

namespace mneme::device::cpu {

/// 16-byte aligned; null when there is no memory.
void* heapAllocate(uint64_t sizeBytes) noexcept;
/// Null is fine. False if `pointer` is not one of ours (nothing is freed then).
bool heapRelease(void* pointer) noexcept;

} // namespace mneme::device::cpu
