#include "runtime/recorder/mapped_memory.h"

#include <algorithm>
#include <bit>

namespace mneme::record {
namespace {

/// Behind the windows of sixteen devices, and below what the system gives out.
constexpr uint64_t kPlace = 0x700000000000, kPlaceBytes = uint64_t{8} << 40;
/// Reservations begin at multiples of this, so that each has room around it in a replay.
constexpr uint64_t kStep = uint64_t{1} << 30;

using Pieces = std::map<uint64_t, uint64_t>;

void forgetIn(Pieces& pieces, uint64_t address, uint64_t sizeBytes) {
  pieces.erase(pieces.lower_bound(address), pieces.lower_bound(address + sizeBytes));
}

bool isIn(const Pieces& pieces, uint64_t address) {
  const auto next = pieces.upper_bound(address);
  return next != pieces.begin() && address - std::prev(next)->first < std::prev(next)->second;
}

} // namespace

uint64_t MappedMemory::place(uint64_t sizeBytes, uint64_t alignment) {
  const uint64_t step = std::max(kStep, alignment);
  if (!std::has_single_bit(step) || step > kPlaceBytes || sizeBytes > kPlaceBytes)
    return 0;
  const uint64_t begin = (placedBytes_ + step - 1) / step * step;
  if (begin + sizeBytes + kStep > kPlaceBytes)
    return 0;
  placedBytes_ = begin + sizeBytes + kStep;
  return kPlace + begin;
}

bool MappedMemory::isPlaced(uint64_t address) noexcept { return address - kPlace < kPlaceBytes; }

void MappedMemory::note(uint64_t address, uint64_t sizeBytes) { pieces_[address] = sizeBytes; }

void MappedMemory::noteUnreadable(uint64_t address, uint64_t sizeBytes) {
  unreadable_[address] = sizeBytes;
}

void MappedMemory::forget(uint64_t address, uint64_t sizeBytes) {
  forgetIn(pieces_, address, sizeBytes);
  forgetIn(unreadable_, address, sizeBytes);
}

bool MappedMemory::contains(uint64_t address) const { return isIn(pieces_, address); }

bool MappedMemory::isUnreadable(uint64_t address) const { return isIn(unreadable_, address); }

std::vector<uint64_t> MappedMemory::pieces() const {
  std::vector<uint64_t> addresses;
  for (const auto& [address, sizeBytes] : pieces_)
    addresses.push_back(address);
  return addresses;
}

std::set<uint64_t> MappedMemory::joints() const {
  std::set<uint64_t> joints;
  uint64_t end = 0;
  for (const auto& [address, sizeBytes] : pieces_) {
    if (address == end)
      joints.insert(address);
    end = address + sizeBytes;
  }
  return joints;
}

} // namespace mneme::record
