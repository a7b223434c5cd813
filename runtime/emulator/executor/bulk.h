// Room emulator/executor: memory-bound work on all workers. Every address must be accessible.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/devices/device.h"

namespace mneme::device::cpu {

void bulkCopy(std::span<const CopyRange> ranges);
void bulkHash(uint64_t address, uint64_t sizeBytes, uint64_t pageBytes, std::span<Hash128> hashes);
std::vector<uint64_t> bulkDiff(uint64_t first, uint64_t second, uint64_t sizeBytes,
                               uint64_t pageBytes);
std::vector<CompareReport> bulkCompare(std::span<const CompareRequest> requests);

} // namespace mneme::device::cpu
