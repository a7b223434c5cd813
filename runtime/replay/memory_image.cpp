#include "runtime/replay/memory_image.h"

#include <algorithm>

#include "runtime/core/base/error.h"
#include "runtime/core/base/log.h"
#include "runtime/replay/text.h"

namespace mneme::replay {

namespace {

/// Device memory that is not ours to take: loaded modules, stacks, what others use.
constexpr uint64_t kSpareBytes = 6ull << 30;
/// Copies of extents begin at multiples of it.
constexpr uint64_t kGoldenUnit = 4096;
/// Devices may leave larger ranges to the vendor's copies, which do not take the heap.
constexpr uint64_t kMostForKernels = 64 << 20;

uint64_t roundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

[[noreturn]] void corrupt(const std::string& message) {
  throw Error(ErrorCode::ArtifactCorrupt, "the recording is damaged: " + message);
}

} // namespace

MemoryImage::MemoryImage(device::Device& device, const artifact::KernelRecord& record,
                         const artifact::Snapshot& prologue, const artifact::Snapshot& epilogue,
                         uint64_t goldenBytesLimit, const AddressRange& heap)
    : device_(device), prologue_(prologue), epilogue_(epilogue), heap_(heap), uploader_(device) {
  findHeap();
  collectSites();
  collectExtents();
  reserveExtents(record);
  collectMoves();
  layGuards();
  collectGaps();
  allocateGolden(goldenBytesLimit);
  uploadPrologue();
  uploadEpilogue();
}

/// On a device without such a heap its content is ordinary memory.
void MemoryImage::findHeap() {
  if (heap_.sizeBytes == 0)
    return;
  const std::optional<AddressRange> here = device_.heap(heap_.sizeBytes);
  if (!here)
    return;
  const bool isRecorded = std::ranges::any_of(
      prologue_.regions(), [&](const artifact::Region& region) { return isHeap(region); });
  if (here->sizeBytes == heap_.sizeBytes && isRecorded) {
    heapHere_ = here->begin;
    return;
  }
  isHeapLost_ = true;
  log(LogLevel::Warn,
      "the heap from which kernels allocate was recorded with " + std::to_string(heap_.sizeBytes) +
          " bytes, and " + device_.description().id +
          (here->sizeBytes > 0 ? " has one of " + std::to_string(here->sizeBytes) + " bytes"
                               : " does not show where it has one") +
          ": it is not restored");
}

bool MemoryImage::isLeftOut(const artifact::Region& region) const {
  return region.sizeBytes == 0 || (isHeapLost_ && isHeap(region));
}

void MemoryImage::collectSites() {
  for (size_t i = 0; i < prologue_.regions().size(); ++i)
    if (!isLeftOut(prologue_.regions()[i]))
      sites_.push_back({.region = prologue_.regions()[i], .prologueIndex = i});
  const auto byAddress = [](const Site& a, const Site& b) {
    return a.region.address < b.region.address;
  };
  std::sort(sites_.begin(), sites_.end(), byAddress);
  const size_t known = sites_.size();
  for (size_t i = 0; i < epilogue_.regions().size(); ++i) {
    const artifact::Region& region = epilogue_.regions()[i];
    if (isLeftOut(region))
      continue;
    const Site probe{.region = region};
    auto site = std::lower_bound(sites_.begin(), sites_.begin() + known, probe, byAddress);
    const bool isKnown = site != sites_.begin() + known && site->region.address == region.address &&
                         site->region.sizeBytes == region.sizeBytes;
    if (!isKnown)
      site = sites_.insert(sites_.end(), probe);
    site->epilogueIndex = i;
    if (region.annotation.isSet)
      site->region.annotation = region.annotation;
    if (!region.parts.empty())
      site->region.parts = region.parts;
    site->changed = artifact::changedRanges(prologue_, epilogue_, i);
  }
  std::sort(sites_.begin(), sites_.end(), byAddress);
  isSuspect_.resize(sites_.size());
  for (size_t i = 0; i < sites_.size(); ++i) {
    const artifact::Region& region = sites_[i].region;
    if (heapHere_ != 0 && isHeap(region)) {
      sites_[i].isHeap = true;
      heapSite_ = i;
    }
    if (region.address == 0 || region.sizeBytes > UINT64_MAX / 4 || region.address > UINT64_MAX / 2)
      corrupt("region " + hexText(region.address) + " has an impossible address or size");
    if (i > 0 && sites_[i - 1].region.address + sites_[i - 1].region.sizeBytes > region.address)
      corrupt("regions " + hexText(sites_[i - 1].region.address) + " and " +
              hexText(region.address) + " overlap");
  }
}

void MemoryImage::collectExtents() {
  const uint64_t granule = std::max(device_.granularity(), device_.guardPageBytes());
  uint64_t total = 0;
  for (size_t i = 0; i < sites_.size(); ++i) {
    const artifact::Region& region = sites_[i].region;
    const uint64_t unit = sites_[i].isHeap ? 1 : granule; // what is beside the heap is not ours
    const bool isApart = sites_[i].isHeap || (!extents_.empty() && isOfHeap(extents_.back()));
    uint64_t begin = region.address / unit * unit;
    if (isApart && !extents_.empty())
      begin = std::max(begin, extents_.back().recorded + extents_.back().sizeBytes);
    if (sites_[i].isHeap)
      begin = region.address;
    const uint64_t end = roundUp(region.address + region.sizeBytes, unit);
    if (extents_.empty() || isApart ||
        begin >= extents_.back().recorded + extents_.back().sizeBytes)
      extents_.push_back({.recorded = begin, .live = begin, .sizeBytes = end - begin});
    else
      extents_.back().sizeBytes = end - extents_.back().recorded;
    extents_.back().sites.push_back(i);
  }
  const uint64_t available = device_.description().totalMemoryBytes;
  for (const Extent& extent : extents_)
    if (total += extent.sizeBytes; available > 0 && total > available)
      throw Error(ErrorCode::OutOfMemory,
                  "the recording needs more than the " + std::to_string(available >> 20) +
                      " MiB of memory that device " + device_.description().id + " has");
}

bool MemoryImage::reserveWindow(const artifact::KernelRecord& record) {
  const uint64_t begin = record.windowAddress, end = begin + record.windowBytes;
  const uint64_t granule = device_.granularity();
  if (begin == 0 || end <= begin || begin % granule != 0 || end % granule != 0)
    return false;
  bool isUsed = false;
  for (const Extent& extent : extents_) {
    const uint64_t extentEnd = extent.recorded + extent.sizeBytes;
    const bool isInside = extent.recorded >= begin && extentEnd <= end;
    if (!isInside && extent.recorded < end && extentEnd > begin)
      return false;
    isUsed = isUsed || isInside;
  }
  if (!isUsed)
    return false;
  try {
    reserveWithRoom(begin, end);
  } catch (const Error&) {
    return false;
  }
  for (const Extent& extent : extents_)
    if (extent.recorded >= begin && extent.recorded < end)
      reservations_.back().map(extent.recorded, extent.sizeBytes);
  return true;
}

bool MemoryImage::isMovable(const Extent& extent) const {
  return std::all_of(extent.sites.begin(), extent.sites.end(), [&](size_t i) {
    return sites_[i].isGlobal() || sites_[i].region.kind == artifact::RegionKind::HostPinned;
  });
}

void MemoryImage::appendForKernels(std::vector<device::CopyRange>& ranges,
                                   const device::CopyRange& range) {
  for (uint64_t done = 0; done < range.sizeBytes; done += kMostForKernels)
    ranges.push_back({range.destination + done, range.source + done,
                      std::min(kMostForKernels, range.sizeBytes - done)});
}

/// It is memory of the driver, and there already.
bool MemoryImage::isOfHeap(const Extent& extent) const {
  return extent.sites.size() == 1 && extent.sites.front() == heapSite_;
}

void MemoryImage::reserveExtents(const artifact::KernelRecord& record) {
  const bool hasWindow = reserveWindow(record);
  const uint64_t windowEnd = record.windowAddress + record.windowBytes;
  for (Extent& extent : extents_) {
    if (hasWindow && extent.recorded >= record.windowAddress && extent.recorded < windowEnd)
      continue;
    if (isOfHeap(extent)) {
      extent.live = heapHere_;
      continue;
    }
    try {
      if (isMovable(extent))
        reservations_.push_back(DeviceBuffer::reserve(device_, extent.recorded, extent.sizeBytes));
      else
        reserveWithRoom(extent.recorded, extent.recorded + extent.sizeBytes);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::AddressUnavailable)
        throw;
      if (!isMovable(extent))
        throw Error(ErrorCode::AddressUnavailable,
                    "the recorded addresses from " + hexText(extent.recorded) + " to " +
                        hexText(extent.recorded + extent.sizeBytes) +
                        " are taken in this process (" + error.what() +
                        "); try again in a fresh process");
      reservations_.push_back(DeviceBuffer::reserve(device_, 0, extent.sizeBytes));
      extent.live = reservations_.back().address();
    }
    reservations_.back().map(extent.live, extent.sizeBytes);
  }
  for (const Extent& extent : extents_)
    for (size_t i : extent.sites)
      sites_[i].home = sites_[i].live = sites_[i].region.address - extent.recorded + extent.live;
}

