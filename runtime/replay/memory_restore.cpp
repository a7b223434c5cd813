// Room replay: MemoryImage, the part that works between launches.
#include <algorithm>

#include "runtime/core/base/error.h"
#include "runtime/replay/memory_image.h"
#include "runtime/replay/text.h"

namespace mneme::replay {

namespace {

/// Host buffers of the paths that stream.
constexpr uint64_t kStreamBytes = 16 << 20;

} // namespace

void MemoryImage::moveGlobal(size_t site, uint64_t live) {
  if (sites_[site].live == live)
    return;
  Site& moved = sites_[site];
  moved.live = live;
  changes_.reset();
  if (moved.prologue != 0) {
    const device::CopyRange range{live, moved.prologue, moved.region.sizeBytes};
    device_.restore({&range, 1});
  } else if (moved.prologueIndex != kNone) {
    std::vector<UploadPiece> pieces;
    appendPieces(pieces, prologue_, moved.prologueIndex, 0, moved.region.sizeBytes, live,
                 /*skipZero=*/false);
    upload(pieces);
  }
}

void MemoryImage::checkPointersToMovedGlobals() {
  std::vector<size_t> moved;
  for (size_t i = 0; i < sites_.size(); ++i)
    if (sites_[i].live != sites_[i].home && !sites_[i].region.isConstant)
      moved.push_back(i);
  if (moved.empty() || moved == scannedSites_)
    return;
  std::vector<const artifact::Region*> regions;
  for (size_t i : moved)
    regions.push_back(&sites_[i].region);
  PointerScan scan(std::move(regions));
  scan.inspectArguments(prologue_.args());
  std::vector<UploadPiece> pieces;
  for (const Site& site : sites_)
    if (site.prologueIndex != kNone)
      appendPieces(pieces, prologue_, site.prologueIndex, 0, site.region.sizeBytes, 0,
                   /*skipZero=*/true);
  readPieces(pieces, scan.inspector());
  scan.throwIfFound();
  scannedSites_ = std::move(moved);
}

void MemoryImage::suspect(size_t site) {
  if (!isSuspect_[site])
    changes_.reset();
  isSuspect_[site] = true;
}

std::vector<device::CopyRange> MemoryImage::changedRanges() const {
  std::vector<device::CopyRange> ranges;
  for (size_t i = 0; i < sites_.size(); ++i) {
    const Site& site = sites_[i];
    if (isSuspect_[i])
      ranges.push_back({site.live, site.prologue, site.region.sizeBytes});
    else
      for (const artifact::ChangedRange& range : site.changed)
        ranges.push_back({site.live + range.offset, site.prologue + range.offset, range.sizeBytes});
  }
  return ranges;
}

void MemoryImage::restoreChanged() {
  if (!goldenPrologue_ && !sites_.empty())
    return restoreFromSnapshots(/*everything=*/false);
  if (!changes_)
    changes_ = device_.prepareRestore(changedRanges());
  changes_->run();
}

void MemoryImage::restoreAll() {
  std::fill(isSuspect_.begin(), isSuspect_.end(), false);
  changes_.reset();
  if (!goldenPrologue_ && !sites_.empty())
    return restoreFromSnapshots(/*everything=*/true);
  std::vector<device::CopyRange> ranges;
  for (const Extent& extent : extents_)
    ranges.push_back({extent.live, extent.prologue, extent.sizeBytes});
  for (const Site& site : sites_)
    if (site.live != site.home)
      ranges.push_back({site.live, site.prologue, site.region.sizeBytes});
  device_.restore(ranges);
}

void MemoryImage::waitForRestore() {
  if (sites_.empty())
    return;
  if (!fence_)
    fence_ = device_.makeStaging(64);
  // A copy of nothing is over when everything before it is.
  device_.waitForCopy(device_.startCopyToDevice(sites_.front().live, *fence_, 0));
}

void MemoryImage::restoreFromSnapshots(bool everything) {
  std::vector<UploadPiece> pieces;
  std::vector<std::pair<uint64_t, uint64_t>> zeros;
  for (size_t i = 0; i < sites_.size(); ++i) {
    const Site& site = sites_[i];
    const bool isWhole = everything || isSuspect_[i];
    if (site.prologueIndex == kNone) {
      zeros.emplace_back(site.live, site.region.sizeBytes);
    } else if (isWhole) {
      appendPieces(pieces, prologue_, site.prologueIndex, 0, site.region.sizeBytes, site.live,
                   /*skipZero=*/false);
    } else {
      for (const artifact::ChangedRange& range : site.changed)
        appendPieces(pieces, prologue_, site.prologueIndex, range.offset, range.sizeBytes,
                     site.live, /*skipZero=*/false);
    }
  }
  if (everything)
    for (const Gap& gap : gaps_)
      zeros.emplace_back(gap.live, gap.sizeBytes);
  upload(pieces);
  const std::vector<std::byte> zero(zeros.empty() ? 0 : kStreamBytes);
  for (auto [address, size] : zeros)
    for (; size > 0; address += std::min(size, kStreamBytes), size -= std::min(size, kStreamBytes))
      device_.copyToDevice(address, zero.data(), std::min(size, kStreamBytes));
}

void MemoryImage::restoreRanges(std::span<const SiteRange> ranges) {
  std::vector<device::CopyRange> copies;
  std::vector<UploadPiece> pieces;
  std::vector<std::byte> zero;
  for (const SiteRange& range : ranges) {
    const Site& site = sites_[range.site];
    if (site.prologue != 0)
      copies.push_back({site.live + range.offset, site.prologue + range.offset, range.sizeBytes});
    else if (site.prologueIndex != kNone)
      appendPieces(pieces, prologue_, site.prologueIndex, range.offset, range.sizeBytes, site.live,
                   /*skipZero=*/false);
    else {
      zero.resize(std::max<size_t>(zero.size(), range.sizeBytes));
      device_.copyToDevice(site.live + range.offset, zero.data(), range.sizeBytes);
    }
  }
  device_.restore(copies);
  upload(pieces);
}

std::vector<std::byte> MemoryImage::expectedBytes(const Site& site) const {
  std::vector<std::byte> bytes(site.region.sizeBytes);
  readExpected(site, 0, bytes);
  return bytes;
}

void MemoryImage::readExpected(const Site& site, uint64_t offset, std::span<std::byte> out) const {
  if (site.epilogueIndex == kNone)
    return readRecorded(site, offset, out);
  epilogue_.read(site.epilogueIndex, offset, out);
  moves_.translate(out, site.region.address + offset);
}

void MemoryImage::readRecorded(const Site& site, uint64_t offset, std::span<std::byte> out) const {
  if (site.prologueIndex != kNone)
    prologue_.read(site.prologueIndex, offset, out);
  else
    std::fill(out.begin(), out.end(), std::byte{});
  moves_.translate(out, site.region.address + offset);
}

} // namespace mneme::replay
