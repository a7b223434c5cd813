// Room replay: the recorded memory, back at its recorded addresses on a device.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/artifact/recording.h"
#include "runtime/artifact/snapshot.h"
#include "runtime/device/device.h"
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
  uint64_t prologue = 0;   ///< device copy of what the kernel saw; 0: in the snapshot only
  uint64_t epilogue = 0;   ///< device copy of what it left; `prologue` where nothing changed
  size_t prologueIndex = kNone; ///< region number in the snapshots
  size_t epilogueIndex = kNone;
  std::vector<artifact::ChangedRange> changed = {}; ///< what the recorded launch changed

  bool isGlobal() const { return region.kind == artifact::RegionKind::Global; }
  bool isChanged() const { return !changed.empty(); }
};

/// Mapped memory that belongs to no region; holds zeros.
struct Gap {
  uint64_t live = 0;
  uint64_t prologue = 0;
  uint64_t sizeBytes = 0;
  size_t extent = 0;
  size_t before = kNone; ///< the site that ends where the gap begins
  size_t after = kNone;
};

/// Reserves, maps and fills memory for one instance, and puts it back before launches.
///
/// The device, and both snapshots, must outlive it. Copies of prologue and epilogue stay on the
/// device as long as they fit in `goldenBytesLimit` and in the memory of the device.
///
/// Device variables and host memory whose recorded addresses are taken move; words that lead to
/// them are rewritten in everything that is restored and in everything that is expected.
class MemoryImage {
public:
  /// \throws Error{AddressUnavailable} when recorded addresses of device memory are taken,
  /// Error{OutOfMemory}, Error{ArtifactCorrupt}
  MemoryImage(device::Device& device, const artifact::KernelRecord& record,
              const artifact::Snapshot& prologue, const artifact::Snapshot& epilogue,
              uint64_t goldenBytesLimit);

  const std::vector<Site>& sites() const noexcept { return sites_; }
  const std::vector<Gap>& gaps() const noexcept { return gaps_; }
  /// Where the kernel's code expects the recorded globals: for Device::load() or the compiler.
  std::vector<device::GlobalPlacement> placements() const;

  /// Whether there are zeros around the memory, which kernels can read but not write.
  bool hasGuards() const noexcept { return hasGuards_; }

  /// What moved when memory was reserved.
  const AddressMap& moves() const noexcept { return moves_; }
  /// The recorded values of the kernel's arguments, with the addresses of this process.
  const std::vector<std::vector<std::byte>>& arguments() const noexcept { return arguments_; }

  /// The module about to run has this global at `live`: its content is restored and verified there.
  void moveGlobal(size_t site, uint64_t live);
  /// Call it after moveGlobal(): variables that are not constant and whose content is not at their
  /// recorded addresses any more must not be pointed to. Reads the prologue, but only once
  /// for every set of such variables. (Constants are still readable where they were recorded.)
  /// \throws Error{AddressUnavailable} naming the pointer.
  void checkPointersToMovedGlobals();

  /// Puts back everything, gaps included.
  void restoreAll();
  /// Puts back what the recorded launch changed, and every site named by suspect().
  void restoreChanged();
  /// Restoring may go on behind the caller's back, in order with launches; this waits for its end.
  void waitForRestore();
  /// A launch changed bytes of this site that the recorded one did not.
  void suspect(size_t site);

  /// Content of a site after the recorded launch, from the snapshot, as it is expected here.
  std::vector<std::byte> expectedBytes(const Site& site) const;

private:
  /// A mapped range of whole granules.
  struct Extent {
    uint64_t recorded = 0;
    uint64_t live = 0;
    uint64_t prologue = 0;
    uint64_t sizeBytes = 0;
    std::vector<size_t> sites = {}; ///< ordered by address
  };
  /// Reserved addresses: some extents and, where they were granted, what lies around them.
  struct Room {
    uint64_t begin = 0;
    uint64_t end = 0;
    size_t reservation = 0;
  };

  void collectSites();
  void collectExtents();
  void reserveExtents(const artifact::KernelRecord& record);
  bool reserveWindow(const artifact::KernelRecord& record);
  void reserveWithRoom(uint64_t begin, uint64_t end);
  std::vector<std::pair<uint64_t, uint64_t>> guardsIn(const Room& room) const;
  void layGuards();
  bool isMovable(const Extent& extent) const;
  void collectMoves();
  void collectGaps();
  void upload(const std::vector<UploadPiece>& pieces);
  void allocateGolden(uint64_t limit);
  void uploadPrologue();
  void uploadEpilogue();
  void restoreFromSnapshots(bool everything);
  std::vector<device::CopyRange> changedRanges() const;

  device::Device& device_;
  const artifact::Snapshot& prologue_;
  const artifact::Snapshot& epilogue_;
  std::vector<Site> sites_; ///< ordered by recorded address
  std::vector<Extent> extents_;
  bool hasGuards_ = false;
  std::vector<Room> rooms_;
  std::vector<Gap> gaps_;
  AddressMap moves_;
  std::vector<std::vector<std::byte>> arguments_;
  std::vector<bool> isSuspect_;
  std::unique_ptr<device::PreparedRestore> changes_; ///< of restoreChanged(); null: to be made
  std::vector<size_t> scannedSites_;                 ///< moved globals no pointer leads to
  Uploader uploader_;
  std::unique_ptr<device::StagingBuffer> fence_; ///< of waitForRestore()
  std::vector<DeviceBuffer> reservations_;
  DeviceBuffer goldenPrologue_;
  DeviceBuffer goldenEpilogue_;
};

} // namespace mneme::replay