/// Whole extents, so that pointers just behind a region are pointers into it; one at the very end
/// of an extent belongs to it unless another one begins there.
void MemoryImage::collectMoves() {
  std::vector<Move> moves;
  for (const Extent& extent : extents_)
    if (extent.live != extent.recorded)
      moves.push_back({extent.recorded, extent.sizeBytes, extent.live});
  for (Move& move : moves) {
    const uint64_t end = move.recorded + move.sizeBytes;
    move.sizeBytes += std::none_of(extents_.begin(), extents_.end(),
                                   [&](const Extent& extent) { return extent.recorded == end; });
  }
  moves_ = AddressMap(moves);
  arguments_ = prologue_.args();
  for (std::vector<std::byte>& value : arguments_)
    moves_.translate(value, 0);
}

/// Every word that leads to something that moved is rewritten on the way.
void MemoryImage::upload(const std::vector<UploadPiece>& pieces) {
  if (moves_.isEmpty())
    return uploader_.upload(pieces);
  uploader_.upload(pieces, [this](const UploadPiece& piece, std::span<std::byte> bytes) {
    moves_.translate(bytes, piece.snapshot->regions()[piece.region].address + piece.offset);
  });
}

void MemoryImage::collectGaps() {
  for (size_t e = 0; e < extents_.size(); ++e) {
    const Extent& extent = extents_[e];
    uint64_t cursor = extent.live;
    size_t before = kNone;
    const auto addGap = [&](uint64_t end, size_t after) {
      if (end > cursor)
        gaps_.push_back({.live = cursor,
                         .sizeBytes = end - cursor,
                         .extent = e,
                         .before = before,
                         .after = after});
    };
    for (size_t i : extent.sites) {
      addGap(sites_[i].live, i);
      cursor = sites_[i].live + sites_[i].region.sizeBytes;
      before = i;
    }
    addGap(extent.live + extent.sizeBytes, kNone);
  }
}

