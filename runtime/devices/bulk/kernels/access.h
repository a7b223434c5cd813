// Room devices: memory as the bulk kernels see it: addresses are numbers, any alignment is allowed,
// and no load touches an aligned word that holds none of the bytes asked for.
#pragma once

#include "gpu.h"

namespace gpu {

/// 16 bytes: one load or store of a lane.
typedef uint64_t Pair __attribute__((ext_vector_type(2)));
constexpr uint64_t pairBytes = 16;

/// Numbers and vectors. Structures are accessed through plain pointers: older compilers do not copy
/// them between address spaces.
template <typename T> T load(uint64_t address) {
  return *reinterpret_cast<const Global<T>*>(address);
}
template <typename T> void store(uint64_t address, T value) {
  *reinterpret_cast<Global<T>*>(address) = value;
}
template <typename T> T& at(uint64_t address) { return *reinterpret_cast<T*>(address); }

/// 16 bytes from any address, out of the aligned words around them.
template <bool isAligned> Pair loadPair(uint64_t address) {
  if constexpr (isAligned)
    return load<Pair>(address);
  const uint64_t word = address & ~uint64_t{7};
  const uint32_t shift = static_cast<uint32_t>(address & 7) * 8;
  Pair pair = {load<uint64_t>(word), load<uint64_t>(word + 8)};
  if (shift != 0) {
    const uint64_t last = load<uint64_t>(word + 16);
    pair.x = pair.x >> shift | pair.y << (64 - shift);
    pair.y = pair.y >> shift | last << (64 - shift);
  }
  return pair;
}

/// Up to 8 bytes, little-endian, byte by byte.
inline uint64_t loadBytes(uint64_t address, uint32_t count) {
  uint64_t value = 0;
  for (uint32_t i = 0; i < count; ++i)
    value |= static_cast<uint64_t>(load<uint8_t>(address + i)) << (8 * i);
  return value;
}

inline uint64_t bytesToAlignment(uint64_t address) { return (0 - address) & (pairBytes - 1); }
inline uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/// Walks the units of this warp through a table of entries, whose member `first` (ascending from 0)
/// is the number of the entry's first unit. Remembers the entry: long ranges are looked up once.
template <typename Entry, uint64_t Entry::* first = &Entry::firstUnit> class Cursor {
public:
  Cursor(uint64_t table, uint64_t count, uint64_t units)
      : table_(reinterpret_cast<const Entry*>(table)), count_(count), units_(units) {}

  /// The entry of `unit`, in memory; units must be asked for in ascending order.
  const Entry& entryOf(uint64_t unit) {
    if (unit >= nextUnit_)
      find(unit);
    return *entry_;
  }

private:
  void find(uint64_t unit) {
    uint64_t low = 0, high = count_;
    while (high - low > 1) {
      const uint64_t middle = low + (high - low) / 2;
      (table_[middle].*first <= unit ? low : high) = middle;
    }
    entry_ = table_ + low;
    nextUnit_ = low + 1 < count_ ? table_[low + 1].*first : units_;
  }

  const Entry* table_;
  uint64_t count_, units_;
  uint64_t nextUnit_ = 0;
  const Entry* entry_ = nullptr;
};

/// True in every lane if the two ranges differ; all lanes of a warp take part.
template <bool isAligned> bool differInPairs(uint64_t first, uint64_t second, uint64_t pairs) {
  constexpr uint32_t unroll = 4;
  uint64_t at = lane();
  for (; at - lane() + unroll * lanes <= pairs; at += unroll * lanes) {
    Pair a[unroll], b[unroll];
#pragma unroll
    for (uint32_t k = 0; k < unroll; ++k) {
      a[k] = load<Pair>(first + (at + k * lanes) * pairBytes);
      b[k] = loadPair<isAligned>(second + (at + k * lanes) * pairBytes);
    }
    Pair difference = a[0] ^ b[0];
#pragma unroll
    for (uint32_t k = 1; k < unroll; ++k)
      difference |= a[k] ^ b[k];
    if (any((difference.x | difference.y) != 0))
      return true;
  }
  uint64_t difference = 0;
  for (; at < pairs; at += lanes) {
    const Pair pair =
        load<Pair>(first + at * pairBytes) ^ loadPair<isAligned>(second + at * pairBytes);
    difference |= pair.x | pair.y;
  }
  return any(difference != 0);
}

inline bool warpDiffers(uint64_t first, uint64_t second, uint64_t sizeBytes) {
  const uint64_t head = smaller(bytesToAlignment(first), sizeBytes);
  const uint64_t pairs = (sizeBytes - head) / pairBytes;
  const uint64_t tail = sizeBytes - head - pairs * pairBytes;
  const uint64_t tailAt = sizeBytes - tail;
  bool isDifferent = false;
  if (lane() < head)
    isDifferent = load<uint8_t>(first + lane()) != load<uint8_t>(second + lane());
  if (lane() < tail)
    isDifferent |=
        load<uint8_t>(first + tailAt + lane()) != load<uint8_t>(second + tailAt + lane());
  if (any(isDifferent))
    return true;
  return (second + head) % pairBytes == 0
             ? differInPairs<true>(first + head, second + head, pairs)
             : differInPairs<false>(first + head, second + head, pairs);
}

} // namespace gpu
