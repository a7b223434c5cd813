// Room replay: recorded addresses that are others in this process. One list for whatever has moved;
// words that lead into it are rewritten on their way to the device, in what the kernel is given and
// in what it is expected to leave alike, so that both are compared as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/word_ranges.h"

namespace mneme::replay {

/// [recorded, recorded + sizeBytes) is at `here` now.
struct Move {
  uint64_t recorded = 0;
  uint64_t sizeBytes = 0;
  uint64_t here = 0;
};

/// Rewrites words. Only a word that holds an address exactly is one: tagged in its upper bits,
/// packed to an odd place or split, an address is not known as such. Immutable; thread-safe.
class AddressMap {
public:
  AddressMap() = default;
  /// No two begin at the same place; where two overlap, the range ends where the next begins.
  explicit AddressMap(std::vector<Move> moves);

  bool isEmpty() const noexcept { return recorded_.isEmpty(); }
  /// Rewrites every word of recorded bytes that lay at `recordedAddress`; returns how many.
  size_t translate(std::span<std::byte> bytes, uint64_t recordedAddress) const noexcept;

private:
  WordRanges recorded_;
  std::vector<uint64_t> here_; ///< where each of the ranges begins now
};

} // namespace mneme::replay
