#include <algorithm>
#include <atomic>
#include <cstring>

#include "runtime/core/base/error.h"
#include "runtime/core/base/log.h"
#include "runtime/devices/gpu/gpu_context.h"
#include "runtime/devices/gpu/queue_runner.h"
#include "runtime/recorder/backends/gpu/device_drain.h"
#include "runtime/recorder/backends/gpu/device_fetch.h"
#include "runtime/recorder/backends/gpu/heap_shadow.h"
#include "runtime/recorder/backends/gpu/mirrors.h"
#include "runtime/recorder/backends/gpu/side.h"
#include "runtime/recorder/inside_call.h"
#include "runtime/recorder/pageable_memory.h"
#include "runtime/recorder/slab.h"

namespace mneme::record::gpu {
namespace {

using artifact::Region;
using artifact::RegionKind;
using device::gpu::ContextScope;
using device::gpu::Event;
using device::gpu::kNotReady;
using device::gpu::kSuccess;
using device::gpu::kTimedEvent;
using device::gpu::QueueRunner;

/// Snapshots below this are fetched whole and hashed on the host, until so much was fetched that
/// loading the bulk operations (the driver assembles them) would have cost less.
constexpr uint64_t kSmallSnapshotBytes = 32ull << 20;
constexpr uint64_t kFetchedBytesToLoad = 256ull << 20;
/// What cannot be hashed on the device is kept on the host between hash() and take() up to this.
constexpr uint64_t kMirrorBytes = 64ull << 20;

/// How a region is read.
enum class Way : uint8_t {
  Host,     ///< it is host memory
  Pageable, ///< the same, which other threads may change or unmap meanwhile
  Kernel,   ///< by kernels on this device
  Copy,     ///< by copies: memory of other devices and contexts, constants
};

class GpuAccess final : public DeviceAccess {
public:
  GpuAccess(const Side& side, void* (*streamOf)(const mneme_launch&));
  ~GpuAccess() override;

  void launchBegins(const mneme_launch& launch) override;
  std::optional<int> launchEnds(const mneme_launch& launch, uint64_t& elapsedNs,
                                const Patience& patience) override;
  bool canRead(const Region& region) override;
  std::optional<Region> memoryAt(uint64_t address) override;
  std::optional<Region> heap(std::chrono::nanoseconds atMost) override;
  PageableMemory* pageable() noexcept override { return pageable_.get(); }
  void beginSnapshot() override { mirrors_.clear(); }
  void endSnapshot() noexcept override;
  void hash(std::span<const HashTask> tasks) override;
  SearchResult search(std::span<const Piece> pieces, const WordRanges& ranges) override;
  void readPiece(const Piece& piece, std::span<std::byte> bytes) override;
  bool isBuffered() const override { return bulk_ != nullptr; }
  Content take(std::span<const Piece> pieces) override;
  void clear(uint64_t address, uint64_t sizeBytes) override;
  void read(uint64_t address, std::span<std::byte> bytes) override {
    fetch_->read(bytes.data(), address, bytes.size());
  }
  void afterwards(std::function<void(std::exception_ptr)> action) override;
  void finish() noexcept override;
  bool giveBack() noexcept override { return drain_ && drain_->giveBack(); }
  uint64_t ownBytes() const noexcept override { return ownBytes_; }

private:
  Way wayOf(const Region& region) const;
  bool canReadByKernels(const Region& region);
  bool isHeap(const Region& region) const noexcept {
    return heap_ && heap_->sizeBytes > 0 &&
           *heap_ == AddressRange{region.address, region.sizeBytes};
  }
  bool wantsKernels(uint64_t sizeBytes);
  bool hashByKernels(std::span<const HashTask> tasks);
  void hashByCopies(std::span<const HashTask> tasks);
  void searchByKernels(std::span<const Piece> pieces, std::span<const size_t> indices,
                       const WordRanges& ranges, SearchResult& result);
  const std::byte* mirrored(const Piece& piece) const;
  DeviceDrain& drain();
  void makeBulk();

  template <typename Action> void countOwn(const Action& action);

