// Room devices: kernels that hash, diff and copy. Every warp takes units in turn.
#include "runtime/devices/bulk/layout.h"

#include "access.h"
#include "xxh3_long.h"

using mneme::device::bulk::Range;
using mneme::device::bulk::Target;

namespace {

/// What is restored belongs into the caches, where a program would have it; its copy does not.
template <bool isAligned> gpu::Pair loadSource(uint64_t address) {
  if constexpr (!isAligned)
    return gpu::loadPair<false>(address);
  uint64_t low, high;
  gpu::loadOnce(address, low, high);
  return {low, high};
}

template <bool isAligned> void copyPairs(uint64_t destination, uint64_t source, uint64_t pairs) {
  constexpr uint32_t unroll = 8;
  uint64_t at = gpu::lane();
  for (; at - gpu::lane() + unroll * gpu::lanes <= pairs; at += unroll * gpu::lanes) {
    gpu::Pair data[unroll];
#pragma unroll
    for (uint32_t k = 0; k < unroll; ++k)
      data[k] = loadSource<isAligned>(source + (at + k * gpu::lanes) * gpu::pairBytes);
#pragma unroll
    for (uint32_t k = 0; k < unroll; ++k)
      gpu::store(destination + (at + k * gpu::lanes) * gpu::pairBytes, data[k]);
  }
  for (; at < pairs; at += gpu::lanes)
    gpu::store(destination + at * gpu::pairBytes,
               loadSource<isAligned>(source + at * gpu::pairBytes));
}

void copyTile(uint64_t destination, uint64_t source, uint64_t sizeBytes) {
  const uint64_t head = gpu::smaller(gpu::bytesToAlignment(destination), sizeBytes);
  const uint64_t pairs = (sizeBytes - head) / gpu::pairBytes;
  const uint64_t tailAt = head + pairs * gpu::pairBytes;
  if (gpu::lane() < head)
    gpu::store(destination + gpu::lane(), gpu::load<uint8_t>(source + gpu::lane()));
  if (gpu::lane() < sizeBytes - tailAt)
    gpu::store(destination + tailAt + gpu::lane(),
               gpu::load<uint8_t>(source + tailAt + gpu::lane()));
  if ((source + head) % gpu::pairBytes == 0)
    copyPairs<true>(destination + head, source + head, pairs);
  else
    copyPairs<false>(destination + head, source + head, pairs);
}

template <bool isAligned>
xxh3::Hash hashPage(const xxh3::WarpHash<isAligned>& hasher, uint64_t page, uint64_t sizeBytes) {
  if (sizeBytes > xxh3::shortBytes)
    return hasher.hash(page, sizeBytes);
  return gpu::lane() == 0 ? xxh3::hashShort(page, static_cast<uint32_t>(sizeBytes)) : xxh3::Hash{};
}

template <bool isAligned>
void hashPages(uint64_t ranges, uint64_t rangeCount, uint64_t pages, uint64_t pageBytes,
               uint64_t hashes) {
  gpu::Cursor<Range> cursor(ranges, rangeCount, pages);
  const xxh3::WarpHash<isAligned> hasher;
  for (uint64_t page = gpu::warp(); page < pages; page += gpu::warps()) {
    const Range range = cursor.entryOf(page);
    const uint64_t offset = (page - range.firstUnit) * pageBytes;
    const xxh3::Hash hash =
        hashPage(hasher, range.first + offset, gpu::smaller(pageBytes, range.sizeBytes - offset));
    if (gpu::lane() == 0)
      gpu::store(hashes + page * gpu::pairBytes, gpu::Pair{hash.low, hash.high});
  }
}

/// Looks words up in a table of targets.
class Search {
public:
  Search(uint64_t targets, uint64_t count, uint64_t isReached)
      : targets_(reinterpret_cast<const Target*>(targets)), count_(count), isReached_(isReached) {
    const Target last = targets_[count - 1];
    begin_ = targets_[0].begin;
    span_ = last.begin + last.sizeBytes - begin_;
  }

