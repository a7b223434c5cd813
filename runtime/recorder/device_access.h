// Room recorder: what the recorder does on one device of the application, independent of the
// vendor.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/core/abi/mneme_rt.h"
#include "runtime/core/artifact/writer.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/base/word_ranges.h"
#include "runtime/recorder/patience.h"

namespace mneme::record {

class PageableMemory;

struct HashTask {
  const artifact::Region* region = nullptr;
  std::span<Hash128> hashes; ///< one per chunk of artifact::kChunkBytes
};

/// A part of a region whose bytes are to be kept.
struct Piece {
  const artifact::Region* region = nullptr;
  uint64_t offset = 0; ///< in the region
  uint32_t sizeBytes = 0;
};

struct Content {
  std::vector<std::span<const std::byte>> pieces; ///< in the requested order
  std::vector<artifact::DraftSlab> storage;       ///< keeps them alive
};

/// Flags are 0 or 1.
struct SearchResult {
  std::vector<uint8_t> holdsAddress; ///< per piece: whether some word points into a range
  std::vector<uint8_t> isReached;    ///< per range: whether some word points into it
};

/// Unless stated otherwise, the caller serialises calls and makes them from threads in which the
/// device is current.
class DeviceAccess {
public:
  virtual ~DeviceAccess() = default;

  /// Call them before and after the recorded launch. launchEnds() waits for the launch, and for
  /// other work only if it must. It returns the vendor's status, or nothing if the launch is still
  /// running when the patience is over; `elapsedNs` is the time of the kernel.
  virtual void launchBegins(const mneme_launch& launch) = 0;
  virtual std::optional<int> launchEnds(const mneme_launch& launch, uint64_t& elapsedNs,
                                        const Patience& patience) = 0;

  /// Whether memory of the vendor still exists and can be read from here.
  virtual bool canRead(const artifact::Region& region) = 0;
  /// Returns the vendor's memory around this address if it can be read from here and the vendor
  /// knows it: memory of graphs, mapped by the program, or opened from another process.
  virtual std::optional<artifact::Region> memoryAt(uint64_t address) = 0;
  /// Looks for the heap from which kernels allocate, once, and makes it if there is none yet, from
  /// which moment on the program cannot change its size. The device is idle; if it does not answer
  /// within `atMost` it fails. Returns nothing if the heap is not found, or ordinary memory.
  /// \throws Error
  virtual std::optional<artifact::Region> heap(std::chrono::nanoseconds atMost) {
    return std::nullopt;
  }
  /// Returns the host's pageable memory where kernels here can use it; null where they cannot.
  virtual PageableMemory* pageable() noexcept { return nullptr; }
  /// Begins a snapshot: regions hashed so far belong to earlier ones.
  virtual void beginSnapshot() {}
  /// Hashes regions of a snapshot, preferably all at once. \throws Error if the device fails.
  virtual void hash(std::span<const HashTask> tasks) = 0;
  /// Searches regions that hash() has read in this snapshot for addresses. \throws Error as hash()
  virtual SearchResult search(std::span<const Piece> pieces, const WordRanges& ranges) = 0;
  /// Copies a piece of a region that hash() has read in this snapshot. \throws Error as hash()
  virtual void readPiece(const Piece& piece, std::span<std::byte> bytes) {
    read(piece.region->address + piece.offset, bytes);
  }
  /// Whether take() keeps content on the device while the host has no room for it.
  virtual bool isBuffered() const { return false; }
  /// Copies content that hash() has just read. On return the application may write to the memory
  /// again; the bytes may arrive later, see afterwards(). \throws Error
  virtual Content take(std::span<const Piece> pieces) = 0;
  /// Ends a snapshot: nothing of it is taken any more.
  virtual void endSnapshot() noexcept {}

  /// Clear device memory, and read some immediately. The device must be idle.
  /// \throws Error
  virtual void clear(uint64_t address, uint64_t sizeBytes) = 0;
  virtual void read(uint64_t address, std::span<std::byte> bytes) = 0;

  /// Calls `action`, with the first failure or null, once everything taken before has arrived. It
  /// may run on another thread. Actions run in order and must not throw.
  virtual void afterwards(std::function<void(std::exception_ptr)> action) { action(nullptr); }
  /// Waits until every action has run. May be called by any thread.
  virtual void finish() noexcept {}
  /// Returns how much device memory the recorder itself holds even after giveBack(). May be called
  /// by any thread.
  virtual uint64_t ownBytes() const noexcept { return 0; }
  /// Frees device memory that the recorder itself uses. Returns whether there was some. May be
  /// called by any thread.
  virtual bool giveBack() noexcept { return false; }
};

/// The CPU device, where host memory is device memory. Works on several threads.
class HostAccess : public DeviceAccess {
public:
  using Synchronize = std::function<std::optional<int>(const Patience& patience)>;
  using FindMemory = std::function<std::optional<artifact::Region>(uint64_t address)>;
  /// `synchronize` waits for the whole device, as launchEnds() does for a launch; `findMemory` is
  /// memoryAt().
  explicit HostAccess(
      Synchronize synchronize,
      FindMemory findMemory = [](uint64_t) { return std::optional<artifact::Region>(); })
      : synchronize_(std::move(synchronize)), findMemory_(std::move(findMemory)) {}
  void launchBegins(const mneme_launch& launch) override;
  std::optional<int> launchEnds(const mneme_launch& launch, uint64_t& elapsedNs,
                                const Patience& patience) override;
  bool canRead(const artifact::Region& region) override;
  std::optional<artifact::Region> memoryAt(uint64_t address) override {
    return findMemory_(address);
  }
  void hash(std::span<const HashTask> tasks) override;
  SearchResult search(std::span<const Piece> pieces, const WordRanges& ranges) override;
  Content take(std::span<const Piece> pieces) override;
  void clear(uint64_t address, uint64_t sizeBytes) override;
  void read(uint64_t address, std::span<std::byte> bytes) override;

private:
  Synchronize synchronize_;
  FindMemory findMemory_;
  uint64_t beginNs_ = 0;
};

/// Bytes in host memory, and the destination of their chunk hashes.
struct HostHashTask {
  std::span<const std::byte> bytes;
  std::span<Hash128> hashes;
};
/// Hashes chunks on several threads.
void hashOnHost(std::span<const HostHashTask> tasks);

/// A piece in host memory, and the address that its bytes have for the kernel.
struct HostSearchTask {
  std::span<const std::byte> bytes;
  uint64_t address = 0;
  size_t piece = 0;
};
/// Searches on several threads. The vectors of `result` must have their sizes.
void searchOnHost(std::span<const HostSearchTask> tasks, const WordRanges& ranges,
                  SearchResult& result);

/// Whether all of this range is mapped: memory may be unmapped while the vendor still treats it as
/// registered.
bool isHostMemory(uint64_t address, uint64_t sizeBytes) noexcept;

/// Copies host memory into slabs, on several threads. \throws Error{OutOfMemory}
Content copyOnHost(std::span<const std::span<const std::byte>> sources);

} // namespace mneme::record
