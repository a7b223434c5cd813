// Room replay: restores recorded memory at its recorded addresses on a device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/artifact/recording.h"
#include "runtime/core/artifact/snapshot.h"
#include "runtime/devices/device.h"
#include "runtime/replay/address_map.h"
#include "runtime/replay/device_buffer.h"
#include "runtime/replay/pointer_scan.h"
#include "runtime/replay/upload.h"

namespace mneme::replay {

inline constexpr size_t kNone = SIZE_MAX;

/// One recorded region and where it is now.
struct Site {
  artifact::Region region; ///< with the recorded address
  uint64_t home = 0;       ///< address reserved on this device; differs if it had to move
  uint64_t live = 0;       ///< where the loaded module has it: `home`, unless it has its own place
  uint64_t prologue = 0; ///< device copy of its content before the launch; 0: in the snapshot only
  uint64_t epilogue = 0; ///< device copy of its content afterwards; `prologue` if nothing changed
  size_t prologueIndex = kNone; ///< region number in the snapshots
  size_t epilogueIndex = kNone;
  std::vector<artifact::ChangedRange> changed = {}; ///< what the recorded launch changed
  bool isHeap = false; ///< the heap of a GPU: memory that the device has by itself

  bool isGlobal() const { return region.kind == artifact::RegionKind::Global; }
  bool isChanged() const { return !changed.empty(); }
};

/// Mapped memory that belongs to no region. It contains zeros.
struct Gap {
  uint64_t live = 0;
  uint64_t prologue = 0;
  uint64_t sizeBytes = 0;
  size_t extent = 0;
  size_t before = kNone; ///< the site that ends where the gap begins
  size_t after = kNone;
};

/// Bytes of one site.
struct SiteRange {
  size_t site = 0;
  uint64_t offset = 0;
  uint64_t sizeBytes = 0;
};

/// Reserves, maps and fills memory for one instance, and restores it before launches.
///
/// The device, and both snapshots, must outlive it. Copies of prologue and epilogue stay on the
/// device as long as they fit in `goldenBytesLimit` and in the memory of the device. If they do
/// not, only what the recorded launch changed is kept there; all else is compared by its hashes,
/// and comes from the snapshots where it differs.
///
/// Device variables and host memory move if their recorded addresses are taken. Pointers to them
/// are then rewritten in all restored and all expected content.
///
/// The heap of a GPU moves as well: it is where the driver has it. It is for kernels that allocate
/// and free nothing: allocating needs more than what is in the heap.
class MemoryImage {
public:
  /// \throws Error{AddressUnavailable} when recorded addresses of device memory are taken,
  /// Error{OutOfMemory}, Error{ArtifactCorrupt}
  MemoryImage(device::Device& device, const artifact::KernelRecord& record,
              const artifact::Snapshot& prologue, const artifact::Snapshot& epilogue,
              uint64_t goldenBytesLimit, const AddressRange& heap = {});

  const std::vector<Site>& sites() const noexcept { return sites_; }
  const std::vector<Gap>& gaps() const noexcept { return gaps_; }
  /// Returns the addresses of recorded globals for Device::load() or the compiler.
  std::vector<device::GlobalPlacement> placements() const;

  /// Whether the memory is surrounded by zeros that kernels can read but not write.
  bool hasGuards() const noexcept { return hasGuards_; }

  /// The memory that moved when it was reserved.
  const AddressMap& moves() const noexcept { return moves_; }
  /// The recorded values of the kernel's arguments, with the addresses of this process.
  const std::vector<std::vector<std::byte>>& arguments() const noexcept { return arguments_; }

  /// Whether a heap was recorded that launches do not find.
  bool isHeapLost() const noexcept { return isHeapLost_; }

  /// Says that the module about to run has this global at `live`. Its content is restored and
  /// verified there.
  void moveGlobal(size_t site, uint64_t live);
  /// Call it after moveGlobal(). Checks that nothing points to variables that are not constant and
  /// whose content is no longer at their recorded addresses. Reads the prologue once for every set
  /// of such variables. (Constants can still be read at their recorded addresses.)
  /// \throws Error{AddressUnavailable} naming the pointer.
  void checkPointersToMovedGlobals();