  const Driver& driver_;
  Side side_;
  std::atomic<uint64_t> ownBytes_{0}; ///< what streams and kernels of ours took
  void* (*streamOf_)(const mneme_launch&);
  StreamHandle stream_ = nullptr;
  Event begin_, end_;
  uint64_t beginNs_ = 0;
  bool isTimed_ = false;
  std::unique_ptr<QueueRunner> runner_;
  std::unique_ptr<device::BulkOperations> bulk_;
  bool isBulkRefused_ = false;
  std::unique_ptr<DeviceDrain> drain_;
  std::unique_ptr<DeviceFetch> fetch_;
  uint64_t fetchedBytes_ = 0;
  std::optional<AddressRange> heap_;         ///< empty if it cannot be read; nothing: not asked yet
  Mirrors mirrors_;                          ///< of the present snapshot
  Mirrors before_;                           ///< pageable memory before the launch
  uint64_t lookBefore_ = 0;                  ///< PageableMemory::looks() then
  std::unique_ptr<PageableMemory> pageable_; ///< null: kernels cannot use it
};

GpuAccess::GpuAccess(const Side& side, void* (*streamOf)(const mneme_launch&))
    : driver_(side.driver()), side_(side), streamOf_(streamOf) {
  const ContextScope scope(driver_, side_.context);
  countOwn([&] { driver_.require(driver_.createStream(&stream_), "making a stream"); });
  fetch_ = std::make_unique<DeviceFetch>(driver_, stream_);
  if (side_.vendor->usesPageable(side_.device))
    pageable_ = std::make_unique<PageableMemory>();
}

/// Runs `action`, which makes the driver take device memory for the recorder.
template <typename Action> void GpuAccess::countOwn(const Action& action) {
  size_t before = 0, after = 0, total = 0;
  const bool isKnown = driver_.memoryLeft(&before, &total) == kSuccess;
  action();
  if (isKnown && driver_.memoryLeft(&after, &total) == kSuccess && after < before)
    ownBytes_ += before - after;
}

GpuAccess::~GpuAccess() {
  ContextHandle before = nullptr;
  if (driver_.enter(side_.context, &before) != kSuccess)
    return; // the context is gone and with it everything here
  drain_.reset();
  bulk_.reset();
  runner_.reset();
  fetch_.reset();
  begin_ = Event();
  end_ = Event();
  driver_.destroyStream(stream_);
  driver_.leave(before);
}

void GpuAccess::launchBegins(const mneme_launch& launch) {
  if (!begin_.raw()) { // the program's own context may be a green one, of which there are many
    const ContextScope scope(driver_, side_.context);
    begin_ = Event(driver_, kTimedEvent);
    end_ = Event(driver_, kTimedEvent);
  }
  const KeepsLastError keeps = side_.vendor->keepLastError();
  isTimed_ =
      driver_.recordEvent(begin_.raw(), static_cast<StreamHandle>(streamOf_(launch))) == kSuccess;
  beginNs_ = nowNs();
}

std::optional<int> GpuAccess::launchEnds(const mneme_launch& launch, uint64_t& elapsedNs,
                                         const Patience& patience) {
  const KeepsLastError keeps = side_.vendor->keepLastError();
  const auto stream = static_cast<StreamHandle>(streamOf_(launch));
  isTimed_ = isTimed_ && driver_.recordEvent(end_.raw(), stream) == kSuccess;
  if (!waitUntil([&] { return driver_.queryStream(stream) != kNotReady; }, patience))
    return std::nullopt;
  const int status = driver_.waitForStream(stream); // which writes what the kernel has printed
  elapsedNs = nowNs() - beginNs_;
  float milliseconds = 0;
  if (status == 0 && isTimed_ &&
      driver_.millisecondsBetween(&milliseconds, begin_.raw(), end_.raw()) == kSuccess)
    elapsedNs = static_cast<uint64_t>(static_cast<double>(milliseconds) * 1e6);
  return status;
}

bool GpuAccess::canRead(const Region& region) {
  if (isHeap(region))
    return canReadByKernels(region);
  const KeepsLastError keeps = side_.vendor->keepLastError();
  const std::optional<bool> isOnHost = side_.vendor->isHostMemory(region.address);
  if (!isOnHost)
    return false;
  if (region.kind == RegionKind::HostPinned)
    return *isOnHost && isHostMemory(region.address, region.sizeBytes);
  uint64_t start = 0, sizeBytes = 0;
  return side_.vendor->allocationAt(region.address, start, sizeBytes) && start <= region.address &&
         region.address + region.sizeBytes <= start + sizeBytes;
}

std::optional<Region> GpuAccess::memoryAt(uint64_t address) {
  const KeepsLastError keeps = side_.vendor->keepLastError();
  const std::optional<bool> isOnHost = side_.vendor->isHostMemory(address);
  Region region;
  if (!isOnHost || !side_.vendor->allocationAt(address, region.address, region.sizeBytes) ||
      address - region.address >= region.sizeBytes)
    return std::nullopt;
  region.kind = *isOnHost ? RegionKind::HostPinned : RegionKind::Allocation;
  const bool canBeRead = *isOnHost ? isHostMemory(region.address, region.sizeBytes)
                                   : side_.vendor->mayUse(address, side_.device);
  return canBeRead ? std::optional(region) : std::nullopt;
}

std::optional<Region> GpuAccess::heap(std::chrono::nanoseconds atMost) {
  if (!heap_) {
    const KeepsLastError keeps = side_.vendor->keepLastError();
    heap_ = AddressRange();
    heap_ = side_.vendor->heap(stream_, atMost);
  }
  Region region;
  region.address = heap_->begin;
  region.sizeBytes = heap_->sizeBytes;
  return region.sizeBytes > 0 ? std::optional(region) : std::nullopt;
}

/// Only kernels can read the heap.
bool GpuAccess::canReadByKernels(const Region& region) {
  if (bulk_)
    return true;
  Region first = region;
  first.sizeBytes = std::min(region.sizeBytes, artifact::kChunkBytes);
  Hash128 hash;
  const HashTask task{&first, {&hash, 1}};
  return !isBulkRefused_ && hashByKernels({&task, 1});
}

Way GpuAccess::wayOf(const Region& region) const {
  if (isHeap(region))
    return Way::Kernel;
  if (region.kind == RegionKind::HostPinned)
    return pageable_ && pageable_->isFound(region.address) ? Way::Pageable : Way::Host;
  if (region.isConstant)
    return Way::Copy;
  if (region.kind != RegionKind::Allocation)
    return Way::Kernel;
  const KeepsLastError keeps = side_.vendor->keepLastError();
  return side_.vendor->deviceOf(region.address) == side_.device &&
                 !side_.vendor->isOfOther(side_.context, region.address)
             ? Way::Kernel
             : Way::Copy;
}

void GpuAccess::makeBulk() {
  if (bulk_)
    return;
  const uint32_t multiprocessors = side_.vendor->multiprocessors(side_.device);
  runner_ =
      std::make_unique<QueueRunner>(driver_, side_.vendor->bulkCode(), stream_, multiprocessors);
  bulk_ = std::make_unique<device::BulkOperations>(*runner_);
}

bool GpuAccess::wantsKernels(uint64_t sizeBytes) {
  if (isBulkRefused_)
    return false;
  return bulk_ || sizeBytes > kSmallSnapshotBytes || fetchedBytes_ > kFetchedBytesToLoad;
}

/// False when the driver does not take the kernels: copies do the same more slowly.
bool GpuAccess::hashByKernels(std::span<const HashTask> tasks) {
  std::vector<device::HashRequest> requests;
  for (const HashTask& task : tasks)
    requests.push_back({task.region->address, task.region->sizeBytes, task.hashes});
  try {
    if (bulk_)
      bulk_->hashPages(requests, artifact::kChunkBytes);
    else // the first run loads the kernels
      countOwn([&] {
        makeBulk();
        bulk_->hashPages(requests, artifact::kChunkBytes);
      });
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::CompileFailed && error.code() != ErrorCode::OutOfMemory &&
        error.code() != ErrorCode::NotFound) // no compiler for them
      throw;
    log(LogLevel::Warn, std::string("memory is hashed on the host: ") + error.what());
    isBulkRefused_ = true;
    bulk_.reset();
    runner_.reset();
    return false;
  }
}

void GpuAccess::hashByCopies(std::span<const HashTask> tasks) {
  std::vector<HostHashTask> mirrored;
  uint64_t kept = 0;
  for (const HashTask& task : tasks) {
    const Region& region = *task.region;
    fetchedBytes_ += region.sizeBytes;
    if (kept + region.sizeBytes <= kMirrorBytes) {
      kept += region.sizeBytes;
      Slab slab = makeSlab(region.sizeBytes);
      fetch_->read(slab.memory.get(), region.address, region.sizeBytes);
      mirrored.push_back({{slab.memory.get(), slab.sizeBytes}, task.hashes});
      mirrors_[region.address] = std::move(slab);
      continue;
    }
    const Slab part = makeSlab(std::min(kMirrorBytes, region.sizeBytes));
    for (uint64_t at = 0; at < region.sizeBytes; at += kMirrorBytes) {
      const uint64_t bytes = std::min(kMirrorBytes, region.sizeBytes - at);
      fetch_->read(part.memory.get(), region.address + at, bytes);
      const HostHashTask one{
          {part.memory.get(), static_cast<size_t>(bytes)},
          task.hashes.subspan(at / artifact::kChunkBytes,
                              (bytes + artifact::kChunkBytes - 1) / artifact::kChunkBytes)};
      hashOnHost({&one, 1});
    }
  }
  hashOnHost(mirrored);
}

/// The copies of pageable memory from before the launch are kept until the snapshot behind it.
void GpuAccess::endSnapshot() noexcept {
  before_.clear();
  if (pageable_ && lookBefore_ != pageable_->looks()) {
    lookBefore_ = pageable_->looks();
    std::swap(before_, mirrors_);
    std::erase_if(before_, [&](const auto& item) { return !pageable_->isFound(item.first); });
  }
  mirrors_.clear();
}

void GpuAccess::readPiece(const Piece& piece, std::span<std::byte> bytes) {
  if (const std::byte* mirror = mirrored(piece))
    std::memcpy(bytes.data(), mirror, bytes.size());
  else if (isHeap(*piece.region)) // which only kernels can read
    std::ranges::fill(bytes, std::byte{0});
  else
    fetch_->read(bytes.data(), piece.region->address + piece.offset, bytes.size());
}

void GpuAccess::hash(std::span<const HashTask> tasks) {
  std::vector<HashTask> byKernels, byCopies, pageable;
  std::vector<HostHashTask> onHost;
  uint64_t kernelBytes = 0;
  for (const HashTask& task : tasks) {
    const Region& region = *task.region;
    switch (wayOf(region)) {
    case Way::Host:
      onHost.push_back({{reinterpret_cast<const std::byte*>(region.address),
                         static_cast<size_t>(region.sizeBytes)},
                        task.hashes});
      break;
    case Way::Pageable:
      pageable.push_back(task);
      break;
    case Way::Kernel:
      byKernels.push_back(task);
      kernelBytes += region.sizeBytes;
      break;
    case Way::Copy:
      byCopies.push_back(task);
      break;
    }
  }
  if (!byKernels.empty() && !(wantsKernels(kernelBytes) && hashByKernels(byKernels)))
    byCopies.insert(byCopies.end(), byKernels.begin(), byKernels.end());
  hashByCopies(byCopies);
  hashOnHost(onHost);
  const bool isSame = pageable_ && pageable_->looks() == lookBefore_;
  hashMirrored(pageable, isSame ? &before_ : nullptr, mirrors_);
}

const std::byte* GpuAccess::mirrored(const Piece& piece) const {
  if (const auto found = mirrors_.find(piece.region->address); found != mirrors_.end())
    return found->second.memory.get() + piece.offset;
  return piece.region->kind == RegionKind::HostPinned
             ? reinterpret_cast<const std::byte*>(piece.region->address + piece.offset)
             : nullptr;
}

/// `indices` names pieces of chunks; chunks that lie side by side are searched as one range.
void GpuAccess::searchByKernels(std::span<const Piece> pieces, std::span<const size_t> indices,
                                const WordRanges& ranges, SearchResult& result) {
  std::vector<uint8_t> flags(indices.size());
  std::vector<device::SearchRequest> requests;
  for (size_t i = 0; i < indices.size(); ++i) {
    const Piece& piece = pieces[indices[i]];
    const uint64_t address = piece.region->address + piece.offset;
    if (!requests.empty() && requests.back().address + requests.back().sizeBytes == address &&
        requests.back().sizeBytes % artifact::kChunkBytes == 0) {
      requests.back().sizeBytes += piece.sizeBytes;
      requests.back().holdsAddress = {requests.back().holdsAddress.data(),
                                      requests.back().holdsAddress.size() + 1};
    } else {
      requests.push_back({address, piece.sizeBytes, std::span(flags).subspan(i, 1)});
    }
  }
  const std::vector<uint8_t> isReached =
      bulk_->searchPages(requests, artifact::kChunkBytes, ranges);
  for (size_t i = 0; i < indices.size(); ++i)
    result.holdsAddress[indices[i]] = flags[i];
  for (size_t i = 0; i < isReached.size(); ++i)
    result.isReached[i] |= isReached[i];
}

SearchResult GpuAccess::search(std::span<const Piece> pieces, const WordRanges& ranges) {
  SearchResult result{std::vector<uint8_t>(pieces.size()),
                      std::vector<uint8_t>(ranges.ranges().size())};
  std::vector<HostSearchTask> onHost;
  std::vector<size_t> onDevice;
  std::vector<std::byte> fetched;
  const Region* last = nullptr;
  Way way = Way::Host;
  for (size_t index = 0; index < pieces.size(); ++index) {
    const Piece& piece = pieces[index];
    const uint64_t address = piece.region->address + piece.offset;
    if (const std::byte* bytes = mirrored(piece)) {
      onHost.push_back({{bytes, piece.sizeBytes}, address, index});
      continue;
    }
    if (std::exchange(last, piece.region) != piece.region)
      way = wayOf(*piece.region);
    if (way == Way::Kernel && bulk_) {
      onDevice.push_back(index);
      continue;
    }
    fetched.resize(piece.sizeBytes);
    fetch_->read(fetched.data(), address, piece.sizeBytes);
    const HostSearchTask one{fetched, address, index};
    searchOnHost({&one, 1}, ranges, result);
  }
  searchOnHost(onHost, ranges, result);
  if (!onDevice.empty())
    searchByKernels(pieces, onDevice, ranges, result);
  return result;
}

DeviceDrain& GpuAccess::drain() {
  if (!drain_)
    drain_ = std::make_unique<DeviceDrain>(side_, stream_);
  return *drain_;
}

Content GpuAccess::take(std::span<const Piece> pieces) {
  Content content;
  content.pieces.resize(pieces.size());
  std::vector<std::span<const std::byte>> onHost;
  std::vector<DrainPiece> onDevice;
  std::vector<size_t> hostIndices, deviceIndices;
  const Region *last = nullptr, *lastOnDevice = nullptr;
  Way way = Way::Host;
  const HeapShadow shadow(driver_, side_.device, pieces, heap_.value_or(AddressRange()),
                          bulk_.get());
  for (size_t index = 0; index < pieces.size(); ++index) {
    const Piece& piece = pieces[index];
    if (const std::byte* bytes = mirrored(piece)) {
      onHost.emplace_back(bytes, piece.sizeBytes);
      hostIndices.push_back(index);
      continue;
    }
    if (std::exchange(last, piece.region) != piece.region)
      way = wayOf(*piece.region);
    if (way == Way::Kernel && bulk_) {
      const bool startsRegion = std::exchange(lastOnDevice, piece.region) != piece.region;
      onDevice.push_back({shadow.addressOf(piece), piece.sizeBytes, startsRegion});
      deviceIndices.push_back(index);
      continue;
    }
    const Slab slab = makeSlab(piece.sizeBytes);
    fetch_->read(slab.memory.get(), piece.region->address + piece.offset, piece.sizeBytes);
    content.pieces[index] = {slab.memory.get(), slab.sizeBytes};
    content.storage.push_back(slab.asDraft());
  }
  Content copied = copyOnHost(onHost);
  for (size_t index = 0; index < hostIndices.size(); ++index)
    content.pieces[hostIndices[index]] = copied.pieces[index];
  content.storage.insert(content.storage.end(), copied.storage.begin(), copied.storage.end());
  if (onDevice.empty())
    return content;
  const Drained drained = drain().take(onDevice, *bulk_, [&] {
    driver_.require(driver_.waitForStream(stream_), "copying inside the device");
  });
  for (size_t index = 0; index < deviceIndices.size(); ++index)
    content.pieces[deviceIndices[index]] = drained.pieces[index];
  for (const Slab& slab : drained.slabs)
    content.storage.push_back(slab.asDraft());
  return content;
}

void GpuAccess::clear(uint64_t address, uint64_t sizeBytes) {
  const char* what = "clearing device memory";
  driver_.require(driver_.fill(address, 0, sizeBytes, stream_), what);
  driver_.require(driver_.waitForStream(stream_), what);
}

void GpuAccess::afterwards(std::function<void(std::exception_ptr)> action) {
  if (drain_)
    drain_->afterwards(std::move(action));
  else
    action(nullptr);
}

void GpuAccess::finish() noexcept {
  if (drain_)
    drain_->finish();
}

} // namespace

std::unique_ptr<DeviceAccess> makeAccess(const Side& side, void* (*streamOf)(const mneme_launch&)) {
  return std::make_unique<GpuAccess>(side, streamOf);
}

} // namespace mneme::record::gpu
