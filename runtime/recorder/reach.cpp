#include "runtime/recorder/reach.h"

#include <algorithm>
#include <utility>

#include "runtime/core/artifact/recording.h"

namespace mneme::record {
namespace {

using artifact::kChunkBytes;
using artifact::Region;

bool overlap(const Region& a, const Region& b) {
  return a.address < b.address + b.sizeBytes && b.address < a.address + a.sizeBytes;
}

std::vector<Region> disjoint(std::vector<Region> regions) {
  std::erase_if(regions, [](const Region& region) { return region.sizeBytes == 0; });
  std::sort(regions.begin(), regions.end(), [](const Region& a, const Region& b) {
    return std::pair(a.address, b.sizeBytes) < std::pair(b.address, a.sizeBytes); // larger first
  });
  std::vector<Region> result;
  for (Region& region : regions)
    if (result.empty() || !overlap(result.back(), region))
      result.push_back(std::move(region));
  return result;
}

WordRanges rangesOf(const std::vector<Region>& regions) {
  std::vector<AddressRange> ranges;
  for (const Region& region : regions)
    ranges.push_back({region.address, region.sizeBytes});
  return WordRanges(std::move(ranges));
}

} // namespace

void SearchHistory::begin(const WordRanges& ranges) {
  const std::vector<AddressRange>& now = ranges.ranges();
  if (!std::includes(ranges_.begin(), ranges_.end(), now.begin(), now.end()))
    known_.clear();
  ranges_ = now;
  // Regions that the latest search did not see are gone.
  std::erase_if(known_, [&](const auto& item) { return item.second.lastSearch + 1 < search_; });
  ++search_;
}

std::vector<uint64_t> SearchHistory::unknownChunks(const Region& region,
                                                   std::span<const Hash128> hashes) {
  const auto found = known_.find(region.address);
  Known* known = found == known_.end() || found->second.sizeBytes != region.sizeBytes
                     ? nullptr
                     : &found->second;
  if (known)
    known->lastSearch = search_;
  std::vector<uint64_t> chunks;
  for (uint64_t chunk = 0; chunk < hashes.size(); ++chunk)
    if (!known || known->harmless[chunk] != hashes[chunk])
      chunks.push_back(chunk);
  return chunks;
}

void SearchHistory::remember(const Region& region, std::span<const Hash128> hashes, uint64_t chunk,
                             bool holdsAddress) {
  Known& known = known_[region.address];
  if (known.sizeBytes != region.sizeBytes)
    known = {region.sizeBytes, std::vector<Hash128>(hashes.size()), 0};
  known.harmless[chunk] = holdsAddress ? Hash128() : hashes[chunk];
  known.lastSearch = search_;
}

Reach::Reach(std::vector<Region> candidates, const std::vector<Region>& certain,
             SearchHistory& history, IsReadable isReadable, std::set<uint64_t> joints)
    : candidates_(disjoint(std::move(candidates))), ranges_(rangesOf(candidates_)),
      isSettled_(candidates_.size()), history_(history), isReadable_(std::move(isReadable)),
      joints_(std::move(joints)) {
  const std::vector<Region> taken = disjoint(certain);
  for (size_t i = 0, next = 0; i < candidates_.size(); ++i) {
    while (next < taken.size() &&
           taken[next].address + taken[next].sizeBytes <= candidates_[i].address)
      ++next;
    isSettled_[i] = next < taken.size() && overlap(taken[next], candidates_[i]);
    open_ += !isSettled_[i];
  }
  if (isOpen())
    history_.begin(ranges_);
}

/// Returns whether the candidate is new, and can be read.
bool Reach::settle(size_t index) {
  if (isSettled_[index])
    return false;
  isSettled_[index] = true;
  --open_;
  if (!isReadable_(candidates_[index]))
    return false;
  found_.push_back(candidates_[index]);
  return true;
}

void Reach::reach(size_t index) {
  if (!settle(index) || joints_.empty())
    return;
  const auto areJoined = [&](size_t first) {
    const uint64_t end = candidates_[first].address + candidates_[first].sizeBytes;
    return end == candidates_[first + 1].address && joints_.contains(end);
  };
  for (size_t one = index; one > 0 && areJoined(one - 1) && settle(one - 1);)
    --one;
  for (size_t one = index; one + 1 < candidates_.size() && areJoined(one) && settle(one + 1);)
    ++one;
}

void Reach::lookAt(uint64_t word) {
  if (const size_t index = ranges_.find(word); index != WordRanges::kNone)
    reach(index);
}

void Reach::search(DeviceAccess& access, std::span<const HashTask> hashed) {
  std::vector<Piece> pieces;
  std::vector<size_t> tasks; ///< of the pieces
  for (size_t task = 0; task < hashed.size(); ++task) {
    const Region& region = *hashed[task].region;
    for (const uint64_t chunk : history_.unknownChunks(region, hashed[task].hashes)) {
      const uint64_t offset = chunk * kChunkBytes;
      pieces.push_back({&region, offset,
                        static_cast<uint32_t>(std::min(kChunkBytes, region.sizeBytes - offset))});
      tasks.push_back(task);
    }
  }
  const SearchResult result = access.search(pieces, ranges_);
  for (size_t i = 0; i < pieces.size(); ++i)
    history_.remember(*pieces[i].region, hashed[tasks[i]].hashes, pieces[i].offset / kChunkBytes,
                      result.holdsAddress[i]);
  for (size_t i = 0; i < candidates_.size(); ++i)
    if (result.isReached[i])
      reach(i);
}

std::vector<Region> Reach::takeFound() { return std::exchange(found_, {}); }

} // namespace mneme::record