  /// Restores everything, gaps included.
  void restoreAll();
  /// Restores what the recorded launch changed, and every site passed to suspect().
  void restoreChanged();
  /// Puts other content where the recorded launch changed memory, in whole words. Returns false,
  /// with nothing done, if that is more than `limit` bytes.
  bool disturbChanged(uint64_t limit);
  /// Restores these bytes only.
  void restoreRanges(std::span<const SiteRange> ranges);
  /// Waits for the end of restoring, which may run asynchronously, in order with launches.
  void waitForRestore();
  /// Says that a launch changed bytes of this site that the recorded launch did not change.
  void suspect(size_t site);

  /// The hashes of the chunks of a site after the recorded launch. Those of chunks with addresses
  /// that moved are of the recorded content.
  std::vector<Hash128> expectedHashes(const Site& site) const;
  /// The bytes [offset, offset + out.size()) of the expected content: that of the snapshot after
  /// the recorded launch, with pointers rewritten. Or of the content before the launch.
  void readExpected(const Site& site, uint64_t offset, std::span<std::byte> out) const;
  void readRecorded(const Site& site, uint64_t offset, std::span<std::byte> out) const;

private:
  /// A mapped range of whole granules.
  struct Extent {
    uint64_t recorded = 0;
    uint64_t live = 0;
    uint64_t prologue = 0;
    uint64_t sizeBytes = 0;
    std::vector<size_t> sites = {}; ///< ordered by address
  };
  /// Reserved addresses: some extents and, if granted, the addresses around them.
  struct Room {
    uint64_t begin = 0;
    uint64_t end = 0;
    size_t reservation = 0;
  };

  void findHeap();
  bool isHeap(const artifact::Region& region) const {
    return heap_ == AddressRange{region.address, region.sizeBytes};
  }
  bool isLeftOut(const artifact::Region& region) const;
  void collectSites();
  void collectExtents();
  void reserveExtents(const artifact::KernelRecord& record);
  bool reserveWindow(const artifact::KernelRecord& record);
  void reserveWithRoom(uint64_t begin, uint64_t end);
  std::vector<std::pair<uint64_t, uint64_t>> guardsIn(const Room& room) const;
  void layGuards();
  bool isMovable(const Extent& extent) const;
  bool isOfHeap(const Extent& extent) const;
  static void appendForKernels(std::vector<device::CopyRange>& ranges,
                               const device::CopyRange& range);
  void collectMoves();
  void collectGaps();
  void upload(const std::vector<UploadPiece>& pieces);
  void allocateGolden(uint64_t limit);
  void uploadPrologue();
  void uploadEpilogue();
  void keepChanges(uint64_t limit);
  void restoreWithoutCopy(bool everything);
  void addDifferences(size_t site, std::vector<UploadPiece>& pieces,
                      std::vector<artifact::ByteRange>& zeros);
  void addChanges(size_t site, std::vector<UploadPiece>& pieces) const;
  void zero(std::span<const artifact::ByteRange> ranges);
  std::vector<device::CopyRange> changedRanges() const;
  std::vector<device::CopyRange> keptChanges() const;

  device::Device& device_;
  const artifact::Snapshot& prologue_;
  const artifact::Snapshot& epilogue_;
  const AddressRange heap_; ///< of a GPU, as recorded; empty: none was
  uint64_t heapHere_ = 0;   ///< where the device has it; 0: it is not restored, or ordinary memory
  bool isHeapLost_ = false;
  size_t heapSite_ = kNone;
  std::vector<Site> sites_; ///< ordered by recorded address
  std::vector<Extent> extents_;
  bool hasGuards_ = false;
  std::vector<Room> rooms_;
  std::vector<Gap> gaps_;
  AddressMap moves_;
  std::vector<std::vector<std::byte>> arguments_;
  std::vector<bool> isSuspect_;
  std::unique_ptr<device::PreparedRestore> changes_; ///< for restoreChanged(); null: not made yet
  std::vector<size_t> scannedSites_;                 ///< moved globals that no pointer leads to
  Uploader uploader_;
  std::unique_ptr<device::StagingBuffer> fence_; ///< of waitForRestore()
  std::vector<DeviceBuffer> reservations_;
  DeviceBuffer goldenPrologue_;
  DeviceBuffer goldenEpilogue_;
  DeviceBuffer goldenChanges_; ///< instead of the prologue: what the recorded launch changed
  DeviceBuffer zeros_;         ///< to copy from
};

} // namespace mneme::replay
