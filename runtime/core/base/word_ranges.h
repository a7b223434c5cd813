// Room core/base: finds words in memory that may be addresses in given ranges.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace mneme {

/// [begin, begin + sizeBytes), which does not wrap around.
struct AddressRange {
  uint64_t begin = 0;
  uint64_t sizeBytes = 0;
  friend auto operator<=>(const AddressRange&, const AddressRange&) = default;
};

/// Disjoint address ranges. Finds the words of a piece of memory whose value lies in one of them. A
/// word is eight bytes, little-endian, at an address that is a multiple of eight. Immutable;
/// thread-safe.
class WordRanges {
public:
  static constexpr size_t kNone = SIZE_MAX;

  WordRanges() = default;
  /// Sorts the ranges. Empty ranges, and parts that an earlier range contains, never match.
  explicit WordRanges(std::vector<AddressRange> ranges);

  bool isEmpty() const noexcept { return ranges_.empty(); }
  /// The ranges by ascending address. Everywhere here, `index` is a position in this list.
  const std::vector<AddressRange>& ranges() const noexcept { return ranges_; }

  /// Returns the index of the range that contains `word`, or kNone.
  size_t find(uint64_t word) const noexcept {
    return std::any_of(hulls_.begin(), hulls_.end(),
                       [&](const AddressRange& hull) { return word - hull.begin < hull.sizeBytes; })
               ? search(word)
               : kNone;
  }

  /// Calls visit(offset, word, index) for every word of `bytes` whose value lies in a range. The
  /// bytes were read at `address`.
  template <typename Visit>
  void visit(std::span<const std::byte> bytes, uint64_t address, const Visit& visit) const {
    const size_t skip = std::min<size_t>(-address % 8, bytes.size());
    const std::byte* words = bytes.data() + skip;
    const size_t count = isEmpty() ? 0 : (bytes.size() - skip) / 8;
    for (size_t block = 0; block < count; block += kBlockWords) {
      const size_t size = std::min(kBlockWords, count - block);
      if (!mayHit(words + 8 * block, size))
        continue;
      for (size_t i = block; i < block + size; ++i) {
        uint64_t word;
        std::memcpy(&word, words + 8 * i, 8);
        if (const size_t index = find(word); index != kNone)
          visit(skip + 8 * i, word, index);
      }
    }
  }

private:
  /// Number of words that are checked together: most blocks of memory contain no address at all.
  static constexpr size_t kBlockWords = 512;

  size_t search(uint64_t word) const noexcept;
  bool mayHit(const std::byte* words, size_t count) const noexcept;

  std::vector<AddressRange> ranges_;
  /// A few ranges that cover `ranges_` and little else. Most words lie outside of them.
  std::vector<AddressRange> hulls_;
};

} // namespace mneme
