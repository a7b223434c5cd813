// Room replay: MemoryImage, the part that works between launches.
#include <algorithm>
#include <cstring>

#include "runtime/base/error.h"
#include "runtime/replay/memory_image.h"
#include "runtime/replay/text.h"

namespace mneme::replay {

namespace {

/// Host buffers of the paths that stream.
constexpr uint64_t kStreamBytes = 16 << 20;

bool isInside(uint64_t pointer, const artifact::Region& region) {
  return pointer >= region.address && pointer - region.address < region.sizeBytes;
}

} // namespace

void MemoryImage::moveGlobal(size_t site, uint64_t live) {
  if (sites_[site].live == live)
    return;
  Site& moved = sites_[site];
  moved.live = live;
  changedRanges_.clear();
  if (moved.prologue != 0) {
    const device::CopyRange range{live, moved.prologue, moved.region.sizeBytes};
    device_.restore({&range, 1});
  } else if (moved.prologueIndex != kNone) {
    std::vector<UploadPiece> pieces;
    appendPieces(pieces, prologue_, moved.prologueIndex, 0, moved.region.sizeBytes, live,
                 /*skipZero=*/false);
    upload(device_, pieces);
  }
}

void MemoryImage::checkPointersToMovedGlobals() const {
  std::vector<const artifact::Region*> moved;
  for (const Site& site : sites_)
    if (site.live != site.region.address)
      moved.push_back(&site.region);
  if (moved.empty())
    return;
  const auto check = [&](std::span<const std::byte> bytes, const std::string& where) {
    for (size_t offset = 0; offset + 8 <= bytes.size(); offset += 8) {
      uint64_t pointer;
      std::memcpy(&pointer, bytes.data() + offset, 8);
      for (const artifact::Region* region : moved)
        if (isInside(pointer, *region))
          throw Error(ErrorCode::AddressUnavailable,
                      "the recorded address " + hexText(region->address) + " of global '" +
                          region->name + "' is taken in this process and " + where +
                          " points to it; try again in a fresh process");
    }
  };
  for (size_t i = 0; i < prologue_.args().size(); ++i)
    check(prologue_.args()[i], "argument " + std::to_string(i));
  std::vector<std::byte> buffer;
  for (const Site& site : sites_) {
    for (uint64_t offset = 0; offset < site.region.sizeBytes && site.prologueIndex != kNone;
         offset += kStreamBytes) {
      buffer.resize(std::min(kStreamBytes, site.region.sizeBytes - offset));
      prologue_.read(site.prologueIndex, offset, buffer);
      check(buffer, "memory at " + hexText(site.region.address));
    }
  }
}

void MemoryImage::suspect(size_t site) {
  if (!isSuspect_[site])
    changedRanges_.clear();
  isSuspect_[site] = true;
}

void MemoryImage::collectChangedRanges() {
  for (size_t i = 0; i < sites_.size(); ++i) {
    const Site& site = sites_[i];
    if (isSuspect_[i])
      changedRanges_.push_back({site.live, site.prologue, site.region.sizeBytes});
    else
      for (const artifact::ChangedRange& range : site.changed)
        changedRanges_.push_back(
            {site.live + range.offset, site.prologue + range.offset, range.sizeBytes});
  }
}

void MemoryImage::restoreChanged() {
  if (!goldenPrologue_ && !sites_.empty())
    return restoreFromSnapshots(/*everything=*/false);
  if (changedRanges_.empty())
    collectChangedRanges();
  device_.restore(changedRanges_);
}

void MemoryImage::restoreAll() {
  std::fill(isSuspect_.begin(), isSuspect_.end(), false);
  changedRanges_.clear();
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
  upload(device_, pieces);
  const std::vector<std::byte> zero(zeros.empty() ? 0 : kStreamBytes);
  for (auto [address, size] : zeros)
    for (; size > 0; address += std::min(size, kStreamBytes), size -= std::min(size, kStreamBytes))
      device_.copyToDevice(address, zero.data(), std::min(size, kStreamBytes));
}

std::vector<std::byte> MemoryImage::expectedBytes(const Site& site) const {
  std::vector<std::byte> bytes(site.region.sizeBytes);
  if (site.epilogueIndex != kNone)
    epilogue_.read(site.epilogueIndex, 0, bytes);
  else if (site.prologueIndex != kNone)
    prologue_.read(site.prologueIndex, 0, bytes);
  return bytes;
}

} // namespace mneme::replay
