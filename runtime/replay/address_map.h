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
  explicit AddressMap(const std::vector<Move>& moves);

  bool isEmpty() const noexcept { return recorded_.isEmpty(); }
  /// The word itself where it leads to nothing that has moved.
  uint64_t toHere(uint64_t word) const noexcept;
  uint64_t toRecorded(uint64_t word) const noexcept;

  /// Rewrites every word of recorded bytes that lay at `recordedAddress`; returns how many.
  size_t translate(std::span<std::byte> bytes, uint64_t recordedAddress) const noexcept;
  /// The other way, for bytes of this process.
  size_t translateBack(std::span<std::byte> bytes, uint64_t recordedAddress) const noexcept;

private:
  /// One direction.
  struct Table {
    WordRanges ranges;
    std::vector<uint64_t> targets; ///< of ranges.ranges()
    uint64_t of(uint64_t word) const noexcept;
    size_t apply(std::span<std::byte> bytes, uint64_t address) const noexcept;
    bool isEmpty() const noexcept { return ranges.isEmpty(); }
  };
  static Table makeTable(std::vector<Move> moves);

  Table recorded_, here_;
};

} // namespace mneme::replay