void MemoryImage::allocateGolden(uint64_t limit) {
  uint64_t liveBytes = 0, epilogueBytes = 0;
  for (const Extent& extent : extents_)
    liveBytes += roundUp(extent.sizeBytes, kGoldenUnit);
  for (const Site& site : sites_)
    if (site.isChanged())
      epilogueBytes += roundUp(site.region.sizeBytes, 256) + 256;
  const uint64_t total = device_.description().totalMemoryBytes;
  if (total > 0)
    limit = std::min(limit, total - std::min(total, liveBytes + std::min(total / 4, kSpareBytes)));
  const auto tryAllocate = [&](uint64_t bytes) {
    if (bytes == 0 || bytes > limit)
      return DeviceBuffer();
    try {
      DeviceBuffer buffer = DeviceBuffer::allocate(device_, bytes);
      limit -= bytes;
      return buffer;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::OutOfMemory)
        throw;
      return DeviceBuffer();
    }
  };
  if (goldenPrologue_ = tryAllocate(liveBytes); !goldenPrologue_)
    return keepChanges(limit);
  uint64_t cursor = goldenPrologue_.address();
  for (Extent& extent : extents_) {
    extent.prologue = cursor;
    cursor += roundUp(extent.sizeBytes, kGoldenUnit);
    for (size_t i : extent.sites) {
      sites_[i].prologue = sites_[i].live - extent.live + extent.prologue;
      if (!sites_[i].isChanged())
        sites_[i].epilogue = sites_[i].prologue;
    }
  }
  for (Gap& gap : gaps_)
    gap.prologue = gap.live - extents_[gap.extent].live + extents_[gap.extent].prologue;
  if (goldenEpilogue_ = tryAllocate(epilogueBytes); !goldenEpilogue_)
    return;
  cursor = goldenEpilogue_.address();
  for (Site& site : sites_)
    if (site.isChanged()) {
      site.epilogue = roundUp(cursor, 256) + site.live % 256;
      cursor = site.epilogue + site.region.sizeBytes;
    }
}

