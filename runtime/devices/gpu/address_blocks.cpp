#include "runtime/devices/gpu/address_blocks.h"

#include <algorithm>

namespace mneme::device::gpu {

namespace {

constexpr uint64_t kBlockBytes = 32 << 20;
/// Tried one after the other: the driver looks at the wanted address once it has no free range of
/// this size left over from earlier reservations.
constexpr uint64_t kGrowing[] = {kBlockBytes, 1ull << 30, 32ull << 30, 1ull << 40};
constexpr int kAttempts = 4;

uint64_t roundDown(uint64_t value) { return value / kBlockBytes * kBlockBytes; }
uint64_t roundUp(uint64_t value) { return roundDown(value + kBlockBytes - 1); }

} // namespace

bool AddressBlocks::reserveExactly(uint64_t address, uint64_t sizeBytes, uint64_t room) {
  std::vector<std::pair<uint64_t, uint64_t>> misplaced;
  bool isGranted = false;
  for (const uint64_t growing : kGrowing) {
    const uint64_t size = std::min(std::max(growing, sizeBytes), room);
    for (int attempt = 0; attempt < kAttempts && !isGranted; ++attempt) {
      uint64_t granted = 0;
      if (driver_.reserveAddresses(&granted, size, address) != kSuccess)
        break;
      isGranted = granted == address;
      if (isGranted)
        reservations_[address] = {size, 0};
      else
        misplaced.emplace_back(granted, size);
    }
    if (isGranted)
      break;
  }
  for (const auto& [range, size] : misplaced)
    driver_.freeAddresses(range, size);
  return isGranted;
}

AddressBlocks::Reservations::iterator AddressBlocks::firstOverlap(uint64_t address) {
  auto found = reservations_.upper_bound(address);
  if (found != reservations_.begin())
    if (const auto before = std::prev(found); before->first + before->second.sizeBytes > address)
      return before;
  return found;
}

bool AddressBlocks::take(uint64_t address, uint64_t sizeBytes) {
  const uint64_t begin = roundDown(address), end = roundUp(address + sizeBytes);
  bool isGranted = true;
  for (uint64_t cursor = begin; cursor < end && isGranted;) {
    const auto next = firstOverlap(cursor);
    if (next != reservations_.end() && next->first <= cursor) {
      cursor = next->first + next->second.sizeBytes;
      continue;
    }
    const uint64_t room = (next == reservations_.end() ? UINT64_MAX / 2 : next->first) - cursor;
    const uint64_t stop = std::min(end, cursor + room);
    isGranted = reserveExactly(cursor, stop - cursor, room);
    cursor = stop;
  }
  if (isGranted)
    for (auto at = firstOverlap(begin); at != reservations_.end() && at->first < end; ++at)
      ++at->second.users;
  else
    dropUnused();
  return isGranted;
}

void AddressBlocks::give(uint64_t address, uint64_t sizeBytes) noexcept {
  const uint64_t begin = roundDown(address), end = roundUp(address + sizeBytes);
  for (auto at = firstOverlap(begin); at != reservations_.end() && at->first < end; ++at)
    if (at->second.users > 0)
      --at->second.users;
  dropUnused();
}

void AddressBlocks::dropUnused() noexcept {
  for (auto at = reservations_.begin(); at != reservations_.end();) {
    if (at->second.users > 0) {
      ++at;
      continue;
    }
    driver_.freeAddresses(at->first, at->second.sizeBytes);
    at = reservations_.erase(at);
  }
}

std::vector<std::pair<uint64_t, uint64_t>> AddressBlocks::parts(uint64_t address,
                                                                uint64_t sizeBytes) const {
  std::vector<std::pair<uint64_t, uint64_t>> result;
  const uint64_t end = address + sizeBytes;
  while (address < end) {
    const auto next = reservations_.upper_bound(address);
    const uint64_t stop = next == reservations_.end() ? end : std::min(end, next->first);
    result.emplace_back(address, stop - address);
    address = stop;
  }
  return result;
}

} // namespace mneme::device::gpu
