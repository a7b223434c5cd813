// Room replay: recorded memory that has another address in this process. Pointers to it are
// rewritten on their way to the device, both in the kernel's input and in its expected output, so
// that the two can be compared directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/core/base/word_ranges.h"

namespace mneme::replay {

/// The memory recorded at [recorded, recorded + sizeBytes) is at `here` now.
struct Move {
  uint64_t recorded = 0;
  uint64_t sizeBytes = 0;
  uint64_t here = 0;
};

/// Rewrites pointers. Only an aligned word whose value is exactly an address counts as a pointer:
/// one with tags in its upper bits, at an unaligned place or split in parts is not recognised.
/// Immutable; thread-safe.
class AddressMap {
public:
  AddressMap() = default;
  /// No two moves begin at the same address. If two overlap, the first ends where the second
  /// begins.
  explicit AddressMap(std::vector<Move> moves);

  bool isEmpty() const noexcept { return recorded_.isEmpty(); }
  /// Rewrites the pointers in bytes recorded at `recordedAddress`. Returns how many it rewrote.
  size_t translate(std::span<std::byte> bytes, uint64_t recordedAddress) const noexcept;

private:
  WordRanges recorded_;
  std::vector<uint64_t> here_; ///< the present begin of each range
};

} // namespace mneme::replay
