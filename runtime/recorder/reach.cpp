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

/// The first of these ranges, which are disjoint, that ends behind an address.
std::map<uint64_t, uint64_t>::const_iterator
firstEndingAfter(const std::map<uint64_t, uint64_t>& ranges, uint64_t address) {
  const auto next = ranges.upper_bound(address);
  return next != ranges.begin() && std::prev(next)->second > address ? std::prev(next) : next;
}

std::vector<AddressRange> rangesOf(const std::vector<Region>& regions) {
  std::vector<AddressRange> ranges;
  for (const Region& region : regions)
    ranges.push_back({region.address, region.sizeBytes});
  return ranges;
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
             SearchHistory& history, IsReadable isReadable, std::set<uint64_t> joints,
             OnDemand onDemand)
    : candidates_(disjoint(std::move(candidates))), isSettled_(candidates_.size()),
      isAsked_(candidates_.size()), history_(history), isReadable_(std::move(isReadable)),
      joints_(std::move(joints)), onDemand_(std::move(onDemand)) {
  const std::vector<Region> taken = disjoint(certain);
  for (size_t i = 0, next = 0; i < candidates_.size(); ++i) {
    while (next < taken.size() &&
           taken[next].address + taken[next].sizeBytes <= candidates_[i].address)
      ++next;
    isSettled_[i] = next < taken.size() && overlap(taken[next], candidates_[i]);
    open_ += !isSettled_[i];
  }
  if (onDemand_.find)
    addOnDemand(certain);
  ranges_ = WordRanges(rangesOf(candidates_));
  if (isOpen())
    history_.begin(ranges_);
}

/// Adds the ranges of memory on demand where no other memory is.
void Reach::addOnDemand(const std::vector<Region>& certain) {
  std::vector<Region> known = certain;
  known.insert(known.end(), candidates_.begin(), candidates_.end());
  for (const Region& region : disjoint(std::move(known)))
    taken_[region.address] = region.address + region.sizeBytes;
  std::vector<Region> parts;
  for (const AddressRange& range : onDemand_.ranges) {
    const auto add = [&](uint64_t begin, uint64_t end) {
      if (begin >= end)
        return;
      Region& part = parts.emplace_back();
      part.address = begin;
      part.sizeBytes = end - begin;
    };
    uint64_t at = range.begin;
    const uint64_t end = range.begin + range.sizeBytes;
    for (auto one = firstEndingAfter(taken_, at); one != taken_.end() && one->first < end; ++one) {
      add(at, one->first);
      at = one->second;
    }
    add(at, end);
  }
  struct Listed {
    Region region;
    bool isSettled = false;
    bool isAsked = false;
  };
  std::vector<Listed> listed;
  for (size_t i = 0; i < candidates_.size(); ++i)
    listed.push_back({std::move(candidates_[i]), isSettled_[i], false});
  for (Region& part : parts)
    listed.push_back({std::move(part), true, true});
  std::ranges::sort(listed, {}, [](const Listed& one) { return one.region.address; });
  candidates_.clear();
  isSettled_.clear();
  isAsked_.clear();
  for (Listed& one : listed) {
    candidates_.push_back(std::move(one.region));
    isSettled_.push_back(one.isSettled);
    isAsked_.push_back(one.isAsked);
  }
}

/// Finds the memory that a word leads to. Where a part of it is known already, the rest is left
/// out, too: it would have to be divided.
void Reach::ask(uint64_t word, bool isArgument) {
  const auto isIn = [&](const std::map<uint64_t, uint64_t>& known) {
    const auto one = firstEndingAfter(known, word);
    return one != known.end() && one->first <= word;
  };
  if (!mayAsk() || isIn(asked_) || isIn(taken_))
    return;
  std::optional<Asked> found = onDemand_.find(word, isArgument);
  if (!found || found->region.sizeBytes == 0)
    return;
  const uint64_t begin = found->region.address, end = begin + found->region.sizeBytes;
  for (const auto* known : {&asked_, &taken_})
    if (const auto one = firstEndingAfter(*known, begin); one != known->end() && one->first < end)
      return;
  asked_[begin] = end;
  if (!found->isFollowed)
    unfollowed_.insert(begin);
  found_.push_back(std::move(found->region));
}

/// The device says in which pieces there are such words, and the host reads them.
void Reach::askAbout(DeviceAccess& access, std::span<const Piece> pieces,
                     std::span<const uint8_t> holdsAddress) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i < pieces.size() && mayAsk(); ++i) {
    if (!holdsAddress[i])
      continue;
    bytes.resize(pieces[i].sizeBytes);
    access.readPiece(pieces[i], bytes);
    ranges_.visit(bytes, pieces[i].region->address + pieces[i].offset,
                  [&](size_t, uint64_t word, size_t index) {
                    if (isAsked_[index])
                      ask(word, false);
                  });
  }
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
  const size_t index = ranges_.find(word);
  if (index != WordRanges::kNone && !isAsked_[index])
    reach(index);
  else
    ask(word, true); // constants of the host, too
}

void Reach::search(DeviceAccess& access, std::span<const HashTask> hashed) {
  std::vector<Piece> pieces;
  std::vector<size_t> tasks; ///< of the pieces
  for (size_t task = 0; task < hashed.size(); ++task) {
    const Region& region = *hashed[task].region;
    if (unfollowed_.contains(region.address))
      continue;
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
  bool shallAsk = false;
  for (size_t i = 0; i < candidates_.size(); ++i)
    if (result.isReached[i] && isAsked_[i])
      shallAsk = true;
    else if (result.isReached[i])
      reach(i);
  if (shallAsk)
    askAbout(access, pieces, result.holdsAddress);
}

std::vector<Region> Reach::takeFound() { return std::exchange(found_, {}); }

} // namespace mneme::record
