// Room replay: MemoryImage, the part that works between launches.
#include <algorithm>
#include <cstring>

#include "runtime/core/base/error.h"
#include "runtime/replay/memory_image.h"
#include "runtime/replay/text.h"

namespace mneme::replay {

namespace {

/// How many zeros are kept on the device to copy from.
constexpr uint64_t kZeroBytes = 1 << 20;
/// A valid index and count, and a number of either kind that vanishes in sums of floating-point
/// numbers.
constexpr uint32_t kOtherWord = 1;

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
    const auto add = [&](uint64_t offset, uint64_t sizeBytes) {
      const device::CopyRange range{site.live + offset, site.prologue + offset, sizeBytes};
      if (site.isHeap)
        appendForKernels(ranges, range);
      else
        ranges.push_back(range);
    };
    if (isSuspect_[i])
      add(0, site.region.sizeBytes);
    else
      for (const artifact::ChangedRange& range : site.changed)
        add(range.offset, range.sizeBytes);
  }
  return ranges;
}

void MemoryImage::restoreChanged() {
  const bool isSuspected = std::ranges::find(isSuspect_, true) != isSuspect_.end();
  if (!goldenPrologue_ && !sites_.empty() && (isSuspected || !goldenChanges_))
    return restoreWithoutCopy(/*everything=*/false);
  if (!changes_)
    changes_ = device_.prepareRestore(goldenPrologue_ ? changedRanges() : keptChanges());
  changes_->run();
}

void MemoryImage::restoreAll() {
  std::fill(isSuspect_.begin(), isSuspect_.end(), false);
  changes_.reset();
  if (!goldenPrologue_ && !sites_.empty())
    return restoreWithoutCopy(/*everything=*/true);
  std::vector<device::CopyRange> ranges;
  for (const Extent& extent : extents_)
    if (isOfHeap(extent))
      appendForKernels(ranges, {extent.live, extent.prologue, extent.sizeBytes});
    else
      ranges.push_back({extent.live, extent.prologue, extent.sizeBytes});
  for (const Site& site : sites_)
    if (site.live != site.home)
      ranges.push_back({site.live, site.prologue, site.region.sizeBytes});
  device_.restore(ranges);
}

bool MemoryImage::disturbChanged(uint64_t limit) {
  uint64_t total = 0;
  for (const Site& site : sites_)
    for (const artifact::ChangedRange& range : site.changed)
      total += range.sizeBytes;
  if (total > limit)
    return false;
  std::vector<std::byte> before, after;
  for (const Site& site : sites_)
    for (const auto& [begin, sizeBytes] : site.changed) {
      before.resize(sizeBytes);
      after.resize(sizeBytes);
      readRecorded(site, begin, before);
      readExpected(site, begin, after);
      for (uint64_t i = 0; i + sizeof(kOtherWord) <= sizeBytes; i += sizeof(kOtherWord))
        if (std::memcmp(&before[i], &after[i], sizeof(kOtherWord)) != 0)
          std::memcpy(&before[i], &kOtherWord, sizeof(kOtherWord));
      device_.copyToDevice(site.live + begin, before.data(), sizeBytes);
    }
  return true;
}

void MemoryImage::waitForRestore() {
  if (sites_.empty())
    return;
  if (!fence_)
    fence_ = device_.makeStaging(64);
  // A copy of nothing is over when everything before it is.
  device_.waitForCopy(device_.startCopyToDevice(sites_.front().live, *fence_, 0));
}

/// Room for what the recorded launch changed, if there is some.
void MemoryImage::keepChanges(uint64_t limit) {
  uint64_t sizeBytes = 0;
  for (const Site& site : sites_)
    for (const artifact::ChangedRange& range : site.changed)
      sizeBytes += range.sizeBytes;
  if (sizeBytes == 0 || sizeBytes > limit)
    return;
  try {
    goldenChanges_ = DeviceBuffer::allocate(device_, sizeBytes);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::OutOfMemory)
      throw;
    return;
  }
  std::vector<UploadPiece> pieces;
  uint64_t cursor = goldenChanges_.address();
  for (const Site& site : sites_)
    for (const artifact::ChangedRange& range : site.changed) {
      if (site.prologueIndex != kNone)
        appendPieces(pieces, prologue_, site.prologueIndex, range.offset, range.sizeBytes,
                     cursor - range.offset, /*skipZero=*/false);
      cursor += range.sizeBytes;
    }
  upload(pieces);
}