void MemoryImage::uploadPrologue() {
  std::vector<UploadPiece> pieces;
  for (const Site& site : sites_)
    if (site.prologueIndex != kNone)
      appendPieces(pieces, prologue_, site.prologueIndex, 0, site.region.sizeBytes,
                   site.prologue ? site.prologue : site.live,
                   /*skipZero=*/site.prologue || !site.isHeap);
  upload(pieces);
  if (!goldenPrologue_)
    return;
  std::vector<uint64_t> liveOf(prologue_.regions().size());
  for (const Site& site : sites_)
    if (site.prologueIndex != kNone)
      liveOf[site.prologueIndex] = site.live;
  std::vector<device::CopyRange> ranges;
  for (const UploadPiece& piece : pieces)
    ranges.push_back({liveOf[piece.region] + piece.offset, piece.destination, piece.sizeBytes});
  if (heapSite_ != kNone) // whose content so far is the driver's
    appendForKernels(ranges, {sites_[heapSite_].live, sites_[heapSite_].prologue,
                              sites_[heapSite_].region.sizeBytes});
  device_.restore(ranges);
}

void MemoryImage::uploadEpilogue() {
  std::vector<UploadPiece> pieces;
  std::vector<device::CopyRange> unchanged;
  for (const Site& site : sites_) {
    if (!site.isChanged() || !goldenEpilogue_)
      continue;
    appendPieces(pieces, epilogue_, site.epilogueIndex, site.changed, site.epilogue,
                 /*skipZero=*/true);
    uint64_t cursor = 0;
    const auto keep = [&](uint64_t end) {
      if (end > cursor)
        unchanged.push_back({site.epilogue + cursor, site.prologue + cursor, end - cursor});
    };
    for (const artifact::ChangedRange& range : site.changed) {
      keep(range.offset);
      cursor = range.offset + range.sizeBytes;
    }
    keep(site.region.sizeBytes);
  }
  upload(pieces);
  device_.restore(unchanged);
}

std::vector<device::GlobalPlacement> MemoryImage::placements() const {
  std::vector<device::GlobalPlacement> placements;
  for (const Site& site : sites_)
    if (site.isGlobal() && !site.region.name.empty())
      placements.push_back({site.region.name, site.home, site.region.sizeBytes});
  return placements;
}

} // namespace mneme::replay
