#include "runtime/core/base/word_ranges.h"

#include <functional>

namespace mneme {
namespace {

/// A program's heap, its pinned memory and its device variables are far apart; what lies between
/// them is what most pointers lead to.
constexpr size_t kMaxHulls = 4;

std::vector<AddressRange> hullsOf(const std::vector<AddressRange>& ranges) {
  std::vector<std::pair<uint64_t, size_t>> gaps; ///< size, index of the range behind it
  for (size_t i = 1; i < ranges.size(); ++i)
    gaps.emplace_back(ranges[i].begin - ranges[i - 1].begin - ranges[i - 1].sizeBytes, i);
  const size_t cuts = std::min(gaps.size(), kMaxHulls - 1);
  std::partial_sort(gaps.begin(), gaps.begin() + cuts, gaps.end(), std::greater<>());
  std::vector<size_t> firsts = {0};
  for (size_t i = 0; i < cuts; ++i)
    firsts.push_back(gaps[i].second);
  std::sort(firsts.begin(), firsts.end());
  std::vector<AddressRange> hulls;
  for (size_t i = 0; i < firsts.size(); ++i) {
    const AddressRange& last =
        ranges[i + 1 < firsts.size() ? firsts[i + 1] - 1 : ranges.size() - 1];
    const uint64_t begin = ranges[firsts[i]].begin;
    hulls.push_back({begin, last.begin + last.sizeBytes - begin});
  }
  return hulls;
}

/// Returns whether the upper half of any word may be that of an address in the hulls. find()
/// distinguishes addresses within the same 4 GiB. Twice as many halves as words are compared at a
/// time, on every processor.
template <size_t Hulls>
bool holdsUpper(const std::byte* words, size_t count, const AddressRange* hulls) noexcept {
  uint32_t begins[Hulls], spans[Hulls];
  for (size_t hull = 0; hull < Hulls; ++hull) {
    begins[hull] = static_cast<uint32_t>(hulls[hull].begin >> 32);
    spans[hull] =
        static_cast<uint32_t>((hulls[hull].begin + hulls[hull].sizeBytes - 1) >> 32) - begins[hull];
  }
  uint32_t hits = 0; // counted, not returned at the first: so the loop becomes vector code
  for (size_t i = 0; i < count; ++i) {
    uint32_t upper;
    std::memcpy(&upper, words + 8 * i + 4, sizeof(upper));
    for (size_t hull = 0; hull < Hulls; ++hull)
      hits += upper - begins[hull] <= spans[hull];
  }
  return hits > 0;
}

} // namespace

WordRanges::WordRanges(std::vector<AddressRange> ranges) {
  std::sort(ranges.begin(), ranges.end());
  uint64_t end = 0;
  for (const AddressRange& range : ranges)
    if (range.sizeBytes > 0 && (ranges_.empty() || range.begin >= end)) {
      ranges_.push_back(range);
      end = range.begin + range.sizeBytes;
    }
  if (!ranges_.empty())
    hulls_ = hullsOf(ranges_);
}

size_t WordRanges::search(uint64_t word) const noexcept {
  const auto behind = std::upper_bound(
      ranges_.begin(), ranges_.end(), word,
      [](uint64_t value, const AddressRange& range) { return value < range.begin; });
  if (behind == ranges_.begin())
    return kNone;
  const AddressRange& range = *std::prev(behind);
  return word - range.begin < range.sizeBytes ? behind - ranges_.begin() - 1 : kNone;
}

bool WordRanges::mayHit(const std::byte* words, size_t count) const noexcept {
  switch (hulls_.size()) {
  case 1:
    return holdsUpper<1>(words, count, hulls_.data());
  case 2:
    return holdsUpper<2>(words, count, hulls_.data());
  case 3:
    return holdsUpper<3>(words, count, hulls_.data());
  default:
    return holdsUpper<kMaxHulls>(words, count, hulls_.data());
  }
}

} // namespace mneme
