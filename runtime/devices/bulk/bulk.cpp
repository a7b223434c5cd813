#include "runtime/devices/bulk/bulk.h"

#include <algorithm>

#include "runtime/devices/bulk/launch_plan.h"
#include "runtime/devices/bulk/layout.h"

namespace mneme::device {

using bulk::Range;

namespace {

// Ranges of at least this size go to the vendor's own copy, which leaves the multiprocessors to
// others; below, one launch for many ranges beats one call for each. Joined ranges are left to
// kernels, since they may reach from one allocation into the next, where drivers refuse to copy.
constexpr uint64_t vendorCopyBytes = uint64_t{256} << 20;

/// Adds a range, to the last one if it continues it.
void addOrJoin(std::vector<Range>& ranges, const CopyRange& range) {
  if (!ranges.empty()) {
    Range& last = ranges.back();
    if (last.first + last.sizeBytes == range.destination &&
        last.second + last.sizeBytes == range.source) {
      last.sizeBytes += range.sizeBytes;
      return;
    }
  }
  ranges.push_back({range.destination, range.source, range.sizeBytes, 0});
}

} // namespace

void BulkOperations::hashPages(std::span<const HashRequest> requests, uint64_t pageBytes) {
  std::vector<Range> ranges;
  uint64_t pages = 0, misalignment = pageBytes;
  for (const HashRequest& request : requests) {
    if (request.sizeBytes == 0)
      continue;
    ranges.push_back({request.address, 0, request.sizeBytes, pages});
    misalignment |= request.address;
    pages += bulk::divideUp(request.sizeBytes, pageBytes);
  }
  if (ranges.empty())
    return;
  const uint64_t hashBytes = pages * sizeof(Hash128);
  const uint64_t hashes = runner_.scratch(hashBytes + ranges.size() * sizeof(Range));
  const uint64_t table = hashes + hashBytes;
  runner_.copyToDevice(table, ranges.data(), ranges.size() * sizeof(Range));
  bulk::launchWarps(runner_, misalignment % 16 == 0 ? bulk::hashAlignedPages : bulk::hashPages,
                    pages, {table, ranges.size(), pages, pageBytes, hashes});
  if (requests.size() == 1) {
    runner_.copyToHost(requests[0].hashes.data(), hashes, hashBytes);
    return;
  }
  std::vector<Hash128> found(pages);
  runner_.copyToHost(found.data(), hashes, hashBytes);
  const Hash128* next = found.data();
  for (const HashRequest& request : requests) {
    const uint64_t count = bulk::divideUp(request.sizeBytes, pageBytes);
    std::copy_n(next, count, request.hashes.begin());
    next += count;
  }
}

std::vector<uint64_t> BulkOperations::diffPages(uint64_t first, uint64_t second, uint64_t sizeBytes,
                                                uint64_t pageBytes) {
  std::vector<uint64_t> different;
  const uint64_t pages = bulk::divideUp(sizeBytes, pageBytes);
  if (pages == 0 || first == second)
    return different;
  const uint64_t tileBytes =
      std::min(pageBytes, bulk::tileBytesFor(sizeBytes, runner_.multiprocessors()));
  const uint64_t tilesPerPage = bulk::divideUp(pageBytes, tileBytes);
  const uint64_t flags = runner_.scratch(pages);
  runner_.clear(flags, pages);
  const uint64_t tiles = pages * tilesPerPage;
  bulk::launchWarps(runner_, bulk::diffPages, tiles,
                    {first, second, sizeBytes, pageBytes, tileBytes, tilesPerPage, tiles, flags});
  std::vector<uint8_t> found(pages);
  runner_.copyToHost(found.data(), flags, pages);
  for (uint64_t page = 0; page < pages; ++page)
    if (found[page])
      different.push_back(page);
  return different;
}

std::vector<uint8_t> BulkOperations::searchPages(std::span<const SearchRequest> requests,
                                                 uint64_t pageBytes, const WordRanges& ranges) {
  const std::vector<AddressRange>& targets = ranges.ranges();
  static_assert(sizeof(AddressRange) == sizeof(bulk::Target));
  std::vector<Range> table;
  uint64_t pages = 0;
  for (const SearchRequest& request : requests) {
    if (request.sizeBytes == 0)
      continue;
    table.push_back({request.address, 0, request.sizeBytes, pages});
    pages += bulk::divideUp(request.sizeBytes, pageBytes);
  }
  std::vector<uint8_t> flags(pages + targets.size()); // of the pages, then of the targets
  if (!flags.empty() && pages > 0 && !targets.empty()) {
    const uint64_t tableBytes = table.size() * sizeof(Range);
    const uint64_t targetBytes = targets.size() * sizeof(AddressRange);
    const uint64_t place = runner_.scratch(tableBytes + targetBytes + flags.size());
    const uint64_t targetPlace = place + tableBytes, flagPlace = targetPlace + targetBytes;
    runner_.copyToDevice(place, table.data(), tableBytes);
    runner_.copyToDevice(targetPlace, targets.data(), targetBytes);
    runner_.clear(flagPlace, flags.size());
    bulk::launchWarps(runner_, bulk::searchPages, pages,
                      {place, table.size(), pages, pageBytes, targetPlace, targets.size(),
                       flagPlace, flagPlace + pages});
    runner_.copyToHost(flags.data(), flagPlace, flags.size());
  }
  auto from = flags.begin();
  for (const SearchRequest& request : requests)
    for (uint8_t& flag : request.holdsAddress)
      flag = *from++;
  return {from, flags.end()};
}

CopyPlan::CopyPlan(std::span<const CopyRange> ranges, uint32_t multiprocessors) {
  std::vector<Range> small;
  uint64_t total = 0;
  for (const CopyRange& range : ranges) {
    if (range.sizeBytes == 0 || range.destination == range.source)
      continue;
    if (range.sizeBytes >= vendorCopyBytes) {
      large_.push_back(range);
      continue;
    }
    addOrJoin(small, range);
    total += range.sizeBytes;
  }
  tileBytes_ = bulk::tileBytesFor(total, multiprocessors);
  for (Range& range : small) {
    range.firstUnit = tiles_;
    tiles_ += bulk::divideUp(range.sizeBytes, tileBytes_);
  }
  rangeCount_ = small.size();
  const auto bytes = std::as_bytes(std::span(small));
  table_.assign(bytes.begin(), bytes.end());
}

void BulkOperations::run(const CopyPlan& plan, uint64_t table) {
  for (const CopyRange& range : plan.large_)
    runner_.copyOnDevice(range.destination, range.source, range.sizeBytes);
  if (plan.rangeCount_ > 0)
    bulk::launchWarps(runner_, bulk::copyRanges, plan.tiles_,
                      {table, plan.rangeCount_, plan.tiles_, plan.tileBytes_});
}

void BulkOperations::restore(std::span<const CopyRange> ranges) {
  const CopyPlan plan(ranges, runner_.multiprocessors());
  uint64_t table = 0;
  if (!plan.table().empty()) {
    table = runner_.scratch(plan.table().size());
    runner_.copyToDevice(table, plan.table().data(), plan.table().size());
  }
  run(plan, table);
}

} // namespace mneme::device
