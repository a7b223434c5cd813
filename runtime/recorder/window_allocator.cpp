#include "runtime/recorder/window_allocator.h"

#include <algorithm>

namespace mneme::record {
namespace {

constexpr uint64_t kDeviceStride = 1ull << 40;
/// A run is given back whole: small enough that one small block does not hold much memory.
constexpr uint64_t kMaxRunBytes = 256ull << 20;

uint64_t roundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

} // namespace

const std::vector<uint64_t>& WindowAllocator::candidateAddresses() {
  static const auto& addresses =
      *new std::vector<uint64_t>{0x600000000000, 0x480000000000, 0x300000000000, 0x200000000000};
  return addresses;
}

WindowAllocator::WindowAllocator(MemoryBackend& backend, unsigned device, uint64_t sizeBytes)
    : backend_(backend), guards_(backend) {
  sizeBytes = roundUp(std::max(sizeBytes, backend.granularity()), backend.granularity());
  const uint64_t zones[] = {guards_.isPossible() ? kGuardBytes : 0, 0};
  for (const uint64_t zoneBytes : zones)
    for (const uint64_t candidate : candidateAddresses())
      // A window may be as large as the distance to the next device's.
      if (base_ == 0 && (zoneBytes == 0 || sizeBytes + 2 * zoneBytes <= kDeviceStride))
        reserve(candidate + device * kDeviceStride, sizeBytes, zoneBytes);
}

bool WindowAllocator::reserve(uint64_t address, uint64_t sizeBytes, uint64_t zoneBytes) {
  if (!backend_.reserve(address - zoneBytes, sizeBytes + 2 * zoneBytes))
    return false;
  base_ = address;
  sizeBytes_ = sizeBytes;
  zoneBytes_ = zoneBytes;
  guards_.setBounds(address - zoneBytes, address + sizeBytes + zoneBytes);
  insertFree(base_, sizeBytes_);
  return true;
}

WindowAllocator::~WindowAllocator() {
  for (const auto& [address, sizeBytes] : runs_)
    backend_.unmap(address, sizeBytes);
  guards_.removeAll();
  if (base_ != 0)
    backend_.release(base_ - zoneBytes_, sizeBytes_ + 2 * zoneBytes_);
}

bool WindowAllocator::mapRun(uint64_t address, uint64_t sizeBytes) {
  guards_.makeRoom(address, sizeBytes);
  if (!backend_.map(address, sizeBytes))
    return false;
  runs_.emplace(address, sizeBytes);
  for (const unsigned device : sharers_)
    backend_.share(address, sizeBytes, device);
  return true;
}

bool WindowAllocator::mapRange(uint64_t address, uint64_t sizeBytes) {
  const bool isMapped = mapMissing(address, sizeBytes);
  guards_.update(address, sizeBytes, runs_, sharers_);
  return isMapped;
}

bool WindowAllocator::mapMissing(uint64_t address, uint64_t sizeBytes) {
  const uint64_t piece = backend_.granularity();
  const uint64_t end = base_ + roundUp(address + sizeBytes - base_, piece);
  uint64_t at = base_ + (address - base_) / piece * piece;
  while (at < end) {
    auto next = runs_.upper_bound(at);
    if (next != runs_.begin()) {
      const auto& [start, bytes] = *std::prev(next);
      if (at - start < bytes) {
        at = start + bytes;
        continue;
      }
    }
    const uint64_t stop = std::min(
        {end, next == runs_.end() ? end : next->first, at + std::max(kMaxRunBytes, piece)});
    if (!mapRun(at, stop - at))
      return false;
    at = stop;
  }
  return true;
}

void WindowAllocator::insertFree(uint64_t address, uint64_t sizeBytes) {
  freeByAddress_.emplace(address, sizeBytes);
  freeBySize_.emplace(sizeBytes, address);
}

void WindowAllocator::eraseFree(std::map<uint64_t, uint64_t>::iterator block) {
  freeBySize_.erase({block->second, block->first});
  freeByAddress_.erase(block);
}

bool WindowAllocator::hasRoom(uint64_t sizeBytes) const {
  return sizeBytes <= sizeBytes_ &&
         freeBySize_.lower_bound({roundUp(sizeBytes, kAllocationAlignment), 0}) !=
             freeBySize_.end();
}

uint64_t WindowAllocator::allocate(uint64_t sizeBytes) {
  if (sizeBytes == 0 || sizeBytes > sizeBytes_)
    return 0;
  const uint64_t needed = roundUp(sizeBytes, kAllocationAlignment);
  const auto fit = freeBySize_.lower_bound({needed, 0});
  if (fit == freeBySize_.end()) {
    trim(); // the vendor, who is asked next, may need it
    return 0;
  }
  const auto [blockBytes, address] = *fit;
  // What lies idle elsewhere in the window may be the memory that is missing here.
  if (!mapRange(address, needed) && !(trim() > 0 && mapRange(address, needed))) {
    trim(); // what was mapped for nothing
    return 0;
  }
  eraseFree(freeByAddress_.find(address));
  if (blockBytes > needed)
    insertFree(address + needed, blockBytes - needed);
  return address;
}

void WindowAllocator::release(uint64_t address, uint64_t sizeBytes) {
  sizeBytes = roundUp(sizeBytes, kAllocationAlignment);
  auto next = freeByAddress_.lower_bound(address);
  if (next != freeByAddress_.end() && next->first == address + sizeBytes) {
    sizeBytes += next->second;
    eraseFree(std::exchange(next, std::next(next)));
  }
  if (next != freeByAddress_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == address) {
      address = before->first;
      sizeBytes += before->second;
      eraseFree(before);
    }
  }
  insertFree(address, sizeBytes);
}

bool WindowAllocator::isFree(uint64_t address, uint64_t sizeBytes) const {
  const auto after = freeByAddress_.upper_bound(address);
  if (after == freeByAddress_.begin())
    return false;
  const auto& [start, bytes] = *std::prev(after);
  return address + sizeBytes <= start + bytes;
}

uint64_t WindowAllocator::idleBytes() const {
  uint64_t idle = 0;
  for (const auto& [address, bytes] : runs_)
    idle += isFree(address, bytes) ? bytes : 0;
  return idle;
}

uint64_t WindowAllocator::mappedBytes() const {
  uint64_t bytes = 0;
  for (const auto& [address, sizeBytes] : runs_)
    bytes += sizeBytes;
  return bytes;
}

uint64_t WindowAllocator::trim(uint64_t keepBytes) {
  const uint64_t idle = idleBytes();
  uint64_t given = 0;
  for (auto run = runs_.begin(); run != runs_.end() && idle - given > keepBytes;) {
    const auto [address, bytes] = *run;
    if (!isFree(address, bytes)) {
      ++run;
      continue;
    }
    backend_.unmap(address, bytes);
    given += bytes;
    run = runs_.erase(run);
    guards_.update(address, bytes, runs_, sharers_);
  }
  return given;
}

void WindowAllocator::share(unsigned device) {
  if (!sharers_.insert(device).second)
    return;
  for (const auto& [address, bytes] : runs_)
    backend_.share(address, bytes, device);
  guards_.share(device);
}

} // namespace mneme::record
