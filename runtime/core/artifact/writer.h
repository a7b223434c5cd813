// Room core/artifact: writes recordings in the background while the application runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/artifact/recording.h"

namespace mneme::artifact {

/// A chunk of a captured region.
struct ChunkDraft {
  uint64_t index = 0; ///< in the region, in units of kChunkBytes
  Hash128 hash;       ///< of the content, also if that is zero
  uint32_t rawBytes = 0;
  bool isZero = false;
  /// Empty when RecordingWriter::hasChunk(hash) was true, when another chunk of the same snapshot
  /// or of the instance's prologue brings the bytes, or when all are zero. SnapshotDraft::storage
  /// of the same snapshot keeps them alive.
  std::span<const std::byte> bytes;
};

/// A region of the same size, in the latest submitted snapshot with a region at its address, or in
/// the instance's own prologue.
struct DraftBase {
  uint64_t snapshot = 0; ///< SnapshotDraft::id
  size_t region = 0;     ///< index in it
};

struct RegionDraft {
  Region region;
  std::optional<DraftBase> base;
  /// Every chunk, or with a base those that differ from it; sorted by index.
  std::vector<ChunkDraft> chunks;
};

/// Memory with bytes of chunks; a chunk's bytes lie in one slab. It is released as soon as
/// everything in it is written, so that memory use falls while a large draft is written.
struct DraftSlab {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes; ///< kept alive by `owner`; count against queueBytes
};

struct SnapshotDraft {
  uint64_t id = 0; ///< unique in the session; 0: no other snapshot is based on this one
  std::vector<RegionDraft> regions;
  std::vector<std::vector<std::byte>> args;
  std::vector<DraftSlab> storage;
};

/// A finished capture of one launch, ready to be written.
struct InstanceDraft {
  Instance instance; ///< file names are filled in by the writer
  SnapshotDraft prologue;
  SnapshotDraft epilogue;
};

/// Returns the total size of all regions, new content or not.
uint64_t memoryBytes(const SnapshotDraft& snapshot) noexcept;

enum class EpilogueFormat {
  Diff,  ///< chunks already stored (in the prologue, in earlier instances) are referenced
  Bytes, ///< the epilogue file holds all its chunks itself
};

struct WriterOptions {
  std::filesystem::path directory;
  /// Bound on content waiting to be written. 0: automaticQueueBytes().
  uint64_t queueBytes = 0;
  int compressionLevel = 1; ///< zstd; chunks that hardly compress are stored raw
  /// 0: a quarter of the cores, and all of them once finish() waits. The application needs its
  /// cores, and a quarter of a node's cores compresses faster than its disk can write. All threads
  /// of the writer run at low priority.
  unsigned compressionThreads = 0;
  EpilogueFormat epilogueFormat = EpilogueFormat::Diff;
};

/// Returns MNEME_QUEUE_BYTES ("40G", "512M", "1073741824") if set. Otherwise returns half of the
/// memory that the system and its control groups leave this process now, but at least 512 MiB; the
/// other half remains for the application and the page cache.
uint64_t automaticQueueBytes();

struct WriterStatistics {
  uint64_t instancesWritten = 0;
  uint64_t instancesLost = 0;
  uint64_t rawBytes = 0;           ///< size of the memory that the snapshots describe
  uint64_t uniqueBytes = 0;        ///< distinct content
  uint64_t storedBytes = 0;        ///< on disk
  uint64_t waitNs = 0;             ///< time for which the bound blocked submit()
  std::vector<std::string> losses; ///< one sentence each
};

/// Owns one directory for one session. Any thread may call; the order of submit() is kept. The
/// first submit() starts the worker thread. After construction nothing throws unless stated below.
/// An instance that cannot be written, because the disk is full for example, is counted as lost,
/// with a message, together with all that depends on it; earlier instances stay valid. A capture
/// that begins after isLost() or statistics() shows the loss does not depend on the lost data.
class RecordingWriter {
public:
  /// Creates the directory if needed. Existing records of the same kernels are extended: instances
  /// with other dynamic hashes are kept, those recorded again are replaced.
  /// \throws Error{IoFailed} if the directory cannot be created or written.
  explicit RecordingWriter(WriterOptions options);
  ~RecordingWriter(); ///< finish()

  /// Announces a kernel before its first instance: writes `RecordedIR_<hash>.bc` per module.
  void addKernel(const KernelRecord& record, const std::vector<std::vector<std::byte>>& modules);

  /// Whether content with this hash is stored or waits in the queue, so that the caller need not
  /// copy it. submit() adds the hashes of chunks that have bytes.
  bool hasChunk(const Hash128& hash) const;
  /// The same for many hashes, much cheaper than one by one.
  std::vector<bool> hasChunks(std::span<const Hash128> hashes) const;

  /// Whether a submitted snapshot could not be written. Drafts based on it are lost, too, so the
  /// next capture must not be based on it.
  bool isLost(uint64_t snapshot) const;

  /// Blocks until `bytes` more fit into the queue, or it is empty. Call it before a capture is
  /// copied to keep the memory in use within queueBytes; submit() blocks only after the copy.
  void waitForRoom(uint64_t bytes);

  /// Announces a capture that will be submitted. If the process is killed before it is written, the
  /// directory shows that it was lost, and its size.
  void enterTaken(uint64_t staticHash, const std::string& kernel, const InstanceDraft& draft);

  /// Queues a capture; blocks while more than queueBytes wait. A draft is lost if its base was lost
  /// or never submitted.
  void submit(uint64_t staticHash, InstanceDraft draft);

  /// Sets the occurrence count written with an instance.
  void setOccurrences(uint64_t staticHash, uint64_t dynamicHash, uint64_t occurrences);
  /// Sets the number of launches written with a kernel.
  void setLaunches(uint64_t staticHash, uint64_t launches);

  /// Notes something that could not be recorded, in the session file and in the losses.
  void noteLoss(const std::string& sentence);

  /// Waits until nothing is queued or being written.
  void waitUntilWritten() noexcept;
  /// Waits until everything is written and published, then stops the worker. Idempotent.
  void finish() noexcept;
  /// Call it after finish() to continue the same session.
  void reopen();
  /// A counter that grows while something is written. Takes no lock.
  uint64_t progress() const noexcept;
  WriterStatistics statistics() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace mneme::artifact