/// In the order of keepChanges().
std::vector<device::CopyRange> MemoryImage::keptChanges() const {
  std::vector<device::CopyRange> copies;
  uint64_t cursor = goldenChanges_.address();
  for (const Site& site : sites_)
    for (const artifact::ChangedRange& range : site.changed) {
      copies.push_back({site.live + range.offset, cursor, range.sizeBytes});
      cursor += range.sizeBytes;
    }
  return copies;
}

/// What of a site is not as recorded. Content with addresses that moved counts as different.
void MemoryImage::addDifferences(size_t index, std::vector<UploadPiece>& pieces,
                                 std::vector<artifact::ByteRange>& zeros) {
  const Site& site = sites_[index];
  const uint64_t sizeBytes = site.region.sizeBytes;
  if (site.prologueIndex == kNone) {
    zeros.push_back({site.live, sizeBytes});
    return;
  }
  const std::vector<Hash128> wanted = prologue_.chunkHashes(site.prologueIndex);
  std::vector<Hash128> present(wanted.size());
  device_.hashPages(site.live, sizeBytes, artifact::kChunkBytes, present);
  std::vector<artifact::ByteRange> ranges;
  const auto add = [](std::vector<artifact::ByteRange>& list, uint64_t begin, uint64_t bytes) {
    if (!list.empty() && list.back().offset + list.back().sizeBytes == begin)
      list.back().sizeBytes += bytes;
    else
      list.push_back({begin, bytes});
  };
  for (size_t chunk = 0; chunk < wanted.size(); ++chunk) {
    const uint64_t offset = chunk * artifact::kChunkBytes;
    const uint64_t bytes = std::min(artifact::kChunkBytes, sizeBytes - offset);
    // Hashes are those of memory before its addresses are translated.
    if (wanted[chunk] == present[chunk] && moves_.isEmpty())
      continue;
    if (isZeroChunk(wanted[chunk], bytes))
      add(zeros, site.live + offset, bytes);
    else
      add(ranges, offset, bytes);
  }
  appendPieces(pieces, prologue_, site.prologueIndex, ranges, site.live, /*skipZero=*/false);
}

void MemoryImage::addChanges(size_t index, std::vector<UploadPiece>& pieces) const {
  const Site& site = sites_[index];
  appendPieces(pieces, prologue_, site.prologueIndex, site.changed, site.live, /*skipZero=*/false);
}

void MemoryImage::zero(std::span<const artifact::ByteRange> ranges) {
  if (ranges.empty())
    return;
  if (!zeros_)
    zeros_ = DeviceBuffer::allocate(device_, kZeroBytes);
  std::vector<device::CopyRange> copies;
  for (const auto& [begin, sizeBytes] : ranges)
    for (uint64_t done = 0; done < sizeBytes; done += kZeroBytes)
      copies.push_back({begin + done, zeros_.address(), std::min(kZeroBytes, sizeBytes - done)});
  device_.restore(copies);
}

/// Where not all that was recorded has a copy on the device.
void MemoryImage::restoreWithoutCopy(bool everything) {
  std::vector<UploadPiece> pieces;
  std::vector<artifact::ByteRange> zeros;
  for (size_t i = 0; i < sites_.size(); ++i)
    if (everything || isSuspect_[i] || sites_[i].prologueIndex == kNone)
      addDifferences(i, pieces, zeros);
    else
      addChanges(i, pieces);
  if (everything)
    for (const Gap& gap : gaps_)
      zeros.push_back({gap.live, gap.sizeBytes});
  upload(pieces);
  zero(zeros);
}

void MemoryImage::restoreRanges(std::span<const SiteRange> ranges) {
  std::vector<device::CopyRange> copies;
  std::vector<UploadPiece> pieces;
  std::vector<artifact::ByteRange> zeros;
  for (const SiteRange& range : ranges) {
    const Site& site = sites_[range.site];
    if (site.prologue != 0)
      copies.push_back({site.live + range.offset, site.prologue + range.offset, range.sizeBytes});
    else if (site.prologueIndex != kNone)
      appendPieces(pieces, prologue_, site.prologueIndex, range.offset, range.sizeBytes, site.live,
                   /*skipZero=*/false);
    else
      zeros.push_back({site.live + range.offset, range.sizeBytes});
  }
  device_.restore(copies);
  zero(zeros);
  upload(pieces);
}

std::vector<Hash128> MemoryImage::expectedHashes(const Site& site) const {
  if (site.epilogueIndex != kNone)
    return epilogue_.chunkHashes(site.epilogueIndex);
  return prologue_.chunkHashes(site.prologueIndex);
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
