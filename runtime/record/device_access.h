// Room record: what the recorder does on one device of the application, for every vendor alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/abi/mneme_rt.h"
#include "runtime/artifact/writer.h"
#include "runtime/base/hash.h"
#include "runtime/base/word_ranges.h"
#include "runtime/record/patience.h"

namespace mneme::record {

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
  std::vector<std::span<const std::byte>> pieces; ///< in the order asked for
  std::vector<artifact::DraftSlab> storage;       ///< what keeps them alive
};

/// Flags are 0 or 1.
struct SearchResult {
  std::vector<uint8_t> holdsAddress; ///< per piece: some word leads into a range
  std::vector<uint8_t> isReached;    ///< per range: some word leads into it
};

/// Calls are serialised by the caller and come from threads in which the device is current, unless
/// said otherwise.
class DeviceAccess {
public:
  virtual ~DeviceAccess() = default;

  /// Around the launch that is recorded: launchEnds() waits for it and for nothing else that need
  /// not be waited for. Returns the vendor's status, or nothing if it goes on when the patience is
  /// over; `elapsedNs` is the time of the kernel.
  virtual void launchBegins(const mneme_launch& launch) = 0;
  virtual std::optional<int> launchEnds(const mneme_launch& launch, uint64_t& elapsedNs,
                                        const Patience& patience) = 0;

  /// Whether memory of the vendor is still there and can be read from here.
  virtual bool canRead(const artifact::Region& region) = 0;
  /// Memory of the vendor around this address that can be read from here, whoever took it, as far
  /// as the vendor tells: of graphs, mapped by the program, opened from another process.
  virtual std::optional<artifact::Region> memoryAt(uint64_t address) = 0;
  /// What hash() saw until now belongs to an earlier snapshot.
  virtual void beginSnapshot() {}
  /// Regions of a snapshot: best all of them at once. \throws Error when the device fails.
  virtual void hash(std::span<const HashTask> tasks) = 0;
  /// Searches what hash() has seen in this snapshot for addresses. \throws Error as hash()
  virtual SearchResult search(std::span<const Piece> pieces, const WordRanges& ranges) = 0;
  /// Whether what take() keeps waits on the device when the host has no room for it yet.
  virtual bool isBuffered() const { return false; }
  /// Keeps what hash() has just seen. The application may write to it again on return; the bytes
  /// may arrive later, see afterwards(). \throws Error
  virtual Content take(std::span<const Piece> pieces) = 0;

  /// Makes memory of the device zero, and reads some at once. The device is idle.
  /// \throws Error
  virtual void clear(uint64_t address, uint64_t sizeBytes) = 0;
  virtual void read(uint64_t address, std::span<std::byte> bytes) = 0;

  /// Calls `action` once everything taken before has arrived, with the first failure or null. May
  /// be on another thread; actions run in order and must not throw.
  virtual void afterwards(std::function<void(std::exception_ptr)> action) { action(nullptr); }
  /// Waits until every action has run. Any thread.
  virtual void finish() noexcept {}
  /// Device memory the recorder itself holds even after giveBack(). Any thread.
  virtual uint64_t ownBytes() const noexcept { return 0; }
  /// Gives back device memory the recorder itself uses; true if there was some. Any thread.
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

/// Bytes in host memory and where their chunk hashes go.
struct HostHashTask {
  std::span<const std::byte> bytes;
  std::span<Hash128> hashes;
};
/// Hashes chunks on several threads.
void hashOnHost(std::span<const HostHashTask> tasks);

/// A piece that lies in host memory now, and the address its bytes have for the kernel.
struct HostSearchTask {
  std::span<const std::byte> bytes;
  uint64_t address = 0;
  size_t piece = 0;
};
/// Searches on several threads; `result` has its sizes.
void searchOnHost(std::span<const HostSearchTask> tasks, const WordRanges& ranges,
                  SearchResult& result);

/// Whether all of this range is mapped: memory may go while the vendor still counts it as
/// registered.
bool isHostMemory(uint64_t address, uint64_t sizeBytes) noexcept;

/// Copies host memory into slabs, on several threads. \throws Error{OutOfMemory}
Content copyOnHost(std::span<const std::span<const std::byte>> sources);

} // namespace mneme::record
