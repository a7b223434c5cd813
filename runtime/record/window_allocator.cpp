#include "runtime/record/window_allocator.h"

#include <algorithm>

namespace mneme::record {
namespace {

constexpr uint64_t kDeviceStride = 1ull << 40;

uint64_t roundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

} // namespace

const std::vector<uint64_t>& WindowAllocator::candidateAddresses() {
  static const auto& addresses =
      *new std::vector<uint64_t>{0x600000000000, 0x480000000000, 0x300000000000, 0x200000000000};
  return addresses;
}

WindowAllocator::WindowAllocator(MemoryBackend& backend, unsigned device, uint64_t sizeBytes)
    : backend_(backend) {
  sizeBytes = roundUp(std::max(sizeBytes, backend.granularity()), backend.granularity());
  for (const uint64_t candidate : candidateAddresses()) {
    const uint64_t address = candidate + device * kDeviceStride;
    if (!backend_.reserve(address, sizeBytes))
      continue;
    base_ = address;
    sizeBytes_ = sizeBytes;
    isMapped_.assign(sizeBytes_ / backend_.granularity(), false);
    insertFree(base_, sizeBytes_);
    return;
  }
}

bool WindowAllocator::mapRange(uint64_t address, uint64_t sizeBytes) {
  const uint64_t piece = backend_.granularity();
  uint64_t first = (address - base_) / piece;
  const uint64_t end = (address + sizeBytes - base_ + piece - 1) / piece;
  while (first < end) {
    uint64_t last = first;
    while (last < end && !isMapped_[last])
      ++last;
    if (last > first && !backend_.map(base_ + first * piece, (last - first) * piece))
      return false;
    std::fill(isMapped_.begin() + static_cast<ptrdiff_t>(first),
              isMapped_.begin() + static_cast<ptrdiff_t>(last), true);
    first = last + 1;
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

uint64_t WindowAllocator::allocate(uint64_t sizeBytes) {
  if (sizeBytes == 0 || sizeBytes > sizeBytes_)
    return 0;
  const uint64_t needed = roundUp(sizeBytes, kAllocationAlignment);
  const auto fit = freeBySize_.lower_bound({needed, 0});
  if (fit == freeBySize_.end())
    return 0;
  const auto [blockBytes, address] = *fit;
  if (!mapRange(address, needed))
    return 0;
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

void WindowAllocator::reset() {
  backend_.unmap(base_, sizeBytes_);
  std::fill(isMapped_.begin(), isMapped_.end(), false);
  freeByAddress_.clear();
  freeBySize_.clear();
  insertFree(base_, sizeBytes_);
}

} // namespace mneme::record