  /// Most words are not addresses, and most addresses lead elsewhere.
  bool mayHit(uint64_t word) const { return word - begin_ < span_; }
  /// True, and noted, if the word leads into a target.
  bool hits(uint64_t word) const {
    uint64_t low = 0, high = count_;
    while (high - low > 1) {
      const uint64_t middle = low + (high - low) / 2;
      (targets_[middle].begin <= word ? low : high) = middle;
    }
    if (word - targets_[low].begin >= targets_[low].sizeBytes)
      return false;
    gpu::store<uint8_t>(isReached_ + low, 1);
    return true;
  }
  bool check(uint64_t word) const { return mayHit(word) && hits(word); }

private:
  const Target* targets_;
  uint64_t count_, isReached_;
  uint64_t begin_, span_;
};

/// What this lane finds in the words of [page, page + sizeBytes).
bool searchPage(const Search& search, uint64_t page, uint64_t sizeBytes) {
  constexpr uint32_t unroll = 4;
  const uint64_t end = (page + sizeBytes) & ~uint64_t{7};
  const uint64_t begin = (page + 7) & ~uint64_t{7};
  if (begin >= end)
    return false;
  const uint64_t pairsBegin = (begin + gpu::pairBytes - 1) & ~(gpu::pairBytes - 1);
  const uint64_t pairs = end > pairsBegin ? (end - pairsBegin) / gpu::pairBytes : 0;
  const uint64_t tail = pairsBegin + pairs * gpu::pairBytes;
  bool isHit = false;
  if (gpu::lane() == 0 && begin != pairsBegin)
    isHit = search.check(gpu::load<uint64_t>(begin));
  if (gpu::lane() == 1 && tail < end)
    isHit = search.check(gpu::load<uint64_t>(tail));
  uint64_t at = gpu::lane();
  for (; at - gpu::lane() + unroll * gpu::lanes <= pairs; at += unroll * gpu::lanes) {
    gpu::Pair data[unroll];
#pragma unroll
    for (uint32_t k = 0; k < unroll; ++k)
      data[k] = gpu::load<gpu::Pair>(pairsBegin + (at + k * gpu::lanes) * gpu::pairBytes);
    bool mayHit = false;
#pragma unroll
    for (uint32_t k = 0; k < unroll; ++k)
      mayHit |= search.mayHit(data[k].x) || search.mayHit(data[k].y);
    if (!mayHit)
      continue;
#pragma unroll
    for (uint32_t k = 0; k < unroll; ++k) {
      isHit |= search.check(data[k].x);
      isHit |= search.check(data[k].y);
    }
  }
  for (; at < pairs; at += gpu::lanes) {
    const gpu::Pair pair = gpu::load<gpu::Pair>(pairsBegin + at * gpu::pairBytes);
    isHit |= search.check(pair.x);
    isHit |= search.check(pair.y);
  }
  return isHit;
}

} // namespace

/// Units are pages. Pages begin at multiples of 16; `hashes` has 16 bytes for each.
GPU_KERNEL mnemeHashAlignedPages(uint64_t ranges, uint64_t rangeCount, uint64_t pages,
                                 uint64_t pageBytes, uint64_t hashes) {
  hashPages<true>(ranges, rangeCount, pages, pageBytes, hashes);
}

/// The same for pages that begin anywhere.
GPU_KERNEL mnemeHashPages(uint64_t ranges, uint64_t rangeCount, uint64_t pages, uint64_t pageBytes,
                          uint64_t hashes) {
  hashPages<false>(ranges, rangeCount, pages, pageBytes, hashes);
}

/// Units are tiles, `tilesPerPage` to a page. Sets the byte of each page that differs.
GPU_KERNEL mnemeDiffPages(uint64_t first, uint64_t second, uint64_t sizeBytes, uint64_t pageBytes,
                          uint64_t tileBytes, uint64_t tilesPerPage, uint64_t tiles,
                          uint64_t flags) {
  for (uint64_t tile = gpu::warp(); tile < tiles; tile += gpu::warps()) {
    const uint64_t page = tile / tilesPerPage;
    const uint64_t begin = page * pageBytes + (tile - page * tilesPerPage) * tileBytes;
    const uint64_t pageEnd = gpu::smaller(sizeBytes, (page + 1) * pageBytes);
    if (begin >= pageEnd)
      continue;
    const uint64_t size = gpu::smaller(tileBytes, pageEnd - begin);
    if (gpu::warpDiffers(first + begin, second + begin, size) && gpu::lane() == 0)
      gpu::store<uint8_t>(flags + page, 1);
  }
}

/// Units are pages. Sets the byte of each page that holds an address, and of each target reached.
GPU_KERNEL mnemeSearchPages(uint64_t ranges, uint64_t rangeCount, uint64_t pages,
                            uint64_t pageBytes, uint64_t targets, uint64_t targetCount,
                            uint64_t holdsAddress, uint64_t isReached) {
  gpu::Cursor<Range> cursor(ranges, rangeCount, pages);
  const Search search(targets, targetCount, isReached);
  for (uint64_t page = gpu::warp(); page < pages; page += gpu::warps()) {
    const Range range = cursor.entryOf(page);
    const uint64_t offset = (page - range.firstUnit) * pageBytes;
    const bool isHit =
        searchPage(search, range.first + offset, gpu::smaller(pageBytes, range.sizeBytes - offset));
    if (gpu::any(isHit) && gpu::lane() == 0)
      gpu::store<uint8_t>(holdsAddress + page, 1);
  }
}

/// Units are tiles of `tileBytes`.
GPU_KERNEL mnemeCopyRanges(uint64_t ranges, uint64_t rangeCount, uint64_t tiles,
                           uint64_t tileBytes) {
  gpu::Cursor<Range> cursor(ranges, rangeCount, tiles);
  for (uint64_t tile = gpu::warp(); tile < tiles; tile += gpu::warps()) {
    const Range range = cursor.entryOf(tile);
    const uint64_t offset = (tile - range.firstUnit) * tileBytes;
    copyTile(range.first + offset, range.second + offset,
             gpu::smaller(tileBytes, range.sizeBytes - offset));
  }
}
